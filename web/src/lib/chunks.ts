/** Messages that are shown or hidden together. */
export interface Chunk<M> {
  /** Stays the same when older messages come before it. */
  readonly key: string;
  /** The same list as long as none of its messages has changed. */
  readonly messages: readonly M[];
}

/** How many messages are shown or hidden together. */
export const CHUNK = 16;

/**
 * Cuts a growing list into chunks. Older messages that come before the first leave the chunks after them as they are, and
 * a message that changes changes only its own.
 */
export class Chunks<M extends { readonly id: string }> {
  #first: string | undefined;
  /** How many messages have come before the one that was the first at first. */
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
