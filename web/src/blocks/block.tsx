import type { ContentBlock } from "@recount/client";
import { memo } from "react";
import { Markdown } from "../markdown/markdown";
import { Data } from "./data";
import { Hint } from "./hint";
import { Result } from "./result";
import { Thinking } from "./thinking";
import { Unknown } from "./unknown";

/** One block of a message. `scope` distinguishes it from blocks with the same id in other messages. */
export const Block = memo(function Block({
  block,
  scope,
  isLast,
  isUser,
  isOver,
}: {
  block: ContentBlock;
  scope: string;
  isLast: boolean;
  isUser: boolean;
  /** Whether the message is complete. */
  isOver: boolean;
}) {
  switch (block.type) {
    case "text":
      return isUser ? (
        <UserText text={block.text} />
      ) : (
        <>
          <Markdown text={block.text} grows={!block.finished_at} />
          {"cut" in block && block.cut === true && <p className="cut">Broken off here, and begun again</p>}
        </>
      );
    case "thinking":
      return <Thinking block={block} scope={scope} isLast={isLast} />;
    case "hint":
      return <Hint block={block} scope={scope} />;
    case "data":
      return <Data block={block} isComplete={isOver || !!block.finished_at} />;
    case "tool_result":
      return (
        <section className="tool" aria-label={`Result of ${block.name}`}>
          <Result result={block} />
        </section>
      );
    default:
      return <Unknown value={block} />;
  }
});

/** A user's text, exactly as it was typed. */
const UserText = ({ text }: { text: string }) => (
  <p className="said" dir="auto">
    {text}
  </p>
);
