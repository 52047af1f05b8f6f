import { type Answer, changeCall, pushBlock } from "./apply.js";
import { completeBlock, completeMsg, text } from "./complete.js";
import type { Draft } from "./draft.js";
import type { CustomEvent, MsgFields, ToolCallBlock } from "./generated.js";
import type { JsonObject } from "./values.js";

/** A change to the message of a reply. */
type Step = [reply: string, apply: (draft: Draft) => Answer];

/** The decoded values of Recount's own events, or the decoding error. Values without an entry are trusted. */
export const parsedValues = new WeakMap<object, JsonObject | Error>();

/** Returns the effect of a `CUSTOM` event on messages: a whole message, a step of a reply, or `undefined`. */
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
