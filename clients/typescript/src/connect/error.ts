/** The problem details of a rejected request, as in RFC 9457. */
export interface Problem {
  readonly status: number;
  readonly type?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly [more: string]: unknown;
}

/** The kind of a problem. */
export type ProblemKind =
  | "bad_request"
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "method_not_allowed"
  | "timeout"
  /** The session has a reply in progress. */
  | "busy"
  /** An answer to a call that is not waiting for one; `reason` has the cause. */
  | "refused"
  /** The session moved to another address. */
  | "moved"
  /** The name is already in use. */
  | "exists"
  /** The id is already in use with different content. */
  | "different"
  /** Another client is working on it. */
  | "taken"
  /** The events since the cursor are no longer available; `reason` has the cause. */
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

/** Why a request was rejected, or why reading cannot resume. */
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

/** An error response of the service. */
export class RecountError extends Error {
  /** The HTTP status. */
  declare readonly status: number;
  /** The cause, if the kind has several. */
  declare readonly reason?: ProblemReason;
  /** The invalid field. */
  declare readonly field?: string;
  /** The invalid line of a batch, counted from 1. */
  declare readonly line?: number;
  /** The kind of problem. `undefined` for responses that are not from the service, such as a proxy's. */
  declare readonly kind?: ProblemKind;
  /** The kind of problem as a URN. */
  declare readonly type?: string;
  declare readonly title?: string;
  declare readonly detail?: string;

  constructor(problem: Problem) {
    super(problem.detail ?? `HTTP ${problem.status}`);
    Object.assign(this, { name: "RecountError", kind: problem.type?.split(":").pop() }, problem);
  }
}

/**
 * Returns whether retrying cannot help. A 404 is final only with the service's own problem kind, because a proxy
 * returns 404 while the service is down.
 */
export const isFinal = (error: unknown): error is RecountError =>
  error instanceof RecountError && /^4(?!08|25|29|04$)/.test(`${error.status}${error.kind ?? ""}`);
