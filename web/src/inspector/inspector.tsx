import type { AgentEvent, Msg } from "@recount/client";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Message, TouchedContext } from "../conversation/message";
import { duration, timeOf } from "../lib/format";
import { go, type Place } from "../lib/route";
import { save } from "../lib/save";
import { Code } from "../markdown/code";
import { Icon } from "../parts/icon";
import { errorText } from "../parts/notices";
import { Time } from "../parts/time";
import { partsOf } from "../service/log";
import { EventList } from "./event-list";
import type { History } from "./history";
import { blockOf, type Kind, kinds } from "./kinds";
import { Mark } from "./mark";
import { useReplay } from "./replay";
import { Timeline } from "./timeline";
import { useHistory } from "./use-history";

/** The time after which the address is updated to the current position, in milliseconds. */
const SETTLED = 400;

/** The margin around the block of the current event, in pixels. */
const ROOM = 48;

const exactly = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
});

/** Returns the index of a position. */
function indexOf(place: Place, history: History): number {
  const last = history.length - 1;
  if (typeof place === "number") return Math.min(place - 1, last);
  if (place === "end") return last;
  return history.beginningOf(place.message) ?? last;
}

/** The events of a session on a timeline, and the message as it was after any of them. */
export function Inspector({ name, at: asked }: { name: string; at: Place }) {
  const { history, isRead, error } = useHistory(name);
  const { length } = history;
  const [place, setPlace] = useState<Place>(asked);
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1);
  const at = Math.max(0, indexOf(place, history));

  const goTo = useCallback((to: number) => setPlace(to + 1), []);
  const pause = useCallback(() => setPlaying(false), []);
  const drag = (to: number) => {
    pause();
    // At the end, new events are followed.
    setPlace(to >= length - 1 ? "end" : to + 1);
  };
  useReplay(isPlaying, speed, history, at, goTo, pause);

  useEffect(() => {
    if (isPlaying || typeof place === "object") return;
    const timer = setTimeout(() => go({ session: name, inspect: place }, "replace"), SETTLED);
    return () => clearTimeout(timer);
  }, [name, place, isPlaying]);

  const entry = history.entries[at];
  const kind = history.kinds[at];
  // Later events do not change the displayed state.
  const isThere = at < length;
  const message = useMemo(() => (isThere ? history.messageAt(at) : undefined), [history, at, isThere]);
  if (error) {
    return (
      <div className="refused" role="alert">
        <h2>The log cannot be read</h2>
        <p>{errorText(error)}</p>
      </div>
    );
  }
  const beginnings = history.beginnings();
  const before = beginnings.findLast((first) => first < at);
  const after = beginnings.find((first) => first > at);
  const since = elapsed(history, at);
  const reason = history.reasonAt(at);
  return (
    <section className="inspector" aria-label="Inspector">
      <div className="transport">
        <Timeline history={history} length={length} at={at} onGo={drag} />
        <Legend history={history} length={length} />
        <div className="controls">
          <button
            type="button"
            className="quiet"
            aria-label="Previous message"
            title="Previous message"
            disabled={before === undefined}
            onClick={() => drag(before ?? 0)}
          >
            <Icon name="previous" />
          </button>
          <button
            type="button"
            className="quiet"
            aria-label={isPlaying ? "Pause" : "Play"}
            title={isPlaying ? "Pause" : "Play"}
            disabled={!length}
            onClick={() => {
              if (!isPlaying && at >= length - 1) setPlace((history.extentAt(at)?.first ?? 0) + 1);
              setPlaying(!isPlaying);
            }}
          >
            <Icon name={isPlaying ? "pause" : "play"} />
          </button>
          <button
            type="button"
            className="quiet"
            aria-label="Next message"
            title="Next message"
            disabled={after === undefined}
            onClick={() => drag(after ?? 0)}
          >
            <Icon name="next" />
          </button>
          <select aria-label="Speed" value={speed} onChange={(event) => setSpeed(Number(event.target.value))}>
            <option value={1}>1×</option>
            <option value={4}>4×</option>
            <option value={16}>16×</option>
          </select>
          <output>
            {length ? `Event ${at + 1} of ${length}` : isRead ? "Nothing has happened yet" : "Reading the log…"}
          </output>
          {entry && (
            <span className="when">
              <Time at={entry.event.created_at ?? ""} show={(time) => exactly.format(time)} />
              <span>{since}</span>
            </span>
          )}
          <span className="grow" />
          <button type="button" className="quiet" disabled={!length} onClick={() => download(name, history)}>
            <Icon name="download" />
            JSON lines
          </button>
        </div>
      </div>
      <EventList history={history} length={length} at={at} onGo={drag} />
      <MessageAtEvent message={message} event={entry?.event} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling content must be reachable by keyboard. */}
      <section className="raw" aria-label="The event" tabIndex={0}>
        <h2>
          {kind && <Mark kind={kind} />}
          {kind ? kinds[kind].label : "Event"}
          {entry && <small>cursor {partsOf(entry.cursor).place}</small>}
        </h2>
        {reason && <p className="ending">It changed nothing: {reason}.</p>}
        {entry && <Code code={JSON.stringify(entry.event, null, 2)} language="json" />}
      </section>
    </section>
  );
}

/** The legend of the kinds that occur. */
function Legend({ history, length }: { history: History; length: number }) {
  const counts = useMemo(() => {
    const counts = new Map<Kind, number>();
    for (let i = 0; i < length; i++) counts.set(history.kinds[i]!, (counts.get(history.kinds[i]!) ?? 0) + 1);
    return counts;
  }, [history, length]);
  return (
    <ul className="legend" aria-label="Kinds of events">
      {(Object.keys(kinds) as Kind[]).map(
        (kind) =>
          counts.has(kind) && (
            <li key={kind}>
              <Mark kind={kind} />
              {kinds[kind].label} <span>{counts.get(kind)}</span>
            </li>
          ),
      )}
    </ul>
  );
}

/** The message at the current event, with the event's block in view. */
function MessageAtEvent({ message, event }: { message: Msg | undefined; event: AgentEvent | undefined }) {
  const box = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const piece = box.current?.querySelector("[data-touched]");
    if (!box.current || !piece) return;
    const seen = box.current.getBoundingClientRect();
    const { top, bottom } = piece.getBoundingClientRect();
    // Blocks grow at their end.
    if (bottom > seen.bottom - ROOM) box.current.scrollTop += bottom - seen.bottom + ROOM;
    else if (bottom < seen.top + ROOM) box.current.scrollTop += top - seen.top - ROOM;
  }, [message, event]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling content must be reachable by keyboard.
    <section ref={box} className="then" aria-label="The message after this event" tabIndex={0}>
      <h2>The message after this event</h2>
      <TouchedContext value={event && blockOf(event)}>
        {message ? <Message message={message} /> : <p className="nothing">There is no message yet.</p>}
      </TouchedContext>
    </section>
  );
}

/** Returns the time between the message's first event and an event. */
function elapsed(history: History, at: number): string {
  const first = history.extentAt(at)?.first;
  const began = first === undefined ? undefined : timeOf(history.entries[first]!.event.created_at);
  const now = timeOf(history.entries[at]?.event.created_at);
  return began === undefined || now === undefined ? "" : `+${duration(now - began)}`;
}

function download(name: string, { entries }: History): void {
  const lines = entries.map(({ event }) => `${JSON.stringify(event)}\n`);
  const address = URL.createObjectURL(new Blob(lines, { type: "application/x-ndjson" }));
  save(address, `${name}.jsonl`);
  setTimeout(() => URL.revokeObjectURL(address));
}
