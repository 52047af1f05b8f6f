import { describe, expect, expectTypeOf, test } from "vitest";
import {
  type AgentEvent,
  AssistantMsg,
  appendEvent,
  type ContentBlock,
  EventType,
  getContentBlocks,
  getTextContent,
  hasContentBlocks,
  Msg,
  type ReplyStartEvent,
  SystemMsg,
  type TextBlock,
  type ToolCallBlock,
  UserMsg,
} from "../src/index.js";
import { events } from "../src/parse/generated.js";
import { parseMsg } from "../src/parse/index.js";

const TIME = "2026-01-01T00:00:00.000000+00:00";

describe("creating messages", () => {
  test("a string becomes one text block", () => {
    const message = new UserMsg({ name: "Alice", content: "Hello", id: "m1", created_at: TIME });
    expect(message.content).toEqual([{ type: "text", text: "Hello", id: "m1.0", created_at: TIME, finished_at: null }]);
  });

  test("`new` is optional", () => {
    const init = { name: "Friday", content: "Hello", id: "m1", created_at: TIME };
    for (const make of [UserMsg, AssistantMsg, SystemMsg]) {
      expect(JSON.stringify(new make(init))).toBe(JSON.stringify(make(init)));
      expect(make(init)).toBeInstanceOf(Msg);
      expect(new make(init)).toBeInstanceOf(make);
    }
  });

  test("ids and times are filled in, and only an agent's message is open", () => {
    const [user, assistant, system] = [UserMsg, AssistantMsg, SystemMsg].map((make) =>
      make({ name: "a", content: "b" }),
    );
    expect(user?.id).toMatch(/^[0-9a-f]{32}$/);
    expect(user?.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/);
    expect([user?.role, assistant?.role, system?.role]).toEqual(["user", "assistant", "system"]);
    expect(user?.finished_at).toBe(user?.created_at);
    expect(system?.finished_at).toBe(system?.created_at);
    expect(assistant?.finished_at).toBeNull();
  });

  test("every field can be set", () => {
    const message = new AssistantMsg({
      name: "Friday",
      content: [{ type: "tool_result", id: "c1", name: "search", output: [{ type: "text", text: "3 hits" }] }],
      id: "m1",
      metadata: { priority: 3 },
      created_at: TIME,
      usage: { input_tokens: 1, output_tokens: 2, cache_input_tokens: 3, cache_creation_input_tokens: 4 },
      finished_at: TIME,
      finished_reason: "error",
      structured_output: { answer: 42 },
      error: { type: "upstream", message: "no answer" },
    });
    expect(JSON.stringify(message)).toBe(
      `{"name":"Friday","content":[{"type":"tool_result","id":"c1","name":"search","output":[{"type":"text","text":"3 hits",` +
        `"id":"c1.0","created_at":"${TIME}","finished_at":null}],"state":"running","metadata":{},"created_at":"${TIME}",` +
        `"finished_at":null}],"role":"assistant","id":"m1","metadata":{"priority":3},"created_at":"${TIME}",` +
        `"usage":{"input_tokens":1,"output_tokens":2,"cache_input_tokens":3,"cache_creation_input_tokens":4},` +
        `"finished_at":"${TIME}","finished_reason":"error","structured_output":{"answer":42},` +
        `"error":{"type":"upstream","message":"no answer"}}`,
    );
    expect(JSON.stringify(parseMsg(JSON.stringify(message)))).toBe(JSON.stringify(message));
  });

  test("blocks that a role may not hold are rejected", () => {
    const call = { type: "tool_call", id: "c1", name: "search", input: "{}" } as const;
    const image = {
      type: "data",
      source: { type: "url", url: "https://example.com/a.png", media_type: "image/png" },
    } as const;
    const problem = "a user message may not hold a tool_call block";
    expect(() => new UserMsg({ name: "a", content: [call as never] })).toThrow(problem);
    expect(() => new Msg({ name: "a", role: "system", content: [image] })).toThrow(
      "a system message may not hold a data block",
    );
    expect(new UserMsg({ name: "a", content: [image] }).content[0]?.type).toBe("data");
    expect(new AssistantMsg({ name: "a", content: [call] }).content[0]?.type).toBe("tool_call");
  });

  test("unknown fields and blocks of later versions are kept", () => {
    const json =
      `{"name":"a","content":[{"type":"novel","deep":{"x":[1]}},{"type":"text","text":"b","id":"t","created_at":"",` +
      `"finished_at":null,"colour":"red"}],"role":"user","id":"m","metadata":{},"created_at":"","usage":null,` +
      `"finished_at":null,"finished_reason":null,"structured_output":null,"error":null,"mood":"good","__proto__":1}`;
    const message = parseMsg(json);
    expect(JSON.stringify(message)).toBe(json);
    expect(message).toBeInstanceOf(Msg);
  });
});

describe("reading messages", () => {
  const text = (text: string) => ({ type: "text", text }) as const;
  const call = (id: string) => ({ type: "tool_call", id, name: "search", input: "{}" }) as const;
  const result = (id: string, output: string) => ({ type: "tool_result", id, name: "search", output }) as const;
  const message = new AssistantMsg({
    name: "Friday",
    content: [
      text("Hello"),
      call("c1"),
      result("c1", "old"),
      call("c1"),
      call("c2"),
      result("c1", "new"),
      text("world"),
    ],
  });

  test("text is joined, or `null` without text blocks", () => {
    expect(message.getTextContent()).toBe("Hello\nworld");
    expect(getTextContent(message, " ")).toBe("Hello world");
    expect(new AssistantMsg({ name: "a", content: "" }).getTextContent()).toBe("");
    expect(new AssistantMsg({ name: "a", content: [] }).getTextContent()).toBeNull();
  });

  test("blocks are found by one type or by several", () => {
    expect(message.getContentBlocks()).toHaveLength(7);
    expect(message.getContentBlocks("tool_call").map(({ id }) => id)).toEqual(["c1", "c1", "c2"]);
    expect(getContentBlocks(message, ["text", "tool_call"])).toHaveLength(5);
    expect(message.getContentBlocks("tool_use" as string)).toHaveLength(3);
    expect(message.hasContentBlocks("data")).toBe(false);
    expect(hasContentBlocks(message, ["data", "text"])).toBe(true);
    expect(message.getFirstContentBlock("tool_result")?.output).toBe("old");
    expect(message.getFirstContentBlock("hint")).toBeNull();
  });

  test("legacy media are found by their old names", () => {
    const source = { type: "url", url: "https://example.com/a.png", media_type: "image/png" } as const;
    const image = { type: "data", source, recount: { legacy: "image" } } as const;
    expect(new UserMsg({ name: "a", content: [image] }).hasContentBlocks("image")).toBe(true);
  });
});

describe("the loops of the documentation", () => {
  const stream: AgentEvent[] = [
    { type: "REPLY_START", session_id: "s", reply_id: "r", name: "Friday" },
    { type: "TEXT_BLOCK_START", reply_id: "r", block_id: "t" },
    { type: "CUSTOM", name: "team_updated", value: {} },
    { type: "TEXT_BLOCK_DELTA", reply_id: "r", block_id: "t", delta: "Hello" },
    { type: "TEXT_BLOCK_END", reply_id: "r", block_id: "t" },
    { type: "REPLY_END", session_id: "s", reply_id: "r", created_at: TIME },
  ];

  test("appending every event but the first", () => {
    let msg: Msg | null = null;
    for (const event of stream) {
      if (event.type === EventType.REPLY_START) {
        msg = new AssistantMsg({ name: event.name, content: [], id: event.reply_id });
      } else {
        msg?.appendEvent(event);
      }
    }
    expect([msg?.getTextContent(), msg?.finished_at]).toEqual(["Hello", TIME]);
  });

  test("appending every event", () => {
    const msg = new AssistantMsg({ name: "Friday", content: [], id: "r" });
    expect(stream.map((event) => msg.appendEvent(event).kind)).toEqual([
      "applied",
      "applied",
      "not_for_message",
      "applied",
      "applied",
      "applied",
    ]);
    expect(msg.appendEvent(stream[1] as AgentEvent).reason?.code).toBe("reply_ended");
  });

  test("a message that is not a reply takes no events", () => {
    const msg = new UserMsg({ name: "Alice", content: "Hello", id: "r", finished_at: null });
    expect(msg.appendEvent(stream[1] as AgentEvent).reason?.code).toBe("not_a_reply");
    const other = new AssistantMsg({ name: "Friday", content: [], id: "other" });
    expect(other.appendEvent(stream[1] as AgentEvent).reason?.code).toBe("other_reply");
  });

  test("blocks that the caller has replaced are indexed again", () => {
    const msg = new AssistantMsg({ name: "Friday", content: [], id: "r" });
    msg.appendEvent(stream[1] as AgentEvent);
    msg.content.push({ type: "text", text: "mine", id: "u", created_at: "", finished_at: null });
    msg.appendEvent({ type: "TEXT_BLOCK_DELTA", reply_id: "r", block_id: "u", delta: "!" });
    expect(msg.getTextContent()).toBe("\nmine!");
  });

  test("the function accepts a plain object", () => {
    const plain = Object.freeze(JSON.parse(JSON.stringify(AssistantMsg({ name: "Friday", content: [], id: "r" }))));
    const next = appendEvent(plain, stream[1] as AgentEvent);
    expect(next).toBeInstanceOf(Msg);
    expect([plain.content.length, next.content.length]).toEqual([0, 1]);
  });
});

describe("types", () => {
  test("event types are complete, and narrow", () => {
    expect(Object.keys(EventType).sort()).toEqual(Object.keys(events).sort());
    expect(Object.entries(EventType).every(([name, type]) => name === type)).toBe(true);
    const event = { type: "REPLY_START", session_id: "s", reply_id: "r", name: "Friday" } as AgentEvent;
    if (event.type === EventType.REPLY_START) expectTypeOf(event).toEqualTypeOf<ReplyStartEvent>();
    if (event.type === "REPLY_START") expectTypeOf(event).toEqualTypeOf<ReplyStartEvent>();
  });

  test("messages are narrowed by their role", () => {
    expectTypeOf<UserMsg>().toExtend<Msg>();
    expectTypeOf<AssistantMsg["content"]>().toEqualTypeOf<ContentBlock[]>();
    expectTypeOf<SystemMsg["content"]>().toEqualTypeOf<TextBlock[]>();
    const message = new AssistantMsg({ name: "a", content: "b" });
    expectTypeOf(message.getContentBlocks("tool_call")).toEqualTypeOf<ToolCallBlock[]>();
    // @ts-expect-error: a user's message holds no tool calls.
    expect(() => new UserMsg({ name: "a", content: [{ type: "tool_call", id: "c", name: "t", input: "" }] })).toThrow();
  });
});
