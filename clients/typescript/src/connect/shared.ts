import type { Server } from "./server.js";

/** Something that is read from a server once, for however many who want to see it. */
export interface Shared {
  users: number;
  leave(): void;
}

/** What is opened for the first who wants it, and left after the last. The other thing given is to be called when done. */
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
      // Another place of the page may be about to show the same.
      setTimeout(() => {
        if (opened.users) return;
        if (shared.get(name) === opened) shared.delete(name);
        opened.leave();
      });
    },
  ];
}
