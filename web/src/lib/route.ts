import { useSyncExternalStore } from "react";

/** The position of the inspector: an event, counted from one; the newest event; or the beginning of a message. */
export type Place = number | "end" | { readonly message: string };

/** The view that an address selects. */
export interface Route {
  /** The session; `undefined` for a new one. */
  readonly session: string | undefined;
  /** The position of the inspector; `undefined` if it is closed. */
  readonly inspect: Place | undefined;
}

/** Parses an address: `/`, `/s/NAME`, `/s/NAME?inspect=12`, `/s/NAME?inspect=end`, `/s/NAME?inspect=of:MESSAGE`. */
export function readRoute({ pathname, search }: { pathname: string; search: string }): Route {
  const name = /^\/s\/([A-Za-z0-9_-]{1,64})\/?$/.exec(pathname)?.[1];
  const place = new URLSearchParams(search).get("inspect");
  return { session: name, inspect: place === null || !name ? undefined : readPlace(place) };
}

function readPlace(text: string): Place {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  return text.startsWith("of:") ? { message: text.slice(3) } : "end";
}

/** Returns the address of a route. */
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

/** Navigates to a route. `replace` adds no history entry. */
export function go(route: Partial<Route>, how?: "replace"): void {
  const address = addressOf(route);
  if (how) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  update();
}

/** Returns the current route. */
export function useRoute(): Route {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
}
