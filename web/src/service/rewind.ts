import { RecountError, type ServerOptions } from "@recount/client";
import { isRecord } from "../lib/json";
import { forkSession, getSession } from "./api";
import { type Entry, partsOf, readLog } from "./log";

/** How many entries at the end are looked at first. */
const FIRST_LOOK = 512;

/** Whether a message begins with an entry. */
function begins({ event }: Entry, message: string): boolean {
  if (event.type === "REPLY_START") return event.reply_id === message;
  return (
    event.type === "CUSTOM" && event.name === "recount.message" && isRecord(event.value) && event.value.id === message
  );
}

/**
 * The place in a session's log just before a message. What is looked for is mostly near the end, so the log is read from
 * there, in longer and longer pieces.
 */
async function placeBefore(where: ServerOptions, session: string, message: string): Promise<string> {
  const { epoch, place: head } = partsOf((await getSession(where, session)).cursor);
  for (let from = head - FIRST_LOOK, until = head; ; from = head - 8 * (head - from)) {
    const start = Math.max(0, from);
    const found = await look(where, session, start ? `${epoch}.${start}` : "start", until, message);
    if (typeof found === "number") return `${epoch}.${found - 1}`;
    if (!start) throw new Error("the message is not in the log");
    if (found === "not here") until = start;
  }
}

async function look(
  where: ServerOptions,
  session: string,
  after: string,
  until: number,
  message: string,
): Promise<number | "not here" | "gap"> {
  const reading = new AbortController();
  try {
    for await (const entries of readLog(where, session, after, reading.signal)) {
      for (const entry of entries) {
        const { place } = partsOf(entry.cursor);
        if (begins(entry, message)) return place;
        if (place >= until) return "not here";
      }
    }
    return "not here";
  } catch (error) {
    // The entries there have been joined; further back is a place where one can begin.
    if (error instanceof RecountError && error.reason === "gap") return "gap";
    throw error;
  } finally {
    reading.abort();
  }
}

/** A new session that stands where another one stood before a message. */
export async function forkBefore(where: ServerOptions, session: string, message: string): Promise<string> {
  return (await forkSession(where, session, await placeBefore(where, session, message))).id;
}
