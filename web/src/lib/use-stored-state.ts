import { useState } from "react";

/** The state of toggles by name. It survives unmounting parts of a long page. */
const kept = new Map<string, unknown>();

/** Like `useState`, but the value is stored under a name until the page is closed. */
export function useStoredState<T>(name: string, initial: T): [T, (value: T) => void] {
  const [, refresh] = useState(0);
  const value = kept.has(name) ? (kept.get(name) as T) : initial;
  return [
    value,
    (next) => {
      kept.set(name, next);
      refresh((count) => count + 1);
    },
  ];
}
