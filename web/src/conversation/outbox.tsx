import type { Msg, Session } from "@recount/client";
import { useCallback, useEffect, useMemo, useSyncExternalStore } from "react";
import { Block } from "../blocks/block";
import type { Content } from "./content";
import { unsentOf } from "./unsent";

/** Returns the messages that are not in the session yet, and sends them. */
export function useOutbox(name: string, session: Session | undefined, messages: readonly Msg[]) {
  const box = unsentOf(name);
  const all = useSyncExternalStore(box.subscribe, box.look);

  // Messages from before a reload, or from before the session was created.
  useEffect(() => box.deliver(session), [box, session]);
  useEffect(() => () => box.leave(), [box]);
  // Messages that have arrived are displayed in the session.
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

/** The messages that are not in the session yet. */
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
