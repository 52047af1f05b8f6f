/** What the browser keeps: as long as the tab is open, or for good. */
export type Keeper = "sessionStorage" | "localStorage";

/** What was kept under a name. Where a browser keeps nothing, as in some private windows, there is nothing. */
export function recall(where: Keeper, name: string): string | undefined {
  try {
    return globalThis[where].getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a text under a name, or nothing any more. Where there is no room for it, what was there before is gone too. */
export function keep(where: Keeper, name: string, text: string | undefined): void {
  try {
    globalThis[where].removeItem(name);
    if (text) globalThis[where].setItem(name, text);
  } catch {
    // What does not fit lasts as long as the page.
  }
}
