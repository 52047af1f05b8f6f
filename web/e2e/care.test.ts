import type { Msg } from "@recount/client";
import { expect, test } from "vitest";
import { live, log, stage } from "./stage";
import { Reply, userMessage } from "./streams";

const at = stage();

test("text that does not fit into storage lasts until the page is closed", async () => {
  const { page, complaints } = await at.open("/");
  await live(page);
  await page.evaluate(() => {
    for (let size = 4_000_000; size >= 1; size /= 2) {
      try {
        for (let i = 0; ; i++) sessionStorage.setItem(`${size} ${i}`, "x".repeat(size));
      } catch {}
    }
  });
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill("Some words.");
  expect(await box.inputValue()).toBe("Some words.");
  await page.getByRole("button", { name: "Send" }).click();
  await log(page)
    .getByText(/\d+ in · \d+ out/)
    .waitFor();
  expect(complaints).toEqual([]);
});

test("an unsent message survives switching sessions and a reload, and is sent once", async () => {
  await at.service.create("here", { title: "Kitchen" });
  await at.service.create("there", { title: "Garden" });
  const { page, context } = await at.open("/s/here");
  await live(page);
  await context.route("**/messages", (route) => route.abort());
  const box = page.getByRole("textbox", { name: "Message" });
  for (const words of ["the first", "the second"]) {
    await box.fill(words);
    await page.keyboard.press("Enter");
  }
  await log(page).getByText("the second").waitFor();
  const sessions = page.getByRole("navigation", { name: "Sessions" });
  await sessions.getByText("Garden").click();
  await page.getByText("Nothing has been said yet.").waitFor();
  await sessions.getByText("Kitchen").click();
  await log(page).getByText("the first", { exact: true }).waitFor();
  await page.reload();
  await log(page).getByText("the second", { exact: true }).waitFor();
  await context.unroute("**/messages");
  const users = async () => {
    const { messages } = (await (await at.service.ask("GET", "sessions/here/messages")).json()) as { messages: Msg[] };
    return messages
      .filter(({ role }) => role === "user")
      .map(({ content: [block] }) => block?.type === "text" && block.text);
  };
  await expect.poll(users).toEqual(["the first", "the second"]);
  await expect.poll(() => log(page).getByRole("article", { name: "Your message" }).count()).toBe(0);
  await expect.poll(() => page.getByRole("button", { name: "Stop" }).count()).toBe(0);
  expect(await users()).toHaveLength(2);
});

test("no other title flashes before the session's own is known", async () => {
  await at.service.create("0123456789abcdef0123456789abcdef", { title: "Attic" });
  const { page, context } = await at.open("/");
  await live(page);
  await context.addInitScript(() => {
    const seen: string[] = [];
    Object.assign(window, { seen });
    const look = () => {
      const title = document.querySelector("h1")?.textContent;
      if (title !== undefined && title !== seen.at(-1)) seen.push(title);
    };
    new MutationObserver(look).observe(document, { childList: true, characterData: true, subtree: true });
  });
  await page.goto(`${at.service.page}/s/0123456789abcdef0123456789abcdef`);
  await page.getByRole("heading", { name: "Attic" }).waitFor();
  await live(page);
  expect(await page.evaluate("seen")).toEqual(["Attic"]);
  expect(await page.title()).toBe("Attic · Recount");
});

test("creating a session without the service shows an error", async () => {
  const { page } = await at.open("/");
  await live(page);
  at.service.line.cut();
  await page.getByRole("textbox", { name: "Message" }).fill("Hello?");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("The service cannot be reached.").waitFor();
  expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("Hello?");
});

test("a denied call is shown as denied before its result arrives, and empty parts take no space", async () => {
  await at.service.create("empty");
  const reply = new Reply("reply");
  const input = { command: "rm" };
  const file = {
    type: "data",
    id: "file",
    name: "empty.txt",
    source: { type: "base64", media_type: "text/plain", data: "" },
  };
  const question = userMessage("question", "Remove it.");
  if (question.type === "CUSTOM") (question.value as { content: object[] }).content.unshift(file);
  await at.service.append("empty", [
    question,
    ...reply.start(),
    ...reply.call("silent", "silent", {}),
    reply.event("TOOL_RESULT_START", { tool_call_id: "silent", tool_call_name: "silent" }),
    reply.event("TOOL_RESULT_TEXT_DELTA", { tool_call_id: "silent", delta: "" }),
    reply.event("TOOL_RESULT_END", { tool_call_id: "silent", state: "success" }),
    ...reply.call("call", "shell", input),
    ...reply.asks("REQUIRE_USER_CONFIRM", "call", "shell", input),
  ]);
  const { page, complaints } = await at.open("/s/empty");
  await page.getByRole("button", { name: "Deny" }).click();
  await page.getByRole("region", { name: "Tool call shell" }).getByText("Denied", { exact: true }).waitFor();
  expect(await log(page).locator(".output").count()).toBe(0);
  await log(page).getByRole("link", { name: "empty.txt 0 B" }).waitFor();
  expect(complaints).toEqual([]);
});

test("right-to-left text is aligned to the right", async () => {
  await at.service.create("right");
  const reply = new Reply("reply");
  await at.service.append("right", [
    userMessage("question", "שלום\nhello"),
    ...reply.start(),
    ...reply.text("text", "# كتاب\n\nمرحبا بالعالم.\n\n- واحد\n- اثنان\n\nAnd *this* from left to right."),
    ...reply.end(),
  ]);
  const { page } = await at.open("/s/right");
  await live(page);
  const directions = await log(page)
    .locator(".said, .prose > *")
    .evaluateAll((all) => all.map((element) => getComputedStyle(element).direction));
  expect(directions).toEqual(["rtl", "rtl", "rtl", "rtl", "ltr"]);
  await page.getByRole("textbox", { name: "Message" }).fill("שלום");
  expect(await page.getByRole("textbox", { name: "Message" }).evaluate((box) => box.matches(":dir(rtl)"))).toBe(true);
});
