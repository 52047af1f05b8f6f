import type { ToolResultBlock } from "@recount/client";
import { CopyButton } from "../parts/copy";
import { Data } from "./data";
import { withoutWrapping } from "./hint";
import { Scrolling } from "./scrolling";

/** What a tool answered, as far as it has. */
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

/** The text that a tool gives, and a button to copy it when that is all. */
function Output({ text, grows }: { text: string; grows: boolean }) {
  const words = withoutWrapping(text);
  return (
    <div className="put-out">
      <Scrolling className="output" text={words} grows={grows} />
      {!grows && <CopyButton text={words} label="Copy output" />}
    </div>
  );
}
