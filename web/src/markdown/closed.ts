const FENCE = /^[\s>]*(?:```|~~~)/;

/** The marks before words that are to be bold, where something may begin. */
const OPENS_BOLD = /(?:^|[\s([{"'|>:—–-])\*\*(?=\S|$)/;

/**
 * A block that grows, with what its last line has opened closed: words are bold or code from their first letter on, and the
 * marks around them are not seen for a moment.
 */
export function closed(block: string): string {
  const lines = block.split("\n");
  const isCode = block.startsWith("    ") || lines.filter((line) => FENCE.test(line)).length % 2 === 1;
  const line = lines.at(-1)!;
  // Whoever marks code by more than one mark has such marks in it.
  if (isCode || line.includes("``")) return block;
  return block.slice(0, block.length - line.length) + withBoldClosed(withCodeClosed(line));
}

function withCodeClosed(line: string): string {
  const parts = line.split("`");
  if (parts.length % 2 === 1) return line;
  return parts.at(-1) ? `${line}\`` : line.slice(0, -1);
}

function withBoldClosed(line: string): string {
  // What looks like marks in code is none.
  const words = line.replace(/`[^`]*`/g, (code) => "x".repeat(code.length));
  const places = Array.from(words.matchAll(/\*\*/g), ({ index }) => index);
  if (places.length % 2 === 0) return line;
  const last = places.at(-1)!;
  if (!OPENS_BOLD.test(words.slice(Math.max(0, last - 1)))) return line;
  const opened = line.slice(last + 2).trimEnd();
  // Nothing has come after them yet, or half of what closes them has.
  if (!opened) return line.slice(0, last);
  return `${line.slice(0, last + 2)}${opened.replace(/\*$/, "")}**`;
}
