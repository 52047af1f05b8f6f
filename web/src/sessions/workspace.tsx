import { useSessions } from "@recount/client/react";
import { type MouseEvent, useCallback, useEffect, useRef, useState } from "react";
import { useRoute } from "../lib/route";
import { Icon } from "../parts/icon";
import { useService } from "../service/context";
import { NewSession } from "./new-session";
import { SessionPage } from "./session-page";
import { Sidebar } from "./sidebar";

/** Focuses the input box, or else the main content. The address is not changed. */
function skip(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById(document.getElementById("message") ? "message" : "main")?.focus();
}

/** The list of sessions, and the session of the address next to it. */
export function Workspace({ onRefused }: { onRefused: () => void }) {
  const route = useRoute();
  const view = useSessions(useService());
  const [isOpen, setOpen] = useState(false);
  const close = useCallback(() => setOpen(false), []);
  const isRefused = view.error?.status === 401;
  useEffect(() => {
    if (isRefused) onRefused();
  }, [isRefused, onRefused]);
  const sidebar = useRef<HTMLElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    sidebar.current?.querySelector("button")?.focus();
    const onKey = (event: KeyboardEvent) => event.key === "Escape" && close();
    // On a wide screen the list is always visible.
    const wide = matchMedia("(min-width: 761px)");
    wide.addEventListener("change", close);
    addEventListener("keydown", onKey);
    return () => {
      wide.removeEventListener("change", close);
      removeEventListener("keydown", onKey);
      opener.current?.focus();
    };
  }, [isOpen, close]);

  const menu = (
    <button
      ref={opener}
      type="button"
      className="quiet narrow"
      aria-label="Sessions"
      aria-expanded={isOpen}
      aria-controls="sessions"
      onClick={() => setOpen(true)}
    >
      <Icon name="menu" />
    </button>
  );
  const { session } = route;
  return (
    <div className="workspace">
      {/* biome-ignore lint/a11y/useValidAnchor: the link moves the focus, but the address remains that of the session. */}
      <a className="skip" href="#main" onClick={skip}>
        Past the list of sessions
      </a>
      <aside ref={sidebar} id="sessions" className="sidebar" aria-label="Recount" data-open={isOpen}>
        <Sidebar view={view} current={session} onGo={close} />
      </aside>
      {isOpen && <button type="button" className="shade" aria-label="Close the list of sessions" onClick={close} />}
      <main id="main" tabIndex={-1} inert={isOpen}>
        {session ? (
          <SessionPage
            key={session}
            name={session}
            info={view.sessions.find(({ id }) => id === session)}
            isListed={view.state !== "connecting"}
            inspect={route.inspect}
            menu={menu}
          />
        ) : (
          <NewSession menu={menu} state={view.state} />
        )}
      </main>
    </div>
  );
}
