import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, test } from "vitest";

const path = (entry: string) => fileURLToPath(new URL(`../src/${entry}`, import.meta.url));

/** Returns the gzipped size of a bundle with some exports of an entry. */
async function sizeOf(names: string, entry = "index.ts"): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: `export ${names} from ${JSON.stringify(path(entry))}`, resolveDir: path("") },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    write: false,
    external: ["react"],
  });
  return gzipSync(outputFiles[0]?.contents ?? "", { level: 9 }).length;
}

test("messages, events and the fold fit their size limit", async () => {
  const names = "Fold, Msg, UserMsg, AssistantMsg, SystemMsg, appendEvent, EventType, getTextContent, getContentBlocks";
  expect(await sizeOf(`{ ${names}, hasContentBlocks }`)).toBeLessThan(5_000);
});

test("connect and the fold fit their size limit", async () => {
  // Less than 8 KiB with any tool: other builds of zlib add about twenty bytes.
  expect(await sizeOf("{ connect, Fold }")).toBeLessThan(8_170);
});

test("the whole entry fits its size limit", async () => {
  expect(await sizeOf("*")).toBeLessThan(8_800);
});

test("the whole entry with all parsers fits its size limit", async () => {
  expect(await sizeOf("*", "everything.ts")).toBeLessThan(11_500);
});

test("hooks fit their size limit", async () => {
  const withHooks = await sizeOf("*", "react.ts");
  expect(withHooks - (await sizeOf("{ connect, connectSessions }"))).toBeLessThan(500);
});
