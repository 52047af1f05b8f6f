/** The streams of the Rust generators. */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parseMsg } from "../src/parse/index.js";
import { foldWithRust } from "./support/rust.js";
import { foldInTypeScript } from "./support/typescript.js";

const TESTKIT = process.env.RECOUNT_TESTKIT ?? fileURLToPath(new URL("../../../target/debug/testkit", import.meta.url));

interface Line {
  kind: "event" | "fold" | "message";
  json: string;
  events: string[];
  message: string;
}

function emitted(kind: string, count: number): Line[] {
  if (!existsSync(TESTKIT)) {
    throw new Error(`${TESTKIT} is not there: run \`cargo build --package recount-testkit\`, or set RECOUNT_TESTKIT`);
  }
  return execFileSync(TESTKIT, ["emit", "--kind", kind, "--seed", "7", "--count", String(count)], {
    encoding: "utf8",
    maxBuffer: 2 ** 30,
  })
    .split("\n")
    .filter((line) => line)
    .map((line) => JSON.parse(line));
}

/** Returns the values in the precision that both sides guarantee beyond I-JSON: that of a double. */
function valuesOf(json: string): string {
  const values = JSON.parse(JSON.stringify(JSON.parse(json)));
  const isBeyond = (value: unknown) => typeof value === "number" && value > Number.MAX_SAFE_INTEGER;
  return JSON.stringify(values, (_, value) => (isBeyond(value) ? "beyond" : value));
}

test("legal streams fold to the writer's messages", () => {
  const folds = emitted("legal", 300).filter(({ kind }) => kind === "fold");
  expect(folds.length).toBeGreaterThan(100);
  for (const { events, message } of folds) {
    const { id } = JSON.parse(message);
    const { messages, fold } = foldInTypeScript(events);
    const all = [...messages, ...fold.messages.map((open) => JSON.stringify(open))];
    expect(valuesOf(all.find((json) => JSON.parse(json).id === id) ?? "")).toBe(valuesOf(message));
  }
});

test("illegal streams fold to the same messages as in Rust", () => {
  const lines = emitted("illegal", 500).map(({ json }) => json);
  const { messages, fold } = foldInTypeScript(lines);
  const all = [...messages, ...fold.messages.map((open) => JSON.stringify(open))];
  expect(all.map(valuesOf)).toEqual(foldWithRust(lines).messages.map(valuesOf));
});

test("messages round-trip", () => {
  for (const { json } of emitted("messages", 300)) {
    expect(valuesOf(JSON.stringify(parseMsg(json)))).toBe(valuesOf(json));
  }
});
