import { type AgentEvent, RecountError, type ServerOptions } from "@recount/client";

/** An entry of a session's log. */
export interface Entry {
  readonly cursor: string;
  readonly event: AgentEvent;
}

/** Parses a cursor. */
export function partsOf(cursor: string): { epoch: string; place: number } {
  const [epoch = "", place = "0"] = cursor.split(".");
  return { epoch, place: Number(place) };
}

/**
 * Reads a session's log in batches as they arrive, with the places of the entries and including sub-agents' replies. An
 * empty batch means that all existing entries were read. Reading continues with new entries until the connection ends
 * or the signal is aborted.
 *
 * @throws RecountError of the kind `gap` if the entries after the place are gone.
 */
export async function* readLog(
  where: ServerOptions,
  session: string,
  after: string,
  signal: AbortSignal,
): AsyncGenerator<Entry[], void, undefined> {
  const response = await fetch(`/v1/sessions/${session}/stream?all=true&after=${after}`, {
    headers: where.token ? { authorization: `Bearer ${where.token}` } : {},
    signal,
  });
  if (!response.ok) {
    throw new RecountError({ ...(await response.json().catch(() => ({}))), status: response.status });
  }
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const frames = rest.split("\n\n");
    rest = frames.pop()!;
    const entries: Entry[] = [];
    let isLive = false;
    for (const frame of frames) {
      isLive ||= frame === ": live";
      const { id, event, data } = readFrame(frame);
      if (event === "gap")
        throw new RecountError({ status: 410, kind: "gap", detail: `nothing is left after ${after}` });
      if (id && data && !event) entries.push({ cursor: id, event: JSON.parse(data) });
    }
    if (entries.length) yield entries;
    if (isLive) yield [];
  }
}

function readFrame(frame: string): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const line of frame.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).trim();
  }
  return fields;
}
