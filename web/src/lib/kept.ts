import { useState } from "react";

/** What was opened or closed by hand stays so when a part of a long page is taken away and comes back. */
const kept = new Map<string, unknown>();

/** Like `useState`, but remembered under a name for as long as the page lives. */
export function useKept<T>(name: string, initial: T): [T, (value: T) => void] {
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
