import { useLayoutEffect, useRef } from "react";

/** A text box that scrolls. While the text grows, its end is visible. */
export function Scrolling({ className, text, grows }: { className: string; text: string; grows: boolean }) {
  const box = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    if (grows && box.current && text) box.current.scrollTop = box.current.scrollHeight;
  }, [text, grows]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling content must be reachable by keyboard.
    <pre ref={box} className={className} tabIndex={0}>
      {text}
    </pre>
  );
}
