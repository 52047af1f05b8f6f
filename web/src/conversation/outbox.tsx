import type { Msg, Session } from "@recount/client";
import { useCallback, useEffect, useState } from "react";
import { Block } from "../blocks/block";
import { wordsFor } from "../parts/notices";
import { type Content, newUserMessage } from "./said";

/** A message that was said and is not in the session yet. */
interface Pending {
  readonly message: Msg;
  readonly error: string | undefined;
}

/** What was said, until it is in the session. */
export function useOutbox(session: Session | undefined, messages: readonly Msg[]) {
  const [pending, setPending] = useState<readonly Pending[]>([]);

  const deliver = useCallback(
    async (message: Msg) => {
      if (!session) return;
      try {
        await session.send({ id: message.id, content: message.content as Content }, { onBusy: "queue" });
      } catch (error) {
        setPending((all) => all.map((item) => (item.message === message ? { message, error: wordsFor(error) } : item)));
      }
    },
    [session],
  );

  const say = useCallback(
    (content: Content) => {
      const message = newUserMessage(content);
      setPending((all) => [...all, { message, error: undefined }]);
      deliver(message);
    },
    [deliver],
  );

  const again = (message: Msg) => {
    setPending((all) => all.map((item) => (item.message === message ? { message, error: undefined } : item)));
    deliver(message);
  };
  const discard = (message: Msg) => setPending((all) => all.filter((item) => item.message !== message));

  // Those that have arrived are shown where they arrived.
  useEffect(() => {
    setPending((all) => {
      if (!all.length) return all;
      const arrived = new Set(messages.slice(-100).map(({ id }) => id));
      const left = all.filter(({ message }) => !arrived.has(message.id));
      return left.length === all.length ? all : left;
    });
  }, [messages]);
  const arrived = new Set(pending.length ? messages.slice(-100).map(({ id }) => id) : []);

  return { pending: pending.filter(({ message }) => !arrived.has(message.id)), say, again, discard };
}

/** What was said and has not arrived. */
export function Outbox({
  pending,
  again,
  discard,
  isConnected,
}: Omit<ReturnType<typeof useOutbox>, "say"> & { isConnected: boolean }) {
  return pending.map(({ message, error }) => (
    <article key={message.id} className="message pending" data-role="user" aria-label="Your message">
      <header>
        <span className="name">You</span>
        <span>{error ? "Not sent" : isConnected ? "Sending…" : "Waits for the connection…"}</span>
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
