import { text } from "./complete.js";

/** Why an event, or a part of it, changed nothing. */
export type ReasonCode =
  | "unknown_reply"
  | "other_reply"
  | "reply_ended"
  | "message_exists"
  | "not_a_reply"
  | "unknown_block"
  | "block_open"
  | "block_ended"
  | "unknown_call"
  | "not_asking"
  | "result_exists"
  | "data_at_url"
  | "bad_data"
  | "unknown_type"
  | "bad_value"
  /** It is no event: what it must have is missing or wrong. */
  | "bad_event";

export interface Reason {
  readonly code: ReasonCode;
  /** The id that it is about, or what is wrong. */
  readonly detail: string;
}

/** A part of an event that changed nothing. */
export interface Skipped {
  /** Which item of the event's list it is. */
  readonly index: number;
  readonly reason: Reason;
}

/** What applying an event did. */
export interface Outcome {
  /**
   * - `applied`: the event did what it says.
   * - `partly`: some of what the event lists was done, and some was not.
   * - `ignored`: the event changed nothing.
   * - `not_for_message`: the event is for the session, not for a message.
   * - `seen`: the event is at or before the cursor, so it was there before.
   */
  readonly kind: "applied" | "partly" | "ignored" | "not_for_message" | "seen";
  /** Why the event changed nothing, or the first reason why a part of it did. */
  readonly reason: Reason | null;
  /** What was not done of an event that lists several things. */
  readonly skipped: readonly Skipped[];
}

const outcome = (kind: Outcome["kind"], reason: Reason | null = null, skipped: Skipped[] = []): Outcome => ({
  kind,
  reason,
  skipped,
});

export const APPLIED = outcome("applied");
export const NOT_FOR_MESSAGE = outcome("not_for_message");
export const SEEN = outcome("seen");

/** Nothing is done, for a reason. */
export const no = (code: ReasonCode, detail: string): Outcome => outcome("ignored", { code, detail });

/** What a list of things comes to. An answer is nothing where a thing was done. */
export function ofItems<T extends { id: string }>(
  items: readonly T[],
  apply: (item: T) => Outcome | undefined,
): Outcome {
  // What is none of them must be known before anything is done.
  for (const { id } of items) text(id);
  const skipped: Skipped[] = [];
  items.forEach((item, index) => {
    const reason = apply(item)?.reason;
    if (reason) skipped.push({ index, reason });
  });
  const [first] = skipped;
  return first ? outcome(skipped.length < items.length ? "partly" : "ignored", first.reason, skipped) : APPLIED;
}
