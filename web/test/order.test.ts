import type { SessionInfo } from "@recount/client";
import { expect, test } from "vitest";
import { asBefore, newestFirst } from "../src/sessions/order";

const session = (id: string, hour: number) => ({ id, updated_at: new Date(Date.UTC(2026, 0, 1, hour)).toISOString() });
const named = (sessions: readonly { id: string }[]) => sessions.map(({ id }) => id).join("");
const all = (...sessions: { id: string }[]) => sessions as SessionInfo[];

test("the most recently updated session is first", () => {
  expect(named(newestFirst(all(session("a", 1), session("b", 3), session("c", 2), session("d", 2))))).toBe("bcda");
});

test("sessions keep their previous order", () => {
  const before = newestFirst(all(session("a", 1), session("b", 2), session("c", 3)));
  const now = all(session("a", 9), session("c", 3), session("x", 4), session("y", 5));
  expect(named(asBefore(now, before))).toBe("yxca");
});
