import { blankBlocks, blankMsg, type ContentBlock, type MsgFields } from "./generated.js";
import type { BlockType } from "./types.js";
import { isText, type JsonObject } from "./values.js";

/** Returns a required string. Throws if the value is not one. */
export function text(value: unknown): string {
  if (isText(value)) return value;
  throw new Error("expected a string");
}

/** Returns whether blocks of a type are declared. */
export const isBlockType = (type: unknown): type is BlockType => Object.hasOwn(blankBlocks, type as string);

/** Returns the given fields, with defaults from `blank`. An explicit `null` is kept only for `finished_at`. */
function filled(blank: object, given: JsonObject): JsonObject {
  const fields: JsonObject = { ...blank, ...given };
  for (const key in blank) {
    if (fields[key] === undefined || key !== "finished_at") fields[key] ??= blank[key as keyof typeof blank];
  }
  return fields;
}

/** Returns a block with its missing fields filled in. A block of an unknown type is returned unchanged. */
export function completeBlock(block: JsonObject, derivedId: string, derivedTime: string): ContentBlock {
  const type = text(block.type);
  if (!isBlockType(type)) return block as unknown as ContentBlock;
  const id = text(block.id ?? derivedId);
  const time = text(block.created_at ?? derivedTime);
  const fields = filled(blankBlocks[type](id, time), block);
  for (const key of ["output", "hint"]) {
    const items = fields[key];
    if (Array.isArray(items)) fields[key] = completeBlocks(items, id, time);
  }
  return fields as unknown as ContentBlock;
}

const completeBlocks = (blocks: readonly unknown[], id: string, time: string): ContentBlock[] =>
  blocks.map((block, index) => completeBlock(block as JsonObject, `${id}.${index}`, time));

/** Returns the fields of a message with the missing ones filled in. */
export function completeMsg(given: JsonObject): MsgFields {
  const id = text(given.id);
  const time = text(given.created_at);
  const message = filled(blankMsg(id, time), given) as unknown as MsgFields;
  const { role } = message;
  message.content = completeBlocks(message.content, id, time);
  const wrong = message.content.find(({ type }) => !mayHold(role, type));
  if (wrong) throw new Error(`a ${role} message may not hold a ${wrong.type} block`);
  return message;
}

/**
 * Returns whether a message of a role may hold blocks of a type. A user message holds text and data, a system message
 * text, any other message any block.
 */
export const mayHold = (role: string, type: string): boolean =>
  type === "text" || (role === "user" ? type === "data" : role !== "system") || !isBlockType(type);
