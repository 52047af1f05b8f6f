import { isObject, type JsonObject } from "./values.js";

/** What is kept under the key `recount`: of a message's metadata, of an event's, or of a block. */
export function marksOf(marked: unknown): JsonObject {
  const marks = isObject(marked) && marked.recount;
  return isObject(marks) ? marks : {};
}

/** The same metadata with a mark more. */
export const withMark = (marked: JsonObject, name: string, value: unknown): JsonObject => ({
  ...marked,
  recount: { ...marksOf(marked), [name]: value },
});

/** The same metadata without a mark, and without the key where it was the last. */
export function withoutMark(marked: JsonObject, name: string): JsonObject {
  const { [name]: _, ...marks } = marksOf(marked);
  const { recount, ...rest } = marked;
  return Object.keys(marks).length ? { ...marked, recount: marks } : rest;
}
