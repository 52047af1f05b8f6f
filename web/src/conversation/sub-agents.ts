import type { Msg } from "@recount/client";
import { createContext } from "react";

/** The replies of sub-agents, by the call that started them. */
export type SubAgents = ReadonlyMap<string, Msg>;

export const SubAgentsContext = createContext<SubAgents>(new Map());

/** Returns the key of a call that started a sub-agent. */
export const callKey = (reply: string, call: string): string => `${reply} ${call}`;

/** Returns the id of the reply whose call started this reply. */
export const parentOf = ({ metadata }: Msg): string | undefined =>
  (metadata.recount as { parent?: string } | undefined)?.parent;

/** Separates the messages of the session from the replies of sub-agents, which are displayed in their calls. */
export function separateReplies(messages: readonly Msg[]): { own: readonly Msg[]; helpers: SubAgents } {
  const helpers = new Map<string, Msg>();
  const parts = messages.filter(parentOf);
  if (!parts.length) return { own: messages, helpers };
  const known = new Set(messages.map(({ id }) => id));
  const shown = new Set<Msg>();
  for (const part of parts) {
    const parent = parentOf(part)!;
    // If the parent reply is not loaded, the message is displayed on its own.
    if (!known.has(parent)) continue;
    helpers.set(callKey(parent, `${part.metadata.tool_call_id}`), part);
    shown.add(part);
  }
  return { own: messages.filter((message) => !shown.has(message)), helpers };
}
