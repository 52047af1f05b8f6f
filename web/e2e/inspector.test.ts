import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { live, log, stage } from "./stage";
import { Reply, richReply, userMessage } from "./streams";

const at = stage();

test("any event can be selected, and the message is shown as of then", async () => {
  await at.service.create("events");
  const reply = new Reply("reply");
  const question = userMessage("question", "Count.");
  const text = Array.from({ length: 200 }, (_, i) => `${i} `).join("");
  const events = [question, ...reply.start(), ...reply.text("text", text, 5), ...reply.end()];
  await at.service.append("events", events);
  const { page, complaints } = await at.open("/s/events");
  await live(page);
  await log(page).getByRole("button", { name: "Inspect its events" }).last().click();
  const slider = page.getByRole("slider", { name: "Event" });
  await page.getByText(`Event 2 of ${events.length}`).waitFor();
  const then = page.getByRole("region", { name: "The message after this event" });
  await slider.focus();
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
  await page.getByText(`Event 5 of ${events.length}`).waitFor();
  await expect.poll(() => then.locator(".prose").textContent()).toBe("0 1 2");
  await page.keyboard.press("End");
  await then.getByText("198 199").waitFor();
  await slider.fill("104");
  await page.getByText(`Event 105 of ${events.length}`).waitFor();
  await expect.poll(() => then.locator(".prose").textContent()).toBe(text.slice(0, 101 * 5).trim());
  await page.getByRole("region", { name: "The event" }).getByText("TEXT_BLOCK_DELTA").waitFor();
  await expect.poll(() => page.url()).toContain("inspect=105");
  await page.reload();
  await page.getByText(`Event 105 of ${events.length}`).waitFor();

  await page.getByRole("button", { name: "Previous message" }).click();
  await page.getByRole("button", { name: "Previous message" }).click();
  await then.getByText("Count.").waitFor();
  await page.getByRole("combobox", { name: "Speed" }).selectOption("16");
  await page.getByRole("button", { name: "Next message" }).click();
  await page
    .getByRole("listbox")
    .getByRole("option", { name: /MODEL_CALL_START/ })
    .click();
  await page.getByText(`Event 3 of ${events.length}`).waitFor();
  await page.getByRole("button", { name: "Play" }).click();
  await expect.poll(() => then.locator(".prose").count()).toBe(1);
  await page.getByRole("button", { name: "Pause" }).click();
  expect(complaints).toEqual([]);
});

test("the selected event is listed immediately while dragging", async () => {
  await at.service.create("dragged");
  const reply = new Reply("reply");
  await at.service.append("dragged", [
    ...reply.start(),
    ...reply.text("text", "A few words. ".repeat(200)),
    ...reply.end(),
  ]);
  const { page } = await at.open("/s/dragged?inspect=1");
  const slider = page.getByRole("slider", { name: "Event" });
  await page.getByText("Event 1 of").waitFor();
  // Reads the list before the next paint.
  const isListed = (place: string) =>
    slider.evaluate((input, place) => {
      const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")!.set!;
      set.call(input, place);
      input.dispatchEvent(new Event("input", { bubbles: true }));
      return new Promise<boolean>((resolve) => {
        requestAnimationFrame(() => {
          const line = document.querySelector('[role=option][aria-selected="true"]')?.getBoundingClientRect();
          const list = document.querySelector("[role=listbox]")!.getBoundingClientRect();
          resolve(!!line && line.top >= list.top && line.bottom <= list.bottom);
        });
      });
    }, place);
  for (const place of ["300", "20", "350", "1"]) expect(await isListed(place)).toBe(true);
});

test("new events are followed at the end, and the log can be downloaded", async () => {
  await at.service.create("more");
  await at.service.append("more", [userMessage("question", "What?")]);
  const { page, complaints } = await at.open("/s/more?inspect=end");
  await page.getByText("Event 1 of 1").waitFor();
  const events = richReply("reply");
  await at.service.append("more", events);
  await page.getByText(`Event ${events.length + 1} of ${events.length + 1}`).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "JSON lines" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("more.jsonl");
  const lines = readFileSync(await download.path(), "utf8");
  expect(lines).toBe(await (await at.service.ask("GET", "sessions/more/events")).text());
  expect(complaints).toEqual([]);
});
