import type { ToolCallBlock } from "@recount/client";
import { isRecord, tryParse } from "../lib/json";
import { Scrolling } from "./scrolling";

/** The arguments of a call: by name once they are complete, and as they come until then. */
export function Input({ call }: { call: ToolCallBlock }) {
  const parsed = call.finished_at ? tryParse(call.input) : undefined;
  if (!isRecord(parsed))
    return call.input ? <Scrolling className="arguments" text={call.input} grows={!call.finished_at} /> : null;
  const fields = Object.entries(parsed);
  if (!fields.length) return null;
  return (
    <dl className="arguments">
      {fields.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <Value text={typeof value === "string" ? value : JSON.stringify(value, null, 2)} />
        </div>
      ))}
    </dl>
  );
}

/** From so many characters or lines on a value may scroll. */
const LONG = { characters: 200, lines: 12 };

function Value({ text }: { text: string }) {
  const mayScroll = text.length > LONG.characters || text.split("\n").length > LONG.lines;
  // What scrolls must be reachable by keyboard, and what does not is no place to stop at.
  return <dd tabIndex={mayScroll ? 0 : undefined}>{text}</dd>;
}
