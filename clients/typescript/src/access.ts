import type { ContentBlock, MsgFields } from "./generated.js";
import { marksOf } from "./marks.js";
import type { BlockOf, BlockType } from "./types.js";
import { isText } from "./values.js";

/** The part of a message that the content functions read. */
type Message = Pick<MsgFields, "content">;

/**
 * Returns the text of the message's own text blocks, joined, or `null` if it has none. Hints and tool results are not
 * included.
 */
export function getTextContent(message: Message, separator = "\n"): string | null {
  const texts = getContentBlocks(message, "text").map(({ text }) => text);
  return texts.length ? texts.join(separator) : null;
}

/**
 * Returns the blocks of one type or of several types, or all blocks if no type is given. The names of AgentScope Java
 * are accepted too: `tool_use`, and `image`, `audio` and `video` for blocks that were converted from its legacy blocks.
 */
export function getContentBlocks(message: Message): ContentBlock[];
export function getContentBlocks<T extends BlockType>(message: Message, types: T | readonly T[]): BlockOf<T>[];
export function getContentBlocks(message: Message, types?: string | readonly string[]): ContentBlock[];
export function getContentBlocks({ content }: Message, types?: string | readonly string[]): ContentBlock[] {
  const names = isText(types) ? [types] : types;
  return content.filter((block) => !names || names.some((name) => isNamed(block, name)));
}

/** Returns whether the message has a block of the given type, or of one of the given types. */
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
