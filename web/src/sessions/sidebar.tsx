import type { SessionInfo, SessionsView } from "@recount/client";
import { memo, useEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { shortTime } from "../lib/format";
import { addressOf, go } from "../lib/route";
import { Icon } from "../parts/icon";
import { ThemeSwitch } from "../parts/theme-switch";
import { Time } from "../parts/time";
import { asBefore, newestFirst } from "./order";
import { Rename } from "./rename";
import { matchesTitle, titleOf } from "./titles";

/** The number of sessions from which there is a search box. */
const MANY = 8;

/** The live list of sessions. */
export function Sidebar({
  view: { sessions, state },
  current,
  onGo,
}: {
  view: SessionsView;
  current: string | undefined;
  onGo: () => void;
}) {
  const [wanted, setWanted] = useState("");
  const [isHeld, setHeld] = useState(false);
  const before = useRef<readonly SessionInfo[]>([]);
  const all = useMemo(() => (isHeld ? asBefore(sessions, before.current) : newestFirst(sessions)), [sessions, isHeld]);
  before.current = all;
  const shown = all.filter((session) => matchesTitle(session, wanted));
  const waiting = all.filter(({ status }) => status === "waiting");
  const goToWaiting = () => {
    // From one waiting session to the next, and from the last to the first.
    const next = waiting[waiting.findIndex(({ id }) => id === current) + 1] ?? waiting[0];
    go({ session: next?.id });
    onGo();
  };
  return (
    <>
      <div className="brand">
        <img src="/icon.svg" alt="" width="24" height="24" />
        <strong>Recount</strong>
        <span className="grow" />
        <ThemeSwitch />
      </div>
      <button
        type="button"
        className="new"
        onClick={() => {
          go({});
          onGo();
        }}
      >
        <Icon name="plus" />
        New session
      </button>
      {sessions.length > MANY && (
        <input
          type="search"
          aria-label="Search sessions"
          placeholder="Search sessions"
          value={wanted}
          onChange={(event) => setWanted(event.target.value)}
        />
      )}
      <div className="waiting" role="status">
        {waiting.length > 0 && (
          <button type="button" className="quiet small" title="Go to the next one" onClick={goToWaiting}>
            {waiting.length === 1 ? "1 session waits for an answer" : `${waiting.length} sessions wait for an answer`}
          </button>
        )}
      </div>
      {/* An item under the pointer, or with the keyboard focus, keeps its place. */}
      <nav
        aria-label="Sessions"
        onPointerEnter={() => setHeld(true)}
        onPointerLeave={({ currentTarget }) => setHeld(currentTarget.contains(document.activeElement))}
        onFocus={() => setHeld(true)}
        onBlur={({ currentTarget }) => setHeld(currentTarget.matches(":hover"))}
      >
        <ul>
          {shown.map((session) => (
            <Item key={session.id} session={session} isCurrent={session.id === current} onGo={onGo} />
          ))}
        </ul>
        {!shown.length && (wanted || state === "live") && (
          <p className="none">{wanted ? "None is called so." : "No sessions yet."}</p>
        )}
      </nav>
    </>
  );
}

const standings = { running: "Replying", waiting: "Waits for an answer", idle: undefined };

/** Memoized: there may be thousands of items, and few of them change. */
const Item = memo(function Item({
  session,
  isCurrent,
  onGo,
}: {
  session: SessionInfo;
  isCurrent: boolean;
  onGo: () => void;
}) {
  const [isRenaming, setRenaming] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const line = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isCurrent) line.current?.scrollIntoView({ block: "nearest" });
  }, [isCurrent]);
  const close = () => {
    flushSync(() => setRenaming(false));
    opener.current?.focus();
  };
  const { id, status, updated_at } = session;
  if (isRenaming) {
    return (
      <li>
        <Rename session={session} onClose={close} />
      </li>
    );
  }
  const standing = standings[status];
  return (
    <li ref={line} data-status={status}>
      <a
        href={addressOf({ session: id })}
        aria-current={isCurrent ? "page" : undefined}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return;
          event.preventDefault();
          go({ session: id });
          onGo();
        }}
      >
        <span className="title" title={titleOf(session)} dir="auto">
          {titleOf(session)}
        </span>
        {standing ? (
          <span className="standing">{standing}</span>
        ) : (
          <Time at={updated_at} show={(time) => shortTime(time, Date.now())} />
        )}
      </a>
      <button
        ref={opener}
        type="button"
        className="quiet small"
        aria-label={`Rename or delete ${titleOf(session)}`}
        title="Rename or delete"
        onClick={() => setRenaming(true)}
      >
        <Icon name="edit" />
      </button>
    </li>
  );
});
