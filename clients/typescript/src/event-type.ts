import { handlers } from "./apply.js";
import type { AgentEvent } from "./generated.js";

/** The types of events. */
export type EventType = AgentEvent["type"];

/** The types of events by their names: `EventType.REPLY_START` is `"REPLY_START"`. */
export const EventType = Object.fromEntries(["CUSTOM", ...handlers.keys()].map((type) => [type, type])) as {
  readonly [T in EventType]: T;
};
