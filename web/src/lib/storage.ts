/** The browser's storage: until the tab is closed, or permanent. */
export type Keeper = "sessionStorage" | "localStorage";

/** Returns the stored value, or `undefined`. Some browsers store nothing in private windows. */
export function recall(where: Keeper, name: string): string | undefined {
  try {
    return globalThis[where].getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Stores a text under a name, or removes it. If there is no room for it, the previous value is removed too. */
export function keep(where: Keeper, name: string, text: string | undefined): void {
  try {
    globalThis[where].removeItem(name);
    if (text) globalThis[where].setItem(name, text);
  } catch {
    // A value that does not fit is lost with the page.
  }
}
