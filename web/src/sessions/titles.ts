import type { SessionInfo } from "@recount/client";

type Titled = Pick<SessionInfo, "id" | "title">;

/** Returns the name of a session if a client chose it. Generated names are not displayed. */
export const chosenName = (id: string): string => (/^[0-9a-f]{32}$/.test(id) ? "" : id);

/** Returns the displayed title of a session. */
export const titleOf = ({ id, title }: Titled): string => title || chosenName(id) || "Untitled";

/** Returns whether the title or the name of a session contains a text, ignoring case. */
export function matchesTitle(session: Titled, wanted: string): boolean {
  const letters = wanted.trim().toLowerCase();
  return [titleOf(session), session.id].some((name) => name.toLowerCase().includes(letters));
}
