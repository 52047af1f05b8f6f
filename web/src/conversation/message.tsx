import type { Msg } from "@recount/client";
import { createContext, memo, type ReactNode, useContext, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { arrange, type Piece } from "../blocks/arrange";
import { Block } from "../blocks/block";
import { Call } from "../blocks/call";
import { Unknown } from "../blocks/unknown";
import { count, dayAndHour } from "../lib/format";
import { Code } from "../markdown/code";
import { Boundary } from "../parts/boundary";
import { Icon } from "../parts/icon";
import { Duration, Time } from "../parts/time";
import { EditMessage } from "./edit";
import { EDIT, MessageActions } from "./message-actions";

/** Returns the activity of an open reply. */
export function activityOf({ finished_at, role, content }: Msg): "working" | "waiting" | "ended" {
  if (finished_at || role !== "assistant") return "ended";
  const answered = new Set(content.map((block) => (block.type === "tool_result" ? block.id : "")));
  const isWaiting = content.some(
    (block) =>
      block.type === "tool_call" &&
      (block.state === "asking" || block.state === "submitted") &&
      !answered.has(block.id),
  );
  return isWaiting ? "waiting" : "working";
}

/** The block of the inspected event. */
export const TouchedContext = createContext<string | undefined>(undefined);

const idOf = (piece: Piece): string => (piece.kind === "call" ? piece.call : piece.block).id;

/** One message, with any number of model calls. */
export const Message = memo(function Message({ message }: { message: Msg }) {
  const { id, name, role, content } = message;
  const [isEditing, setEditing] = useState(false);
  const article = useRef<HTMLElement>(null);
  const closeEditor = () => {
    flushSync(() => setEditing(false));
    article.current?.querySelector<HTMLElement>(EDIT)?.focus();
  };
  const activity = activityOf(message);
  const isUser = role === "user";
  const pieces = arrange(content);
  const touched = useContext(TouchedContext);
  const lastTouched = touched === undefined ? -1 : pieces.findLastIndex((piece) => idOf(piece) === touched);
  const heading = `${id}-name`;
  const actions = <MessageActions message={message} isOver={activity === "ended"} onEdit={() => setEditing(true)} />;
  return (
    <article
      ref={article}
      className="message"
      data-role={role}
      data-id={id}
      aria-labelledby={heading}
      aria-busy={activity === "working"}
    >
      <header>
        <h2 id={heading} className="name">
          {isUser && name === "user" ? "You" : name || role}
        </h2>
        {role === "system" && <span className="role">system</span>}
        <Time at={message.created_at} show={(time) => dayAndHour(time, Date.now())} />
        {role !== "assistant" && !isEditing && actions}
      </header>
      {isEditing ? (
        <EditMessage message={message} onClose={closeEditor} />
      ) : (
        <div className="content">
          {pieces.map((piece, i) => {
            const block = piece.kind === "call" ? piece.call : piece.block;
            return (
              <div key={i} className="piece" data-touched={i === lastTouched || undefined}>
                <Boundary of={block} instead={<Unknown value={block} />}>
                  {piece.kind === "call" ? (
                    <Call call={piece.call} result={piece.result} reply={id} isOver={activity === "ended"} />
                  ) : (
                    <Block
                      block={piece.block}
                      scope={id}
                      isUser={isUser}
                      isOver={activity === "ended"}
                      isLast={activity !== "ended" && i === pieces.length - 1}
                    />
                  )}
                </Boundary>
              </div>
            );
          })}
          {activity === "working" && (
            <p className="working">
              <span className="dots" aria-hidden="true" />
              <span className="sr-only">Working</span>
            </p>
          )}
        </div>
      )}
      <Ending message={message} />
      {role === "assistant" && (
        <Footer message={message} activity={activity}>
          {actions}
        </Footer>
      )}
    </article>
  );
});

/** Why a reply ended, unless it simply completed. */
function Ending({ message: { finished_reason, error, structured_output } }: { message: Msg }) {
  return (
    <>
      {structured_output && (
        <section className="structured" aria-label="Structured output">
          <Code code={JSON.stringify(structured_output, null, 2)} language="json" caption="Structured output" />
        </section>
      )}
      {finished_reason === "interrupted" && <p className="ending">Stopped.</p>}
      {finished_reason === "exceed_max_iters" && (
        <p className="ending">Stopped: the agent took as many rounds as it may.</p>
      )}
      {(finished_reason === "error" || error) && (
        <p className="ending failed">
          <Icon name="warning" />
          <span>
            The reply failed{error && error.type !== "unknown" ? ` (${error.type.replaceAll("_", " ")})` : ""}
            {error?.message ? `: ${error.message}` : "."}
          </span>
        </p>
      )}
    </>
  );
}

/** The state of a reply and its token usage. */
function Footer({ message, activity, children }: { message: Msg; activity: string; children: ReactNode }) {
  const { usage } = message;
  return (
    <footer>
      {activity === "waiting" && <span className="waiting">Waits for an answer</span>}
      <Duration from={message.created_at} until={message.finished_at} />
      {usage && (
        <span title="Tokens read and written">
          {count(usage.input_tokens)} in · {count(usage.output_tokens)} out
        </span>
      )}
      {children}
    </footer>
  );
}
