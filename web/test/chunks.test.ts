import { expect, test } from "vitest";
import { CHUNK, Chunks } from "../src/lib/chunks";

const messages = (from: number, until: number) =>
  Array.from({ length: until - from }, (_, i) => ({ id: `${from + i}` }));

test("chunks contain all messages in order", () => {
  const all = messages(0, 100);
  const chunks = new Chunks().of(all);
  expect(chunks.flatMap((chunk) => chunk.messages)).toEqual(all);
  expect(Math.max(...chunks.map((chunk) => chunk.messages.length))).toBe(CHUNK);
});

test("older messages leave later chunks unchanged", () => {
  const chunks = new Chunks<{ id: string }>();
  const newer = messages(50, 100);
  const before = chunks.of(newer);
  const all = [...messages(0, 50), ...newer];
  const after = chunks.of(all);
  expect(after.flatMap((chunk) => chunk.messages)).toEqual(all);
  for (const [i, chunk] of before.entries()) expect(after.at(i - before.length)).toBe(chunk);
});

test("a changed message changes only its own chunk", () => {
  const chunks = new Chunks<{ id: string }>();
  const all = messages(0, 100);
  const before = chunks.of(all);
  const after = chunks.of([...all.slice(0, -1), { id: "99" }, { id: "100" }]);
  expect(after.slice(0, -1)).toEqual(before.slice(0, -1));
  for (const [i, chunk] of after.slice(0, -1).entries()) expect(chunk).toBe(before[i]);
  expect(after.at(-1)!.key).toBe(before.at(-1)!.key);
});

test("different messages have different chunks", () => {
  const chunks = new Chunks<{ id: string }>();
  const [before] = chunks.of(messages(0, 10));
  expect(chunks.of([])).toEqual([]);
  expect(chunks.of(messages(20, 30))[0]!.key).not.toBe(before!.key);
});
