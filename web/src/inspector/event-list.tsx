import { useEffect, useLayoutEffect, useRef, useState } from "react";
import type { History } from "./history";
import { gist } from "./kinds";
import { Mark } from "./mark";

/** The height of a line, in pixels. */
const LINE = 28;
/** The number of lines to render beyond the visible ones. */
const MORE = 12;

/**
 * Returns the scroll position that makes a line visible. It is unchanged if the line and its neighbours are visible;
 * otherwise there is some context before or after the line.
 */
export function scrolledTo(line: number, top: number, height: number): number {
  const room = Math.max(0, (height - LINE) / 2);
  const [neighbour, ahead] = [Math.min(LINE, room), Math.min(3 * LINE, room)];
  if (line < top + neighbour) return line - ahead;
  return line + LINE + neighbour > top + height ? line + LINE + ahead - height : top;
}

/** A virtual list of events. Only visible lines are rendered, so it may have any length. */
export function EventList({
  history,
  length,
  at,
  onGo,
}: {
  history: History;
  length: number;
  at: number;
  onGo: (at: number) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({ top: 0, height: 400 });

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => setSeen({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);

  // Runs before painting: otherwise the list would be empty for a frame if the visible lines are not rendered yet.
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const top = scrolledTo(at * LINE, element.scrollTop, element.clientHeight);
    if (top === element.scrollTop) return;
    element.scrollTop = top;
    setSeen({ top: element.scrollTop, height: element.clientHeight });
  }, [at]);

  const from = Math.max(0, Math.floor(seen.top / LINE) - MORE);
  const until = Math.min(length, Math.ceil((seen.top + seen.height) / LINE) + MORE);
  const lines = Array.from({ length: Math.max(0, until - from) }, (_, i) => from + i);
  const move = (event: React.KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -length, End: length }[event.key];
    if (!step) return;
    event.preventDefault();
    onGo(Math.min(length - 1, Math.max(0, at + step)));
  };
  return (
    <div
      ref={box}
      className="events"
      role="listbox"
      aria-label="Events"
      tabIndex={0}
      aria-activedescendant={at >= from && at < until ? `event-${at}` : undefined}
      onKeyDown={move}
    >
      <div role="presentation" style={{ height: length * LINE }}>
        <div role="presentation" style={{ transform: `translateY(${from * LINE}px)` }}>
          {lines.map((line) => {
            const { event } = history.entries[line]!;
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the list handles the keys.
              <div
                key={line}
                id={`event-${line}`}
                role="option"
                aria-selected={line === at}
                aria-setsize={length}
                aria-posinset={line + 1}
                data-ignored={history.reasonAt(line) ? true : undefined}
                style={{ height: LINE }}
                onClick={() => onGo(line)}
              >
                <span className="number">{line + 1}</span>
                <Mark kind={history.kinds[line]!} />
                <span className="type">{event.type === "CUSTOM" ? event.name : event.type}</span>
                <span className="gist">
                  {event.type === "CUSTOM" && event.name !== "recount.message" ? "" : gist(event)}
                </span>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
