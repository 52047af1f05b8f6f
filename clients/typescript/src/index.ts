export * from "./access.js";
export type { Checkpoint } from "./checkpoint.js";
export { EventType } from "./event-type.js";
export { Fold } from "./fold.js";
export type * from "./generated.js";
export {
  AssistantMsg,
  appendEvent,
  type BlockInit,
  Msg,
  type MsgConstructor,
  type MsgInit,
  SystemMsg,
  UserMsg,
} from "./msg.js";
export type { Outcome, Reason, ReasonCode, Skipped } from "./outcome.js";
export type { BlockOf, BlockType } from "./types.js";
