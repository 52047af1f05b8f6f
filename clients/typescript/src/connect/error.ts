/** What a service says about what it refused, as in RFC 9457. */
export interface Problem {
  readonly status: number;
  readonly type?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly [more: string]: unknown;
}

/** What the service refused, and why. */
export class RecountError extends Error {
  /** The status of the answer. */
  declare readonly status: number;
  /** Why, in a word: `late`, `duplicate`, `epoch` … */
  declare readonly reason?: string;
  /** The field that is wrong. */
  declare readonly field?: string;
  /** The line of a batch that is wrong, from 1. */
  declare readonly line?: number;
  /** What kind of problem it is, in a word: `gap`, `busy`, `refused`, `not_found` … */
  declare readonly kind?: string;
  /** The same as a URN. */
  declare readonly type?: string;
  declare readonly title?: string;
  declare readonly detail?: string;

  constructor(problem: Problem) {
    super(problem.detail ?? `HTTP ${problem.status}`);
    Object.assign(this, { kind: problem.type?.split(":").pop() }, problem);
  }
}

/** Whether asking again cannot help. */
export const isFinal = (error: unknown): error is RecountError =>
  error instanceof RecountError && /^4(?!08|25|29)/.test(`${error.status}`);
