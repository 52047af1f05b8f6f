import { type AgentEvent, Fold } from "@recount/client";
import { expect, test } from "vitest";
import { EVERY, History, subjectOf } from "../src/inspector/history";

/** Two interleaved replies, with a signal between them. */
function stream(): AgentEvent[] {
  const events: AgentEvent[] = [
    { type: "CUSTOM", name: "recount.message", value: { id: "question", role: "user", name: "user", content: [] } },
  ];
  for (const reply_id of ["one", "two"]) {
    events.push({ type: "REPLY_START", session_id: "s", reply_id, name: "agent", created_at: "2026-01-01T00:00:00Z" });
    events.push({ type: "TEXT_BLOCK_START", reply_id, block_id: "text" });
  }
  for (let i = 0; i < 5 * EVERY; i++) {
    events.push({ type: "TEXT_BLOCK_DELTA", reply_id: i % 3 ? "one" : "two", block_id: "text", delta: ` ${i}` });
    if (i === EVERY) events.push({ type: "CUSTOM", name: "recount.retry", value: { attempt: 1 } });
  }
  for (const reply_id of ["one", "two"]) events.push({ type: "REPLY_END", session_id: "s", reply_id });
  events.push({ type: "TEXT_BLOCK_DELTA", reply_id: "one", block_id: "text", delta: "late" });
  return events;
}

test("the message at an event is the fold of the events up to it", () => {
  const history = new History();
  const fold = new Fold();
  const events = stream();
  const expected = events.map((event, i) => {
    history.push({ cursor: `7.${i + 1}`, event });
    fold.apply(event);
    return JSON.stringify(fold.message(history.subjectAt(i)!));
  });
  for (let i = events.length - 1; i >= 0; i--) expect(JSON.stringify(history.messageAt(i))).toBe(expected[i]);
  expect(history.reasonAt(events.length - 1)).toBe("reply ended");
  expect(history.reasonAt(3)).toBeUndefined();
});

test("messages are found by their first event", () => {
  const history = new History();
  for (const [i, event] of stream().entries()) history.push({ cursor: `7.${i + 1}`, event });
  expect(history.beginnings()).toEqual([0, 1, 3]);
  expect(history.beginningOf("two")).toBe(3);
  expect(history.beginningOf("three")).toBeUndefined();
  expect(history.extentAt(2)).toEqual({ first: 1, last: history.length - 1 });
});

test("a signal concerns the session", () => {
  expect(subjectOf({ type: "CUSTOM", name: "recount.retry", value: { attempt: 1 } })).toBeUndefined();
  expect(subjectOf({ type: "CUSTOM", name: "recount.call", value: { reply_id: "one" } })).toBe("one");
});
