import type { MsgFields } from "./generated.js";

/** The state of a fold as JSON. A fold resumes from it. */
export interface Checkpoint {
  readonly version: 1;
  /** The cursor of the last event. */
  readonly cursor: string;
  /**
   * The messages in order, each with its number of blocks at the last model call. It is `null` for a message that is
   * not a reply.
   */
  readonly replies: readonly { readonly message: MsgFields; readonly call_floor: number | null }[];
  /** The ids of messages that were already removed by `takeEnded`. */
  readonly taken?: readonly string[];
}
