import { useEffect } from "react";
import { timeOf } from "../lib/format";
import type { History } from "./history";

/** The longest pause between two events during replay, in milliseconds. */
const LONGEST = 1_200;
/** The interval of updates, in milliseconds. */
const FRAME = 16;

/** Plays the events at their original pace, multiplied by a speed. */
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
    // One frame may show several events.
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
