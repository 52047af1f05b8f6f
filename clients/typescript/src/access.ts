import type { ContentBlock, MsgFields, ToolCallBlock, ToolResultBlock } from "./generated.js";
import { marksOf } from "./marks.js";
import type { BlockOf, BlockType } from "./types.js";

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
  const names = typeof types === "string" ? [types] : types;
  return names ? content.filter((block) => names.some((name) => isNamed(block, name))) : [...content];
}

/** Whether there is a block of a type, or of one of some types. */
export function hasContentBlocks(message: Message, types?: string | readonly string[]): boolean {
  return getContentBlocks(message, types).length > 0;
}

/** The first block of a type; `null` when there is none. */
export function getFirstContentBlock<T extends BlockType>(
  message: Message,
  types: T | readonly T[],
): BlockOf<T> | null {
  return getContentBlocks(message, types)[0] ?? null;
}

/** Every tool call with its result, in the order of the calls. */
export function toolPairs({ content }: Message): [call: ToolCallBlock, result: ToolResultBlock | null][] {
  const pairs: [ToolCallBlock, ToolResultBlock | null][] = [];
  for (const block of content) {
    if (block.type === "tool_call") pairs.push([block, null]);
    if (block.type === "tool_result") {
      const pair = pairs.findLast(([call]) => call.id === block.id);
      if (pair) pair[1] ??= block;
    }
  }
  return pairs;
}

function isNamed(block: ContentBlock, name: string): boolean {
  return (
    block.type === name ||
    (block.type === "tool_call" && name === "tool_use") ||
    (block.type === "data" && marksOf(block).legacy === name)
  );
}
