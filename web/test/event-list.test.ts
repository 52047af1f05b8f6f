import { expect, test } from "vitest";
import { scrolledTo } from "../src/inspector/event-list";

const LINE = 28;

test("the line that one goes to is in view, however low the list is", () => {
  for (const height of [LINE, 46, 60, 140, 600]) {
    let top = 0;
    for (const line of [0, 1, 2, 40, 41, 39, 900, 3, 500, 0]) {
      // A browser goes no further than to the beginning.
      top = Math.max(0, scrolledTo(line * LINE, top, height));
      expect(line * LINE).toBeGreaterThanOrEqual(top);
      expect((line + 1) * LINE).toBeLessThanOrEqual(top + height);
    }
  }
});

test("a list does not move where the line is seen with its neighbours", () => {
  expect(scrolledTo(10 * LINE, 5 * LINE, 20 * LINE)).toBe(5 * LINE);
});
