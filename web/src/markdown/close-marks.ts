const FENCE = /^[\s>]*(?:```|~~~)/;

/** Matches `**` before a word, at a place where bold text may begin. */
const OPENS_BOLD = /(?:^|[\s([{"'|>:—–-])\*\*(?=\S|$)/;

/**
 * Returns a growing block with the open marks of its last line closed. Words are bold or code from the first letter on,
 * and their marks are not visible meanwhile.
 */
export function closeMarks(block: string): string {
  const lines = block.split("\n");
  const isCode = block.startsWith("    ") || lines.filter((line) => FENCE.test(line)).length % 2 === 1;
  const line = lines.at(-1)!;
  // Code in double marks may contain single ones.
  if (isCode || line.includes("``")) return block;
  return block.slice(0, block.length - line.length) + withBoldClosed(withCodeClosed(line));
}

function withCodeClosed(line: string): string {
  const parts = line.split("`");
  if (parts.length % 2 === 1) return line;
  return parts.at(-1) ? `${line}\`` : line.slice(0, -1);
}

function withBoldClosed(line: string): string {
  // Marks inside code are not formatting.
  const words = line.replace(/`[^`]*`/g, (code) => "x".repeat(code.length));
  const places = Array.from(words.matchAll(/\*\*/g), ({ index }) => index);
  if (places.length % 2 === 0) return line;
  const last = places.at(-1)!;
  if (!OPENS_BOLD.test(words.slice(Math.max(0, last - 1)))) return line;
  const opened = line.slice(last + 2).trimEnd();
  // The opening mark has no text yet, or only half of its closing mark has arrived.
  if (!opened) return line.slice(0, last);
  return `${line.slice(0, last + 2)}${opened.replace(/\*$/, "")}**`;
}
