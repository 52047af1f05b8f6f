import { memo } from "react";
import { CopyButton } from "../parts/copy";
import { highlight } from "./highlight";

/** A piece of code: its language, its text in colours, and a button to copy it. */
export const Code = memo(function Code({
  code,
  language,
  caption = language || "text",
}: {
  code: string;
  language: string;
  caption?: string;
}) {
  return (
    <figure className="code">
      <figcaption>
        <span>{caption}</span>
        <CopyButton text={code} label="Copy code" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <pre tabIndex={0}>
        <code>{highlight(code, language)}</code>
      </pre>
    </figure>
  );
});
