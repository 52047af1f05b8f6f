import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, test } from "vitest";

/** The gzipped size of what a bundler makes of an entry. */
async function sizeOf(entry: string): Promise<number> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`../src/${entry}`, import.meta.url))],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    write: false,
  });
  return gzipSync(outputFiles[0]?.contents ?? "", { level: 9 }).length;
}

test("messages, events and the fold are small", async () => {
  expect(await sizeOf("index.ts")).toBeLessThan(5_000);
});

test("with all parsers it is still small", async () => {
  expect(await sizeOf("everything.ts")).toBeLessThan(8_000);
});
