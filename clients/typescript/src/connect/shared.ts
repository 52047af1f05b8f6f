import type { Server } from "./server.js";

/** A reader that is shared by any number of users. */
export interface Shared {
  users: number;
  leave(): void;
}

/** Opens a reader for its first user and closes it after the last. The second value releases it. */
export function share<T extends Shared>(
  server: Server,
  name: string,
  open: (server: Server, name: string) => T,
): [T, release: () => void] {
  const { shared } = server;
  const opened = (shared.get(name) as T | undefined) ?? open(server, name);
  shared.set(name, opened);
  opened.users++;
  let own = 1;
  return [
    opened,
    () => {
      opened.users -= own;
      own = 0;
      // Another component may be about to use the same reader.
      setTimeout(() => {
        if (opened.users) return;
        if (shared.get(name) === opened) shared.delete(name);
        opened.leave();
      });
    },
  ];
}
