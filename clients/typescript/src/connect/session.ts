import type { AgentEvent, ConfirmResult, DataBlock, HintBlock, TextBlock, ToolResultBlock } from "../generated.js";
import type { BlockInit, MsgInit } from "../msg.js";
import { randomId } from "../stamps.js";
import { isText } from "../values.js";
import { newFeed } from "./feed.js";
import { follow, type SessionView } from "./follow.js";
import { type Endpoint, type RequestOptions, serverOf } from "./server.js";
import { share } from "./shared.js";
import type { Store } from "./store.js";

type UserBlocks = readonly BlockInit<TextBlock | DataBlock>[];

/** A message of the user: text, blocks, or the fields of a message. */
export type UserInput = string | UserBlocks | (Partial<MsgInit> & { content: UserBlocks });

/** @deprecated Use {@link UserInput}. */
export type Said = UserInput;

/** The user's answer to a call that asks for confirmation. */
export type Answer = Omit<ConfirmResult, "rules"> & Partial<ConfirmResult>;

/** The result of sending a message. */
export interface SendResult {
  /** The id of the reply to the message. */
  readonly reply_id: string;
  readonly cursor: string;
}

/** @deprecated Use {@link SendResult}. */
export type Posted = SendResult;

/** The result of appending events. */
export interface Appended {
  readonly written: number;
  readonly duplicates: number;
  /** The cursor of the last event. */
  readonly cursor: string;
  /** The events that changed nothing, with the reason. */
  readonly ignored: readonly { readonly line: number; readonly id: string; readonly reason: string }[];
}

/**
 * A session that is followed: a store of its messages and a stream of its events. Requests are sent in order and are
 * retried until there is a response. Each has an id, so that resending it has no effect.
 */
export interface Session extends Store<SessionView>, AsyncIterable<AgentEvent> {
  readonly name: string;
  /**
   * Returns the events after a cursor, from the `"start"`, or from now on. A slow reader continues from the log.
   *
   * @throws RecountError of the kind `gap` if events that it has not read are gone.
   */
  events(after?: string): AsyncIterableIterator<AgentEvent>;
  /** Sends a message. If a reply is in progress, the message is rejected or queued, or it interrupts the reply. */
  send(input: UserInput, options?: RequestOptions & { onBusy?: "reject" | "queue" | "interrupt" }): Promise<SendResult>;
  /** Appends events. */
  post(events: readonly AgentEvent[], options?: RequestOptions): Promise<Appended>;
  /** Approves or denies calls that ask for confirmation. */
  confirm(replyId: string, answers: readonly Answer[], options?: RequestOptions): Promise<Appended>;
  /** Sends the results of tools that ran elsewhere. */
  resolve(replyId: string, results: readonly BlockInit<ToolResultBlock>[], options?: RequestOptions): Promise<Appended>;
  /** Sends a hint to the model during its reply. */
  hint(replyId: string, hint: HintBlock["hint"], options?: RequestOptions & { source?: string }): Promise<Appended>;
  /** Stops the reply in progress. */
  interrupt(options?: RequestOptions): Promise<void>;
  /** Loads older messages, if there are any. */
  loadOlder(limit?: number): Promise<void>;
  /** Stops following the session. A reply in progress continues. */
  close(): void;
}

/** Options of {@link connect}. */
export interface ConnectOptions {
  /** Creates the session if it does not exist. Without this, a missing session is an error of the kind `not_found`. */
  readonly create?: boolean;
}

/**
 * Follows a session. It reconnects automatically and resumes at its cursor.
 *
 * Calls for the same session share one reader, and all sessions of a server share one WebSocket.
 */
export function connect(endpoint: Endpoint, name: string, { create }: ConnectOptions = {}): Session {
  const server = serverOf(endpoint);
  const closing = new AbortController();
  const path = `sessions/${encodeURIComponent(name)}`;
  const base = `${path}/`;
  const ready = create ? server.retry(path, {}, {}, "PUT") : Promise.resolve();
  // An empty name is not a session, and is the key of the list of sessions.
  const [followed, release] = share(server, name || "?", (server, name) => follow(server, name, ready));
  const { store, messages } = followed;

  const ask = async (path: string, body?: unknown, options?: RequestOptions) =>
    JSON.parse((await server.retry(base + path, body, options))[0]);

  // Requests are sent one at a time, which keeps their order.
  const enqueue = <T>(path: string, body: object, options?: RequestOptions): Promise<T> => {
    const request = () => ask(path, body, options);
    const response = followed.turn.then(request, request);
    followed.turn = response;
    return response;
  };

  const post = (events: readonly AgentEvent[], options?: RequestOptions): Promise<Appended> =>
    enqueue(
      "events",
      events.map((event) => ({ id: randomId(), ...event })),
      options,
    );

  const session: Session = {
    ...store,
    name,
    post,

    events(after) {
      const readLog = (cursor: string) =>
        server.retry(`${base}events?all=${server.all}&after=${cursor}`, undefined, closing);
      return newFeed(followed, after, readLog, closing.signal).read();
    },

    [Symbol.asyncIterator]: () => session.events(),

    send(input, options) {
      const fields = isText(input) || Array.isArray(input) ? { content: input } : input;
      return enqueue("messages", { id: randomId(), on_busy: options?.onBusy, ...fields }, options);
    },

    confirm: (reply_id, answers, options) =>
      post([{ type: "USER_CONFIRM_RESULT", reply_id, confirm_results: answers as ConfirmResult[] }], options),

    resolve: (reply_id, results, options) =>
      post([{ type: "EXTERNAL_EXECUTION_RESULT", reply_id, execution_results: results as ToolResultBlock[] }], options),

    hint: (reply_id, hint, options) =>
      post([{ type: "HINT_BLOCK", reply_id, block_id: randomId(), hint, source: options?.source ?? null }], options),

    interrupt: (options) => enqueue("interrupt", { id: randomId() }, options),

    async loadOlder(limit = 50) {
      const { before } = messages;
      if (!before) return;
      const page = await ask(
        `messages?all=${server.all}&limit=${limit}&before=${encodeURIComponent(before)}`,
        undefined,
        closing,
      );
      // Another caller may have loaded them, or a snapshot may have arrived.
      if (messages.before !== before) return;
      messages.unshift(page.messages, page.before);
      followed.changed();
    },

    close() {
      closing.abort();
      release();
    },
  };
  return session;
}
