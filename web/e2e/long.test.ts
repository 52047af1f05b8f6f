import { expect, test } from "vitest";
import { live, log, stage } from "./stage";
import { userMessage } from "./streams";

const at = stage();

/** The number of messages. */
const MANY = 10_000;

test(`${MANY} messages are displayed as fast as ten`, { timeout: 180_000 }, async () => {
  await at.service.create("long");
  for (let from = 0; from < MANY; from += 2_000) {
    const messages = Array.from({ length: 2_000 }, (_, i) =>
      userMessage(`m-${from + i}`, `Message ${from + i}, and some words.`),
    );
    await at.service.append("long", messages);
  }
  const { page, complaints } = await at.open("/s/long");
  await live(page);
  await log(page)
    .getByText(`Message ${MANY - 1},`)
    .waitFor();

  // The visible messages keep their position when older messages are loaded.
  const oldest = () => log(page).locator("[data-id]").first().getAttribute("data-id");
  const before = await oldest();
  const place = (id: string) =>
    log(page)
      .locator(`[data-id="${id}"]`)
      .evaluate((element) => element.getBoundingClientRect().top);
  await log(page).evaluate((box) => box.scrollTo(0, 1_300));
  const read = `m-${MANY - 30}`;
  const top = await place(read);
  await log(page).evaluate((box) => box.scrollBy(0, -200));
  await expect.poll(oldest).not.toBe(before);
  await expect.poll(() => place(read)).toBeCloseTo(top + 200, 0);

  for (;;) {
    if ((await oldest()) === "m-0") break;
    await log(page).evaluate((box) => box.scrollTo(0, 0));
    await page.waitForTimeout(10);
    const articles = await log(page).getByRole("article").count();
    expect(articles).toBeLessThan(400);
  }
  await log(page).evaluate((box) => box.scrollTo(0, 0));
  await log(page).getByText("Message 0,").waitFor();
  const elements = await page.evaluate("document.querySelectorAll('*').length");
  expect(elements).toBeLessThan(8_000);

  await page.getByRole("button", { name: "Go to the newest message" }).click();
  await log(page)
    .getByText(`Message ${MANY - 1},`)
    .waitFor();
  await at.service.append("long", [userMessage("newest", "The newest one.")]);
  await log(page).getByText("The newest one.").waitFor();
  expect(complaints).toEqual([]);
});
