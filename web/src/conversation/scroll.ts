import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

/** The distance that still counts as the end, in pixels. */
const NEAR = 48;

/** Returns whether scrolling to the end would move the focused text field out of view. */
function wouldHideTyping(box: HTMLElement): boolean {
  const field = document.activeElement;
  if (!(field instanceof HTMLTextAreaElement) || !box.contains(field)) return false;
  const way = box.scrollHeight - box.clientHeight - box.scrollTop;
  return field.getBoundingClientRect().top - way < box.getBoundingClientRect().top;
}

/**
 * Keeps the end of a growing list in view, unless the user has scrolled up. Keeps the visible messages in place when
 * older ones are inserted before them.
 */
export function useStickyEnd(
  scroller: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
  first: string | undefined,
): { isAtEnd: boolean; toEnd: () => void } {
  const [isAtEnd, setAtEnd] = useState(true);
  const isStuck = useRef(true);
  const lastTop = useRef(0);
  /** The first message and its distance from the top. */
  const anchor = useRef<{ id: string; offset: number }>(undefined);

  const toEnd = useCallback(() => {
    const box = scroller.current;
    if (!box) return;
    isStuck.current = true;
    box.scrollTop = box.scrollHeight;
    lastTop.current = box.scrollTop;
    setAtEnd(true);
  }, [scroller]);

  useEffect(() => {
    const box = scroller.current;
    if (!box || !content.current) return;
    const onScroll = () => {
      const rest = box.scrollHeight - box.clientHeight - box.scrollTop;
      if (rest < NEAR) isStuck.current = true;
      else if (box.scrollTop < lastTop.current) isStuck.current = false;
      lastTop.current = box.scrollTop;
      setAtEnd(isStuck.current);
    };
    // The observer runs after layout and before painting, so no jump is visible.
    const observer = new ResizeObserver(() => {
      if (!isStuck.current) return;
      if (wouldHideTyping(box)) {
        isStuck.current = false;
        return setAtEnd(false);
      }
      box.scrollTop = box.scrollHeight;
      lastTop.current = box.scrollTop;
    });
    observer.observe(content.current);
    observer.observe(box);
    box.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      observer.disconnect();
      box.removeEventListener("scroll", onScroll);
    };
  }, [scroller, content]);

  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box || !first) return;
    const offsetOf = (id: string) => {
      const element = box.querySelector(`[data-id="${CSS.escape(id)}"]`);
      return element && element.getBoundingClientRect().top - box.getBoundingClientRect().top;
    };
    const known = anchor.current;
    if (known && known.id !== first && !isStuck.current) {
      const now = offsetOf(known.id);
      if (now !== null) box.scrollTop += now - (known.offset - lastTop.current);
      lastTop.current = box.scrollTop;
    }
    const offset = offsetOf(first);
    if (offset !== null) anchor.current = { id: first, offset: offset + box.scrollTop };
  }, [scroller, first]);

  return { isAtEnd, toEnd };
}
