import type { Msg } from "@recount/client";
import {
  createContext,
  memo,
  type ReactNode,
  type RefObject,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import type { Chunk } from "../lib/chunks";
import { Message } from "./message";

type Watch = (element: Element, isNear: (near: boolean) => void) => () => void;

const WatchContext = createContext<Watch>(() => () => {});

/** The distance outside the visible area within which messages are rendered, in pixels. */
const MARGIN = "1600px 0px";

/** Provides an observer of the distance between an element and the visible area of a scrolling box. */
export function Window({ scroller, children }: { scroller: RefObject<HTMLElement | null>; children: ReactNode }) {
  const watch = useMemo<Watch>(() => {
    let observer: IntersectionObserver | undefined;
    const callbacks = new Map<Element, (near: boolean) => void>();
    return (element, isNear) => {
      observer ??= new IntersectionObserver(
        (changes) => {
          for (const { target, isIntersecting } of changes) callbacks.get(target)?.(isIntersecting);
        },
        { root: scroller.current, rootMargin: MARGIN },
      );
      callbacks.set(element, isNear);
      observer.observe(element);
      return () => {
        callbacks.delete(element);
        observer?.unobserve(element);
      };
    };
  }, [scroller]);
  return <WatchContext value={watch}>{children}</WatchContext>;
}

/** A chunk of messages: rendered near the visible area, otherwise replaced by empty space of the same height. */
export const ChunkView = memo(function ChunkView({ chunk, isLast }: { chunk: Chunk<Msg>; isLast: boolean }) {
  const watch = useContext(WatchContext);
  const element = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState<number>();
  useEffect(() => {
    const box = element.current;
    if (!box || isLast) return setHeight(undefined);
    return watch(box, (isNear) => setHeight(isNear ? undefined : box.offsetHeight));
  }, [watch, isLast]);
  return (
    <div ref={element} className="chunk" style={height === undefined ? undefined : { height }}>
      {height === undefined && chunk.messages.map((message) => <Message key={message.id} message={message} />)}
    </div>
  );
});
