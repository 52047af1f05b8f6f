import type { Msg } from "@recount/client";
import { createContext } from "react";

/** The replies of agents that work for another one, each by the call that asked for it. */
export type Helpers = ReadonlyMap<string, Msg>;

export const HelpersContext = createContext<Helpers>(new Map());

/** What a call that asked an agent is known by. */
export const callKey = (reply: string, call: string): string => `${reply} ${call}`;

/** The reply that a message is a part of. */
export const parentOf = ({ metadata }: Msg): string | undefined =>
  (metadata.recount as { parent?: string } | undefined)?.parent;

/** Tells what was said to the user from what agents did for another one. That is shown in its call. */
export function tellApart(messages: readonly Msg[]): { own: readonly Msg[]; helpers: Helpers } {
  const helpers = new Map<string, Msg>();
  const parts = messages.filter(parentOf);
  if (!parts.length) return { own: messages, helpers };
  const known = new Set(messages.map(({ id }) => id));
  const shown = new Set<Msg>();
  for (const part of parts) {
    const parent = parentOf(part)!;
    // Where the other one has not been loaded, it stands for itself.
    if (!known.has(parent)) continue;
    helpers.set(callKey(parent, `${part.metadata.tool_call_id}`), part);
    shown.add(part);
  }
  return { own: messages.filter((message) => !shown.has(message)), helpers };
}
