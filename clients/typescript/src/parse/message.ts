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
 * Parses a message from JSON: validates its fields and the rules of its role, and fills in missing fields. Missing ids
 * and times are derived from the position and the content, so that parsing twice returns the same.
 *
 * @throws {DecodeError} with the field; a `SyntaxError` if it is not JSON.
 */
export function parseMsg(json: string): Msg {
  return adopt(readMsg(JSON.parse(json)));
}

/** Decodes the fields of a message from parsed JSON. */
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

/** Returns the time at which a message without `created_at` began, if its content has one. */
function timeOf({ finished_at, content }: JsonObject): string {
  if (isText(finished_at)) return finished_at;
  const first: unknown = Array.isArray(content) ? content[0] : undefined;
  return isObject(first) && isText(first.created_at) ? first.created_at : "";
}
