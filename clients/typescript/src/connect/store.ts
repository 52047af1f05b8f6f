/** What changes over time, and can be looked at and listened to. It is what React's `useSyncExternalStore` wants. */
export interface Store<V> {
  /** What there is to see. It is the same object until the next frame in which something has changed. */
  getSnapshot(): V;
  /** Calls back in each frame in which something has changed, until what it gives is called. */
  subscribe(listener: () => void): () => void;
}

/** A store, and what is called for every change, however many there are in a frame. */
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
      // Where nobody listens, there is no need to wait for a frame.
      if (!listeners.size) view = undefined;
      else if (!waiting) {
        // Nothing is painted where nobody looks, so the next frame may be far away.
        waiting = setTimeout(refresh, globalThis.requestAnimationFrame?.(refresh) ? 500 : 16);
      }
    },
  ];
}
