import type { Checkpoint } from "../checkpoint.js";
import type { AgentEvent, MsgFields } from "../generated.js";
import type { Problem, RecountError } from "./error.js";
import type { ConnectionState } from "./keep.js";
import type { SessionInfo } from "./sessions.js";

/** A session as it stands at a cursor. */
export interface Snapshot {
  /** The newest messages that have ended, oldest first. */
  readonly messages: readonly MsgFields[];
  /** The replies that have not, by their ids. */
  readonly open: Readonly<Record<string, Checkpoint["replies"][number]>>;
  /** The oldest of the messages, if there are older ones. */
  readonly before: string | null;
  /** Where each of the replies stands in the list of all, unless there is one and it is the last. */
  readonly places?: Readonly<Record<string, number>>;
}

/** What the service sends about a session, whatever the transport: one of these, and the cursor that it is at. */
export interface Frame {
  readonly session?: string;
  readonly id?: string;
  readonly event?: AgentEvent;
  readonly snapshot?: Snapshot;
  readonly gap?: { readonly reason: string };
  /** Nothing is left that was missed. */
  readonly live?: unknown;
  /** What has become of a session in the list of sessions, and what is known about it; it may be gone. */
  readonly change?: string;
  /** That is told from here on, or some of it was missed. */
  readonly sessions?: string;
  readonly info?: SessionInfo | null;
  readonly problem?: Problem;
}

/** Who reads a session. */
export interface Reader {
  /** After which entry it goes on; without one it begins with a snapshot. */
  cursor(): string | undefined;
  take(frame: Frame): void;
  tell(state: ConnectionState, error?: RecountError): void;
}
