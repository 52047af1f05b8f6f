import type { ToolCallBlock } from "@recount/client";
import { isRecord, tryParse } from "../lib/json";

/** The arguments of a call: by name once they are complete, and as they come until then. */
export function Input({ call }: { call: ToolCallBlock }) {
  const parsed = call.finished_at ? tryParse(call.input) : undefined;
  if (!isRecord(parsed)) return call.input ? <pre className="arguments">{call.input}</pre> : null;
  const fields = Object.entries(parsed);
  if (!fields.length) return null;
  return (
    <dl className="arguments">
      {fields.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === "string" ? value : JSON.stringify(value, null, 2)}</dd>
        </div>
      ))}
    </dl>
  );
}
