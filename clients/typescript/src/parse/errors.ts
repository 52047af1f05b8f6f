/** Why a value could not be read: the field, as a path from the outside in, and what is wrong with it. */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
  /** What is wrong, without the path. */
  readonly problem: string;
  /** The field that is wrong, such as `content[2].state`; empty when the whole value is. */
  readonly path: string;

  constructor(problem: string, path = "") {
    super(path ? `\`${path}\`: ${problem}` : problem);
    this.problem = problem;
    this.path = path;
  }
}

export function fail(problem: string): never {
  throw new DecodeError(problem);
}

/** Says that a value is not what it should be. */
export function expected(what: string, value: unknown): never {
  fail(value === undefined ? "this field is required" : `expected ${what}, found ${kindOf(value)}`);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Reads a part of a value, and says of what is wrong in it which part that is. */
export function within<T>(part: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const { problem, path } = error;
    throw new DecodeError(problem, part + (path && !path.startsWith("[") ? "." : "") + path);
  }
}
