/** What a service says about what it refused, as in RFC 9457. */
export interface Problem {
  readonly status: number;
  readonly type?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly [more: string]: unknown;
}

/** What kind of problem it is, in a word. */
export type ProblemKind =
  | "bad_request"
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "method_not_allowed"
  | "timeout"
  /** The session has a reply under way. */
  | "busy"
  /** An answer that nobody waits for; `reason` says why. */
  | "refused"
  /** The session is not where it was said to be. */
  | "moved"
  /** There is one by that name. */
  | "exists"
  /** There is one by that id, and it is another one. */
  | "different"
  /** Somebody else works on it. */
  | "taken"
  /** What was between a cursor and now cannot be had any more; `reason` says why. */
  | "gap"
  | "too_large"
  | "unsupported_media_type"
  | "no_agent"
  | "too_many_requests"
  | "too_many_sessions"
  | "upgrade_required"
  | "internal"
  | "unavailable"
  | "full"
  | (string & {});

/** Why something was refused, or cannot be continued. */
export type ProblemReason =
  | "late"
  | "duplicate"
  | "foreign"
  | "not_waiting"
  | "busy"
  | "different"
  | "epoch"
  | "future"
  | "compacted"
  | (string & {});

/** What the service refused, and why. */
export class RecountError extends Error {
  /** The status of the answer. */
  declare readonly status: number;
  /** Why, where there are several reasons. */
  declare readonly reason?: ProblemReason;
  /** The field that is wrong. */
  declare readonly field?: string;
  /** The line of a batch that is wrong, from 1. */
  declare readonly line?: number;
  /** What kind of problem it is. An answer of somebody else, such as a proxy, has none. */
  declare readonly kind?: ProblemKind;
  /** The same as a URN. */
  declare readonly type?: string;
  declare readonly title?: string;
  declare readonly detail?: string;

  constructor(problem: Problem) {
    super(problem.detail ?? `HTTP ${problem.status}`);
    Object.assign(this, { name: "RecountError", kind: problem.type?.split(":").pop() }, problem);
  }
}

/** Whether asking again cannot help. That something is not there says only the service: a proxy says so when it is down. */
export const isFinal = (error: unknown): error is RecountError =>
  error instanceof RecountError && /^4(?!08|25|29|04$)/.test(`${error.status}${error.kind ?? ""}`);
