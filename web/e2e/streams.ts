import type { AgentEvent, PermissionRule } from "@recount/client";

let minted = 0;
const id = (): string => `made-${++minted}`;

/** The times of events are fixed, so that two sessions can be compared. */
const at = (step: number): string =>
  new Date(Date.UTC(2026, 0, 2, 3, 4, 5) + step * 40).toISOString().replace("Z", "000+00:00");

/** Creates a user's message. */
export const userMessage = (message: string, text: string): AgentEvent => ({
  type: "CUSTOM",
  id: id(),
  name: "recount.message",
  created_at: at(0),
  value: {
    id: message,
    role: "user",
    name: "user",
    created_at: at(0),
    finished_at: at(0),
    content: [{ type: "text", text }],
  },
});

/** Builds a reply, event by event. */
export class Reply {
  readonly #id: string;
  #step = 0;

  constructor(reply: string) {
    this.#id = reply;
  }

  event(type: string, fields: object = {}): AgentEvent {
    return { type, id: id(), created_at: at(++this.#step), reply_id: this.#id, ...fields } as AgentEvent;
  }

  start(): AgentEvent[] {
    return [
      this.event("REPLY_START", { session_id: "s", name: "Friday" }),
      this.event("MODEL_CALL_START", { model_name: "m" }),
    ];
  }

  text(block: string, text: string, piece = 6): AgentEvent[] {
    return this.#block("TEXT_BLOCK", block, text, piece);
  }

  thinking(block: string, text: string): AgentEvent[] {
    return this.#block("THINKING_BLOCK", block, text, 6);
  }

  call(call: string, name: string, input: object): AgentEvent[] {
    const tool_call_id = call;
    return [
      this.event("TOOL_CALL_START", { tool_call_id, tool_call_name: name }),
      ...pieces(JSON.stringify(input), 5).map((delta) => this.event("TOOL_CALL_DELTA", { tool_call_id, delta })),
      this.event("TOOL_CALL_END", { tool_call_id }),
    ];
  }

  result(call: string, name: string, text: string): AgentEvent[] {
    const tool_call_id = call;
    return [
      this.event("TOOL_RESULT_START", { tool_call_id, tool_call_name: name }),
      ...pieces(text, 8).map((delta) => this.event("TOOL_RESULT_TEXT_DELTA", { tool_call_id, delta })),
      this.event("TOOL_RESULT_END", { tool_call_id, state: "success" }),
    ];
  }

  asks(
    kind: "REQUIRE_USER_CONFIRM" | "REQUIRE_EXTERNAL_EXECUTION",
    call: string,
    name: string,
    input: object,
    rules: PermissionRule[] = [],
  ) {
    const state = kind === "REQUIRE_USER_CONFIRM" ? "asking" : "submitted";
    const tool_call = {
      type: "tool_call",
      id: call,
      name,
      input: JSON.stringify(input),
      state,
      suggested_rules: rules,
    };
    return [this.event(kind, { tool_calls: [tool_call] })];
  }

  end(fields: object = {}): AgentEvent[] {
    return [
      this.event("MODEL_CALL_END", { input_tokens: 120, output_tokens: 34 }),
      this.event("REPLY_END", { session_id: "s", finished_reason: "completed", ...fields }),
    ];
  }

  #block(kind: string, block_id: string, text: string, piece: number): AgentEvent[] {
    return [
      this.event(`${kind}_START`, { block_id }),
      ...pieces(text, piece).map((delta) => this.event(`${kind}_DELTA`, { block_id, delta })),
      this.event(`${kind}_END`, { block_id }),
    ];
  }
}

function pieces(text: string, length: number): string[] {
  const all: string[] = [];
  for (let start = 0; start < text.length; start += length) all.push(text.slice(start, start + length));
  return all;
}

/** Creates a reply with every kind of block that needs no user action. */
export function richReply(id: string): AgentEvent[] {
  const reply = new Reply(id);
  return [
    ...reply.start(),
    ...reply.thinking("thinking", "First the forecast, then the rest. ".repeat(3)),
    ...reply.text(
      "intro",
      "I'll **look** at it:\n\n- the forecast\n- the calendar\n\n```js\nconst a = 1;\n\nconst b = 2;\n```\n\nNow.",
    ),
    ...reply.call("call-1", "get_forecast", { city: "Lisbon", days: 2 }),
    ...reply.result("call-1", "get_forecast", "Sunny, 27 degrees\nWind from the north-west\n"),
    reply.event("HINT_BLOCK", { block_id: "hint", source: '{"label":"Calendar"}', hint: "A trip at five." }),
    ...reply.text("outro", `Take something light. ${"It will be warm all day long. ".repeat(12)}`),
    ...reply.end(),
  ];
}
