import type { AgentEvent } from "../generated.js";
import type { Followed } from "./follow.js";
import { isAfter } from "./messages.js";

/** The events of a session for one reader, which may be slow. */
export interface Feed {
  /** The session was joined at a cursor. */
  begin(cursor: string): void;
  push(cursor: string, event: AgentEvent): void;
  /** Ends the feed. With an error, the remaining events are not available. */
  end(why?: unknown): void;
  read(): AsyncGenerator<AgentEvent, void, undefined>;
}

/**
 * Creates a feed of the events after an entry, from the start, or from now on. The queue is bounded. After an overflow
 * the reader reads pages from the log until it has caught up.
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
        // New events are queued from here on, so that none is lost between the page and the queue.
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
      // A reader of past events reads them from the log, at least up to the cursor of the join.
      if (after) isLive = false;
      else at ??= cursor;
      wake();
    },

    push(cursor, event) {
      // The queue is full: the slow reader continues from the log.
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
      // Returning while waiting for an event ends the wait.
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
