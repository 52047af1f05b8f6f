import type { Checkpoint } from "../checkpoint.js";
import { expected } from "./errors.js";
import { readMsg } from "./message.js";
import { count, list, none, or, record, text } from "./shapes.js";

/**
 * Parses a checkpoint from JSON.
 *
 * @throws {DecodeError} if it is not a checkpoint, or has another version; a `SyntaxError` if it is not JSON.
 */
export function parseCheckpoint(json: string): Checkpoint {
  return checkpoint(JSON.parse(json), "", "");
}

const checkpoint = record({
  version: (value) => (value === 1 ? value : expected("the version 1", value)),
  cursor: (value) => (/^\d+$/.test(text(value)) ? value : expected("a number in a string", value)),
  replies: list(readReply),
  taken: or(list(text), none),
});

const reply = record({ message: readMsg, call_floor: or(count, null) });

function readReply(value: unknown): Checkpoint["replies"][number] {
  const { message, call_floor } = reply(value, "", "");
  // A floor above the last block is equivalent to one right after it.
  return { message, call_floor: call_floor === null ? null : Math.min(call_floor, message.content.length) };
}
