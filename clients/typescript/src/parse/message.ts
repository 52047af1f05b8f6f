import { mayHold } from "../complete.js";
import type { MsgFields } from "../generated.js";
import { marksOf, withMark, withoutMark } from "../marks.js";
import { adopt, type Msg } from "../msg.js";
import { isObject, isText, type JsonObject } from "../values.js";
import { DecodeError } from "./errors.js";
import { msg } from "./generated.js";
import { fnv1a } from "./hash.js";
import { anObject, free, MAX_DOCUMENT_DEPTH } from "./shapes.js";

/**
 * Reads a message from its JSON: checks its fields and the rules of its role, and fills in what may be missing. Ids and
 * times that are missing are derived from where and what the message is, so that reading it again gives the same.
 *
 * @throws {DecodeError} that names the field; a `SyntaxError` when it is no JSON.
 */
export function parseMsg(json: string): Msg {
  return adopt(readMsg(JSON.parse(json)));
}

/** Reads the fields of a message that has been parsed. */
export function readMsg(value: unknown): MsgFields {
  const given = anObject(value);
  const id = given.id == null ? fnv1a(JSON.stringify(free(given, MAX_DOCUMENT_DEPTH))) : "";
  const isTool = given.role === "tool";
  const fields: MsgFields = msg(isTool ? { ...given, role: "assistant" } : given, id, timeOf(given));
  if (isTool) fields.metadata = withMark(fields.metadata, "role", "tool");
  else if (fields.role !== "assistant" && marksOf(fields.metadata).role === "tool") {
    fields.metadata = withoutMark(fields.metadata, "role");
  }
  for (const [index, { type }] of fields.content.entries()) {
    if (!mayHold(fields.role, type))
      throw new DecodeError(`a ${fields.role} message may not hold a ${type} block`, `content[${index}]`);
  }
  return fields;
}

/** When a message without a time began, as far as it says anything about it. */
function timeOf({ finished_at, content }: JsonObject): string {
  if (isText(finished_at)) return finished_at;
  const first: unknown = Array.isArray(content) ? content[0] : undefined;
  return isObject(first) && isText(first.created_at) ? first.created_at : "";
}
