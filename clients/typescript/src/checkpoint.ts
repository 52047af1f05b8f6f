import type { MsgFields } from "./generated.js";

/** All that is needed to go on with a fold from where it stood, as JSON. */
export interface Checkpoint {
  readonly version: 1;
  /** The number of the last event. */
  readonly cursor: string;
  /** The messages in their order, with the number of blocks at the last model call; `null` for one that came whole. */
  readonly replies: readonly { readonly message: MsgFields; readonly call_floor: number | null }[];
  /** The ids of messages that were there before and have been taken. */
  readonly taken?: readonly string[];
}
