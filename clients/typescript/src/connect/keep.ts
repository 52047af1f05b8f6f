import { isFinal, type RecountError } from "./error.js";

/** The state of a connection. */
export type ConnectionState =
  /** An attempt is in progress. */
  | "connecting"
  /** Missed events are being read. */
  | "catching up"
  /** All events have been read. */
  | "live"
  /** There is no connection. The next attempt is automatic, unless there is an error. */
  | "offline";

/** The timeouts of a connection, in milliseconds. */
export interface Patience {
  /** The first delay before a retry. Each further delay is twice as long. */
  readonly minDelay: number;
  /** The longest delay. */
  readonly maxDelay: number;
  /** The time without any data after which a connection is considered dead. */
  readonly silence: number;
}

/** Waits for a time, or until the signal is aborted. */
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

/** Waits before a retry. The delay has random jitter, so that clients do not reconnect at the same time. */
export const pauseBefore = (attempt: number, patience: Patience, signal?: AbortSignal): Promise<void> =>
  pause(Math.min(patience.maxDelay, patience.minDelay * 2 ** attempt) * (1 - Math.random() / 2), signal);

/**
 * Reconnects until it is stopped or rejected.
 *
 * `attempt` connects, calls `alive` for all data that it receives, and returns when the connection ends or the signal
 * is aborted. Silence is measured by the wall clock, so that a computer notices a dead connection right after sleep.
 */
export function keepConnected(
  patience: Patience,
  attempt: (signal: AbortSignal, alive: () => void) => Promise<unknown>,
  setState: (state: "connecting" | "offline", error?: RecountError) => void,
): () => void {
  const stopping = new AbortController();
  const { signal } = stopping;
  const { silence } = patience;
  // The step in progress: an attempt, or the delay before the next one.
  let step: AbortController;
  let failures = 0;
  let last: number;
  const alive = () => {
    last = Date.now();
    failures = 0;
  };
  const endIfSilentFor = (limit: number) => Date.now() - last > limit && step.abort();
  // The network is lost or back, or the page is visible again: retry now and check the connection.
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
      // Connecting gets a quarter of the silence limit, because a connection that the browser kept open during sleep
      // may be dead.
      last = Date.now() - silence * 0.75;
      const ticker = setInterval(endIfSilentFor, silence / 4, silence);
      setState("connecting");
      const end = await attempt(step.signal, alive).catch((error) => error);
      clearInterval(ticker);
      step.abort();
      if (signal.aborted) return;
      const rejection = isFinal(end) ? end : undefined;
      setState("offline", rejection);
      if (rejection) return stopping.abort();
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
