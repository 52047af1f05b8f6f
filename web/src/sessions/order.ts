import type { SessionInfo } from "@recount/client";
import { timeOf } from "../lib/format";

/** Returns the sessions, most recently updated first. */
export function newestFirst(sessions: readonly SessionInfo[]): SessionInfo[] {
  const times = new Map(sessions.map(({ id, updated_at }) => [id, timeOf(updated_at) ?? 0]));
  return [...sessions].sort((a, b) => times.get(b.id)! - times.get(a.id)! || (a.id < b.id ? -1 : 1));
}

/** Returns the sessions in their previous order, with new ones first. */
export function asBefore(sessions: readonly SessionInfo[], before: readonly SessionInfo[]): SessionInfo[] {
  const places = new Map(before.map(({ id }, place) => [id, place]));
  return newestFirst(sessions).sort((a, b) => (places.get(a.id) ?? -1) - (places.get(b.id) ?? -1));
}
