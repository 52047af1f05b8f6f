export * from "./access.js";
export type { Checkpoint } from "./checkpoint.js";
export { RecountError } from "./connect/error.js";
export type { SessionView } from "./connect/follow.js";
export type { ConnectionState } from "./connect/keep.js";
export { type Endpoint, type RequestOptions, request, type Sending, type ServerOptions } from "./connect/server.js";
export {
  type Answer,
  type Appended,
  type ConnectOptions,
  connect,
  type Posted,
  type Said,
  type SendResult,
  type Session,
  type UserInput,
} from "./connect/session.js";
export { connectSessions, type SessionInfo, type Sessions, type SessionsView } from "./connect/sessions.js";
export type { Store } from "./connect/store.js";
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
