import type { ContentBlock, MsgFields } from "./generated.js";
import { marksOf } from "./marks.js";
import type { BlockOf, BlockType } from "./types.js";
import { isText } from "./values.js";

/** What a message is asked for its content through. */
type Message = Pick<MsgFields, "content">;

/** The text of the message's own text blocks, joined; `null` when it has none. Hints and tool results are not looked into. */
export function getTextContent(message: Message, separator = "\n"): string | null {
  const texts = getContentBlocks(message, "text").map(({ text }) => text);
  return texts.length ? texts.join(separator) : null;
}

/**
 * The blocks of a type, or of some types; all blocks when none is given. AgentScope Java's names are understood too:
 * `tool_use`, and `image`, `audio` and `video` for what came from its legacy blocks.
 */
export function getContentBlocks(message: Message): ContentBlock[];
export function getContentBlocks<T extends BlockType>(message: Message, types: T | readonly T[]): BlockOf<T>[];
export function getContentBlocks(message: Message, types?: string | readonly string[]): ContentBlock[];
export function getContentBlocks({ content }: Message, types?: string | readonly string[]): ContentBlock[] {
  const names = isText(types) ? [types] : types;
  return content.filter((block) => !names || names.some((name) => isNamed(block, name)));
}

/** Whether there is a block of a type, or of one of some types. */
export function hasContentBlocks(message: Message, types?: string | readonly string[]): boolean {
  return getContentBlocks(message, types).length > 0;
}

function isNamed(block: ContentBlock, name: string): boolean {
  return (
    block.type === name ||
    (block.type === "tool_call" && name === "tool_use") ||
    (block.type === "data" && marksOf(block).legacy === name)
  );
}
