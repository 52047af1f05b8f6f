import { createContext, memo, useContext } from "react";
import { CopyButton } from "../parts/copy";
import { Highlighted } from "./highlight";

/** Whether the displayed text is still growing. */
export const Growing = createContext(false);

/** A code block: its language, highlighted text, and a copy button. */
export const Code = memo(function Code({
  code,
  language,
  caption = language || "text",
}: {
  code: string;
  language: string;
  caption?: string;
}) {
  const grows = useContext(Growing);
  return (
    <figure className="code">
      <figcaption>
        <span>{caption}</span>
        <CopyButton text={code} label="Copy code" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling content must be reachable by keyboard. */}
      <pre tabIndex={0}>
        <code>
          <Highlighted code={code} language={language} grows={grows} />
        </code>
      </pre>
    </figure>
  );
});
