import { expect, test } from "vitest";
import { scrolledTo } from "../src/inspector/event-list";

const LINE = 28;

test("the selected line is visible in a list of any height", () => {
  for (const height of [LINE, 46, 60, 140, 600]) {
    let top = 0;
    for (const line of [0, 1, 2, 40, 41, 39, 900, 3, 500, 0]) {
      // A browser does not scroll beyond the beginning.
      top = Math.max(0, scrolledTo(line * LINE, top, height));
      expect(line * LINE).toBeGreaterThanOrEqual(top);
      expect((line + 1) * LINE).toBeLessThanOrEqual(top + height);
    }
  }
});

test("a list does not scroll if the line and its neighbours are visible", () => {
  expect(scrolledTo(10 * LINE, 5 * LINE, 20 * LINE)).toBe(5 * LINE);
});
