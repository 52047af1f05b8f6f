import { blankBlocks, blankMsg, type ContentBlock, type MsgFields } from "./generated.js";
import type { BlockType } from "./types.js";
import { isText, type JsonObject } from "./values.js";

/** A string that must be there. */
export function text(value: unknown): string {
  if (isText(value)) return value;
  throw new Error("expected a string");
}

/** Whether blocks of a type are declared. */
export const isBlockType = (type: unknown): type is BlockType => Object.hasOwn(blankBlocks, type as string);

/** What is given, after the fields of a blank: theirs where nothing is given. An end may be given as not there. */
function filled(blank: object, given: JsonObject): JsonObject {
  const fields: JsonObject = { ...blank, ...given };
  for (const key in blank) {
    if (fields[key] === undefined || key !== "finished_at") fields[key] ??= blank[key as keyof typeof blank];
  }
  return fields;
}

/** A block with the fields that it lacks. One of a type that nobody knows is kept as it is. */
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

/** The fields of a message with those that it lacks. */
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

/** A user's message holds text and data, a system's message text, any other message any block. */
export const mayHold = (role: string, type: string): boolean =>
  type === "text" || (role === "user" ? type === "data" : role !== "system") || !isBlockType(type);
