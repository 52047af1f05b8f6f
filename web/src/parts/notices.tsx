import { RecountError } from "@recount/client";
import { createContext, type ReactNode, useCallback, useContext, useState } from "react";
import { Icon } from "./icon";

interface Notice {
  readonly id: number;
  readonly text: string;
}

const NotifyContext = createContext<(what: unknown) => void>(() => {});

/** Returns the message for an error. */
export function errorText(what: unknown): string {
  if (typeof what === "string") return what;
  // The request got no response, or a proxy got none.
  const isUnreached = what instanceof RecountError && !what.kind && /^50[234]$/.test(`${what.status}`);
  if (what instanceof TypeError || isUnreached) return "The service cannot be reached.";
  const text = what instanceof Error ? what.message : String(what);
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

/** Returns a function that shows an error or a sentence to the user. */
export const useNotify = () => useContext(NotifyContext);

/** Shows notices until the user dismisses them. */
export function Notices({ children }: { children: ReactNode }) {
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  const notify = useCallback((what: unknown) => {
    const notice = { id: Date.now() + Math.random(), text: errorText(what) };
    setNotices((all) => [...all.filter(({ text }) => text !== notice.text), notice].slice(-3));
  }, []);
  const putAway = (id: number) => setNotices((all) => all.filter((notice) => notice.id !== id));
  return (
    <NotifyContext value={notify}>
      {children}
      <div className="notices" role="alert">
        {notices.map(({ id, text }) => (
          <div key={id} className="notice">
            <Icon name="warning" />
            <span>{text}</span>
            <button type="button" className="quiet small" aria-label="Put away" onClick={() => putAway(id)}>
              <Icon name="close" />
            </button>
          </div>
        ))}
      </div>
    </NotifyContext>
  );
}
