import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { live, log, shown, stage, timeless } from "./stage";

const at = stage();

/** Matches the token counts that the demo model reports at the end of a reply. */
const ended = /\d+ in · \d+ out/;

test("a whole conversation with thinking, a tool and a question", async () => {
  const { page, complaints } = await at.open("/");
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill("Please think, then use a tool.");
  await box.press("Enter");
  await expect.poll(() => page.url()).toMatch(/\/s\/[A-Za-z0-9_-]+$/);
  await page.getByRole("heading", { name: "Please think, then use a tool." }).waitFor();
  await page.getByRole("button", { name: "Stop" }).waitFor();
  await log(page).getByText("Asks for permission").waitFor();
  await page.getByRole("navigation", { name: "Sessions" }).getByText("Waits for an answer", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Allow once" }).click();
  await log(page).getByText("Done", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "hidden" });
  await log(page).getByText(ended).waitFor();
  const thought = log(page).getByRole("button", { name: /^Thought/ });
  expect(await thought.getAttribute("aria-expanded")).toBe("false");
  await expect.poll(() => log(page).getByRole("article").count()).toBe(2);
  expect(await log(page).locator("time").count()).toBeGreaterThanOrEqual(2);

  const reply = await shown(page);
  await page.reload();
  await live(page);
  await log(page).getByText(ended).waitFor();
  expect(await shown(page)).toBe(reply);

  await box.fill("Show me an image.");
  await page.getByRole("button", { name: "Send" }).click();
  await log(page).getByRole("img").waitFor();
  expect(complaints).toEqual([]);
});

test("a sub-agent's question is answered in the call that started it", async () => {
  await at.service.create("helped", { agent: "lead" });
  const { page, complaints } = await at.open("/s/helped");
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill('other {"task": "use the shell"}');
  await box.press("Enter");
  const call = log(page).getByRole("region", { name: "Tool call other" });
  await call.getByRole("region", { name: "Tool call shell" }).getByText("Asks for permission").waitFor();
  await call.getByRole("button", { name: "Allow once" }).click();
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "hidden" });
  await expect.poll(() => log(page).getByText(ended).count()).toBe(2);
  await expect.poll(() => call.getByRole("article").count()).toBe(1);
  await expect.poll(() => log(page).getByRole("article").count()).toBe(3);

  const reply = await shown(page);
  await page.reload();
  await live(page);
  await expect.poll(() => log(page).getByText(ended).count()).toBe(2);
  expect(await shown(page)).toBe(reply);
  expect(complaints).toEqual([]);
});

test("a message sent during a reply is queued", async () => {
  const { page } = await at.open("/");
  await askForMuch(page);
  await page.getByRole("textbox", { name: "Message" }).fill("And hello.");
  await page.getByRole("textbox", { name: "Message" }).press("Enter");
  await log(page).getByText("And hello.", { exact: true }).waitFor();
  await expect.poll(() => log(page).getByText(ended).count(), { timeout: 50_000 }).toBe(2);
  await expect.poll(() => log(page).getByText("Sending…").count()).toBe(0);
  await expect.poll(() => log(page).getByRole("article").count()).toBe(4);
});

test("example messages are offered without an API key", async () => {
  const { page, complaints } = await at.open("/");
  await live(page);
  await page.getByRole("button", { name: "Show me an image" }).click();
  await log(page).getByRole("img").waitFor();
  expect(complaints).toEqual([]);
});

test("an agent can be chosen", async () => {
  const { page } = await at.open("/");
  await page.getByRole("combobox", { name: "Agent" }).selectOption("other");
  await page.getByRole("textbox", { name: "Message" }).fill("Hello.");
  await page.getByRole("button", { name: "Send" }).click();
  await log(page).getByRole("article", { name: "other" }).waitFor();
  await page.getByRole("main").getByText("other", { exact: true }).first().waitFor();
});

test("a reply is interrupted and regenerated with another text in a fork", async () => {
  const { page, complaints } = await at.open("/");
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill("Something long, please.");
  await box.press("Enter");
  await page.getByRole("button", { name: "Stop" }).click();
  await log(page).getByText("Stopped.").waitFor();
  expect(await box.evaluate((element) => element === document.activeElement)).toBe(true);
  const first = page.url();

  await log(page).getByRole("article").first().hover();
  await page.getByRole("button", { name: "Edit in a new session" }).click();
  await page.getByRole("textbox", { name: "Edited message" }).fill("Hello there.");
  await page.getByRole("button", { name: "Say this in a new session" }).click();
  await expect.poll(() => page.url()).not.toBe(first);
  await log(page).getByText("Hello there.", { exact: true }).waitFor();
  await log(page).getByText(ended).waitFor();
  await expect.poll(() => log(page).getByText("Something long").count()).toBe(0);

  const second = page.url();
  await log(page).getByRole("article").last().hover();
  await page.getByRole("button", { name: "Regenerate in a new session" }).click();
  await expect.poll(() => page.url()).not.toBe(second);
  await log(page).getByText(ended).waitFor();
  await expect.poll(() => log(page).getByRole("article").count()).toBe(2);
  expect(complaints).toEqual([]);
});

/** Returns the text of the model's replies. */
const words = async (page: Page) => (await log(page).locator(".piece > .prose").allTextContents()).join("\n");

async function askForMuch(page: Page): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill("Something long, please.");
  await page.getByRole("button", { name: "Send" }).click();
  await expect.poll(async () => (await words(page)).length).toBeGreaterThan(100);
}

test("a reply continues after a reload and a cut connection", async () => {
  const { page } = await at.open("/");
  await askForMuch(page);
  await page.reload();
  await expect.poll(async () => (await words(page)).length).toBeGreaterThan(400);
  at.service.line.cut();
  await page.getByText("Offline, trying again").or(page.getByText("Connecting…")).first().waitFor();
  at.service.line.mend();
  await live(page);
  await log(page).getByText(ended).waitFor({ timeout: 40_000 });

  const again = await at.open("/");
  await askForMuch(again.page);
  await log(again.page).getByText(ended).waitFor({ timeout: 40_000 });
  expect(await timeless(page)).toBe(await timeless(again.page));
});

test("a reply continues after the service is killed", async () => {
  const { page } = await at.open("/");
  await askForMuch(page);
  await at.service.kill();
  await page.getByText("Offline, trying again").or(page.getByText("Connecting…")).first().waitFor();
  await at.service.restart();
  await live(page);
  await log(page).getByText(ended).waitFor({ timeout: 40_000 });
  const fresh = await at.open(new URL(page.url()).pathname);
  await log(fresh.page).getByText(ended).waitFor();
  expect(await shown(page)).toBe(await shown(fresh.page));
});
