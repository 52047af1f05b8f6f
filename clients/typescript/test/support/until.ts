import type { Store } from "../../src/index.js";

/** Waits until what there is to see is as it should be. It looks at every change. */
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
