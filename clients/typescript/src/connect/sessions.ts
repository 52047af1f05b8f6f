import type { RecountError } from "./error.js";
import type { Reader } from "./frames.js";
import { type ConnectionState, keepConnected, pause } from "./keep.js";
import { type Endpoint, type Server, serverOf } from "./server.js";
import { type Shared, share } from "./shared.js";
import { newStore, type Store } from "./store.js";
import { SESSIONS } from "./ws.js";

/** The metadata of a session. */
export interface SessionInfo {
  readonly id: string;
  readonly cursor: string;
  readonly agent: string;
  readonly title: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_at: string;
  /** The time at which its last message was complete. */
  readonly updated_at: string;
  /** Whether a reply is in progress, and whether it waits for the user. */
  readonly status: "idle" | "running" | "waiting";
  /** The ids of the replies in progress. */
  readonly open: readonly string[];
}

/** The current view of the list of sessions. */
export interface SessionsView {
  readonly sessions: readonly SessionInfo[];
  readonly state: ConnectionState;
  /** The error that ended the connection permanently. */
  readonly error: RecountError | undefined;
}

/** The live list of sessions of a service. */
export interface Sessions extends Store<SessionsView> {
  close(): void;
}

/** The polling interval of the list without a WebSocket, in milliseconds. */
const INTERVAL = 5_000;

/** Follows the list of sessions. */
export function connectSessions(endpoint: Endpoint): Sessions {
  const [{ store }, close] = share(serverOf(endpoint), SESSIONS, followSessions);
  return { ...store, close };
}

function followSessions(server: Server): Shared & { store: Store<SessionsView> } {
  let sessions = new Map<string, SessionInfo>();
  let changes = new Map<string, SessionInfo | null>();
  let loads = 0;
  let state: ConnectionState = "connecting";
  let error: RecountError | undefined;
  const [store, changed] = newStore<SessionsView>(() => ({ sessions: [...sessions.values()], state, error }));

  const put = (info: SessionInfo | null, id: string) => {
    if (info) sessions.set(id, info);
    else sessions.delete(id);
  };

  const setState: Reader["setState"] = (next, rejection) => {
    state = next;
    error = rejection;
    // A list that was requested over an earlier connection is outdated.
    loads++;
    if (rejection) server.shared.delete(SESSIONS);
    changed();
  };

  const load = async (get: (path: string) => Promise<string>) => {
    const number = ++loads;
    changes = new Map();
    const all = new Map<string, SessionInfo>();
    for (let next: string | null = ""; next !== null; ) {
      const page = JSON.parse(await get(`sessions?limit=1000&after=${next}`));
      // The response to an earlier request may arrive after a later one.
      if (number !== loads) return;
      for (const info of page.sessions) all.set(info.id, info);
      next = page.next;
    }
    sessions = all;
    // Changes that arrived in the meantime are newer.
    changes.forEach(put);
    setState("live");
  };

  const bySocket = () =>
    server.join(SESSIONS, {
      setState,
      cursor: () => undefined,
      take({ session, info = null }) {
        // All changes are sent from here on. Earlier ones are in the list.
        if (!session)
          return void load(async (path) => (await server.retry(path))[0]).catch((error) => setState("offline", error));
        changes.set(session, info);
        put(info, session);
        changed();
      },
    });

  const byPolling = () =>
    keepConnected(
      server,
      async (signal, alive) => {
        while (!signal.aborted) {
          await load(async (path) => (await server.send("GET", path, { signal })).text());
          alive();
          await pause(Math.min(INTERVAL, server.maxDelay), signal);
        }
      },
      setState,
    );

  return { users: 0, store, leave: server.transport === "ws" ? bySocket() : byPolling() };
}
