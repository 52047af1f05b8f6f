import { expect, test } from "vitest";
import type { Kind } from "../src/inspector/kinds";
import { kindShares } from "../src/inspector/paint";

test("columns have the share of each kind, in a fixed order", () => {
  const events: Kind[] = ["text", "text", "reply", "text", "ask", "reply"];
  expect(kindShares(events, events.length, 2)).toEqual([
    new Map([
      ["reply", 1 / 3],
      ["text", 2 / 3],
    ]),
    new Map([
      ["reply", 1 / 3],
      ["text", 1 / 3],
      ["ask", 1 / 3],
    ]),
  ]);
});

test("every event is in exactly one column", () => {
  const events: Kind[] = Array.from({ length: 1_000 }, () => "text");
  for (const columns of [1, 7, 333, 999]) {
    const shares = kindShares(events, events.length, columns);
    expect(shares).toHaveLength(columns);
    expect(shares.every((column) => column.get("text") === 1)).toBe(true);
  }
});
