import { isFinal, type RecountError } from "./error.js";

/** Where a connection stands. */
export type ConnectionState =
  /** An attempt is under way. */
  | "connecting"
  /** What was missed is being read. */
  | "catching up"
  /** Everything that there is has been seen. */
  | "live"
  /** There is no connection; the next attempt comes by itself, unless there is an error. */
  | "offline";

/** How patient a connection is, in milliseconds. */
export interface Patience {
  /** The first pause before another attempt; each one after it is twice as long. */
  readonly minDelay: number;
  /** The longest pause. */
  readonly maxDelay: number;
  /** How long nothing may be heard before a connection counts as dead. */
  readonly silence: number;
}

/** Waits, unless it is told to stop waiting. */
export const pause = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(end, milliseconds);
    function end() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    }
    signal?.addEventListener("abort", end);
  });

/** Waits before another attempt: not as long as everybody else, so that not all come back at once. */
export const pauseBefore = (attempt: number, patience: Patience, signal?: AbortSignal): Promise<void> =>
  pause(Math.min(patience.maxDelay, patience.minDelay * 2 ** attempt) * (1 - Math.random() / 2), signal);

/**
 * Connects again and again until it is stopped or refused.
 *
 * `attempt` connects, calls `heard` for whatever it gets, and ends when the connection does, or when the signal says so.
 * Silence is measured by the wall clock, so that a computer that has slept notices at once.
 */
export function keepConnected(
  patience: Patience,
  attempt: (signal: AbortSignal, heard: () => void) => Promise<unknown>,
  tell: (state: "connecting" | "offline", error?: RecountError) => void,
): () => void {
  const stopping = new AbortController();
  const { signal } = stopping;
  const { silence } = patience;
  // What is under way: an attempt, or the pause before the next.
  let step: AbortController;
  let failures = 0;
  let last: number;
  const heard = () => {
    last = Date.now();
    failures = 0;
  };
  const endIfSilentFor = (limit: number) => Date.now() - last > limit && step.abort();
  // No time to wait: there is no network any more, or there is one again, or somebody looks at the page again.
  for (const name of ["offline", "online", "visibilitychange"]) {
    const look = () => {
      failures = 0;
      endIfSilentFor(name === "offline" ? -1 : silence / 2);
    };
    globalThis.addEventListener?.(name, look, { signal });
  }
  (async () => {
    while (!signal.aborted) {
      step = new AbortController();
      // Connecting gets a quarter of the patience: what a browser has kept open since before a sleep may be dead.
      last = Date.now() - silence * 0.75;
      const ticker = setInterval(endIfSilentFor, silence / 4, silence);
      tell("connecting");
      const end = await attempt(step.signal, heard).catch((error) => error);
      clearInterval(ticker);
      step.abort();
      if (signal.aborted) return;
      const refused = isFinal(end) ? end : undefined;
      tell("offline", refused);
      if (refused) return stopping.abort();
      step = new AbortController();
      last = 0;
      await pauseBefore(failures++, patience, step.signal);
    }
  })();
  return () => {
    stopping.abort();
    step.abort();
  };
}
