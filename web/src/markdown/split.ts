import type { Env } from "markdown-it";
import { parser } from "./parser";

/** A text, split at its top-level blocks. */
export interface Split {
  readonly text: string;
  readonly blocks: readonly string[];
}

/**
 * Splits a text into blocks that are rendered separately, so that a growing text is rendered again only at its end.
 *
 * If the text only has grown, the earlier split is reused: only its last block may change.
 */
export function split(text: string, before?: Split): Split {
  const isLonger = before !== undefined && before.blocks.length > 1 && text.startsWith(before.text);
  const settled = isLonger ? before.blocks.slice(0, -1) : [];
  const start = settled.reduce((length, block) => length + block.length, 0);
  const blocks = cut(text.slice(start));
  return { text, blocks: blocks ? [...settled, ...blocks] : [text] };
}

/** Returns the blocks of a text with the empty lines after them, or `undefined` if it cannot be split. */
function cut(text: string): string[] | undefined {
  const env: Env = {};
  const beginnings: number[] = [];
  for (const { level, map, nesting } of parser.parse(text, env)) {
    if (level === 0 && nesting >= 0 && map) beginnings.push(map[0]);
  }
  // A link reference definition may be anywhere in the text.
  if (Object.keys(env.references ?? {}).length) return;
  if (beginnings.length < 2) return text ? [text] : [];
  const lines = linesOf(text);
  beginnings[0] = 0;
  return beginnings.map((line, i) => lines.slice(line, beginnings[i + 1] ?? lines.length).join(""));
}

/** Returns the lines of a text with their line ends. */
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
