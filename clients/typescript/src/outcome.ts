import { text } from "./complete.js";

/** Why an event, or a part of it, had no effect. */
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
  /** It is not an event: a required field is missing or invalid. */
  | "bad_event";

export interface Reason {
  readonly code: ReasonCode;
  /** The id concerned, or the error message. */
  readonly detail: string;
}

/** A part of an event that had no effect. */
export interface Skipped {
  /** The index in the event's list. */
  readonly index: number;
  readonly reason: Reason;
}

/** The outcome of applying an event. */
export interface Outcome {
  /**
   * - `applied`: the event was applied.
   * - `partly`: some items of the event were applied and some were not.
   * - `ignored`: the event had no effect.
   * - `not_for_message`: the event is for the session, not for a message.
   * - `seen`: the event is at or before the cursor.
   */
  readonly kind: "applied" | "partly" | "ignored" | "not_for_message" | "seen";
  /** Why the event had no effect, or why its first skipped item had none. */
  readonly reason: Reason | null;
  /** The items of the event that were not applied. */
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

/** Returns the outcome of an event without effect. */
export const no = (code: ReasonCode, detail: string): Outcome => outcome("ignored", { code, detail });

/** Applies a list of items and returns the combined outcome. `apply` returns `undefined` if an item was applied. */
export function ofItems<T extends { id: string }>(
  items: readonly T[],
  apply: (item: T) => Outcome | undefined,
): Outcome {
  // All ids are validated before any change.
  for (const { id } of items) text(id);
  const skipped: Skipped[] = [];
  items.forEach((item, index) => {
    const reason = apply(item)?.reason;
    if (reason) skipped.push({ index, reason });
  });
  const [first] = skipped;
  return first ? outcome(skipped.length < items.length ? "partly" : "ignored", first.reason, skipped) : APPLIED;
}
