import { isBlockType } from "../complete.js";
import { isObject, isText, type JsonObject } from "../values.js";
import { expected, fail, within } from "./errors.js";

/**
 * Decodes a value: validates it, fills in missing fields, and orders its keys as in the protocol. `id` and `time` are
 * the defaults for a missing id and time.
 */
// biome-ignore lint/suspicious/noExplicitAny: the declared type of the field is the type of the result.
export type Reader = (value: unknown, id: string, time: string) => any;

/** The readers of an object's fields, in the order in which they are serialized. */
export type Fields = Readonly<Record<string, Reader>>;

/** Decodes an object with declared fields. */
export type RecordReader = Reader & { readonly fields: Fields; readonly tag: string };

/** The maximum depth of a free value, including the value itself. */
const MAX_DEPTH = 128;

/** The maximum depth of a whole document. */
export const MAX_DOCUMENT_DEPTH = MAX_DEPTH + 16;

/** A lone surrogate, which UTF-8 cannot encode. */
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

/** Decodes any JSON value. It is kept unchanged. */
export function free<T>(value: T, depth = MAX_DEPTH): T {
  checkFree(value, depth);
  return value;
}

export const anObject = (value: unknown): JsonObject => (isObject(value) ? value : expected("an object", value));

export const text = (value: unknown): string => (isText(value) ? whole(value) : expected("a string", value));

export const boolean = (value: unknown): boolean =>
  typeof value === "boolean" ? value : expected("true or false", value);

/** Decodes a non-negative 64-bit integer. Values beyond 2^53 are rounded to a double. */
export const count = (value: unknown): number => {
  if (typeof value !== "number") return expected("a whole number", value);
  return Number.isInteger(value) && Object.is(value, Math.abs(value)) && value < 2 ** 64
    ? value
    : fail(`expected a whole number from 0 to 18446744073709551615, found ${value}`);
};

export const object = (value: unknown): JsonObject => free(anObject(value));

/**
 * Decodes the value of a `CUSTOM` event. It may be a whole message, which nests deeper than the contents of a message.
 */
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

/** Decodes an optional field. `null` counts as missing. */
export const or =
  (reader: Reader, missing: unknown): Reader =>
  (value, id, time) =>
    value == null ? (typeof missing === "function" ? missing() : missing) : reader(value, id, time);

// A new object for each missing field, because the holder of the message may change it.
export const empty = () => ({});
export const none = () => [];

/** Decodes a string; `null` if it is missing. */
export const maybe = or(text, null);

/** Decodes a string; it is omitted if it is missing. */
export const leftOut = or(text, undefined);

export const ownId: Reader = (value, id) => (value == null ? id : text(value));
export const ownTime: Reader = (value, _, time) => (value == null ? time : text(value));

/** Decodes a time. The default is the time of the enclosing value. `null` is a valid value here. */
export const orTime =
  (reader: Reader): Reader =>
  (value, id, time) =>
    value === undefined ? time : reader(value, id, time);

/** Decodes a string, or a value of another type. */
export const textOr =
  (reader: Reader): Reader =>
  (value, id, time) =>
    isText(value) ? whole(value) : reader(value, id, time);

/** Decodes an object: the declared fields first, then the unknown ones. */
export function readObject(fields: Fields, value: JsonObject, id: string, time: string): JsonObject {
  const found: JsonObject = {};
  // A spread copies `__proto__` as an ordinary key; an assignment does not.
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

/** Decodes one of several records, by the field `type`. */
export const oneOf =
  (...records: RecordReader[]): Reader =>
  (value, id, time) => {
    const { type } = anObject(value);
    const known = records.find(({ tag }) => tag === type);
    return known ? known(value, id, time) : within("type", () => words(...records.map(({ tag }) => tag))(type));
  };

/** Like `oneOf`, for blocks. A block of an unknown type is kept unchanged. */
export const block =
  (...records: RecordReader[]): Reader =>
  (value, id, time) => {
    const { type } = anObject(value);
    within("type", () => text(type));
    const known = records.find(({ tag }) => tag === type);
    if (known) return known(value, id, time);
    return isBlockType(type) ? fail(`a ${type} block may not stand here, only text and data`) : object(value);
  };
