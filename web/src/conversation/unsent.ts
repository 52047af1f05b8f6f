import type { Msg, Session } from "@recount/client";
import { isRecord, tryParse } from "../lib/json";
import { keep, recall } from "../lib/storage";
import { wordsFor } from "../parts/notices";
import { type Content, newUserMessage } from "./said";

/** A message that was said and is not in the session yet. */
export interface Pending {
  readonly message: Msg;
  /** Whether the service has it. It may wait there for its turn. */
  readonly isSent: boolean;
  readonly error: string | undefined;
}

/**
 * What was said in a session and has not arrived there. It stays when one looks at another session, and over a reload as
 * far as the browser has room for it; whatever is sent twice counts once.
 */
export class Unsent {
  readonly #key: string;
  #pending: readonly Pending[];
  /** What is being sent, by this page. */
  readonly #sending = new Set<string>();
  #turn: Promise<unknown> = Promise.resolve();
  readonly #listeners = new Set<() => void>();

  constructor(name: string) {
    this.#key = `recount.unsent.${name}`;
    const kept = tryParse(recall("sessionStorage", this.#key) ?? "");
    const said = Array.isArray(kept) ? kept.filter(isRecord) : [];
    this.#pending = said.map(({ id, content }) => ({
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

  /** Sends what is not being sent, one thing after another. What was refused waits until it is to be tried `again`. */
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

  /** Forgets what is in the session. */
  arrived(messages: readonly Msg[]): void {
    if (!this.#pending.length) return;
    const there = new Set(messages.map(({ id }) => id));
    const left = this.#pending.filter(({ message }) => !there.has(message.id));
    if (left.length < this.#pending.length) this.#set(left);
  }

  /** Forgets what the service has: who comes back later finds it there, however much has been said since. */
  leave(): void {
    this.#set(this.#pending.filter(({ isSent }) => !isSent));
  }

  async #send(session: Session, message: Msg): Promise<void> {
    try {
      await session.send({ id: message.id, content: message.content as Content }, { onBusy: "queue" });
      // Where nobody looks, nobody is told when it arrives.
      if (this.#listeners.size) this.#change(message, { isSent: true });
      else this.discard(message);
    } catch (error) {
      this.#change(message, { error: wordsFor(error) });
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

/** What was said in a session and has not arrived there. */
export function unsentIn(name: string): Unsent {
  const box = boxes.get(name) ?? new Unsent(name);
  boxes.set(name, box);
  return box;
}
