import { isBlockType, text } from "./complete.js";
import { blankBlocks, type ContentBlock, type DataBlock, type TextBlock } from "./generated.js";
import { adopt, type Msg } from "./msg.js";
import { no, type Outcome } from "./outcome.js";
import type { BlockOf } from "./types.js";
import { isText } from "./values.js";

/**
 * A message that events are being applied to, and where its blocks are.
 *
 * What somebody may have seen is never changed: the message and its lists are copied when the first change after that
 * comes, and a block that changes is replaced. So an event costs the same whatever the size of the message, and two looks
 * at a message share every block that has stayed the same.
 */
export class Draft {
  /** The message as it stands. Who hands it on calls `share` before the next event. */
  message: Msg;
  /**
   * How many blocks there were at the last model call: an ended block from before it is never opened again. A message that
   * came whole has none, and takes no events.
   */
  floor: number | null;
  /** Where the newest block with a type and id is; by the index of a tool result, which item of it is the data with an id. */
  readonly #places = new Map<string | number, Map<string, number>>();
  /** The block that was found last, and is the newest with its id: the next one that is looked for is most likely the same. */
  #recent = 0;
  #content: ContentBlock[];
  #length = 0;
  /** The blocks and lists that were copied since somebody has seen the message. Nobody has seen these. */
  readonly #own = new Set<object>();

  constructor(message: Msg, floor: number | null) {
    this.message = message;
    this.floor = floor;
    this.#content = message.content;
    for (const block of message.content) this.#note(block);
  }

  /** Whether the places are still right: whoever holds a message can put other blocks into it. */
  isOf(message: Msg): boolean {
    return this.message === message && this.#content === message.content && this.#content.length === this.#length;
  }

  /** Somebody sees the message. Unless it is to be changed in place, the next change copies it. */
  share(inPlace?: boolean): void {
    this.#own.clear();
    if (inPlace) this.#own.add(this.#content);
  }

  /** The message, to be changed. */
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

  /** The block at an index, to be changed: a copy, unless nobody has seen it since it was copied. */
  edit(index: number): ContentBlock {
    const block = this.#mine(this.at(index));
    this.change().content[index] = block;
    return block;
  }

  /** Replaces the block at an index by one with some other fields. */
  update(index: number, changes?: object): undefined {
    this.change().content[index] = { ...this.at(index), ...changes };
  }

  push(block: ContentBlock): undefined {
    this.change().content.push(block);
    this.#note(block);
  }

  /** The newest block with a type and id, or the item of the tool result at an index that is the data with an id. */
  find(owner: string | number, id: string): number | undefined {
    const recent = this.at(this.#recent);
    if (recent?.type === owner && recent.id === id) return this.#recent;
    const place = this.#places.get(owner)?.get(text(id));
    if (place !== undefined && isText(owner)) this.#recent = place;
    return place;
  }

  /** Does something to the open block with a type and id. */
  open<T>(type: string, id: string, apply: (index: number) => T): T | Outcome {
    const index = this.find(type, id);
    if (index === undefined) return no("unknown_block", id);
    return this.at(index).finished_at == null ? apply(index) : no("block_ended", id);
  }

  /** The items of the tool result at an index. A result that is a string is as good as one item of text. */
  items(index: number): (TextBlock | DataBlock)[] {
    const { id, output, created_at } = this.at(index) as BlockOf<"tool_result">;
    return isText(output) ? [{ ...blankBlocks.text(`${id}.0`, created_at), text: output }] : output;
  }

  /** Puts an item into the tool result at an index. */
  setItem(index: number, place: number, item: TextBlock | DataBlock): undefined {
    const items = this.#mine(this.items(index));
    items[place] = item;
    this.#noteItem(index, item, place);
    return this.update(index, { output: items });
  }

  /** A copy of what somebody may have seen; what nobody has seen itself. */
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
