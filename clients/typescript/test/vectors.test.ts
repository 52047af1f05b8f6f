import { describe, expect, test } from "vitest";
import { EventType, Fold } from "../src/index.js";
import { parseEvent, parseMsg, readEvent } from "../src/parse/index.js";
import { foldWithRust } from "./support/rust.js";
import { foldInTypeScript } from "./support/typescript.js";
import type { JsonObject } from "./support/values.js";
import { cases, difference, isListed } from "./support/vectors.js";

interface TextCase {
  case: string;
  json: string;
  dumped: string | null;
}

interface FoldCase {
  case: string;
  events: JsonObject[];
  raised: { index: number } | null;
  folded?: unknown;
  replies?: Record<string, unknown> | null;
  after?: { message: unknown }[];
}

/** Returns the cases with a different result that are not listed as deviations. */
function unlisted<T extends { case: string }>(
  file: string,
  all: T[],
  compare: (one: T) => string | undefined,
): string[] {
  expect(all.length).toBeGreaterThan(100);
  return all.flatMap((one) => {
    const difference = isListed(file, one.case) ? undefined : compare(one);
    return difference ? [`${one.case}: ${difference}`] : [];
  });
}

function textDifference({ json, dumped }: TextCase, rewrite: (json: string) => unknown): string | undefined {
  let ours: unknown;
  try {
    ours = JSON.parse(JSON.stringify(rewrite(json)));
  } catch (error) {
    return dumped === null ? undefined : `refused (${error}), and taken by the reference`;
  }
  return dumped === null ? "taken, and refused by the reference" : difference(ours, JSON.parse(dumped));
}

describe("same results as AgentScope Python 2.0.10", () => {
  test("events round-trip alike", () => {
    const all = cases<TextCase>("vectors/python/events.jsonl");
    const rewrite = (json: string) => {
      const event = parseEvent(json);
      if (!(event.type in EventType)) throw new Error("unknown type");
      return event;
    };
    expect(unlisted("events.jsonl", all, (one) => textDifference(one, rewrite))).toEqual([]);
  });

  test("messages round-trip alike", () => {
    const all = cases<TextCase>("vectors/python/messages.jsonl");
    expect(unlisted("messages.jsonl", all, (one) => textDifference(one, parseMsg))).toEqual([]);
  });

  /** Compares the fold of a stream with the result of the reference, step by step. */
  function foldDifference(events: JsonObject[], answer: FoldCase): string | undefined {
    const fold = new Fold();
    // The reference stops at an event for which it raises, and so does the comparison.
    for (const [index, event] of events.slice(0, answer.raised?.index).entries()) {
      fold.apply(readEvent(event));
      const step = answer.after?.[index];
      const found = step && difference(plain(fold.messages[0]), step.message);
      if (found) return `after event ${index}: ${found}`;
    }
    if (!answer.replies) return difference(plain(fold.messages[0]), answer.folded);
    return Object.entries(answer.replies)
      .map(([id, theirs]) => difference(plain(fold.message(id)), theirs))
      .find((found) => found);
  }

  const plain = (message: unknown) => (message ? JSON.parse(JSON.stringify(message)) : null);

  test("streams fold alike", () => {
    const all = cases<FoldCase>("vectors/python/folds.jsonl");
    expect(unlisted("folds.jsonl", all, (one) => foldDifference(one.events, one))).toEqual([]);
  });

  test("traces of real agents fold alike", () => {
    const traces = new Map(cases<{ case: string }>("traces/agent.jsonl").map((trace) => [trace.case, trace]));
    const all = cases<FoldCase>("vectors/python/traces.jsonl");
    const eventsOf = (name: string) => {
      const trace = traces.get(name.replace(/\/wire$/, "")) as unknown as Record<string, JsonObject[]>;
      return trace[name.endsWith("/wire") ? "wire" : "events"] as JsonObject[];
    };
    expect(unlisted("traces.jsonl", all, (one) => foldDifference(eventsOf(one.case), one))).toEqual([]);
  });
});

describe("same results as Rust", () => {
  /** I-JSON cannot represent these values, so the results may differ: see beyond-i-json.test.ts. */
  function isBeyond(name: string, json: string): boolean {
    const lexemes = json.replace(/"(?:[^"\\]|\\.)*"/g, "").match(/-?\d[\d.eE+-]*/g) ?? [];
    return name.includes("twice") || lexemes.some((lexeme) => !isPlainNumber(lexeme));
  }

  const isPlainNumber = (lexeme: string) =>
    String(Number(lexeme)) === lexeme && Math.abs(Number(lexeme)) <= Number.MAX_SAFE_INTEGER;

  test("the same events are accepted", () => {
    const all = cases<TextCase>("vectors/python/events.jsonl").filter(
      (one) => !isBeyond(one.case, one.json) && one.json.trim(),
    );
    const lines = all.map(({ json }) => json.replaceAll("\n", " "));
    const rust = foldWithRust(lines).remarks;
    const isBad = (line: number) => rust.get(line)?.some((remark) => !/^[^`]*? ignored/.test(remark)) ?? false;
    const here = foldInTypeScript(lines).remarks;
    const differing = all.filter((_, index) => {
      const remark = here.get(index + 1);
      return isBad(index + 1) !== (remark !== undefined && "badField" in remark);
    });
    expect(differing.map((one) => `${one.case}: ${one.json}`)).toEqual([]);
  });

  test("the same messages are accepted, with the same bytes", () => {
    const all = cases<TextCase>("vectors/python/messages.jsonl").filter((one) => !isBeyond(one.case, one.json));
    // Each message has its own stream, because message ids are unique within a stream.
    const rounds: { name: string; json: string }[][] = [];
    const seen = new Map<string, number>();
    for (const { case: name, json } of all) {
      const id = idOf(json);
      const round = seen.get(id) ?? 0;
      seen.set(id, round + 1);
      rounds[round] = [...(rounds[round] ?? []), { name, json: json.replaceAll("\n", " ") }];
    }
    for (const round of rounds) {
      const lines = round.map(({ json }) => `{"type":"CUSTOM","name":"recount.message","value":${json}}`);
      const here = foldInTypeScript(lines);
      expect(here.messages).toEqual(foldWithRust(lines).messages);
    }
  });

  const idOf = (json: string) => {
    try {
      return parseMsg(json).id;
    } catch {
      return "";
    }
  };

  test("the same streams fold to the same bytes", () => {
    const folds = cases<FoldCase>("vectors/python/folds.jsonl").filter((one) => one.case !== "usage/big");
    const traces = cases<{ events: JsonObject[]; wire?: JsonObject[] }>("traces/agent.jsonl");
    const streams = [
      ...folds.map(({ events }) => events),
      ...traces.flatMap(({ events, wire = [] }) => [events, wire]),
    ];
    for (const [index, stream] of streams.entries()) {
      const lines = stream.map((event) => JSON.stringify(event));
      const here = foldInTypeScript(lines);
      const messages = [...here.messages, ...here.fold.messages.map((message) => JSON.stringify(message))];
      expect(messages, `stream ${index}`).toEqual(foldWithRust(lines).messages);
    }
  });
});
