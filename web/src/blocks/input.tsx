import type { ToolCallBlock } from "@recount/client";
import { isRecord, tryParse } from "../lib/json";
import { Scrolling } from "./scrolling";

/** The arguments of a call: a list by name once they are complete, the raw text until then. */
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

/** A value of at least this many characters or lines may scroll. */
const LONG = { characters: 200, lines: 12 };

function Value({ text }: { text: string }) {
  const mayScroll = text.length > LONG.characters || text.split("\n").length > LONG.lines;
  // A scrolling value must be reachable by keyboard. Other values must not be tab stops.
  return <dd tabIndex={mayScroll ? 0 : undefined}>{text}</dd>;
}
