import type { Msg, Session } from "@recount/client";
import { type ReactNode, useEffect, useRef } from "react";
import { Chunks } from "../lib/chunks";
import { Icon } from "../parts/icon";
import { useStickyEnd } from "./scroll";
import { ChunkView, Window } from "./window";

/** The messages of a session, newest at the bottom. */
export function Conversation({
  messages,
  hasOlder,
  session,
  children,
}: {
  messages: readonly Msg[];
  hasOlder: boolean;
  session: Session | undefined;
  /** The content after the messages. */
  children?: ReactNode;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const cutter = useRef(new Chunks<Msg>());
  const chunks = cutter.current.of(messages);
  const { isAtEnd, toEnd } = useStickyEnd(scroller, content, messages[0]?.id);
  return (
    <div className="conversation">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling content must be reachable by keyboard. */}
      <div ref={scroller} className="scroller" role="log" aria-label="Conversation" tabIndex={0}>
        <div ref={content} className="column">
          {hasOlder && session && <Older key={messages[0]?.id} scroller={scroller} session={session} />}
          <Window scroller={scroller}>
            {chunks.map((chunk, i) => (
              <ChunkView key={chunk.key} chunk={chunk} isLast={i === chunks.length - 1} />
            ))}
          </Window>
          {children}
        </div>
      </div>
      {!isAtEnd && (
        <button type="button" className="to-end" aria-label="Go to the newest message" onClick={toEnd}>
          <Icon name="down" />
        </button>
      )}
    </div>
  );
}

/** Loads older messages when the top of the list comes near. */
function Older({ scroller, session }: { scroller: { current: HTMLElement | null }; session: Session }) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!element.current) return;
    const observer = new IntersectionObserver(
      (changes) => {
        if (changes.some(({ isIntersecting }) => isIntersecting)) session.loadOlder(100).catch(() => {});
      },
      { root: scroller.current, rootMargin: "1200px 0px" },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [scroller, session]);
  return (
    <div ref={element} className="older">
      <span className="dots" aria-hidden="true" />
      <span>Older messages</span>
    </div>
  );
}
