import type { Msg, Session } from "@recount/client";
import { isRecord, tryParse } from "../lib/json";
import { keep, recall } from "../lib/storage";
import { errorText } from "../parts/notices";
import { type Content, newUserMessage } from "./content";

/** A message that is not in the session yet. */
export interface Pending {
  readonly message: Msg;
  /** Whether the service has received it. It may be queued there. */
  readonly isSent: boolean;
  readonly error: string | undefined;
}

/**
 * The unsent messages of a session. They survive switching sessions, and a reload if they fit into the browser's
 * storage. Each has an id, so resending has no effect.
 */
export class Unsent {
  readonly #key: string;
  #pending: readonly Pending[];
  /** The ids of the messages that this page is sending. */
  readonly #sending = new Set<string>();
  #turn: Promise<unknown> = Promise.resolve();
  readonly #listeners = new Set<() => void>();

  constructor(name: string) {
    this.#key = `recount.unsent.${name}`;
    const kept = tryParse(recall("sessionStorage", this.#key) ?? "");
    const stored = Array.isArray(kept) ? kept.filter(isRecord) : [];
    this.#pending = stored.map(({ id, content }) => ({
      message: newUserMessage(content as Content, String(id)),
      isSent: false,
      error: undefined,
    }));
  }

  readonly look = (): readonly Pending[] => this.#pending;

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };

  say(session: Session | undefined, content: Content): void {
    this.#set([...this.#pending, { message: newUserMessage(content), isSent: false, error: undefined }]);
    this.deliver(session);
  }

  /** Sends pending messages in order. A rejected message waits until it is sent with `again`. */
  deliver(session: Session | undefined): void {
    if (!session) return;
    for (const { message, isSent, error } of this.#pending) {
      if (isSent || error !== undefined || this.#sending.has(message.id)) continue;
      this.#sending.add(message.id);
      this.#turn = this.#turn.then(() => this.#send(session, message));
    }
  }

  again(session: Session | undefined, message: Msg): void {
    this.#change(message, { error: undefined });
    this.deliver(session);
  }

  discard(message: Msg): void {
    this.#set(this.#pending.filter((item) => item.message !== message));
  }

  /** Removes messages that are in the session. */
  arrived(messages: readonly Msg[]): void {
    if (!this.#pending.length) return;
    const there = new Set(messages.map(({ id }) => id));
    const left = this.#pending.filter(({ message }) => !there.has(message.id));
    if (left.length < this.#pending.length) this.#set(left);
  }

  /** Removes messages that the service has received. A returning user finds them in the session. */
  leave(): void {
    this.#set(this.#pending.filter(({ isSent }) => !isSent));
  }

  async #send(session: Session, message: Msg): Promise<void> {
    try {
      await session.send({ id: message.id, content: message.content as Content }, { onBusy: "queue" });
      // Without listeners there is no view to update.
      if (this.#listeners.size) this.#change(message, { isSent: true });
      else this.discard(message);
    } catch (error) {
      this.#change(message, { error: errorText(error) });
    }
    this.#sending.delete(message.id);
  }

  #change(message: Msg, change: Partial<Pending>): void {
    this.#set(this.#pending.map((item) => (item.message === message ? { ...item, ...change } : item)));
  }

  #set(pending: readonly Pending[]): void {
    this.#pending = pending;
    const unsent = pending.filter(({ isSent }) => !isSent).map(({ message: { id, content } }) => ({ id, content }));
    keep("sessionStorage", this.#key, unsent.length ? JSON.stringify(unsent) : undefined);
    for (const listener of this.#listeners) listener();
  }
}

const boxes = new Map<string, Unsent>();

/** Returns the unsent messages of a session. */
export function unsentOf(name: string): Unsent {
  const box = boxes.get(name) ?? new Unsent(name);
  boxes.set(name, box);
  return box;
}
