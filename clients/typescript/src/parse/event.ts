import type { AgentEvent, CustomEvent } from "../generated.js";
import { parsedValues } from "../signals.js";
import { isText, type JsonObject } from "../values.js";
import { fail, within } from "./errors.js";
import { contentBlock, events, toolCallBlock } from "./generated.js";
import { readMsg } from "./message.js";
import { anObject, empty, type Fields, object, or, readObject, text } from "./shapes.js";

const head: Fields = { id: or(text, ""), created_at: or(text, ""), metadata: or(object, empty), type: text };

/**
 * Parses an event from JSON: validates its fields and fills in missing ones. An unknown type is not an error.
 *
 * @throws {DecodeError} with the field; a `SyntaxError` if it is not JSON.
 */
export function parseEvent(json: string): AgentEvent {
  return readEvent(JSON.parse(json));
}

/** Decodes an event from parsed JSON. */
export function readEvent(value: unknown): AgentEvent {
  const given = anObject(value);
  const { type, created_at, block_id } = given;
  const declared: Fields = Object.hasOwn(events, type as string) ? events[type as AgentEvent["type"]] : {};
  // The ids of blocks in a hint are derived from the hint. Blocks in other events have their own ids.
  const owner = type === "HINT_BLOCK" && isText(block_id) ? block_id : "";
  const event = readObject({ ...head, ...declared }, given, owner, isText(created_at) ? created_at : "");
  if (declared.url && (event.data === null) === (event.url === null)) {
    fail(`exactly one of \`data\` and \`url\` must be given, found ${event.data === null ? "neither" : "both"}`);
  }
  if (type === "CUSTOM") noteValue(event as unknown as CustomEvent);
  return event as unknown as AgentEvent;
}

/**
 * Stores the decoded value of one of Recount's own events for the fold, or the error. The event itself is not changed.
 */
function noteValue(event: CustomEvent): void {
  try {
    const value = within("value", () => readValue(event));
    if (value) parsedValues.set(event, value);
  } catch (error) {
    parsedValues.set(event, error as Error);
  }
}

function readValue({ name, value = {} }: CustomEvent): JsonObject | undefined {
  const part = <T>(key: string, read: (value: unknown) => T): T => within(key, () => read(value[key]));
  switch (name) {
    case "recount.message":
      return { ...readMsg(value) };
    case "recount.block": {
      const reply_id = part("reply_id", text);
      return { reply_id, block: part("block", (block) => contentBlock(block, `${reply_id}.0`, "")) };
    }
    case "recount.call":
      return {
        reply_id: part("reply_id", text),
        tool_call_id: part("tool_call_id", text),
        state: part("state", (state) => toolCallBlock.fields.state?.(text(state), "", "")),
      };
    default:
      return;
  }
}
