import type { ToolResultBlock } from "@recount/client";
import { useLayoutEffect, useRef } from "react";
import { Data } from "./data";
import { withoutWrapping } from "./hint";

/** What a tool answered, as far as it has. */
export function Result({ result }: { result: ToolResultBlock }) {
  const { output } = result;
  if (typeof output === "string") return output ? <Output text={output} isOpen={!result.finished_at} /> : null;
  return output.map((part) =>
    part.type === "data" ? (
      <Data key={part.id} block={part} isComplete={!!result.finished_at} />
    ) : (
      part.text && <Output key={part.id} text={part.text} isOpen={!result.finished_at} />
    ),
  );
}

/** The text that a tool gives. As long as it comes, its end is shown. */
function Output({ text, isOpen }: { text: string; isOpen: boolean }) {
  const box = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    if (isOpen && box.current && text) box.current.scrollTop = box.current.scrollHeight;
  }, [text, isOpen]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <pre ref={box} className="output" tabIndex={0}>
      {withoutWrapping(text)}
    </pre>
  );
}
