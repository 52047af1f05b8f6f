import type { AgentEvent, ConfirmResult, DataBlock, HintBlock, TextBlock, ToolResultBlock } from "../generated.js";
import type { BlockInit, MsgInit } from "../msg.js";
import { randomId } from "../stamps.js";
import { isText } from "../values.js";
import { newFeed } from "./feed.js";
import { follow, type SessionView } from "./follow.js";
import { type Sending, serverOf, type Where } from "./server.js";
import { share } from "./shared.js";
import type { Store } from "./store.js";

type UserBlocks = readonly BlockInit<TextBlock | DataBlock>[];

/** A message of the user: text, blocks, or the fields of a message. */
export type Said = string | UserBlocks | (Partial<MsgInit> & { content: UserBlocks });

/** The user's answer to a call that asks for confirmation. */
export type Answer = Omit<ConfirmResult, "rules"> & Partial<ConfirmResult>;

/** The result of sending a message. */
export interface Posted {
  /** The id of the reply to the message. */
  readonly reply_id: string;
  readonly cursor: string;
}

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
  send(said: Said, options?: Sending & { onBusy?: "reject" | "queue" | "interrupt" }): Promise<Posted>;
  /** Appends events. */
  post(events: readonly AgentEvent[], options?: Sending): Promise<Appended>;
  /** Approves or denies calls that ask for confirmation. */
  confirm(replyId: string, answers: readonly Answer[], options?: Sending): Promise<Appended>;
  /** Sends the results of tools that ran elsewhere. */
  resolve(replyId: string, results: readonly BlockInit<ToolResultBlock>[], options?: Sending): Promise<Appended>;
  /** Sends a hint to the model during its reply. */
  hint(replyId: string, hint: HintBlock["hint"], options?: Sending & { source?: string }): Promise<Appended>;
  /** Stops the reply in progress. */
  interrupt(options?: Sending): Promise<void>;
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
export function connect(where: Where, name: string, { create }: ConnectOptions = {}): Session {
  const server = serverOf(where);
  const closing = new AbortController();
  const path = `sessions/${encodeURIComponent(name)}`;
  const base = `${path}/`;
  const ready = create ? server.ask(path, {}, {}, "PUT") : Promise.resolve();
  // An empty name is not a session, and is the key of the list of sessions.
  const [followed, release] = share(server, name || "?", (server, name) => follow(server, name, ready));
  const { store, messages } = followed;

  const ask = async (path: string, body?: unknown, sending?: Sending) =>
    JSON.parse((await server.ask(base + path, body, sending))[0]);

  // Requests are sent one at a time, which keeps their order.
  const say = <T>(path: string, body: object, sending?: Sending): Promise<T> => {
    const said = () => ask(path, body, sending);
    const answer = followed.turn.then(said, said);
    followed.turn = answer;
    return answer;
  };

  const post = (events: readonly AgentEvent[], sending?: Sending): Promise<Appended> =>
    say(
      "events",
      events.map((event) => ({ id: randomId(), ...event })),
      sending,
    );

  const session: Session = {
    ...store,
    name,
    post,

    events(after) {
      const readLog = (cursor: string) =>
        server.ask(`${base}events?all=${server.all}&after=${cursor}`, undefined, closing);
      return newFeed(followed, after, readLog, closing.signal).read();
    },

    [Symbol.asyncIterator]: () => session.events(),

    send(said, options) {
      const fields = isText(said) || Array.isArray(said) ? { content: said } : said;
      return say("messages", { id: randomId(), on_busy: options?.onBusy, ...fields }, options);
    },

    confirm: (reply_id, answers, sending) =>
      post([{ type: "USER_CONFIRM_RESULT", reply_id, confirm_results: answers as ConfirmResult[] }], sending),

    resolve: (reply_id, results, sending) =>
      post([{ type: "EXTERNAL_EXECUTION_RESULT", reply_id, execution_results: results as ToolResultBlock[] }], sending),

    hint: (reply_id, hint, options) =>
      post([{ type: "HINT_BLOCK", reply_id, block_id: randomId(), hint, source: options?.source ?? null }], options),

    interrupt: (sending) => say("interrupt", { id: randomId() }, sending),

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
