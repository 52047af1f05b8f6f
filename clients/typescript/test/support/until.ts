import type { Store } from "../../src/index.js";

/** Waits until a condition on the view is true. The condition is evaluated on every change. */
export function until<V>(store: Store<V>, isSo: (view: V) => boolean): Promise<V> {
  return new Promise((resolve) => {
    let leave = () => {};
    const look = () => {
      const view = store.getSnapshot();
      if (!isSo(view)) return false;
      leave();
      resolve(view);
      return true;
    };
    leave = store.subscribe(look);
    if (look()) leave();
  });
}
