import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { obstacles } from "./obstacles";
import { live, log, stage } from "./stage";
import { Reply, richReply, userMessage } from "./streams";

const at = stage();

/** A table that is wider than any page. */
const WIDE = ["`a`", "---", "some words"].map((cell) => `|${`${cell}|`.repeat(40)}`).join("\n");

/** Creates a session with all kinds of blocks and an open question. */
async function everything(session: string): Promise<void> {
  await at.service.create(session, { title: "Everything" });
  const reply = new Reply("asking");
  await at.service.append(session, [
    userMessage("question", "What shall I wear?"),
    ...richReply("reply"),
    userMessage("second", "Then pack."),
    ...reply.start(),
    ...reply.text("text", `# A table\n\n${WIDE}\n\n> [a link](https://example.com)`, 60),
    ...reply.call("call-1", "shell", { command: "pack" }),
    ...reply.call("call-2", "approve", { amount: 3 }),
    ...reply.asks("REQUIRE_USER_CONFIRM", "call-1", "shell", { command: "pack" }),
    ...reply.asks("REQUIRE_EXTERNAL_EXECUTION", "call-2", "approve", { amount: 3 }),
  ]);
}

test.each(["light", "dark"] as const)("the page has no accessibility problems in the %s theme", async (colorScheme) => {
  await everything(`all-${colorScheme}`);
  const { page, complaints } = await at.open(`/s/all-${colorScheme}`, { colorScheme });
  await page.getByRole("button", { name: "Give result" }).waitFor();
  await page.getByRole("button", { name: "Edit arguments" }).click();
  await log(page)
    .getByRole("button", { name: /^Thought/ })
    .click();
  expect(await obstacles(page)).toEqual([]);
  const focused = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.tagName);
  const skip = page.getByRole("link", { name: "Past the list of sessions" });
  await skip.focus();
  await page.keyboard.press("Enter");
  expect(await focused()).toBe("message");
  await page.getByRole("button", { name: "Inspector" }).click();
  await page.getByRole("slider", { name: "Event" }).waitFor();
  await page.getByRole("listbox").getByRole("option").first().waitFor();
  expect(await obstacles(page)).toEqual([]);
  await skip.focus();
  await page.keyboard.press("Enter");
  expect(await focused()).toBe("main");
  await page.getByRole("button", { name: "New session" }).click();
  expect(await obstacles(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test("the chosen theme is kept", async () => {
  const { page } = await at.open("/", { colorScheme: "light" });
  const paper = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
  const light = await paper();
  await page.getByRole("button", { name: "Colours: system" }).click();
  await page.getByRole("button", { name: "Colours: light" }).click();
  await page.getByRole("button", { name: "Colours: dark" }).waitFor();
  const dark = await paper();
  expect(dark).not.toBe(light);
  await page.reload();
  await page.getByRole("button", { name: "Colours: dark" }).waitFor();
  expect(await paper()).toBe(dark);
});

test("the page fits a phone", async () => {
  await everything("phone");
  const { page, complaints } = await at.open("/s/phone", {
    viewport: { width: 360, height: 640 },
    hasTouch: true,
    isMobile: true,
  });
  await live(page);
  await page.getByRole("button", { name: "Allow once" }).waitFor();
  const tooWide = () => page.evaluate("document.documentElement.scrollWidth > innerWidth");
  expect(await tooWide()).toBe(false);
  expect(await log(page).evaluate((box) => box.scrollWidth > box.clientWidth)).toBe(false);
  const list = page.getByRole("navigation", { name: "Sessions" });
  expect(await list.isVisible()).toBe(false);
  await page.getByRole("button", { name: "Sessions", exact: true }).click();
  await list.waitFor();
  expect(await obstacles(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await list.waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Inspector" }).click();
  await page.getByRole("listbox").getByRole("option").first().waitFor();
  expect(await tooWide()).toBe(false);
  expect(complaints).toEqual([]);
});

test("the page is usable by keyboard", async () => {
  await at.service.create("keys", { title: "By keys" });
  const { page } = await at.open("/s/keys");
  await live(page);
  const box = page.getByRole("textbox", { name: "Message" });
  expect(await box.evaluate((element) => element === document.activeElement)).toBe(true);
  await box.pressSequentially("one");
  await page.keyboard.press("Shift+Enter");
  await box.pressSequentially("two");
  expect(await box.inputValue()).toBe("one\ntwo");
  await page.reload();
  expect(await box.inputValue()).toBe("one\ntwo");
});

test("answering and editing by keyboard keep the focus", async () => {
  await everything("by-keys");
  const { page, complaints } = await at.open("/s/by-keys");
  await live(page);
  const focused = () =>
    page.evaluate("document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent");
  const tabTo = async (name: string) => {
    for (let i = 0; i < 60 && (await focused()) !== name; i++) await page.keyboard.press("Shift+Tab");
    expect(await focused()).toBe(name);
  };
  await tabTo("Edit arguments");
  await page.keyboard.press("Enter");
  const edited = page.getByRole("textbox", { name: "Arguments (JSON)" });
  expect(await edited.evaluate((element) => element === document.activeElement)).toBe(true);
  await edited.fill('{"command":"pack twice"}');
  await page.keyboard.press("Tab");
  expect(await focused()).toBe("Allow once");
  await page.keyboard.press("Enter");
  await log(page).getByText("pack twice", { exact: true }).waitFor();
  await expect.poll(focused).toMatch(/^shell/);

  await tabTo("Edit in a new session");
  await page.keyboard.press("Enter");
  await page.getByRole("textbox", { name: "Edited message" }).waitFor();
  await page.keyboard.press("Escape");
  expect(await focused()).toBe("Edit in a new session");
  await tabTo("Rename or delete Everything");
  await page.keyboard.press("Enter");
  await page.getByRole("textbox", { name: "Title" }).waitFor();
  await page.keyboard.press("Escape");
  expect(await focused()).toBe("Rename or delete Everything");
  expect(complaints).toEqual([]);
});

test("messages, code and tool results can be copied", async () => {
  await at.service.create("copied");
  await at.service.append("copied", [userMessage("question", "What shall I wear?"), ...richReply("reply")]);
  const { page, complaints } = await at.open("/s/copied", { permissions: ["clipboard-read", "clipboard-write"] });
  const copied = () => page.evaluate("navigator.clipboard.readText()");
  const expected = {
    "Copy code": "const a = 1;\n\nconst b = 2;",
    "Copy output": "Sunny, 27 degrees\nWind from the north-west\n",
    "Copy message": "What shall I wear?",
  };
  for (const [name, text] of Object.entries(expected)) {
    await log(page).getByRole("button", { name }).first().click();
    await log(page).getByRole("button", { name: "Copied" }).waitFor();
    expect(await copied()).toBe(text);
    await log(page).getByRole("button", { name: "Copied" }).waitFor({ state: "detached" });
  }
  expect(complaints).toEqual([]);
});

test("files can be attached, pasted and removed", async () => {
  await at.service.create("files");
  const { page } = await at.open("/s/files");
  await live(page);
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  await page.locator('input[type="file"]').setInputFiles([
    { name: "dot.png", mimeType: "image/png", buffer: png },
    { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("hello") },
  ]);
  const attached = page.getByRole("list", { name: "Attachments" });
  await attached.getByText("notes.txt").waitFor();
  await page.getByRole("button", { name: "Remove notes.txt" }).click();
  await page.getByRole("textbox", { name: "Message" }).evaluate((box, text) => {
    const pasted = new DataTransfer();
    pasted.items.add(
      new File([Uint8Array.from(atob(text), (char) => char.charCodeAt(0))], "pasted.png", { type: "image/png" }),
    );
    box.dispatchEvent(new ClipboardEvent("paste", { clipboardData: pasted, bubbles: true, cancelable: true }));
  }, png.toString("base64"));
  await attached.getByText("pasted.png").waitFor();
  // Files that are dropped elsewhere on the page are attached too, and the page is not left.
  const isTaken = await page.getByRole("navigation", { name: "Sessions" }).evaluate((list) => {
    const dropped = new DataTransfer();
    dropped.items.add(new File(["a,b"], "dropped.csv", { type: "text/csv" }));
    const event = (name: string) => new DragEvent(name, { dataTransfer: dropped, bubbles: true, cancelable: true });
    list.dispatchEvent(event("dragenter"));
    return [event("dragover"), event("drop")].map((one) => !list.dispatchEvent(one));
  });
  expect(isTaken).toEqual([true, true]);
  await attached.getByText("dropped.csv").waitFor();
  await expect.poll(() => attached.getByRole("listitem").count()).toBe(3);
  await page.getByRole("button", { name: "Send" }).click();
  await log(page)
    .getByText(/\d+ in · \d+ out/)
    .waitFor();
  for (const name of ["dot.png", "pasted.png"]) await log(page).getByRole("img", { name }).waitFor();
  await log(page).getByRole("link", { name: "dropped.csv" }).waitFor();
  const box = page.getByRole("textbox", { name: "Message" });
  expect(await box.evaluate((element) => element === document.activeElement)).toBe(true);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    log(page).getByRole("button", { name: "Download dot.png" }).click(),
  ]);
  expect(readFileSync(await download.path())).toEqual(png);
});
