import type { Checkpoint } from "../checkpoint.js";
import type { AgentEvent, MsgFields } from "../generated.js";
import type { Problem, RecountError } from "./error.js";
import type { ConnectionState } from "./keep.js";
import type { SessionInfo } from "./sessions.js";

/** The state of a session at a cursor. */
export interface Snapshot {
  /** The newest messages that have ended, oldest first. */
  readonly messages: readonly MsgFields[];
  /** The open replies, by id. */
  readonly open: Readonly<Record<string, Checkpoint["replies"][number]>>;
  /** The id of the oldest message here; `null` if there are no older ones. */
  readonly before: string | null;
  /** The index of each open reply in the list of all messages. Omitted for a single reply that is the last message. */
  readonly places?: Readonly<Record<string, number>>;
}

/** A frame from the service, on any transport: one of these fields, and its cursor. */
export interface Frame {
  readonly session?: string;
  readonly id?: string;
  readonly event?: AgentEvent;
  readonly snapshot?: Snapshot;
  readonly gap?: { readonly reason: string };
  /** The reader has caught up. */
  readonly live?: unknown;
  /** The id of a changed session in the list of sessions. `info` is `null` if it was deleted. */
  readonly change?: string;
  /** Changes of the list are sent from here on, or some were missed. */
  readonly sessions?: string;
  readonly info?: SessionInfo | null;
  readonly problem?: Problem;
}

/** A reader of a session. */
export interface Reader {
  /** The entry after which reading resumes. `undefined` starts with a snapshot. */
  cursor(): string | undefined;
  take(frame: Frame): void;
  setState(state: ConnectionState, error?: RecountError): void;
}
