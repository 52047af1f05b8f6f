/** A value that changes over time, for React's `useSyncExternalStore`. */
export interface Store<V> {
  /** Returns the current value. It is the same object until the next frame with a change. */
  getSnapshot(): V;
  /** Calls the listener once per frame with a change. Returns a function that unsubscribes. */
  subscribe(listener: () => void): () => void;
}

/** Creates a store and the function to call on every change. Changes within a frame are batched. */
export function newStore<V>(look: () => V): [Store<V>, changed: () => void] {
  const listeners = new Set<() => void>();
  let view: V | undefined;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  const refresh = () => {
    if (!waiting) return;
    clearTimeout(waiting);
    waiting = undefined;
    view = look();
    for (const listener of listeners) listener();
  };
  return [
    {
      getSnapshot() {
        view ??= look();
        return view;
      },
      subscribe(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    () => {
      // Without listeners there is no need to wait for a frame.
      if (!listeners.size) view = undefined;
      else if (!waiting) {
        // A hidden page is not painted, so the next frame may be far away.
        waiting = setTimeout(refresh, globalThis.requestAnimationFrame?.(refresh) ? 500 : 16);
      }
    },
  ];
}
