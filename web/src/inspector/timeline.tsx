import { useEffect, useRef } from "react";
import type { History } from "./history";
import { gist } from "./kinds";
import { paint } from "./paint";

/** All events from left to right, with a slider. */
export function Timeline({
  history,
  length,
  at,
  onGo,
}: {
  history: History;
  length: number;
  /** The index of the current event. */
  at: number;
  onGo: (at: number) => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const draw = () => paint(element, history.kinds, length);
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    // The canvas is redrawn in the colours of the new theme.
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
