import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Fold } from "../src/index.js";
import { parseCheckpoint, parseEvent, readEvent } from "../src/parse/index.js";
import { Random } from "./support/random.js";
import { foldWithRust } from "./support/rust.js";
import { legalStream, someStream } from "./support/streams.js";
import { foldInTypeScript, formatRemark, withoutProblem } from "./support/typescript.js";

/** The number of streams to compare. `pnpm soak` compares more. */
const STREAMS = Number(process.env.RECOUNT_STREAMS ?? 1_000);

/** The number of streams per process. Their ids have different prefixes, so they are independent. */
const BATCH = 250;

/** Returns the lines of the streams of a batch, one stream after the other. */
function batch(number: number, size = BATCH): string[] {
  const seeds = Array.from({ length: size }, (_, index) => number * BATCH + index);
  return seeds.flatMap((seed) => someStream(new Random(seed), `s${seed}.`)).map((event) => JSON.stringify(event));
}

/** Reduces a stream that is folded differently to as few lines as possible. */
function shortest(lines: string[], differs: (lines: string[]) => boolean): string[] {
  for (let size = Math.ceil(lines.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < lines.length; ) {
      const fewer = lines.toSpliced(at, size);
      if (differs(fewer)) lines = fewer;
      else at += size;
    }
  }
  return lines;
}

/** Returns the output of both sides in the same format. */
function answers(lines: readonly string[]) {
  const rust = foldWithRust(lines);
  const here = foldInTypeScript(lines);
  return {
    rust: [
      ...rust.messages,
      ...[...rust.remarks].map(([line, remarks]) => `${line}: ${remarks.map(withoutProblem).join("; ")}`),
    ],
    here: [
      ...here.messages,
      ...here.fold.messages.map((message) => JSON.stringify(message)),
      ...[...here.remarks].map(([line, remark]) => `${line}: ${formatRemark(remark).join("; ")}`),
    ],
  };
}

test("every stream folds to the same bytes, and every ignored event has the same reason", () => {
  for (let number = 0; number * BATCH < STREAMS; number++) {
    const lines = batch(number);
    const { rust, here } = answers(lines);
    if (rust.join("\n") === here.join("\n")) continue;
    const differs = (fewer: string[]) => {
      const both = answers(fewer);
      return both.rust.join("\n") !== both.here.join("\n");
    };
    const short = shortest(lines, differs);
    const both = answers(short);
    expect(both.here, `batch ${number}, in short:\n${short.join("\n")}`).toEqual(both.rust);
  }
});

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "recount-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("each side resumes from the other's checkpoints", () => {
  const file = join(folder, "checkpoint.json");
  for (let number = 0; number < Math.min(20, STREAMS / BATCH + 4); number++) {
    const random = new Random(number);
    const lines = batch(number, 12);
    const at = random.between(0, lines.length);
    const whole = foldWithRust(lines).messages;

    const rustBegins = foldWithRust(lines.slice(0, at), ["--checkpoint", file]).messages;
    const here = foldInTypeScript(lines.slice(0, at));
    const text = readFileSync(file, "utf8").trimEnd();
    expect(JSON.stringify(here.fold.checkpoint())).toBe(text);

    const resumed = foldInTypeScript(lines.slice(at), Fold.resume(parseCheckpoint(text)));
    const rest = [...resumed.messages, ...resumed.fold.messages.map((message) => JSON.stringify(message))];
    expect([...rustBegins, ...rest]).toEqual(whole);

    writeFileSync(file, JSON.stringify(here.fold.checkpoint()));
    const rustGoesOn = foldWithRust(lines.slice(at), ["--resume", file]).messages;
    expect([...here.messages, ...rustGoesOn]).toEqual(whole);
  }
});

test("complete events need no parser", () => {
  const lines = Array.from({ length: 200 }, (_, seed) => legalStream(new Random(seed), `s${seed}.`))
    .flat()
    .map((event) => JSON.stringify(readEvent(event)));
  const fold = new Fold();
  for (const line of lines) fold.apply(JSON.parse(line));
  const parsed = new Fold();
  for (const line of lines) parsed.apply(parseEvent(line));
  expect(JSON.stringify(fold.messages)).toBe(JSON.stringify(parsed.messages));
});

test("the depth limit is the same", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  const lines = Array.from({ length: 40 }, (_, index) => nested(120 + index)).flatMap((deep) => [
    `{"type":"USER_INTERRUPT","reply_id":"r","metadata":{"k":${deep}}}`,
    `{"type":"USER_INTERRUPT","reply_id":"r","novel":${deep}}`,
    `{"type":"CUSTOM","name":"n","value":{"k":${deep}}}`,
    `{"type":"HINT_BLOCK","reply_id":"r","block_id":"h","hint":[{"type":"novel","k":${deep}}]}`,
  ]);
  const bad = [...foldWithRust(lines).remarks].filter(([, remarks]) => !/^[^`]*? ignored/.test(remarks[0] ?? ""));
  const here = [...foldInTypeScript(lines).remarks].filter(([, remark]) => "badField" in remark);
  expect(here.map(([line]) => line)).toEqual(bad.map(([line]) => line));
  expect(bad.length).toBeGreaterThan(100);
});
