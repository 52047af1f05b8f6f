import { type JsonObject, objectOf } from "./values.js";

/** Returns the fields under the key `recount` of a message's metadata, an event's metadata, or a block. */
export const marksOf = (marked: unknown): JsonObject => objectOf(objectOf(marked).recount);

/** Returns the real role of a message that is stored as an assistant's because its own role may not hold its blocks. */
export function markedRole(metadata: unknown): "user" | "system" | "tool" | undefined {
  return (["user", "system", "tool"] as const).find((role) => role === marksOf(metadata).role);
}

/** Returns the metadata with a mark added. */
export const withMark = (marked: JsonObject, name: string, value: unknown): JsonObject => ({
  ...marked,
  recount: { ...marksOf(marked), [name]: value },
});

/** Returns the metadata without a mark. If it was the last one, the key `recount` is removed too. */
export function withoutMark(marked: JsonObject, name: string): JsonObject {
  const { [name]: _, ...marks } = marksOf(marked);
  const { recount, ...rest } = marked;
  return Object.keys(marks).length ? { ...marked, recount: marks } : rest;
}
