import type { AgentEvent } from "../generated.js";
import type { Followed } from "./follow.js";
import { isAfter } from "./messages.js";

/** The events of a session for one reader, who may be slow. */
export interface Feed {
  /** The session has been joined. */
  begin(cursor: string): void;
  push(cursor: string, event: AgentEvent): void;
  /** No more events come; with an error, because they cannot be had. */
  end(why?: unknown): void;
  read(): AsyncGenerator<AgentEvent, void, undefined>;
}

/**
 * The events after an entry, from the start, or from now on. Only so many wait to be read; what comes after them is read
 * from the log, in pages, until the reader has caught up.
 */
export function newFeed(
  { feeds, messages }: Followed,
  after: string | undefined,
  readLog: (after: string) => Promise<[text: string, headers: Headers]>,
  closing: AbortSignal,
): Feed {
  let at = after === "start" ? undefined : (after ?? messages.cursor);
  let isLive = !after;
  let queue: [cursor: string, event: AgentEvent][] = [];
  let isOver = false;
  let error: unknown;
  let wake = () => {};
  const stop = () => feed.end();

  async function* read(): AsyncGenerator<AgentEvent, void, undefined> {
    for (;;) {
      const next = queue.shift();
      if (next) {
        const [cursor, event] = next;
        if (!isAfter(cursor, at)) continue;
        at = cursor;
        yield event;
      } else if (isOver) {
        if (error) throw error;
        return;
      } else if (isLive) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      } else {
        // What comes from now on waits, so that nothing is missed between the page and it.
        const joined = messages.cursor;
        isLive = true;
        const page = await readLog(at ?? "").catch(feed.end);
        if (!page) continue;
        for (const line of page[0].split("\n")) if (line) yield JSON.parse(line);
        const end = page[1].get("recount-cursor")!;
        if (end !== at && (!joined || isAfter(joined, end))) {
          isLive = false;
          queue = [];
        }
        at = end;
      }
    }
  }

  const feed: Feed = {
    begin(cursor) {
      // Who wants what was before reads it, up to where the session was joined at least.
      if (after) isLive = false;
      else at ??= cursor;
      wake();
    },

    push(cursor, event) {
      // So many wait for a slow reader.
      if (queue.length === 1_000) isLive = false;
      if (isLive) queue.push([cursor, event]);
      wake();
    },

    end(why) {
      if (isOver) return;
      isOver = true;
      error = why;
      feeds.delete(feed);
      closing.removeEventListener("abort", stop);
      wake();
    },

    read() {
      const events = read();
      const leave = events.return.bind(events);
      // Who leaves while it waits for an event is not kept waiting.
      events.return = () => {
        stop();
        return leave();
      };
      return events;
    },
  };
  feeds.add(feed);
  closing.addEventListener("abort", stop);
  return feed;
}
