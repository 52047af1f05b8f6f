import { useEffect } from "react";
import { timeOf } from "../lib/format";
import type { History } from "./history";

/** No pause is longer than this, whatever happened in it, in milliseconds. */
const LONGEST = 1_200;
/** How often there is something new to see, in milliseconds. */
const FRAME = 16;

/** Goes on from event to event as fast as they happened, times a speed, as long as it plays. */
export function useReplay(
  isPlaying: boolean,
  speed: number,
  history: History,
  at: number,
  onGo: (at: number) => void,
  onEnd: () => void,
): void {
  useEffect(() => {
    if (!isPlaying) return;
    const last = history.length - 1;
    if (at >= last) return onEnd();
    // Several events may belong to one frame.
    let next = at;
    let wait = 0;
    while (next < last && wait < FRAME) {
      next++;
      wait += pauseBefore(history, next) / speed;
    }
    const timer = setTimeout(() => onGo(next), wait);
    return () => clearTimeout(timer);
  }, [isPlaying, speed, history, at, onGo, onEnd]);
}

function pauseBefore({ entries }: History, place: number): number {
  const before = timeOf(entries[place - 1]?.event.created_at);
  const now = timeOf(entries[place]?.event.created_at);
  return before === undefined || now === undefined ? 0 : Math.min(LONGEST, Math.max(0, now - before));
}
