import { useLayoutEffect, useRef } from "react";

/** A text that scrolls where it is long. As long as it grows, its end is shown. */
export function Scrolling({ className, text, grows }: { className: string; text: string; grows: boolean }) {
  const box = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    if (grows && box.current && text) box.current.scrollTop = box.current.scrollHeight;
  }, [text, grows]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <pre ref={box} className={className} tabIndex={0}>
      {text}
    </pre>
  );
}
