import { handlers } from "./apply.js";
import { text } from "./complete.js";
import type { Draft } from "./draft.js";
import type { AgentEvent, MsgFields } from "./generated.js";
import { APPLIED, NOT_FOR_MESSAGE, no, type Outcome } from "./outcome.js";
import { readSignal } from "./signals.js";

/**
 * Applies an event to its message. Never throws, whatever the event is.
 *
 * `find` returns the draft of a reply, or the reason if there is none. It gets no reply for an event of an unknown
 * type. `add` adds a complete message.
 */
export function dispatch(
  event: AgentEvent,
  find: (reply: string | undefined, event: AgentEvent) => Draft | Outcome | undefined,
  add: (message: MsgFields) => Outcome,
): Outcome {
  try {
    const { type } = event;
    let apply = handlers.get(type);
    let reply = apply && text((event as { reply_id: string }).reply_id);
    if (type === "CUSTOM") {
      const signal = readSignal(event);
      if (!signal) return NOT_FOR_MESSAGE;
      if (!Array.isArray(signal)) return add(signal);
      [reply, apply] = signal;
    }
    const draft = find(reply, event);
    if (draft && "kind" in draft) return draft;
    if (draft?.message.finished_at != null) return no("reply_ended", draft.message.id);
    if (!draft || !apply) return "reply_id" in event ? no("unknown_type", text(type)) : NOT_FOR_MESSAGE;
    return apply(draft, event, text(event.created_at ?? "")) ?? APPLIED;
  } catch (error) {
    return no(event?.type === "CUSTOM" ? "bad_value" : "bad_event", (error as Error).message);
  }
}
