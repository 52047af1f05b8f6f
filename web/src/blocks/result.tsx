import type { ToolResultBlock } from "@recount/client";
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

/** The text that a tool gives. */
const Output = ({ text, grows }: { text: string; grows: boolean }) => (
  <Scrolling className="output" text={withoutWrapping(text)} grows={grows} />
);
