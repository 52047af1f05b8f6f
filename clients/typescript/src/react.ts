import { useEffect, useState, useSyncExternalStore } from "react";
import type { SessionView } from "./connect/follow.js";
import type { Where } from "./connect/server.js";
import { connect, type Session } from "./connect/session.js";
import { connectSessions, type SessionsView } from "./connect/sessions.js";
import type { Store } from "./connect/store.js";

/** A session as a component sees it: what there is to see, and what can be done. */
export type UsedSession = SessionView & {
  /** The session, as soon as it is connected. */
  readonly session: Session | undefined;
};

/**
 * Follows a session for as long as the component is there. The component is rendered again in each frame in which
 * something has changed; what has not changed is the same object as before.
 *
 * Options may be made anew for each render: they count by their address, token and transport.
 */
export function useSession(where: Where, name: string): UsedSession {
  const session = useConnection((at) => connect(at, name), where, name);
  return { ...useView(session, NOTHING), session };
}

/** The live list of sessions, for as long as the component is there. */
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
  // What was asked for before is not what is asked for now, even if it is still there.
  return opened?.of === key ? opened.connection : undefined;
}

const neverChanges = () => () => {};

function useView<V>(store: Store<V> | undefined, without: V): V {
  const look = store ? store.getSnapshot : () => without;
  return useSyncExternalStore(store ? store.subscribe : neverChanges, look, () => without);
}
