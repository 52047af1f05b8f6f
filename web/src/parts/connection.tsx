import type { ConnectionState } from "@recount/client";

const words: Record<ConnectionState, string> = {
  live: "Live",
  connecting: "Connecting…",
  "catching up": "Catching up…",
  offline: "Offline, trying again",
};

/** The state of the connection: a label and a dot. */
export function Connection({ state }: { state: ConnectionState }) {
  return (
    <span className="connection" data-state={state} role="status">
      <span className="dot" aria-hidden="true" />
      <span>{words[state]}</span>
    </span>
  );
}
