import type { ThinkingBlock } from "@recount/client";
import { useStoredState } from "../lib/use-stored-state";
import { Markdown } from "../markdown/markdown";
import { Icon } from "../parts/icon";
import { Duration } from "../parts/time";

/** The model's thinking: expanded while it grows, then collapsed, unless the user has toggled it. */
export function Thinking({ block, scope, isLast }: { block: ThinkingBlock; scope: string; isLast: boolean }) {
  const isGoingOn = !block.finished_at && isLast;
  const [choice, setChoice] = useStoredState<boolean | undefined>(`${scope} ${block.id} thinking`, undefined);
  const isOpen = choice ?? isGoingOn;
  if (!block.thinking && !isGoingOn) return null;
  return (
    <section className="thinking">
      <button type="button" className="fold" aria-expanded={isOpen} onClick={() => setChoice(!isOpen)}>
        <Icon name="thought" />
        <span>
          {isGoingOn ? "Thinking…" : "Thought"}
          <Duration from={block.created_at} until={block.finished_at} before=" for " />
        </span>
        <Icon name="chevron" />
      </button>
      {isOpen && (
        <div className="thoughts">
          <Markdown text={block.thinking} grows={isGoingOn} />
        </div>
      )}
    </section>
  );
}
