import type { Msg } from "../msg.js";
import { RecountError } from "./error.js";
import type { Feed } from "./feed.js";
import type { Reader } from "./frames.js";
import type { ConnectionState } from "./keep.js";
import { type Messages, newMessages } from "./messages.js";
import type { Server } from "./server.js";
import type { Shared } from "./shared.js";
import { newStore, type Store } from "./store.js";

/** What there is to see of a session. */
export interface SessionView {
  /** The messages, oldest first, open ones as they stand. What has not changed is the same object as before. */
  readonly messages: readonly Msg[];
  readonly state: ConnectionState;
  /** Whether there are older messages to load. */
  readonly hasOlder: boolean;
  /** Why there is no connection and none will be tried. */
  readonly error: RecountError | undefined;
}

/** A session that is read, for however many. */
export interface Followed extends Shared {
  readonly store: Store<SessionView>;
  readonly messages: Messages;
  readonly feeds: Set<Feed>;
  /** The last thing that is said. */
  turn: Promise<unknown>;
  changed(): void;
}

/** Follows a session that is not followed yet, as soon as `ready` is fulfilled. */
export function follow(server: Server, name: string, ready: Promise<unknown>): Followed {
  const messages = newMessages();
  const feeds = new Set<Feed>();
  let state: ConnectionState = "connecting";
  let error: RecountError | undefined;
  const [store, changed] = newStore<SessionView>(() => ({
    messages: messages.look(),
    state,
    hasOlder: !!messages.before,
    error,
  }));
  const endFeeds = (why: RecountError) => {
    for (const feed of feeds) feed.end(why);
  };
  const reader: Reader = {
    cursor: () => messages.cursor,
    tell(told, refused) {
      state = told;
      error = refused;
      changed();
      if (!refused) return;
      server.shared.delete(name);
      endFeeds(refused);
    },
    take({ id = "", event, snapshot, gap, live }) {
      if (gap) endFeeds(new RecountError({ status: 410, kind: "gap", detail: "events are gone", ...gap }));
      if (snapshot) {
        messages.begin(id, snapshot);
        for (const feed of feeds) feed.begin(id);
      }
      if (event && messages.take(id, event)) for (const feed of feeds) feed.push(id, event);
      if (live && state === "live") return;
      // Something may still be on its way to who was here before.
      if (messages.cursor && (snapshot || live)) state = "live";
      changed();
    },
  };
  // `null` once the last follower has left.
  let leave: (() => void) | null | undefined;
  ready.then(
    () => {
      if (leave !== null) leave = server.join(name, reader);
    },
    (why) => reader.tell("offline", why),
  );
  return {
    users: 0,
    store,
    messages,
    feeds,
    turn: ready,
    changed,
    leave() {
      leave?.();
      leave = null;
    },
  };
}
