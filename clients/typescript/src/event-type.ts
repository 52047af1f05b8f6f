import { handlers } from "./apply.js";
import type { AgentEvent } from "./generated.js";

/** The type of an event. */
export type EventType = AgentEvent["type"];

/** The event types by name: `EventType.REPLY_START` is `"REPLY_START"`. */
export const EventType = Object.fromEntries(["CUSTOM", ...handlers.keys()].map((type) => [type, type])) as {
  readonly [T in EventType]: T;
};
