import { useEffect, useState, useSyncExternalStore } from "react";
import type { SessionView } from "./connect/follow.js";
import type { Endpoint } from "./connect/server.js";
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
export function useSession(endpoint: Endpoint, name: string): UsedSession {
  const session = useConnection((at) => connect(at, name), endpoint, name);
  return { ...useView(session, NOTHING), session };
}

/** Returns the live list of sessions while the component is mounted. */
export function useSessions(endpoint: Endpoint): SessionsView {
  return useView(useConnection(connectSessions, endpoint, ""), NO_SESSIONS);
}

const NOTHING: SessionView = { messages: [], state: "connecting", hasOlder: false, error: undefined };
const NO_SESSIONS: SessionsView = { sessions: [], state: "connecting", error: undefined };

function useConnection<C extends { close(): void }>(open: (endpoint: Endpoint) => C, endpoint: Endpoint, name: string) {
  const [opened, setOpened] = useState<{ of: string; connection: C }>();
  const key = `${name} ${JSON.stringify(endpoint)}`;
  useEffect(() => {
    const connection = open(endpoint);
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
