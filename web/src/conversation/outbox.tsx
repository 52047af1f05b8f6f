import type { Msg, Session } from "@recount/client";
import { useCallback, useEffect, useMemo, useSyncExternalStore } from "react";
import { Block } from "../blocks/block";
import type { Content } from "./said";
import { unsentIn } from "./unsent";

/** What was said, until it is in the session. */
export function useOutbox(name: string, session: Session | undefined, messages: readonly Msg[]) {
  const box = unsentIn(name);
  const all = useSyncExternalStore(box.subscribe, box.look);

  // What was said before a reload, or before there was a session.
  useEffect(() => box.deliver(session), [box, session]);
  useEffect(() => () => box.leave(), [box]);
  // Those that have arrived are shown where they arrived.
  useEffect(() => box.arrived(messages), [box, messages]);
  const pending = useMemo(() => {
    const arrived = new Set(all.length ? messages.map(({ id }) => id) : []);
    return all.filter(({ message }) => !arrived.has(message.id));
  }, [all, messages]);

  const say = useCallback((content: Content) => box.say(session, content), [box, session]);
  const again = (message: Msg) => box.again(session, message);
  const discard = (message: Msg) => box.discard(message);
  return { pending, say, again, discard };
}

/** What was said and has not arrived. */
export function Outbox({
  pending,
  again,
  discard,
  isConnected,
}: Omit<ReturnType<typeof useOutbox>, "say"> & { isConnected: boolean }) {
  return pending.map(({ message, isSent, error }) => (
    <article key={message.id} className="message pending" data-role="user" aria-label="Your message">
      <header>
        <h2 className="name">You</h2>
        <span>
          {error ? "Not sent" : isSent ? "Waits for its turn" : isConnected ? "Sending…" : "Waits for the connection…"}
        </span>
      </header>
      <div className="content">
        {message.content.map((block) => (
          <Block key={block.id} block={block} scope={message.id} isUser isOver isLast={false} />
        ))}
      </div>
      {error && (
        <div className="choices" role="alert">
          <span className="wrong">{error}</span>
          <button type="button" onClick={() => again(message)}>
            Send again
          </button>
          <button type="button" className="quiet" onClick={() => discard(message)}>
            Discard
          </button>
        </div>
      )}
    </article>
  ));
}
