import type { HintBlock } from "@recount/client";
import { isRecord, tryParse } from "../lib/json";
import { useStoredState } from "../lib/use-stored-state";
import { Markdown } from "../markdown/markdown";
import { Icon } from "../parts/icon";
import { Time } from "../parts/time";
import { Data } from "./data";

/** Returns the labels of a hint's source: a small JSON object with labels, or plain text. */
export function labelsOf(source: string | null): { label: string; sublabel: string | undefined } {
  const parsed = tryParse(source ?? "");
  const text = (value: unknown) => (typeof value === "string" && value ? value : undefined);
  const label = isRecord(parsed) ? text(parsed.label) : undefined;
  if (isRecord(parsed) && label) return { label, sublabel: text(parsed.sublabel) };
  // Any other source is displayed as plain text.
  return { label: text(source) ?? "Note", sublabel: undefined };
}

/** The source of the service's own hints in every reply, such as the time. They are collapsed. */
const ROUTINE = "System";

/** A hint that was sent to the model during its reply. */
export function Hint({ block, scope }: { block: HintBlock; scope: string }) {
  const { label, sublabel } = labelsOf(block.source);
  const [isOpen, setOpen] = useStoredState(`${scope} ${block.id} hint`, label !== ROUTINE);
  const parts = typeof block.hint === "string" ? [block.hint] : block.hint;
  return (
    <aside className="hint" aria-label={`Hint: ${label}`} data-open={isOpen}>
      <button type="button" className="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="note" />
        <strong>{label}</strong>
        {sublabel && <span>{sublabel}</span>}
        <Time at={block.created_at} />
        <Icon name="chevron" />
      </button>
      {isOpen &&
        parts.map((part, i) => {
          if (typeof part !== "string" && part.type === "data") {
            return <Data key={part.id} block={part} isComplete />;
          }
          const text = typeof part === "string" ? part : part.text;
          return <Markdown key={i} text={withoutWrapping(text)} grows={false} />;
        })}
    </aside>
  );
}

/** Returns the text without the tag that marks it for the model as not written by a user. */
export const withoutWrapping = (text: string): string =>
  text.replace(/^\s*<system-reminder>\s*/, "").replace(/\s*<\/system-reminder>\s*$/, "");
