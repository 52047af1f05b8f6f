import type { Checkpoint } from "../checkpoint.js";
import { expected } from "./errors.js";
import { readMsg } from "./message.js";
import { count, list, none, or, record, text } from "./shapes.js";

/**
 * Reads a checkpoint from its JSON.
 *
 * @throws {DecodeError} when it is not a checkpoint, or one of another version; a `SyntaxError` when it is no JSON.
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
  // A floor above the last block means the same as one right there.
  return { message, call_floor: call_floor === null ? null : Math.min(call_floor, message.content.length) };
}
