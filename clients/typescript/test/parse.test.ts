import { expect, test } from "vitest";
import { Fold } from "../src/index.js";
import { DecodeError, parseCheckpoint, parseEvent, parseMsg } from "../src/parse/index.js";

function problem(parse: () => unknown): [string, string] {
  try {
    parse();
  } catch (error) {
    if (error instanceof DecodeError) return [error.path, error.problem];
    throw error;
  }
  throw new Error("nothing is wrong with it");
}

const event = (fields: object) =>
  JSON.stringify({ type: "TEXT_BLOCK_DELTA", reply_id: "r", block_id: "b", delta: "x", ...fields });

test.each([
  [event({ block_id: 7 }), "block_id", "expected a string, found a number"],
  [event({ delta: undefined }), "delta", "this field is required"],
  [event({ delta: null }), "delta", "expected a string, found null"],
  [event({ metadata: [] }), "metadata", "expected an object, found an array"],
  [event({ delta: "\ud83d" }), "delta", "half of a surrogate pair is without its other half"],
  [
    event({ type: "DATA_BLOCK_DELTA", media_type: "x" }),
    "",
    "exactly one of `data` and `url` must be given, found neither",
  ],
  [
    event({ type: "MODEL_CALL_END", input_tokens: -1, output_tokens: 0 }),
    "input_tokens",
    "expected a whole number from 0 to 18446744073709551615, found -1",
  ],
  [
    event({ type: "TOOL_RESULT_END", tool_call_id: "c", state: "done" }),
    "state",
    'unknown value "done", expected one of success, error, interrupted, denied, running',
  ],
  [
    event({
      type: "EXTERNAL_EXECUTION_RESULT",
      execution_results: [{ id: "c", name: "n", output: [{ type: "hint" }] }],
    }),
    "execution_results[0].output[0]",
    "a hint block may not stand here, only text and data",
  ],
  ["[]", "", "expected an object, found an array"],
])("an invalid event names the field: %s", (json, path, what) => {
  expect(problem(() => parseEvent(json))).toEqual([path, what]);
});

test("an invalid message names the field", () => {
  const message = (fields: object) => JSON.stringify({ name: "a", role: "user", content: [], ...fields });
  expect(problem(() => parseMsg(message({ content: [{ type: "text", text: "a" }, { type: "text" }] })))).toEqual([
    "content[1].text",
    "this field is required",
  ]);
  expect(problem(() => parseMsg(message({ content: [{ type: "thinking", thinking: "a" }] })))).toEqual([
    "content[0]",
    "a user message may not hold a thinking block",
  ]);
  expect(problem(() => parseMsg(message({ role: "nobody" })))[0]).toBe("role");
  const deep = JSON.parse("[".repeat(200) + "]".repeat(200));
  expect(problem(() => parseMsg(message({ id: "m", metadata: { deep } })))).toEqual([
    "metadata",
    "nests deeper than 128",
  ]);
});

test("invalid JSON is a syntax error", () => {
  expect(() => parseEvent("{")).toThrow(SyntaxError);
  expect(() => parseMsg("")).toThrow(SyntaxError);
});

test("keys are serialized in protocol order, with defaults, and unknown keys last", () => {
  const json = '{"novel":1,"delta":"x","block_id":"b","type":"TEXT_BLOCK_DELTA","reply_id":"r","created_at":null}';
  expect(JSON.stringify(parseEvent(json))).toBe(
    '{"id":"","created_at":"","metadata":{},"type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"b","delta":"x","novel":1}',
  );
  const unknown = '{"id":"e","created_at":"","metadata":{},"type":"NOVEL","deep":{"b":1,"a":[2]}}';
  expect(JSON.stringify(parseEvent(unknown))).toBe(unknown);
  const custom = '{"id":"e","created_at":"","metadata":{},"type":"CUSTOM","name":"n","value":{}}';
  expect(JSON.stringify(parseEvent(custom))).toBe(custom);
});

test("missing ids and times are derived, so that parsing twice gives the same", () => {
  const json = '{"name": "Alice", "role": "user", "content": [{"type": "text", "text": "Hello"}], "finished_at": "T"}';
  const message = parseMsg(json);
  expect(message.id).toMatch(/^[0-9a-f]{16}$/);
  expect(message.created_at).toBe("T");
  expect(message.content[0]).toMatchObject({ id: `${message.id}.0`, created_at: "T" });
  expect(JSON.stringify(parseMsg(json))).toBe(JSON.stringify(message));
});

test("a tool message is decoded as an agent's with a mark", () => {
  const message = parseMsg(
    '{"name":"t","role":"tool","content":[{"type":"tool_result","id":"c","name":"n","output":""}]}',
  );
  expect([message.role, message.metadata]).toEqual(["assistant", { recount: { role: "tool" } }]);
  const user = parseMsg('{"name":"a","role":"user","content":[],"metadata":{"recount":{"role":"tool","parent":"r"}}}');
  expect(user.metadata).toEqual({ recount: { parent: "r" } });
});

test("the values of Recount's own events are validated, and the events are unchanged", () => {
  const json = (value: object) => JSON.stringify({ type: "CUSTOM", name: "recount.message", value });
  const fold = new Fold();
  const value = { role: "user", content: [], name: "a" };
  const good = parseEvent(json(value));
  expect(good).toMatchObject({ value });
  expect(fold.apply(good).kind).toBe("applied");
  const { reason } = fold.apply(parseEvent(json({ name: "a", role: "user" })));
  expect(reason).toEqual({ code: "bad_value", detail: "`value.content`: this field is required" });
});

test("a checkpoint of another version is rejected", () => {
  const checkpoint = new Fold().checkpoint();
  expect(JSON.stringify(checkpoint)).toBe('{"version":1,"cursor":"0","replies":[]}');
  expect(parseCheckpoint(JSON.stringify(checkpoint))).toEqual({ ...checkpoint, taken: [] });
  expect(problem(() => parseCheckpoint('{"version":2,"cursor":"0","replies":[]}'))[0]).toBe("version");
  expect(problem(() => parseCheckpoint('{"version":1,"cursor":"x","replies":[]}'))[0]).toBe("cursor");
  expect(problem(() => parseCheckpoint('{"version":1,"cursor":"0","replies":[{}]}'))[0]).toBe("replies[0].message");
  expect(() => Fold.resume({ ...checkpoint, version: 2 } as never)).toThrow("unknown version");
});
