import { join } from "node:path";
import { test } from "vitest";
import { live, log, stage } from "./stage";
import { Reply, userMessage } from "./streams";

const at = stage();

const picture = (name: string) => join(import.meta.dirname, "../../docs/images", name);

const ANSWER = `Two things are needed, and the second depends on the first:

1. **Move the rows** in one transaction, so that nobody sees half of them
2. **Compare the counts** before the old table goes

\`\`\`rust
fn migrate(db: &mut Connection) -> Result<usize, Error> {
    let tx = db.transaction()?;
    let moved = tx.execute("INSERT INTO events SELECT * FROM old", [])?;
    tx.commit()?;
    Ok(moved)
}
\`\`\`

Before that I take a backup:`;

async function story(): Promise<void> {
  const titles = ["Notes on the release", "Why is the build slow?", "Packing for Lisbon", "Migrate the database"];
  for (const [i, title] of titles.entries()) await at.service.create(`s${i}`, { title });
  const waiting = new Reply("waiting");
  await at.service.append("s2", [
    userMessage("pack", "Pack for me."),
    ...waiting.start(),
    ...waiting.call("w", "order", { item: "a light coat" }),
    ...waiting.asks("REQUIRE_USER_CONFIRM", "w", "order", { item: "a light coat" }),
  ]);
  const reply = new Reply("reply");
  const input = { command: "pg_dump --file backup.sql prod" };
  const rule = { tool_name: "shell", rule_content: "pg_dump:*", behavior: "allow" as const, source: "suggested" };
  await at.service.append("s3", [
    userMessage("question", "The old table has to go. Can you move its rows, and be careful?"),
    ...reply.start(),
    ...reply.thinking("thinking", "A backup first. Then one transaction, then compare. The old table goes last."),
    ...reply.call("count", "query", { sql: "SELECT count(*) FROM old" }),
    ...reply.result("count", "query", "120433\n"),
    ...reply.text("text", ANSWER, 9),
    ...reply.call("dump", "shell", input),
    reply.event("MODEL_CALL_END", { input_tokens: 1840, output_tokens: 402 }),
    ...reply.asks("REQUIRE_USER_CONFIRM", "dump", "shell", input, [rule]),
  ]);
}

test("the pictures of the documentation", async () => {
  await story();
  const size = { viewport: { width: 1200, height: 780 } };
  const { page } = await at.open("/s/s3", { ...size, colorScheme: "light" });
  await live(page);
  await page.getByRole("button", { name: "Allow once" }).waitFor();
  await page.screenshot({ path: picture("page.png") });

  const dark = await at.open("/s/s3", { ...size, colorScheme: "dark" });
  await dark.page.getByRole("button", { name: "Allow once" }).waitFor();
  await log(dark.page).evaluate((box) => box.scrollTo(0, 0));
  await dark.page.getByRole("button", { name: "Go to the newest message" }).waitFor();
  await dark.page.screenshot({ path: picture("dark.png") });

  const inspector = await at.open("/s/s3?inspect=66", { viewport: { width: 1360, height: 780 }, colorScheme: "light" });
  await inspector.page.getByText("Event 66 of").waitFor();
  await inspector.page.screenshot({ path: picture("inspector.png") });

  const phone = await at.open("/s/s3", { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true });
  await phone.page.getByRole("button", { name: "Allow once" }).waitFor();
  await phone.page.screenshot({ path: picture("phone.png") });
});
