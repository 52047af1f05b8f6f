import type { AgentEvent } from "@recount/client";
import { firstLine } from "../lib/format";
import { isRecord } from "../lib/json";

/** The kinds of events, each with a name and a colour. Begin and end events are drawn taller on the timeline. */
export const kinds = {
  message: { label: "Message", height: 1 },
  reply: { label: "Reply", height: 1 },
  model: { label: "Model call", height: 0.45 },
  thinking: { label: "Thinking", height: 0.45 },
  text: { label: "Text", height: 0.45 },
  data: { label: "Data", height: 0.45 },
  hint: { label: "Hint", height: 0.85 },
  call: { label: "Tool call", height: 0.7 },
  result: { label: "Tool result", height: 0.7 },
  ask: { label: "Question", height: 1 },
  signal: { label: "Signal", height: 0.45 },
} as const;

export type Kind = keyof typeof kinds;

/** Returns the colour of a kind in the current theme. */
export const colourOf = (kind: Kind): string => `var(--kind-${kind})`;

export function kindOf(event: AgentEvent): Kind {
  const { type } = event;
  if (type === "CUSTOM") {
    if (event.name === "recount.message") return "message";
    return event.name === "recount.call" ? "call" : event.name === "recount.block" ? "data" : "signal";
  }
  if (type.startsWith("TEXT_")) return "text";
  if (type.startsWith("THINKING_")) return "thinking";
  if (type.startsWith("DATA_")) return "data";
  if (type.startsWith("TOOL_CALL_")) return "call";
  if (type.startsWith("TOOL_RESULT_")) return "result";
  if (type.startsWith("MODEL_")) return "model";
  if (type.startsWith("REPLY_") || type === "EXCEED_MAX_ITERS") return "reply";
  if (type === "HINT_BLOCK") return "hint";
  return /^(REQUIRE|USER|EXTERNAL)_/.test(type) ? "ask" : "signal";
}

/** Returns a short summary of an event. */
export function gist(event: AgentEvent): string {
  switch (event.type) {
    case "REPLY_START":
      return event.name;
    case "REPLY_END":
      return event.finished_reason ?? "";
    case "MODEL_CALL_START":
      return event.model_name;
    case "MODEL_CALL_END":
      return `${event.input_tokens} in, ${event.output_tokens} out`;
    case "TEXT_BLOCK_DELTA":
    case "THINKING_BLOCK_DELTA":
    case "TOOL_CALL_DELTA":
    case "TOOL_RESULT_TEXT_DELTA":
      return event.delta.replaceAll("\n", "⏎").slice(0, 80);
    case "TOOL_CALL_START":
    case "TOOL_RESULT_START":
      return event.tool_call_name;
    case "TOOL_RESULT_END":
      return event.state;
    case "REQUIRE_USER_CONFIRM":
    case "REQUIRE_EXTERNAL_EXECUTION":
      return event.tool_calls.map(({ name }) => name).join(", ");
    case "USER_CONFIRM_RESULT":
      return event.confirm_results.map(({ confirmed }) => (confirmed ? "allowed" : "denied")).join(", ");
    case "DATA_BLOCK_START":
    case "DATA_BLOCK_DELTA":
    case "TOOL_RESULT_DATA_DELTA":
      return event.media_type;
    case "CUSTOM":
      return event.name === "recount.message" ? messageGist(event.value) : event.name;
    default:
      return "";
  }
}

/** Returns the id of the block that an event concerns. */
export function blockOf(event: AgentEvent): string | undefined {
  switch (event.type) {
    case "REQUIRE_USER_CONFIRM":
    case "REQUIRE_EXTERNAL_EXECUTION":
      return event.tool_calls[0]?.id;
    case "USER_CONFIRM_RESULT":
      return event.confirm_results[0]?.tool_call.id;
    case "EXTERNAL_EXECUTION_RESULT":
      return event.execution_results[0]?.id;
    case "CUSTOM": {
      const { value } = event;
      if (!isRecord(value)) return;
      const id = isRecord(value.block) ? value.block.id : value.tool_call_id;
      return typeof id === "string" ? id : undefined;
    }
    default:
      if ("tool_call_id" in event) return event.tool_call_id;
      return "block_id" in event ? event.block_id : undefined;
  }
}

function messageGist(value: unknown): string {
  const content = isRecord(value) ? value.content : undefined;
  if (typeof content === "string") return firstLine(content, 80);
  const blocks = Array.isArray(content) ? content.filter(isRecord) : [];
  const words = blocks.map(({ text, type }) => (typeof text === "string" ? text : `[${type}]`));
  return firstLine(words.join(" "), 80);
}
