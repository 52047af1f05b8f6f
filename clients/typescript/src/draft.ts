import { isBlockType, text } from "./complete.js";
import { blankBlocks, type ContentBlock, type DataBlock, type TextBlock } from "./generated.js";
import { adopt, type Msg } from "./msg.js";
import { no, type Outcome } from "./outcome.js";
import type { BlockOf } from "./types.js";
import { isText } from "./values.js";

/**
 * A message to which events are applied, with an index of its blocks.
 *
 * Shared state is never changed: the first change after `share` copies the message and its lists, and a changed block
 * is replaced. So the cost of an event does not depend on the size of the message, and two versions of a message share
 * all unchanged blocks.
 */
export class Draft {
  /** The current message. A caller that hands it out calls `share` before the next event. */
  message: Msg;
  /**
   * The number of blocks at the last model call: an ended block before it is never reopened. It is `null` for a message
   * that is not a reply, which takes no events.
   */
  floor: number | null;
  /** The index of the newest block by type and id. For the index of a tool result, the index of its data item by id. */
  readonly #places = new Map<string | number, Map<string, number>>();
  /**
   * The index of the last block that was found, if it is the newest with its id. The next lookup is likely to be for
   * the same block.
   */
  #recent = 0;
  #content: ContentBlock[];
  #length = 0;
  /** The blocks and lists that were copied since the message was last shared. */
  readonly #own = new Set<object>();

  constructor(message: Msg, floor: number | null) {
    this.message = message;
    this.floor = floor;
    this.#content = message.content;
    for (const block of message.content) this.#note(block);
  }

  /** Returns whether the index is still valid. A caller that holds the message may have replaced its blocks. */
  isOf(message: Msg): boolean {
    return this.message === message && this.#content === message.content && this.#content.length === this.#length;
  }

  /** Marks the message as shared. The next change copies it, unless it is to be changed in place. */
  share(inPlace?: boolean): void {
    this.#own.clear();
    if (inPlace) this.#own.add(this.#content);
  }

  /** Returns the message for a change. */
  change(): Msg {
    const content = this.#mine(this.#content);
    if (content !== this.#content) {
      this.#content = content;
      this.message = adopt({ ...this.message, content });
    }
    return this.message;
  }

  at(index: number): ContentBlock {
    return this.#content[index] as ContentBlock;
  }

  /** Returns the block at an index for a change. It is copied if it is shared. */
  edit(index: number): ContentBlock {
    const block = this.#mine(this.at(index));
    this.change().content[index] = block;
    return block;
  }

  /** Replaces the block at an index by a copy with changed fields. */
  update(index: number, changes?: object): undefined {
    this.change().content[index] = { ...this.at(index), ...changes };
  }

  push(block: ContentBlock): undefined {
    this.change().content.push(block);
    this.#note(block);
  }

  /**
   * Returns the index of the newest block with a type and id, or of the data item with an id in the tool result at
   * index `owner`.
   */
  find(owner: string | number, id: string): number | undefined {
    const recent = this.at(this.#recent);
    if (recent?.type === owner && recent.id === id) return this.#recent;
    const place = this.#places.get(owner)?.get(text(id));
    if (place !== undefined && isText(owner)) this.#recent = place;
    return place;
  }

  /** Applies a function to the open block with a type and id. */
  open<T>(type: string, id: string, apply: (index: number) => T): T | Outcome {
    const index = this.find(type, id);
    if (index === undefined) return no("unknown_block", id);
    return this.at(index).finished_at == null ? apply(index) : no("block_ended", id);
  }

  /** Returns the items of the tool result at an index. A string counts as one text item. */
  items(index: number): (TextBlock | DataBlock)[] {
    const { id, output, created_at } = this.at(index) as BlockOf<"tool_result">;
    return isText(output) ? [{ ...blankBlocks.text(`${id}.0`, created_at), text: output }] : output;
  }

  /** Sets an item of the tool result at an index. */
  setItem(index: number, place: number, item: TextBlock | DataBlock): undefined {
    const items = this.#mine(this.items(index));
    items[place] = item;
    this.#noteItem(index, item, place);
    return this.update(index, { output: items });
  }

  /** Returns a copy of a shared object, and any other object itself. */
  #mine<T extends object>(thing: T): T {
    if (this.#own.has(thing)) return thing;
    const copy = (Array.isArray(thing) ? [...thing] : { ...thing }) as T;
    this.#own.add(copy);
    return copy;
  }

  #note(block: ContentBlock): void {
    const index = this.#length++;
    if (!isBlockType(block.type)) return;
    this.#place(block.type, block.id, index);
    this.#recent = index;
    if (block.type !== "tool_result") return;
    for (const [place, item] of this.items(index).entries()) this.#noteItem(index, item, place);
  }

  #noteItem(index: number, { type, id }: TextBlock | DataBlock, place: number): void {
    if (type === "data") this.#place(index, id, place);
  }

  #place(owner: string | number, id: string, place: number): void {
    const places = this.#places.get(owner) ?? new Map();
    this.#places.set(owner, places.set(id, place));
  }
}
