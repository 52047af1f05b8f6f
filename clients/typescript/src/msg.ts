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

/** What a block is made from: it may lack what is filled in. */
export type BlockInit<B> = B extends readonly (infer Item)[]
  ? readonly BlockInit<Item>[]
  : B extends { type: infer T extends keyof MayBeMissing }
    ? { [K in keyof B as K extends MayBeMissing[T] ? never : K]: BlockInit<B[K]> } & {
        [K in keyof B as K extends MayBeMissing[T] ? K : never]?: BlockInit<B[K]> | undefined;
      }
    : B;

/** What a message is made from: everything but the name and the content may be left out. */
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
 * `JSON.stringify` gives its canonical JSON. `appendEvent` changes it in place; the function of the same name gives a
 * changed copy.
 */
export class Msg {
  /** @throws when the name is missing, or the role may not hold one of the blocks. */
  constructor(init: MsgInit & { role: MsgFields["role"] }) {
    // An agent's message is complete when its reply ends, any other at once.
    const { role, content, id = randomId(), created_at = now() } = init;
    const { finished_at = role === "assistant" ? null : created_at } = init;
    const blocks = isText(content) ? [{ type: "text", text: content }] : content;
    // biome-ignore lint/correctness/noConstructorReturn: an unknown field may have any name, and is no less a field.
    return adopt(completeMsg({ ...init, content: blocks, id, created_at, finished_at }));
  }

  /** Applies an event of the reply that this message is, and says what it did. */
  appendEvent(event: AgentEvent): Outcome {
    const draft = draftOf(this);
    draft.share(true);
    return applyOwn(draft, event);
  }

  /** The text of the message's own text blocks, joined; `null` when it has none. */
  getTextContent(separator?: string): string | null {
    return getTextContent(this, separator);
  }

  /** The blocks of a type, or of some types; all blocks when none is given. */
  getContentBlocks(): ContentBlock[];
  getContentBlocks<T extends BlockType>(types: T | readonly T[]): BlockOf<T>[];
  getContentBlocks(types?: string | readonly string[]): ContentBlock[];
  getContentBlocks(types?: string | readonly string[]): ContentBlock[] {
    return getContentBlocks(this, types);
  }

  /** Whether there is a block of a type, or of one of some types. */
  hasContentBlocks(types?: string | readonly string[]): boolean {
    return !!getContentBlocks(this, types)[0];
  }

  /** The first block of a type; `null` when there is none. */
  getFirstContentBlock<T extends BlockType>(types: T | readonly T[]): BlockOf<T> | null {
    return getContentBlocks(this, types)[0] ?? null;
  }
}

/** A user's message: text and data. */
export interface UserMsg extends Msg {
  role: "user";
  content: (TextBlock | DataBlock)[];
}

/** An agent's message: any blocks. It stays open (no `finished_at`) until it is said to be finished. */
export interface AssistantMsg extends Msg {
  role: "assistant";
}

/** A system prompt: text. */
export interface SystemMsg extends Msg {
  role: "system";
  content: TextBlock[];
}

/** Makes messages of a role, with `new` or without. */
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

/** Makes a message of fields that are known to be right. */
export function adopt(fields: MsgFields): Msg {
  return { __proto__: Msg.prototype, ...fields } as unknown as Msg;
}

/** Where the blocks of a message are, as long as nobody has gone on from it. */
const drafts = new WeakMap<Msg, Draft>();

/** The floors of messages that somebody has gone on from. A floor is no part of what a message says. */
export const floors = new WeakMap<Msg, number | null>();

function draftOf(message: Msg): Draft {
  const draft = drafts.get(message);
  if (draft?.isOf(message)) return draft;
  const fresh = new Draft(message, (draft?.message === message ? draft.floor : floors.get(message)) ?? 0);
  drafts.set(message, fresh);
  return fresh;
}

/** Only an agent's message can be a reply, and a mark can say that it is none although its role says so. */
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
 * The message after an event of its reply. The given one stays as it is, and both share the blocks that the event does
 * not change. Where it changes nothing the given message is the result.
 */
export function appendEvent(message: Readonly<MsgFields>, event: AgentEvent): Msg {
  const start = message instanceof Msg ? message : adopt(message);
  const draft = draftOf(start);
  const { floor } = draft;
  draft.share();
  applyOwn(draft, event);
  // The next message has a floor of its own.
  if (draft.floor !== floor) draft.change();
  const next = draft.message;
  if (next !== start) {
    drafts.set(next, draft);
    floors.set(start, floor);
  }
  return next;
}
