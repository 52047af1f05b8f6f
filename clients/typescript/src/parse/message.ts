import { mayHold } from "../complete.js";
import type { MsgFields } from "../generated.js";
import { markedRole, withMark, withoutMark } from "../marks.js";
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
  const mark = markedRole(fields.metadata);
  const role = isTool ? "tool" : fields.role === "assistant" && mark ? mark : fields.role;
  const wrong = fields.content.findIndex(({ type }) => !mayHold(role, type));
  if (wrong >= 0 && role === fields.role) {
    throw new DecodeError(`a ${role} message may not hold a ${fields.content[wrong]?.type} block`, `content[${wrong}]`);
  }
  if (role === "tool" || wrong >= 0) fields.metadata = withMark(fields.metadata, "role", role);
  else {
    fields.role = role;
    if (mark) fields.metadata = withoutMark(fields.metadata, "role");
  }
  return fields;
}

/** When a message without a time began, as far as it says anything about it. */
function timeOf({ finished_at, content }: JsonObject): string {
  if (isText(finished_at)) return finished_at;
  const first: unknown = Array.isArray(content) ? content[0] : undefined;
  return isObject(first) && isText(first.created_at) ? first.created_at : "";
}
