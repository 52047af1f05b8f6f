/** A random number generator with a seed: the same numbers in every run. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns a number from 0 up to, and not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer from `low` to `high`, both inclusive. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** Returns true once in `times` calls on average. */
  oneIn(times: number): boolean {
    return this.between(1, times) === 1;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.between(0, choices.length - 1)] as T;
  }

  /** Creates between `low` and `high` items. */
  many<T>(low: number, high: number, make: (index: number) => T): T[] {
    return Array.from({ length: this.between(low, high) }, (_, index) => make(index));
  }
}
