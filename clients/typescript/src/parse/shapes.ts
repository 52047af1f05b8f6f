import { isBlockType } from "../complete.js";
import { isObject, isText, type JsonObject } from "../values.js";
import { expected, fail, within } from "./errors.js";

/**
 * Reads a value: checks it, and gives it back with what was missing in it and its keys in the order of the protocol.
 * An id or a time that the value lacks becomes `id` or `time`.
 */
// biome-ignore lint/suspicious/noExplicitAny: what a reader gives is what the declared type of its field says.
export type Reader = (value: unknown, id: string, time: string) => any;

/** The readers of an object's fields, in the order in which they are written. */
export type Fields = Readonly<Record<string, Reader>>;

/** Reads an object of declared fields. */
export type RecordReader = Reader & { readonly fields: Fields; readonly tag: string };

/** How deep a free value may nest, the value itself counting as one. */
const MAX_DEPTH = 128;

/** How deep a whole document may nest. */
export const MAX_DOCUMENT_DEPTH = MAX_DEPTH + 16;

/** Half of a surrogate pair without its other half: no UTF-8 text can hold it. */
const LONE_SURROGATE = /\p{Surrogate}/u;

const whole = (value: string): string =>
  LONE_SURROGATE.test(value) ? fail("half of a surrogate pair is without its other half") : value;

function checkFree(value: unknown, depth: number): void {
  if (isText(value)) whole(value);
  if (typeof value !== "object" || value === null) return;
  if (depth === 0) fail(`nests deeper than ${MAX_DEPTH}`);
  for (const [key, inner] of Object.entries(value)) {
    whole(key);
    checkFree(inner, depth - 1);
  }
}

/** Any JSON value, kept as it is. */
export function free<T>(value: T, depth = MAX_DEPTH): T {
  checkFree(value, depth);
  return value;
}

export const anObject = (value: unknown): JsonObject => (isObject(value) ? value : expected("an object", value));

export const text = (value: unknown): string => (isText(value) ? whole(value) : expected("a string", value));

export const boolean = (value: unknown): boolean =>
  typeof value === "boolean" ? value : expected("true or false", value);

/** A whole number that is not negative and fits into 64 bits. One beyond what a double can tell apart is rounded. */
export const count = (value: unknown): number => {
  if (typeof value !== "number") return expected("a whole number", value);
  return Number.isInteger(value) && Object.is(value, Math.abs(value)) && value < 2 ** 64
    ? value
    : fail(`expected a whole number from 0 to 18446744073709551615, found ${value}`);
};

export const object = (value: unknown): JsonObject => free(anObject(value));

/** The value of a `CUSTOM` event: it may be a whole message, which nests deeper than what a message may hold. */
export const messageOrObject = (value: unknown): JsonObject => free(anObject(value), MAX_DOCUMENT_DEPTH - 1);

export const words =
  (...choices: string[]) =>
  (value: unknown): string =>
    choices.includes(text(value))
      ? (value as string)
      : fail(`unknown value ${JSON.stringify(value)}, expected one of ${choices.join(", ")}`);

export const list =
  (item: Reader): Reader =>
  (value, id, time) =>
    Array.isArray(value)
      ? value.map((element, index) => within(`[${index}]`, () => item(element, `${id}.${index}`, time)))
      : expected("an array", value);

export const nullable =
  (reader: Reader): Reader =>
  (value, id, time) =>
    value === null ? null : reader(value, id, time);

/** A field that may be missing. `null` is as good as nothing. */
export const or =
  (reader: Reader, missing: unknown): Reader =>
  (value, id, time) =>
    value == null ? (typeof missing === "function" ? missing() : missing) : reader(value, id, time);

// A new one for each field that lacks it: whoever holds the message may change what is in it.
export const empty = () => ({});
export const none = () => [];

/** A text that is `null` where it is missing. */
export const maybe = or(text, null);

/** A text that is not written where it is missing. */
export const leftOut = or(text, undefined);

export const ownId: Reader = (value, id) => (value == null ? id : text(value));
export const ownTime: Reader = (value, _, time) => (value == null ? time : text(value));

/** A field that is the time of what holds it where it is missing. `null` is a value here. */
export const orTime =
  (reader: Reader): Reader =>
  (value, id, time) =>
    value === undefined ? time : reader(value, id, time);

/** A string, or something else. */
export const textOr =
  (reader: Reader): Reader =>
  (value, id, time) =>
    isText(value) ? whole(value) : reader(value, id, time);

/** Reads an object: its declared fields, then those that nobody knows. */
export function readObject(fields: Fields, value: JsonObject, id: string, time: string): JsonObject {
  const found: JsonObject = {};
  // A spread takes the key `__proto__` for a key like any other, an assignment would not.
  const rest = { ...value };
  for (const key in fields) {
    const field = within(key, () => fields[key]?.(value[key], id, time));
    if (field !== undefined) found[key] = field;
    delete rest[key];
  }
  for (const key in rest) within(whole(key), () => free(rest[key]));
  return { ...found, ...rest };
}

export function record(declared: Fields, tag = ""): RecordReader {
  const type = words(tag);
  const fields = tag ? { type: (value: unknown) => (value === undefined ? tag : type(value)), ...declared } : declared;
  const read: Reader = (value, id, time) => {
    const given = anObject(value);
    return readObject(
      fields,
      given,
      isText(given.id) ? given.id : id,
      isText(given.created_at) ? given.created_at : time,
    );
  };
  return Object.assign(read, { fields, tag });
}

/** One of several records, told apart by their `type`. */
export const oneOf =
  (...records: RecordReader[]): Reader =>
  (value, id, time) => {
    const { type } = anObject(value);
    const known = records.find(({ tag }) => tag === type);
    return known ? known(value, id, time) : within("type", () => words(...records.map(({ tag }) => tag))(type));
  };

/** The same for blocks. One of a type that nobody knows is kept as it is. */
export const block =
  (...records: RecordReader[]): Reader =>
  (value, id, time) => {
    const { type } = anObject(value);
    within("type", () => text(type));
    const known = records.find(({ tag }) => tag === type);
    if (known) return known(value, id, time);
    return isBlockType(type) ? fail(`a ${type} block may not stand here, only text and data`) : object(value);
  };
