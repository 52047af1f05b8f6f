import { createContext, memo, useContext } from "react";
import { CopyButton } from "../parts/copy";
import { highlight } from "./highlight";

/** Whether more is still to come of what is shown. */
export const Growing = createContext(false);

/** Code that still grows stays plain beyond this: every piece of it would have all of it coloured anew. */
const LONGEST_GROWING = 4_000;

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
  const isPlain = useContext(Growing) && code.length > LONGEST_GROWING;
  return (
    <figure className="code">
      <figcaption>
        <span>{caption}</span>
        <CopyButton text={code} label="Copy code" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <pre tabIndex={0}>
        <code>{isPlain ? code : highlight(code, language)}</code>
      </pre>
    </figure>
  );
});
