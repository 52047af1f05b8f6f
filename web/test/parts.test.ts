import { type ContentBlock, RecountError, type ToolCallBlock } from "@recount/client";
import { expect, test } from "vitest";
import { arrange } from "../src/blocks/arrange";
import { callState } from "../src/blocks/call";
import { labelsOf, withoutWrapping } from "../src/blocks/hint";
import { contentOf, titleFor } from "../src/conversation/content";
import { base64Size, bytes, count, dayAndHour, duration, firstLine, shortTime } from "../src/lib/format";
import { addressOf, readRoute } from "../src/lib/route";
import { parser } from "../src/markdown/parser";
import { errorText } from "../src/parts/notices";
import { matchesTitle, titleOf } from "../src/sessions/titles";

test("addresses and routes round-trip", () => {
  for (const route of [
    { session: undefined, inspect: undefined },
    { session: "a-b_c", inspect: undefined },
    { session: "a", inspect: 12 },
    { session: "a", inspect: "end" as const },
    { session: "a", inspect: { message: "7 of/9" } },
  ]) {
    const { pathname, search } = new URL(addressOf(route), "http://localhost");
    expect(readRoute({ pathname, search })).toEqual(route);
  }
  expect(readRoute({ pathname: "/s/what?", search: "" }).session).toBeUndefined();
});

test("a result is grouped with its call", () => {
  const call = (id: string) => ({ type: "tool_call", id }) as ContentBlock;
  const result = (id: string) => ({ type: "tool_result", id }) as ContentBlock;
  const text = { type: "text" } as ContentBlock;
  const [first, second, ...rest] = arrange([
    call("a"),
    call("b"),
    text,
    result("b"),
    result("c"),
    call("a"),
    result("a"),
  ]);
  expect(first).toEqual({ kind: "call", call: call("a"), result: undefined });
  expect(second).toEqual({ kind: "call", call: call("b"), result: result("b") });
  expect(rest).toEqual([
    { kind: "block", block: text },
    { kind: "block", block: result("c") },
    { kind: "call", call: call("a"), result: result("a") },
  ]);
});

test("a hint is labelled with its source", () => {
  expect(labelsOf('{"label":"Calendar","sublabel":"tomorrow"}')).toEqual({ label: "Calendar", sublabel: "tomorrow" });
  expect(labelsOf("a colleague")).toEqual({ label: "a colleague", sublabel: undefined });
  expect(labelsOf(null).label).toBe("Note");
  expect(labelsOf('{"kind":"timer"}')).toEqual({ label: '{"kind":"timer"}', sublabel: undefined });
  expect(withoutWrapping("<system-reminder>Stop.</system-reminder>\n")).toBe("Stop.");
});

test("script links are not links, and HTML is text", () => {
  const links = (text: string) => parser.render(text).includes("<a ");
  expect(links("[a](https://example.com)")).toBe(true);
  for (const address of ["javascript:alert(1)", "vbscript:x", "data:text/html,x", "JaVaScRiPt:alert(1)"]) {
    expect(links(`[a](${address})`)).toBe(false);
  }
  expect(parser.render("<img src=x onerror=alert(1)>")).not.toContain("<img");
});

test("sizes and times have a short format", () => {
  expect(duration(1234)).toBe("1.2 s");
  expect(duration(9_980)).toBe("10 s");
  expect(duration(59_700)).toBe("1 min 0 s");
  expect(duration(65_000)).toBe("1 min 5 s");
  expect(duration(119_800)).toBe("2 min 0 s");
  expect(count(999_960)).toBe("1.0M");
  expect(bytes(999_960)).toBe("1.0 MB");
  expect(bytes(3_400_000)).toBe("3.4 MB");
  expect(base64Size("AAA=")).toBe(2);
  expect(firstLine("one two three\nfour", 8)).toBe("one two…");
});

test("a time of another day includes the day", () => {
  const noon = Date.UTC(2026, 4, 6, 12);
  const hour = dayAndHour(noon, noon);
  const day = 86_400_000;
  expect(dayAndHour(noon, noon + 3 * day)).toMatch(new RegExp(`6.*, ${hour}$`));
  expect(shortTime(noon, noon + 3 * day)).not.toContain("2026");
  expect(shortTime(noon, noon + 300 * day)).toContain("2026");
  expect(dayAndHour(noon, noon + 300 * day)).toMatch(new RegExp(`2026.*, ${hour}$`));
});

test("errors have readable messages", () => {
  expect(errorText(new TypeError("Failed to fetch"))).toBe("The service cannot be reached.");
  // The status of a proxy has a fixed message, the service's own errors have a detail.
  expect(errorText(new RecountError({ status: 502 }))).toBe("The service cannot be reached.");
  const busy = { status: 503, type: "urn:recount:problem:unavailable", detail: "too many connections" };
  expect(errorText(new RecountError(busy))).toBe("Too many connections.");
  expect(errorText(new Error("no room"))).toBe("No room.");
});

test("a session is shown and found by its title or name", () => {
  const made = "0123456789abcdef0123456789abcdef";
  expect(titleOf({ id: "a", title: "Lisbon" })).toBe("Lisbon");
  expect(titleOf({ id: "Trip-7", title: null })).toBe("Trip-7");
  expect(titleOf({ id: made, title: null })).toBe("Untitled");
  for (const wanted of ["", " ", "lisb", "LISBON ", "trip-7", "TRIP"])
    expect(matchesTitle({ id: "Trip-7", title: "Lisbon" }, wanted)).toBe(true);
  expect(matchesTitle({ id: "Trip-7", title: "Lisbon" }, "porto")).toBe(false);
});

test("a denied call is not shown as done", () => {
  const call = { state: "finished" } as ToolCallBlock;
  expect(callState(call, undefined)).toEqual(["Denied", "bad"]);
});

test("the first message becomes the title of the session", () => {
  const file = { id: "a", name: "report.pdf", media_type: "application/pdf", data: "" };
  expect(titleFor(contentOf("Look at this", [file]))).toBe("Look at this");
  expect(titleFor(contentOf("", [file]))).toBe("report.pdf");
});
