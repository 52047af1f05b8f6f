import { useSyncExternalStore } from "react";

/** Where the inspector stands: at an event, counted from one; at the newest one; or where a message begins. */
export type Place = number | "end" | { readonly message: string };

/** What the page shows. */
export interface Route {
  /** The session, unless it is a new one. */
  readonly session: string | undefined;
  /** Where the inspector stands; `undefined` where it is closed. */
  readonly inspect: Place | undefined;
}

/** Reads an address: `/`, `/s/NAME`, `/s/NAME?inspect=12`, `/s/NAME?inspect=end`, `/s/NAME?inspect=of:MESSAGE`. */
export function readRoute({ pathname, search }: { pathname: string; search: string }): Route {
  const name = /^\/s\/([A-Za-z0-9_-]{1,64})\/?$/.exec(pathname)?.[1];
  const place = new URLSearchParams(search).get("inspect");
  return { session: name, inspect: place === null || !name ? undefined : readPlace(place) };
}

function readPlace(text: string): Place {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  return text.startsWith("of:") ? { message: text.slice(3) } : "end";
}

/** The address of what is shown. */
export function addressOf({ session, inspect }: Partial<Route>): string {
  const path = session ? `/s/${session}` : "/";
  if (!session || inspect === undefined) return path;
  return `${path}?inspect=${typeof inspect === "object" ? `of:${encodeURIComponent(inspect.message)}` : inspect}`;
}

const listeners = new Set<() => void>();
let current: Route = globalThis.location ? readRoute(globalThis.location) : { session: undefined, inspect: undefined };

const update = () => {
  current = readRoute(location);
  for (const listener of listeners) listener();
};
globalThis.addEventListener?.("popstate", update);

/** Shows something else. `replace` leaves no step to go back to. */
export function go(route: Partial<Route>, how?: "replace"): void {
  const address = addressOf(route);
  if (how) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  update();
}

/** What the page shows now. */
export function useRoute(): Route {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
}
