/** The view of a session, frame by frame. */

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { newMessages } from "../../src/connect/messages.js";
import { newStore } from "../../src/connect/store.js";
import type { AgentEvent } from "../../src/index.js";

/** The callbacks that wait for the next frame. */
let frames: (() => void)[] = [];
const paint = () => {
  for (const frame of frames.splice(0)) frame();
};

beforeEach(() => {
  frames = [];
  vi.useFakeTimers();
  vi.stubGlobal("document", { hidden: false });
  vi.stubGlobal("requestAnimationFrame", (frame: () => void) => frames.push(frame));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const BLOCKS = 50;

/** Creates a reply with many blocks, of which the last is open. */
function reply() {
  const messages = newMessages();
  let place = 0;
  const tell = (event: object) => messages.take(`1.${++place}`, event as AgentEvent);
  messages.begin("1.0", { messages: [], open: {}, before: null, places: {} });
  tell({ type: "REPLY_START", session_id: "s", reply_id: "r", name: "Friday" });
  for (let block = 0; block < BLOCKS; block++) tell({ type: "TEXT_BLOCK_START", reply_id: "r", block_id: `${block}` });
  const grow = () => tell({ type: "TEXT_BLOCK_DELTA", reply_id: "r", block_id: `${BLOCKS - 1}`, delta: "x" });
  return { messages, grow };
}

/** Counts how often the blocks of the reply are iterated to copy them into another list. */
function copiesDuring(happens: () => void): number {
  const iterate = Array.prototype[Symbol.iterator];
  let copies = 0;
  Array.prototype[Symbol.iterator] = function () {
    if (this.length === BLOCKS) copies++;
    return iterate.call(this);
  };
  happens();
  Array.prototype[Symbol.iterator] = iterate;
  return copies;
}

test("the blocks of a message are copied once per frame for any number of events", () => {
  const { messages, grow } = reply();
  const [store, changed] = newStore(() => messages.look());
  let notifications = 0;
  store.subscribe(() => notifications++);
  changed();
  paint();
  for (let frame = 1; frame < 4; frame++) {
    const before = store.getSnapshot();
    const copies = copiesDuring(() => {
      for (let event = 0; event < 1_000; event++) {
        grow();
        changed();
      }
      expect(store.getSnapshot()).toBe(before);
      paint();
    });
    expect(copies).toBe(1);
    expect(notifications).toBe(frame + 1);
    expect(before[0]?.getTextContent("")).toHaveLength((frame - 1) * 1_000);
    expect(store.getSnapshot()[0]?.getTextContent("")).toHaveLength(frame * 1_000);
    expect(store.getSnapshot()[0]?.content[0]).toBe(before[0]?.content[0]);
  }
});

test("changes are reported without animation frames", () => {
  const { messages, grow } = reply();
  const [store, changed] = newStore(() => messages.look());
  const listener = vi.fn();
  store.subscribe(listener);
  grow();
  changed();
  // The page is hidden before the next frame.
  vi.advanceTimersByTime(1_000);
  expect(listener).toHaveBeenCalledTimes(1);
  // The page is visible again.
  paint();
  expect(listener).toHaveBeenCalledTimes(1);
});
