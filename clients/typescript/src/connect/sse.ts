import type { Frame } from "./frames.js";
import { keepConnected } from "./keep.js";
import type { Join, Server } from "./server.js";

/** Reads sessions by server-sent events, with one request each. */
export const joinBySse =
  (server: Server): Join =>
  (name, reader) =>
    keepConnected(
      server,
      async (signal, alive) => {
        const after = reader.cursor();
        const path = `sessions/${encodeURIComponent(name)}/stream?all=${server.all}&after=${after ?? ""}`;
        const response = await server.send("GET", path, { signal });
        if (after) reader.setState("catching up");
        const pieces = response.body!.pipeThrough(new TextDecoderStream()).getReader();
        let rest = "";
        let fields: Record<string, string> = {};
        for (;;) {
          const { value, done } = await pieces.read();
          if (done || signal.aborted) return;
          alive();
          rest += value;
          // A long line arrives in many pieces and is split once.
          if (!value.includes("\n")) continue;
          const lines = rest.split("\n");
          rest = lines.pop()!;
          for (const line of lines) {
            // The service sends this line when the reader has caught up.
            if (line === ": live") reader.take({ live: true });
            const colon = line.indexOf(":");
            if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).trim();
            if (line.trim()) continue;
            const { id, event = "event", data } = fields;
            if (data) reader.take({ id, [event]: JSON.parse(data) } as Frame);
            fields = {};
          }
        }
      },
      reader.setState,
    );
