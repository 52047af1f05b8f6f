import type { SessionInfo } from "@recount/client";

type Titled = Pick<SessionInfo, "id" | "title">;

/** A name that somebody has chosen. Those that the service makes up say nothing. */
export const chosenName = (id: string): string => (/^[0-9a-f]{32}$/.test(id) ? "" : id);

/** What a session is called. */
export const titleOf = ({ id, title }: Titled): string => title || chosenName(id) || "Untitled";

/** Whether a session has these letters in its title or its name, large or small. */
export function isCalled(session: Titled, wanted: string): boolean {
  const letters = wanted.trim().toLowerCase();
  return [titleOf(session), session.id].some((name) => name.toLowerCase().includes(letters));
}
