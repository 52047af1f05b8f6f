import type { ContentBlock, ToolCallBlock, ToolResultBlock } from "@recount/client";

/** A part of a message as it is displayed: a call with its result, or a single block. */
export type Piece =
  | { readonly kind: "call"; readonly call: ToolCallBlock; readonly result: ToolResultBlock | undefined }
  | { readonly kind: "block"; readonly block: ContentBlock };

/** Returns the pieces of a message, in order. A result is grouped with its call, wherever it is in the message. */
export function arrange(content: readonly ContentBlock[]): Piece[] {
  const results = new Map<number, ToolResultBlock>();
  const calls = new Map<string, number>();
  const placed = new Set<ContentBlock>();
  content.forEach((block, place) => {
    if (block.type === "tool_call") calls.set(block.id, place);
    if (block.type !== "tool_result") return;
    const call = calls.get(block.id);
    if (call === undefined || results.has(call)) return;
    results.set(call, block);
    placed.add(block);
  });
  const pieces: Piece[] = [];
  content.forEach((block, place) => {
    if (block.type === "tool_call") pieces.push({ kind: "call", call: block, result: results.get(place) });
    else if (!placed.has(block)) pieces.push({ kind: "block", block });
  });
  return pieces;
}
