/** A decoding error: the field, as a path from the outside in, and the problem. */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
  /** The problem, without the path. */
  readonly problem: string;
  /** The invalid field, such as `content[2].state`; empty for the whole value. */
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

/** Throws that a value is not the expected one. */
export function expected(what: string, value: unknown): never {
  fail(value === undefined ? "this field is required" : `expected ${what}, found ${kindOf(value)}`);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Decodes a part of a value, and adds the part to the path of its errors. */
export function within<T>(part: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const { problem, path } = error;
    throw new DecodeError(problem, part + (path && !path.startsWith("[") ? "." : "") + path);
  }
}
