import type { ServerOptions } from "@recount/client";
import { useEffect, useState } from "react";
import { useService } from "./where";

/** How many that are not shown any more are kept, because one may scroll back to them. */
const SPARE = 32;

/** Bytes that were fetched, or are being fetched. */
interface Fetched {
  readonly address: Promise<string>;
  users: number;
}

/** By where they are, what was left last at the end. */
const fetched = new Map<string, Fetched>();

/** A picture's address cannot carry a token, so its bytes are fetched. */
async function load(path: string, { token }: ServerOptions): Promise<string> {
  const response = await fetch(path, { headers: token ? { authorization: `Bearer ${token}` } : {} });
  if (!response.ok) throw new Error(`${path} cannot be had: ${response.status}`);
  return URL.createObjectURL(await response.blob());
}

function leave(path: string, left: Fetched): void {
  left.users--;
  // What could not be had is tried again.
  if (fetched.get(path) !== left) return;
  fetched.delete(path);
  fetched.set(path, left);
  const unused = [...fetched].filter(([, { users }]) => !users);
  for (const [oldest, { address }] of unused.slice(0, Math.max(0, unused.length - SPARE))) {
    fetched.delete(oldest);
    address.then(URL.revokeObjectURL, () => {});
  }
}

/** Where bytes of the service can be shown from; `undefined` until they are here, and `null` where they cannot be had. */
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
