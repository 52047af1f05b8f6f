import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { obstacles } from "./obstacles";
import { binary } from "./service";
import { live, log, stage } from "./stage";

const at = stage();

test("the token is requested once, kept for the tab, and exchanged for a ticket", async () => {
  await at.service.ask("PUT", "sessions/before", {});
  const token = execFileSync(
    binary,
    ["token", "create", "--tenant", "alice", "--scope", "write", "--data", at.service.data],
    { encoding: "utf8" },
  ).trim();
  await at.service.kill();
  await at.service.restart();

  const { page, context } = await at.open("/");
  const box = page.getByLabel("Token");
  await box.waitFor();
  expect(await obstacles(page)).toEqual([]);
  await box.fill("wrong");
  await page.getByRole("button", { name: "Enter" }).click();
  await page.getByText("unknown token").waitFor();
  await box.fill("токен");
  await page.getByRole("button", { name: "Enter" }).click();
  await page.getByText("No token looks like this").waitFor();
  await box.fill(token);
  await page.getByRole("button", { name: "Enter" }).click();
  await page.getByRole("textbox", { name: "Message" }).fill("Hello there.");
  const socket = page.waitForEvent("websocket");
  await page.reload();
  expect((await socket).url()).toMatch(/\/v1\/ws\?ticket=./);
  expect((await socket).url()).not.toContain(token);
  await page.getByRole("button", { name: "Send" }).click();
  await live(page);
  await log(page)
    .getByText(/\d+ in · \d+ out/)
    .waitFor();
  await page.getByRole("button", { name: "Inspector" }).click();
  await page.getByRole("listbox").getByRole("option").first().waitFor();

  const kept = await page.evaluate("JSON.stringify([localStorage, document.cookie])");
  expect(kept).not.toContain(token);
  const other = await context.newPage();
  await other.goto(at.service.page);
  await other.getByLabel("Token").waitFor();
});
