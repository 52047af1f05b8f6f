import type { ServerOptions } from "@recount/client";
import { useEffect, useState } from "react";
import { useService } from "./context";

/** The number of unused entries to keep, because the user may scroll back to them. */
const SPARE = 32;

/** A blob that was fetched or is being fetched. */
interface Fetched {
  readonly address: Promise<string>;
  users: number;
}

/** The blobs by path, most recently released last. */
const fetched = new Map<string, Fetched>();

/** The address of an image cannot carry a token, so its bytes are fetched. */
async function load(path: string, { token }: ServerOptions): Promise<string> {
  const response = await fetch(path, { headers: token ? { authorization: `Bearer ${token}` } : {} });
  if (!response.ok) throw new Error(`${path} cannot be had: ${response.status}`);
  return URL.createObjectURL(await response.blob());
}

function leave(path: string, left: Fetched): void {
  left.users--;
  // A failed request is already removed, so that it is retried.
  if (fetched.get(path) !== left) return;
  fetched.delete(path);
  fetched.set(path, left);
  const unused = [...fetched].filter(([, { users }]) => !users);
  for (const [oldest, { address }] of unused.slice(0, Math.max(0, unused.length - SPARE))) {
    fetched.delete(oldest);
    address.then(URL.revokeObjectURL, () => {});
  }
}

/** Returns the local address of a blob: `undefined` until it is loaded, and `null` if it is not available. */
export function useBlob(path: string | undefined): string | undefined | null {
  const service = useService();
  const [shown, setShown] = useState<{ path: string; address: string | null }>();
  useEffect(() => {
    if (!path) return;
    const used = fetched.get(path) ?? { address: load(path, service), users: 0 };
    used.users++;
    fetched.set(path, used);
    let isWanted = true;
    used.address.then(
      (address) => isWanted && setShown({ path, address }),
      () => {
        fetched.delete(path);
        if (isWanted) setShown({ path, address: null });
      },
    );
    return () => {
      isWanted = false;
      leave(path, used);
    };
  }, [path, service]);
  return shown?.path === path ? shown?.address : undefined;
}
