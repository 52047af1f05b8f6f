import type { Env } from "markdown-it";
import { parser } from "./parser";

/** A text, cut where its paragraphs, lists, tables and so on begin. */
export interface Split {
  readonly text: string;
  readonly blocks: readonly string[];
}

/**
 * Cuts a text into blocks that can be shown one by one, so that a text that grows is shown anew only at its end.
 *
 * What was cut before is used where the text only has become longer: its last block may still change, and those before it
 * cannot.
 */
export function split(text: string, before?: Split): Split {
  const isLonger = before !== undefined && before.blocks.length > 1 && text.startsWith(before.text);
  const settled = isLonger ? before.blocks.slice(0, -1) : [];
  const start = settled.reduce((length, block) => length + block.length, 0);
  const blocks = cut(text.slice(start));
  return { text, blocks: blocks ? [...settled, ...blocks] : [text] };
}

/** The blocks of a text with the empty lines after them, or `undefined` where they cannot be told apart. */
function cut(text: string): string[] | undefined {
  const env: Env = {};
  const beginnings: number[] = [];
  for (const { level, map, nesting } of parser.parse(text, env)) {
    if (level === 0 && nesting >= 0 && map) beginnings.push(map[0]);
  }
  // The target of a link may stand anywhere.
  if (Object.keys(env.references ?? {}).length) return;
  if (beginnings.length < 2) return text ? [text] : [];
  const lines = linesOf(text);
  beginnings[0] = 0;
  return beginnings.map((line, i) => lines.slice(line, beginnings[i + 1] ?? lines.length).join(""));
}

/** The lines of a text, each with its end. */
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
