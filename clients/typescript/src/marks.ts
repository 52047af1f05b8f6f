import { type JsonObject, objectOf } from "./values.js";

/** What is kept under the key `recount`: of a message's metadata, of an event's, or of a block. */
export const marksOf = (marked: unknown): JsonObject => objectOf(objectOf(marked).recount);

/** Whose message it is that is written as an assistant's, because its own role may not hold what it holds. */
export function markedRole(metadata: unknown): "user" | "system" | "tool" | undefined {
  return (["user", "system", "tool"] as const).find((role) => role === marksOf(metadata).role);
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
