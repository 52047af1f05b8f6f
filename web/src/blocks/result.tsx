import type { ToolResultBlock } from "@recount/client";
import { CopyButton } from "../parts/copy";
import { Data } from "./data";
import { withoutWrapping } from "./hint";
import { Scrolling } from "./scrolling";

/** The result of a tool so far. */
export function Result({ result }: { result: ToolResultBlock }) {
  const { output } = result;
  if (typeof output === "string") return output ? <Output text={output} grows={!result.finished_at} /> : null;
  return output.map((part) =>
    part.type === "data" ? (
      <Data key={part.id} block={part} isComplete={!!result.finished_at} />
    ) : (
      part.text && <Output key={part.id} text={part.text} grows={!result.finished_at} />
    ),
  );
}

/** The text output of a tool, with a copy button if there is no other output. */
function Output({ text, grows }: { text: string; grows: boolean }) {
  const words = withoutWrapping(text);
  return (
    <div className="put-out">
      <Scrolling className="output" text={words} grows={grows} />
      {!grows && <CopyButton text={words} label="Copy output" />}
    </div>
  );
}
