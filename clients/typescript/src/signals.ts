import { type Answer, changeCall, pushBlock } from "./apply.js";
import { completeBlock, completeMsg, text } from "./complete.js";
import type { Draft } from "./draft.js";
import type { CustomEvent, MsgFields, ToolCallBlock } from "./generated.js";
import type { JsonObject } from "./values.js";

/** Something to do to the message of a reply. */
type Step = [reply: string, apply: (draft: Draft) => Answer];

/**
 * What a parser has made of the values of Recount's own events, or why it could make nothing of one. What no parser has
 * seen is taken for what it should be.
 */
export const parsedValues = new WeakMap<object, JsonObject | Error>();

/** What a `CUSTOM` event says about messages, if it says anything about them: a whole message, or a step of a reply. */
export function readSignal(event: CustomEvent): MsgFields | Step | undefined {
  const { name } = event;
  const value = parsedValues.get(event) ?? event.value ?? {};
  if (value instanceof Error) throw value;
  if (name === "recount.message") return completeMsg(value);
  if (name === "recount.block") {
    const reply = text(value.reply_id);
    const block = completeBlock(value.block as JsonObject, `${reply}.0`, "");
    return [reply, (draft) => pushBlock(draft, block)];
  }
  if (name === "recount.call") {
    const id = text(value.tool_call_id);
    const state = text(value.state) as ToolCallBlock["state"];
    return [text(value.reply_id), (draft) => changeCall(draft, id, () => ({ state }))];
  }
  return;
}
