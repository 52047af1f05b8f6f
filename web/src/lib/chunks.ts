/** Messages that are rendered or replaced by empty space together. */
export interface Chunk<M> {
  /** The key. It does not change when older messages are inserted before. */
  readonly key: string;
  /** The messages. The list is the same object until one of them changes. */
  readonly messages: readonly M[];
}

/** The number of messages in a chunk. */
export const CHUNK = 16;

/**
 * Splits a growing list into chunks. Older messages at the front leave the existing chunks unchanged, and a changed
 * message changes only its own chunk.
 */
export class Chunks<M extends { readonly id: string }> {
  #first: string | undefined;
  /** The number of messages that were inserted before the initial first one. */
  #older = 0;
  #generation = 0;
  #known = new Map<number, Chunk<M>>();

  of(messages: readonly M[]): readonly Chunk<M>[] {
    const first = messages[0]?.id;
    if (first !== this.#first) {
      const place = this.#first === undefined ? -1 : messages.findIndex(({ id }) => id === this.#first);
      if (place < 0) this.#restart();
      else this.#older += place;
      this.#first = first;
    }
    const chunks: Chunk<M>[] = [];
    const known = new Map<number, Chunk<M>>();
    for (let start = 0; start < messages.length; ) {
      const number = Math.floor((start - this.#older) / CHUNK);
      const end = Math.min(messages.length, (number + 1) * CHUNK + this.#older);
      const before = this.#known.get(number);
      const isSame =
        before?.messages.length === end - start &&
        before.messages.every((message, i) => message === messages[start + i]);
      const chunk = isSame ? before! : { key: `${this.#generation}.${number}`, messages: messages.slice(start, end) };
      known.set(number, chunk);
      chunks.push(chunk);
      start = end;
    }
    this.#known = known;
    return chunks;
  }

  #restart(): void {
    this.#older = 0;
    this.#generation++;
    this.#known = new Map();
  }
}
