import { useEffect, useState, useSyncExternalStore } from "react";
import type { SessionView } from "./connect/follow.js";
import type { Where } from "./connect/server.js";
import { connect, type Session } from "./connect/session.js";
import { connectSessions, type SessionsView } from "./connect/sessions.js";
import type { Store } from "./connect/store.js";

/** A session for a component: the current view and the methods. */
export type UsedSession = SessionView & {
  /** The session; `undefined` until it is connected. */
  readonly session: Session | undefined;
};

/**
 * Follows a session while the component is mounted. The component renders again in each frame with a change; unchanged
 * values are the same objects as before.
 *
 * The options may be a new object in each render: they are compared by address, token and transport.
 */
export function useSession(where: Where, name: string): UsedSession {
  const session = useConnection((at) => connect(at, name), where, name);
  return { ...useView(session, NOTHING), session };
}

/** Returns the live list of sessions while the component is mounted. */
export function useSessions(where: Where): SessionsView {
  return useView(useConnection(connectSessions, where, ""), NO_SESSIONS);
}

const NOTHING: SessionView = { messages: [], state: "connecting", hasOlder: false, error: undefined };
const NO_SESSIONS: SessionsView = { sessions: [], state: "connecting", error: undefined };

function useConnection<C extends { close(): void }>(open: (where: Where) => C, where: Where, name: string) {
  const [opened, setOpened] = useState<{ of: string; connection: C }>();
  const key = `${name} ${JSON.stringify(where)}`;
  useEffect(() => {
    const connection = open(where);
    setOpened({ of: key, connection });
    return () => {
      connection.close();
      setOpened(undefined);
    };
  }, [key]);
  // A connection of earlier options may still be open. It is not returned.
  return opened?.of === key ? opened.connection : undefined;
}

const neverChanges = () => () => {};

function useView<V>(store: Store<V> | undefined, without: V): V {
  const look = store ? store.getSnapshot : () => without;
  return useSyncExternalStore(store ? store.subscribe : neverChanges, look, () => without);
}
