import { useEffect, useRef } from "react";
import type { History } from "./history";
import { colourOf, gist, type Kind, kinds } from "./kinds";

/** All events from left to right, to be dragged over. */
export function Timeline({
  history,
  length,
  at,
  onGo,
}: {
  history: History;
  length: number;
  /** From 0. */
  at: number;
  onGo: (at: number) => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const draw = () => paint(element, history, length);
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    // Its colours are those of the page.
    const themes = new MutationObserver(draw);
    themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", draw);
    return () => {
      observer.disconnect();
      themes.disconnect();
      system.removeEventListener("change", draw);
    };
  }, [history, length]);
  const event = history.entries[at]?.event;
  return (
    <div className="timeline">
      <canvas ref={canvas} />
      <input
        type="range"
        aria-label="Event"
        aria-valuetext={event ? `Event ${at + 1} of ${length}: ${event.type} ${gist(event)}` : "No events"}
        min={0}
        max={Math.max(0, length - 1)}
        value={at}
        disabled={!length}
        onChange={({ target }) => onGo(Number(target.value))}
      />
    </div>
  );
}

/** As wide as the handle that is dragged, half of it on each side. */
const EDGE = 8;

function paint(element: HTMLCanvasElement, history: History, length: number): void {
  const { clientWidth: width, clientHeight: height } = element;
  const ratio = devicePixelRatio || 1;
  element.width = width * ratio;
  element.height = height * ratio;
  const context = element.getContext("2d");
  if (!context || !length) return;
  context.scale(ratio, ratio);
  const style = getComputedStyle(element);
  const room = width - 2 * EDGE;
  const columns = Math.max(1, Math.floor(room));
  const step = length > 1 ? room / (length - 1) : room;
  const bar = Math.max(1, Math.min(8, step - 1));
  const seen: Kind[] = [];
  for (let i = 0; i < length; i++) {
    const column = length <= columns ? i : Math.round((i * columns) / length);
    const kind = history.kinds[i]!;
    const other = seen[column];
    if (!other || kinds[other].rarity < kinds[kind].rarity) seen[column] = kind;
  }
  seen.forEach((kind, column) => {
    const center = EDGE + (length <= columns ? column * step : column);
    const tall = height * kinds[kind].height;
    // The element takes a colour to find out what it is, in the light or in the dark.
    element.style.color = colourOf(kind);
    context.fillStyle = style.color;
    context.fillRect(center - bar / 2, (height - tall) / 2, bar, tall);
  });
}
