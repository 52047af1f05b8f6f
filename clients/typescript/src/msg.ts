import { getContentBlocks, getTextContent } from "./access.js";
import { completeMsg } from "./complete.js";
import { dispatch } from "./dispatch.js";
import { Draft } from "./draft.js";
import type { AgentEvent, ContentBlock, DataBlock, MayBeMissing, MsgFields, TextBlock, Usage } from "./generated.js";
import { markedRole } from "./marks.js";
import { NOT_FOR_MESSAGE, no, type Outcome } from "./outcome.js";
import { now, randomId } from "./stamps.js";
import type { BlockOf, BlockType } from "./types.js";
import { isText } from "./values.js";

/** The input for a block. Fields with defaults are optional. */
export type BlockInit<B> = B extends readonly (infer Item)[]
  ? readonly BlockInit<Item>[]
  : B extends { type: infer T extends keyof MayBeMissing }
    ? { [K in keyof B as K extends MayBeMissing[T] ? never : K]: BlockInit<B[K]> } & {
        [K in keyof B as K extends MayBeMissing[T] ? K : never]?: BlockInit<B[K]> | undefined;
      }
    : B;

/** The input for a message. All fields but the name and the content are optional. */
export type MsgInit<B extends ContentBlock = ContentBlock> = {
  name: string;
  /** Blocks, or a string that becomes one text block. */
  content: string | readonly BlockInit<B>[];
  usage?: (Pick<Usage, "input_tokens" | "output_tokens"> & Partial<Usage>) | null | undefined;
} & { [K in Exclude<keyof MsgFields, "name" | "content" | "role" | "usage">]?: MsgFields[K] | undefined };

export interface Msg extends MsgFields {}

/**
 * One turn of a conversation.
 *
 * `JSON.stringify` returns its canonical JSON. The method `appendEvent` changes it in place; the function of the same
 * name returns a changed copy.
 */
export class Msg {
  /** @throws if the name is missing, or the role may not hold one of the blocks. */
  constructor(init: MsgInit & { role: MsgFields["role"] }) {
    // An agent's message is complete when its reply ends, any other immediately.
    const { role, content, id = randomId(), created_at = now() } = init;
    const { finished_at = role === "assistant" ? null : created_at } = init;
    const blocks = isText(content) ? [{ type: "text", text: content }] : content;
    // biome-ignore lint/correctness/noConstructorReturn: unknown fields may have any name and must become fields too.
    return adopt(completeMsg({ ...init, content: blocks, id, created_at, finished_at }));
  }

  /** Applies an event of this message's reply and returns the outcome. */
  appendEvent(event: AgentEvent): Outcome {
    const draft = draftOf(this);
    draft.share(true);
    return applyOwn(draft, event);
  }

  /** Returns the text of the message's own text blocks, joined, or `null` if it has none. */
  getTextContent(separator?: string): string | null {
    return getTextContent(this, separator);
  }

  /** Returns the blocks of one type or of several types, or all blocks if no type is given. */
  getContentBlocks(): ContentBlock[];
  getContentBlocks<T extends BlockType>(types: T | readonly T[]): BlockOf<T>[];
  getContentBlocks(types?: string | readonly string[]): ContentBlock[];
  getContentBlocks(types?: string | readonly string[]): ContentBlock[] {
    return getContentBlocks(this, types);
  }

  /** Returns whether there is a block of the given type, or of one of the given types. */
  hasContentBlocks(types?: string | readonly string[]): boolean {
    return !!getContentBlocks(this, types)[0];
  }

  /** Returns the first block of the given type, or `null` if there is none. */
  getFirstContentBlock<T extends BlockType>(types: T | readonly T[]): BlockOf<T> | null {
    return getContentBlocks(this, types)[0] ?? null;
  }
}

/** A user's message: text and data. */
export interface UserMsg extends Msg {
  role: "user";
  content: (TextBlock | DataBlock)[];
}

/** An agent's message: any blocks. It is open until `finished_at` is set. */
export interface AssistantMsg extends Msg {
  role: "assistant";
}

/** A system prompt: text. */
export interface SystemMsg extends Msg {
  role: "system";
  content: TextBlock[];
}

/** Creates messages of a role, with or without `new`. */
export interface MsgConstructor<M, B extends ContentBlock> {
  new (init: MsgInit<B>): M;
  (init: MsgInit<B>): M;
}

export const UserMsg = /* @__PURE__ */ constructorOf<UserMsg, TextBlock | DataBlock>("user");
export const AssistantMsg = /* @__PURE__ */ constructorOf<AssistantMsg, ContentBlock>("assistant");
export const SystemMsg = /* @__PURE__ */ constructorOf<SystemMsg, TextBlock>("system");

function constructorOf<M, B extends ContentBlock>(role: MsgFields["role"]): MsgConstructor<M, B> {
  function make(init: MsgInit) {
    return new Msg({ ...init, role });
  }
  make.prototype = Msg.prototype;
  return make as unknown as MsgConstructor<M, B>;
}

/** Creates a message from valid fields, without checks. */
export function adopt(fields: MsgFields): Msg {
  return { __proto__: Msg.prototype, ...fields } as unknown as Msg;
}

/** The draft of each message, until the caller continues from another message. */
const drafts = new WeakMap<Msg, Draft>();

/** The floors of messages that callers have continued from. A floor is not part of a message's JSON. */
export const floors = new WeakMap<Msg, number | null>();

function draftOf(message: Msg): Draft {
  const draft = drafts.get(message);
  if (draft?.isOf(message)) return draft;
  const fresh = new Draft(message, (draft?.message === message ? draft.floor : floors.get(message)) ?? 0);
  drafts.set(message, fresh);
  return fresh;
}

/** Returns whether a message is a reply: an agent's message without a mark of another role. */
export const isReply = ({ role, metadata }: MsgFields): boolean => role === "assistant" && !markedRole(metadata);

function applyOwn(draft: Draft, event: AgentEvent): Outcome {
  const { id } = draft.message;
  if (!isReply(draft.message)) return no("not_a_reply", id);
  return dispatch(
    event,
    (reply) => (reply === undefined || reply === id ? draft : no("other_reply", reply)),
    () => NOT_FOR_MESSAGE,
  );
}

/**
 * Returns the message after an event of its reply. The given message is not changed, and both share all unchanged
 * blocks. If the event has no effect, the given message is returned.
 */
export function appendEvent(message: Readonly<MsgFields>, event: AgentEvent): Msg {
  const start = message instanceof Msg ? message : adopt(message);
  const draft = draftOf(start);
  const { floor } = draft;
  draft.share();
  applyOwn(draft, event);
  // The new message needs its own floor.
  if (draft.floor !== floor) draft.change();
  const next = draft.message;
  if (next !== start) {
    drafts.set(next, draft);
    floors.set(start, floor);
  }
  return next;
}
