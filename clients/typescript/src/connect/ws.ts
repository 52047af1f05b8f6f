import { isFinal, RecountError } from "./error.js";
import type { Frame, Reader } from "./frames.js";
import { keepConnected } from "./keep.js";
import type { Join, Server } from "./server.js";

/** The reader key of the list of sessions. The service calls the list `sessions`, but a session may have that name. */
export const SESSIONS = "";

/** Reads everything over one socket. The socket is open while there are readers. */
export function joinByWs(server: Server): Join {
  const readers = new Map<string, Reader>();
  let socket: WebSocket | undefined | null;
  let stop: (() => void) | undefined;
  let drop: () => void;

  const send = (message: object) => socket?.send(JSON.stringify(message));

  const subscribe = (reader: Reader, name: string) => {
    if (!socket) return;
    const after = reader.cursor();
    send({ subscribe: name || "sessions", after, all: name ? server.all : undefined });
    if (after) reader.setState("catching up");
  };

  const take = (frame: Frame) => {
    const name = frame.change || frame.sessions ? SESSIONS : frame.session!;
    const reader = readers.get(name);
    if (!frame.problem) return reader?.take(frame);
    const error = new RecountError(frame.problem);
    if (!isFinal(error)) return drop();
    readers.delete(name);
    reader?.setState("offline", error);
  };

  const attempt = async (signal: AbortSignal, alive: () => void) => {
    if (!globalThis.WebSocket) {
      const detail = 'WebSocket is not available here; use `transport: "sse"`';
      throw new RecountError({ status: 426, kind: "upgrade_required", detail });
    }
    // A browser sends no token for a WebSocket and hides why it was rejected. The request for a ticket has both.
    const { ticket } = await (await server.send("POST", "tickets", { body: "{}", signal })).json();
    if (signal.aborted) return;
    const opening = new WebSocket(`${server.url}ws${ticket ? `?ticket=${ticket}` : ""}`.replace("http", "ws"));
    await new Promise<void>((resolve) => {
      drop = resolve;
      signal.addEventListener("abort", drop);
      opening.onclose = drop;
      opening.onopen = () => {
        alive();
        socket = opening;
        readers.forEach(subscribe);
      };
      opening.onmessage = ({ data }) => {
        alive();
        try {
          take(JSON.parse(data));
        } catch {
          // A frame that cannot be parsed is requested again.
          drop();
        }
      };
    });
    socket = opening.onopen = opening.onmessage = null;
    opening.close();
  };

  return (name, reader) => {
    readers.set(name, reader);
    subscribe(reader, name);
    stop ??= keepConnected(server, attempt, (state, error) => {
      const notified = [...readers.values()];
      if (error) {
        stop = undefined;
        readers.clear();
      }
      for (const reader of notified) reader.setState(state, error);
    });
    return () => {
      if (readers.get(name) !== reader) return;
      readers.delete(name);
      send({ unsubscribe: name || "sessions" });
      if (readers.size) return;
      stop?.();
      stop = undefined;
    };
  };
}
