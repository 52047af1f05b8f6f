import type { Msg } from "../msg.js";
import { RecountError } from "./error.js";
import type { Feed } from "./feed.js";
import type { Reader } from "./frames.js";
import type { ConnectionState } from "./keep.js";
import { type Messages, newMessages } from "./messages.js";
import type { Server } from "./server.js";
import type { Shared } from "./shared.js";
import { newStore, type Store } from "./store.js";

/** The current view of a session. */
export interface SessionView {
  /** The messages, oldest first, including open ones. Unchanged messages are the same objects as before. */
  readonly messages: readonly Msg[];
  readonly state: ConnectionState;
  /** Whether there are older messages to load. */
  readonly hasOlder: boolean;
  /** The error that ended the connection permanently. */
  readonly error: RecountError | undefined;
}

/** A session that is read once for any number of users. */
export interface Followed extends Shared {
  readonly store: Store<SessionView>;
  readonly messages: Messages;
  readonly feeds: Set<Feed>;
  /** Settles when the last queued request is done. */
  turn: Promise<unknown>;
  changed(): void;
}

/** Follows a session as soon as `ready` is fulfilled. */
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
    setState(next, rejection) {
      state = next;
      error = rejection;
      changed();
      if (!rejection) return;
      server.shared.delete(name);
      endFeeds(rejection);
    },
    take({ id = "", event, snapshot, gap, live }) {
      if (gap) endFeeds(new RecountError({ status: 410, kind: "gap", detail: "events are gone", ...gap }));
      if (snapshot) {
        messages.begin(id, snapshot);
        for (const feed of feeds) feed.begin(id);
      }
      if (event && messages.take(id, event)) for (const feed of feeds) feed.push(id, event);
      if (live && state === "live") return;
      // Only a snapshot or a `live` frame means that no missed events follow.
      if (messages.cursor && (snapshot || live)) state = "live";
      changed();
    },
  };
  // `null` after the last user has left.
  let leave: (() => void) | null | undefined;
  ready.then(
    () => {
      if (leave !== null) leave = server.join(name, reader);
    },
    (why) => reader.setState("offline", why),
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
