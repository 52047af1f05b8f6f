/**
 * Rust keeps free JSON as text. JavaScript only has `JSON.parse`, so values beyond the guarantees of I-JSON (RFC 7493)
 * differ here. This file lists all differences.
 */

import { describe, expect, test } from "vitest";
import { Fold } from "../src/index.js";
import { parseEvent } from "../src/parse/index.js";
import { foldWithRust } from "./support/rust.js";
import { foldInTypeScript } from "./support/typescript.js";

/** Returns the output for a line whose message is complete. */
function outputs(line: string): { rust: string[]; here: string[] } {
  return { rust: foldWithRust([line]).messages, here: foldInTypeScript([line]).messages };
}

const message = (metadata: string, id = '"id":"m",') =>
  `{"type":"CUSTOM","name":"recount.message","value":{"name":"a","role":"user","content":[],${id}"created_at":"","metadata":${metadata}}}`;

describe("free values", () => {
  test.each([
    ["25.0", "25"],
    ["1.0E-4", "0.0001"],
    ["-0", "0"],
    ["123456789012345678901234567890", "1.2345678901234568e+29"],
    ["9007199254740993", "9007199254740992"],
    ["1e400", "null"],
  ])("number spelling is not preserved: %s", (lexeme, rewritten) => {
    const { rust, here } = outputs(message(`{"n":${lexeme}}`));
    expect(rust[0]).toContain(`{"n":${lexeme}}`);
    expect(here[0]).toContain(`{"n":${rewritten}}`);
  });

  test("the last value of a duplicate key counts", () => {
    const { rust, here } = outputs(message('{"k":1,"j":2,"k":3}'));
    expect(rust[0]).toContain('{"k":1,"j":2,"k":3}');
    expect(here[0]).toContain('{"k":3,"j":2}');
  });

  test("integer-like keys come first", () => {
    const { rust, here } = outputs(message('{"b":1,"10":2,"9":3}'));
    expect(rust[0]).toContain('{"b":1,"10":2,"9":3}');
    expect(here[0]).toContain('{"9":3,"10":2,"b":1}');
  });

  test("ids derived from such values differ", () => {
    const { rust, here } = outputs(message('{"n":25.0}', ""));
    const idOf = (json = "{}") => JSON.parse(json).id;
    expect(idOf(rust[0])).not.toBe(idOf(here[0]));
    const plain = outputs(message('{"n":25}', ""));
    expect(plain.here).toEqual(plain.rust);
    expect(idOf(here[0])).toBe(idOf(plain.here[0]));
  });
});

describe("token counts", () => {
  const usage = (tokens: string) =>
    `{"type":"CUSTOM","name":"recount.message","value":{"name":"a","role":"assistant","content":[],"id":"m","created_at":"",` +
    `"usage":{"input_tokens":${tokens},"output_tokens":0}}}`;

  test("values beyond 2^53 are rounded", () => {
    const { rust, here } = outputs(usage("9007199254740993"));
    expect(rust[0]).toContain('"input_tokens":9007199254740993');
    expect(here[0]).toContain('"input_tokens":9007199254740992');
  });

  test("an integer may have any JSON spelling", () => {
    const { rust, here } = outputs(usage("5.0"));
    expect(rust).toEqual([]);
    expect(here[0]).toContain('"input_tokens":5');
  });
});

describe("lone surrogates", () => {
  const start = '{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"\\ud83c"}';

  test("parsers reject them, as Rust does", () => {
    expect(() => parseEvent(start)).toThrow("surrogate");
    expect([...foldWithRust([start]).remarks.keys()]).toEqual([1]);
  });

  test("the fold keeps them, so two halves may be joined", () => {
    const fold = new Fold();
    const delta = (json: string) =>
      fold.apply(JSON.parse(`{"type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"t","delta":"${json}"}`));
    fold.apply({ type: "REPLY_START", session_id: "s", reply_id: "r", name: "Friday" });
    fold.apply({ type: "TEXT_BLOCK_START", reply_id: "r", block_id: "t" });
    delta("\\ud83c");
    delta("\\udf0d");
    expect(fold.messages[0]?.getTextContent()).toBe("🌍");
  });
});

test("a cursor counts up to 2^53", () => {
  const event = { type: "USER_INTERRUPT", reply_id: "r" } as const;
  const fold = new Fold();
  fold.applyAt(Number.MAX_SAFE_INTEGER, event);
  expect(fold.checkpoint().cursor).toBe("9007199254740991");
});
