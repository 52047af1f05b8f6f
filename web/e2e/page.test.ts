import type { AgentEvent } from "@recount/client";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { watch } from "./browser";
import { live, log, shown, stage } from "./stage";
import { Reply, richReply, userMessage } from "./streams";

const at = stage();

/** The footer of a complete reply. */
const ended = (page: Page) => log(page).getByText("120 in · 34 out").last().waitFor();

/** Appends events like an agent: a few at a time. */
async function tell(session: string, events: readonly AgentEvent[], meanwhile?: (part: number) => Promise<void>) {
  const size = Math.ceil(events.length / 8);
  for (let part = 0; part * size < events.length; part++) {
    await at.service.append(session, events.slice(part * size, (part + 1) * size));
    await meanwhile?.(part);
  }
}

test("a reply read with interruptions looks like one read at once", async () => {
  await at.service.create("whole");
  await at.service.create("broken");
  const whole = await at.open("/s/whole");
  await live(whole.page);
  await at.service.append("whole", [userMessage("question", "What shall I wear?")]);
  await tell("whole", richReply("reply"));
  await ended(whole.page);
  expect(whole.complaints).toEqual([]);

  const { page, context } = await at.open("/s/broken");
  await live(page);
  await at.service.append("broken", [userMessage("question", "What shall I wear?")]);
  await tell("broken", richReply("reply"), async (part) => {
    if (part === 1) await page.reload();
    if (part === 2) await context.setOffline(true);
    if (part === 2) await page.getByText("Offline, trying again").waitFor();
    if (part === 3) await context.setOffline(false);
    if (part === 3) at.service.line.cut();
    if (part === 3) await page.getByText("Offline, trying again").or(page.getByText("Connecting…")).first().waitFor();
    if (part === 5) at.service.line.mend();
    if (part === 6) {
      await at.service.kill();
      await at.service.restart();
    }
  });
  await ended(page);
  expect(await shown(page)).toBe(await shown(whole.page));
  expect(await shown(page)).toContain("the calendar");

  const later = await at.open("/s/whole");
  await ended(later.page);
  expect(await shown(later.page)).toBe(await shown(whole.page));
});

test("two tabs show the same, and the first answer counts", async () => {
  await at.service.create("tabs");
  const reply = new Reply("reply");
  const input = { command: "ls" };
  const rule = { tool_name: "shell", rule_content: "ls:*", behavior: "allow" as const, source: "suggested" };
  await at.service.append("tabs", [
    userMessage("question", "List them."),
    ...reply.start(),
    ...reply.call("call-1", "shell", input),
    ...reply.asks("REQUIRE_USER_CONFIRM", "call-1", "shell", input, [rule]),
  ]);
  const first = await at.open("/s/tabs");
  const second = await watch(first.context, `${at.service.page}/s/tabs`);
  for (const { page } of [first, second]) {
    await page.getByText("allow shell: ls:*").waitFor();
    // The list of sessions has its own connection.
    await page
      .getByRole("navigation", { name: "Sessions" })
      .getByText("Waits for an answer", { exact: true })
      .waitFor();
  }
  // Another client answers while this tab is disconnected.
  await second.page.route("**/events", async (route) => {
    const answered = first.page.waitForResponse("**/events");
    await first.page.getByRole("button", { name: "Allow once" }).click();
    await answered;
    await route.continue();
  });
  const refused = second.page.waitForResponse((response) => response.status() === 409);
  await second.page.getByRole("button", { name: "Deny" }).click();
  await refused;
  await second.page
    .getByRole("alert")
    .getByText(/answer/)
    .waitFor();
  await at.service.append("tabs", [...reply.result("call-1", "shell", "a b c"), ...reply.end()]);
  for (const { page } of [first, second]) await ended(page);
  expect(await shown(second.page)).toBe(await shown(first.page));
  const events = await (await at.service.ask("GET", "sessions/tabs/events")).text();
  expect(events.match(/USER_CONFIRM_RESULT/g)).toHaveLength(1);
});

test("edited arguments and external results are sent", async () => {
  await at.service.create("answers");
  const reply = new Reply("reply");
  await at.service.append("answers", [
    ...reply.start(),
    ...reply.call("call-1", "shell", { command: "ls" }),
    ...reply.call("call-2", "approve", { amount: 3 }),
    ...reply.asks("REQUIRE_USER_CONFIRM", "call-1", "shell", { command: "ls" }),
    ...reply.asks("REQUIRE_EXTERNAL_EXECUTION", "call-2", "approve", { amount: 3 }),
  ]);
  const { page, complaints } = await at.open("/s/answers");
  // A `shell` call without a suggested rule cannot be allowed permanently.
  await page.getByRole("button", { name: "Allow once" }).waitFor();
  expect(await page.getByRole("button", { name: "Always allow" }).count()).toBe(0);
  await page.getByRole("button", { name: "Edit arguments" }).click();
  const box = page.getByRole("textbox", { name: "Arguments (JSON)" });
  await box.fill('{"command":');
  await page.getByText("This is no JSON.").waitFor();
  expect(await page.getByRole("button", { name: "Allow once" }).isDisabled()).toBe(true);
  await box.fill('{"command":"ls -l"}');
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.getByText("ls -l", { exact: true }).waitFor();
  await page.getByRole("textbox", { name: "Result" }).fill("approved by me");
  await page.getByRole("button", { name: "Give result" }).click();
  await log(page).getByText("approved by me").waitFor();
  expect(complaints).toEqual([]);
});

test("always allow shows and sends the access of a rule, and is not offered for edited arguments", async () => {
  await at.service.create("access");
  const reply = new Reply("reply");
  const input = { command: "npm install left-pad", access: ["write", "network"], reason: "the build needs it" };
  const suggested = {
    tool_name: "shell",
    rule_content: "npm install:*",
    behavior: "allow" as const,
    source: "suggested",
    access: ["write", "network"],
  };
  await at.service.append("access", [
    ...reply.start(),
    ...reply.call("call-1", "shell", input),
    ...reply.asks("REQUIRE_USER_CONFIRM", "call-1", "shell", input, [suggested]),
  ]);
  const { page, complaints } = await at.open("/s/access");
  await page.getByText("Requests: write to the workspace, network — Reason: the build needs it").waitFor();
  const rule = page.getByText("allow shell: npm install:* with write, network");
  await rule.waitFor();

  const always = page.getByRole("button", { name: "Always allow" });
  await page.getByRole("button", { name: "Edit arguments" }).click();
  await page.getByRole("textbox", { name: "Arguments (JSON)" }).fill('{"command":"ls","access":["unsandboxed"]}');
  await page.getByText("Requests: run outside the sandbox", { exact: true }).waitFor();
  await always.waitFor({ state: "hidden" });
  await rule.waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Leave as they were" }).click();

  await always.click();
  await always.waitFor({ state: "hidden" });
  const events: AgentEvent[] = (await (await at.service.ask("GET", "sessions/access/events")).text())
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const answer = events.find((event) => event.type === "USER_CONFIRM_RESULT");
  expect(answer?.confirm_results[0]?.rules).toEqual([suggested]);
  expect(JSON.parse(answer?.confirm_results[0]?.tool_call.input ?? "")).toEqual(input);
  expect(complaints).toEqual([]);
});

test("the finish reason of a reply is shown", async () => {
  await at.service.create("endings");
  const failed = new Reply("failed");
  await at.service.append("endings", [
    ...failed.start(),
    ...failed.end({ finished_reason: "error", error: { type: "rate_limit", message: "slow down" } }),
  ]);
  const { page } = await at.open("/s/endings");
  await page.getByText("The reply failed (rate limit): slow down").waitFor();
  const stopped = new Reply("stopped");
  await at.service.append("endings", [...stopped.start(), ...stopped.end({ finished_reason: "interrupted" })]);
  await page.getByText("Stopped.").waitFor();
});

test("undisplayable data can be downloaded, and long names stay within their box", async () => {
  await at.service.create("odd");
  const reply = new Reply("reply");
  const long = "a-very-long-name-".repeat(40);
  const data = (block_id: string, media_type: string, name: string) => [
    reply.event("DATA_BLOCK_START", { block_id, media_type, name }),
    reply.event("DATA_BLOCK_DELTA", { block_id, media_type, data: "AAAA" }),
    reply.event("DATA_BLOCK_END", { block_id }),
  ];
  await at.service.append("odd", [
    ...reply.start(),
    ...data("film", "video/mp4", "film.mp4"),
    ...data("picture", "image/png", "picture.png"),
    reply.event("HINT_BLOCK", { block_id: "hint", source: long, hint: "Hello." }),
    ...reply.call("call", long, { x: 1 }),
    ...reply.result("call", long, "<system-reminder>Not now.</system-reminder>"),
    ...reply.end(),
  ]);
  const { page, complaints } = await at.open("/s/odd", { viewport: { width: 700, height: 700 } });
  await ended(page);
  for (const name of ["film.mp4", "picture.png"]) {
    const link = log(page).getByRole("link", { name: `${name} cannot be shown` });
    expect(await link.getAttribute("download")).toBe(name);
  }
  await log(page).getByText("Not now.", { exact: true }).waitFor();
  expect(await log(page).evaluate((box) => box.scrollWidth > box.clientWidth)).toBe(false);
  const widest = await log(page)
    .locator(".fold")
    .evaluateAll((folds) => Math.max(...folds.map((fold) => fold.getBoundingClientRect().right)));
  expect(widest).toBeLessThanOrEqual(700);
  const standing = log(page).locator(".standing");
  expect(await standing.textContent()).toBe("Done");
  expect(await standing.evaluate((word) => word.scrollWidth > word.clientWidth)).toBe(false);
  expect(complaints).toEqual([]);
});

test("long arguments leave the question in view and show their end while growing", async () => {
  await at.service.create("file");
  const reply = new Reply("reply");
  const input = { path: "notes.md", content: Array.from({ length: 300 }, (_, i) => `Line ${i}.`).join("\n") };
  const [start, ...coming] = reply.call("call", "write", input);
  const end = coming.pop()!;
  await at.service.append("file", [...reply.start(), start!, ...coming]);
  const { page } = await at.open("/s/file");
  const card = log(page).getByRole("region", { name: "Tool call write" });
  const arriving = card.locator("pre");
  await arriving.getByText("Line 299.").waitFor();
  const height = () => card.evaluate((element) => element.getBoundingClientRect().height);
  expect(await height()).toBeLessThan(500);
  const rest = () => arriving.evaluate((box) => Math.round(box.scrollHeight - box.clientHeight - box.scrollTop));
  await expect.poll(rest).toBeLessThan(2);
  await at.service.append("file", [end, ...reply.asks("REQUIRE_USER_CONFIRM", "call", "write", input)]);
  await page.getByRole("button", { name: "Allow once" }).waitFor();
  expect(await height()).toBeLessThan(700);
  // Long values can be scrolled by keyboard, and short ones are not tab stops.
  expect(await card.locator("dd").evaluateAll((values) => values.map(({ tabIndex }) => tabIndex))).toEqual([-1, 0]);
});

test("status signals of a reply are shown until it continues", async () => {
  await at.service.create("signals");
  const { page } = await at.open("/s/signals");
  await live(page);
  const reply = new Reply("reply");
  await at.service.append("signals", reply.start());
  const signal = { type: "CUSTOM", name: "recount.fallback", value: { from: "one", to: "two" } } as const;
  await at.service.append("signals", [signal]);
  await page.getByText("one did not answer. two is asked instead.").waitFor();
  await at.service.append("signals", [...reply.text("text", "There."), ...reply.end()]);
  await ended(page);
  await expect.poll(() => page.getByText("one did not answer").count()).toBe(0);
});

test("Markdown creates no active content", async () => {
  await at.service.create("safe");
  const reply = new Reply("reply");
  const evil = `<img src=x onerror="window.bad=1"> [a](javascript:window.bad=1) ![b](https://example.com/steal?x=1)\n\n<script>window.bad=1</script>`;
  await at.service.append("safe", [...reply.start(), ...reply.text("text", evil), ...reply.end()]);
  const { page, complaints } = await at.open("/s/safe");
  await ended(page);
  await expect.poll(() => log(page).locator("img, script").count()).toBe(0);
  await expect.poll(() => log(page).locator('a[href^="javascript"]').count()).toBe(0);
  expect(await log(page).getByRole("link", { name: "b" }).getAttribute("rel")).toContain("noopener");
  expect(await page.evaluate("window.bad")).toBeUndefined();
  expect(complaints).toEqual([]);
});

test("the end stays in view unless the user has scrolled up", async () => {
  await at.service.create("scroll");
  const { page } = await at.open("/s/scroll", { viewport: { width: 900, height: 500 } });
  await live(page);
  const reply = new Reply("reply");
  await at.service.append("scroll", [...reply.start(), ...reply.text("one", "A line.\n\n".repeat(40), 60)]);
  const rest = () => log(page).evaluate((box) => Math.round(box.scrollHeight - box.clientHeight - box.scrollTop));
  await page.getByText("A line.").nth(39).waitFor();
  await expect.poll(rest).toBeLessThan(2);
  await log(page).evaluate((box) => box.scrollTo(0, 100));
  await page.getByRole("button", { name: "Go to the newest message" }).waitFor();
  await at.service.append("scroll", reply.text("two", "More.\n\n".repeat(40), 60));
  await page.getByText("More.").nth(39).waitFor();
  expect(await log(page).evaluate((box) => box.scrollTop)).toBe(100);
  await page.getByRole("button", { name: "Go to the newest message" }).click();
  await expect.poll(rest).toBeLessThan(2);
});

test("the message being edited stays in view while a reply grows", async () => {
  await at.service.create("editing");
  const reply = new Reply("reply");
  await at.service.append("editing", [
    userMessage("asked", "A question."),
    ...reply.start(),
    ...reply.text("one", "A line.\n\n".repeat(2), 60),
  ]);
  const { page } = await at.open("/s/editing", { viewport: { width: 900, height: 500 } });
  await page.getByText("A line.").nth(1).waitFor();
  await log(page).getByText("A question.").hover();
  await page.getByRole("button", { name: "Edit in a new session" }).click();
  const editor = page.getByRole("textbox", { name: "Edited message" });
  await editor.fill("Another question.");
  await at.service.append("editing", reply.text("two", "More.\n\n".repeat(40), 60));
  await page.getByText("More.").nth(39).waitFor();
  const isSeen = () =>
    editor.evaluate((field) => {
      const { top, bottom } = field.getBoundingClientRect();
      const seen = field.closest("[role=log]")!.getBoundingClientRect();
      return top >= seen.top && bottom <= seen.bottom;
    });
  expect(await isSeen()).toBe(true);
  await page.getByRole("button", { name: "Go to the newest message" }).waitFor();
});

test("sessions are added, renamed and removed live", async () => {
  const { page, complaints } = await at.open("/");
  const list = page.getByRole("navigation", { name: "Sessions" });
  await at.service.create("fresh", { title: "Fresh from elsewhere" });
  await list.getByText("Fresh from elsewhere").click();
  await expect.poll(() => page.url()).toContain("/s/fresh");
  await list.getByRole("button", { name: "Rename or delete Fresh from elsewhere" }).click();
  await page.getByRole("textbox", { name: "Title" }).fill("Renamed");
  await page.getByRole("button", { name: "Rename", exact: true }).click();
  await page.getByRole("heading", { name: "Renamed" }).waitFor();
  await list.getByRole("button", { name: "Rename or delete Renamed" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("button", { name: "Really delete" }).click();
  await expect.poll(() => new URL(page.url()).pathname).toBe("/");
  await expect.poll(() => list.getByText("Renamed").count()).toBe(0);
  expect(complaints).toEqual([]);
});

test("the current session is in view in the list, and waiting sessions are visited in turn", async () => {
  await at.service.create("eldest", { title: "The eldest of all" });
  for (const name of ["waits-1", "waits-2"]) {
    await at.service.create(name, { title: `It ${name}` });
    const reply = new Reply(name);
    const asked = reply.asks("REQUIRE_USER_CONFIRM", "call", "run", {});
    await at.service.append(name, [...reply.start(), ...reply.call("call", "run", {}), ...asked]);
  }
  for (let i = 0; i < 40; i++) await at.service.create(`one-of-many-${i}`);
  const { page } = await at.open("/s/eldest");
  const link = page.getByRole("navigation", { name: "Sessions" }).getByRole("link", { name: "The eldest of all" });
  await link.waitFor();
  const isSeen = () =>
    link.evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      const seen = element.closest("nav")!.getBoundingClientRect();
      return top >= seen.top && bottom <= seen.bottom;
    });
  await expect.poll(isSeen).toBe(true);
  const waiting = page.getByRole("button", { name: /sessions wait for an answer/ });
  const seen = new Set<string>();
  const count = Number.parseInt((await waiting.textContent())!, 10);
  for (let i = 0; i < count; i++) {
    const before = page.url();
    await waiting.click();
    await expect.poll(() => page.url()).not.toBe(before);
    seen.add(new URL(page.url()).pathname);
  }
  expect(seen.size).toBe(count);
  expect(seen).toContain("/s/waits-1");
  expect(seen).toContain("/s/waits-2");
});

test("the most recently updated session is first, but the item under the pointer keeps its place", async () => {
  for (const title of ["Elder", "Younger"]) await at.service.create(title.toLowerCase(), { title });
  const { page } = await at.open("/s/elder");
  const links = page.getByRole("navigation", { name: "Sessions" }).getByRole("link");
  const first = async () => (await links.first().locator(".title").textContent())!;
  await expect.poll(first).toBe("Younger");
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill("Hello.");
  await box.press("Enter");
  await expect.poll(first).toBe("Elder");
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "hidden" });

  await links.first().hover();
  await at.service.ask("POST", "sessions/younger/messages", { content: "Hello." });
  await links.filter({ hasText: "Younger" }).getByText("Replying").waitFor();
  await links.filter({ hasText: "Younger" }).getByText("Replying").waitFor({ state: "detached" });
  expect(await first()).toBe("Elder");
  await box.hover();
  await expect.poll(first).toBe("Younger");
});

test("a missing session can be created", async () => {
  const { page, complaints } = await at.open("/s/not-there-yet");
  await page.getByText("There is no such session").waitFor();
  await page.getByRole("button", { name: "Create it" }).click();
  await page.getByText("Nothing has been said yet.").waitFor();
  await page.getByRole("button", { name: "Inspector" }).click();
  await page.getByText("Nothing has happened yet").waitFor();
  expect(complaints).toEqual([]);
});
