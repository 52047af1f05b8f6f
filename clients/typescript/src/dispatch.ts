import { handlers } from "./apply.js";
import { text } from "./complete.js";
import type { Draft } from "./draft.js";
import type { AgentEvent, MsgFields } from "./generated.js";
import { APPLIED, NOT_FOR_MESSAGE, no, type Outcome } from "./outcome.js";
import { readSignal } from "./signals.js";

/**
 * Applies an event to the message that it is for. Nothing that it may be given makes it fail.
 *
 * `find` gives the draft of a reply, or says why there is none. An event of a type that nobody knows is for no reply.
 * `add` takes a message that came whole.
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
