import type { Random } from "./random.js";
import type { Service } from "./service.js";
import { legalStream, type RawEvent } from "./streams.js";

/** Another client that appends events to a session, in batches of any size. */
export class RandomWriter {
  #streams = 0;
  #events = 0;
  #rest: RawEvent[] = [];
  readonly #service: Service;
  readonly #session: string;
  readonly #random: Random;

  constructor(service: Service, session: string, random: Random) {
    this.#service = service;
    this.#session = session;
    this.#random = random;
  }

  /** Appends a few more events. */
  async more(): Promise<void> {
    if (!this.#rest.length) this.#rest = this.#stream();
    const piece = this.#rest.splice(0, this.#random.between(1, 12));
    await this.#service.append(this.#session, piece).catch((error) => {
      // Some random events are invalid. A rejected batch is not appended.
      if (![400, 409].includes(error.status)) throw error;
    });
  }

  /** Creates new replies, with increasing times. */
  #stream(): RawEvent[] {
    const prefix = `s${this.#streams++}-`;
    return legalStream(this.#random, prefix).map((event, index) => {
      const created_at = new Date(Date.UTC(2026, 0) + this.#events++).toISOString();
      return { ...event, id: `${prefix}${index}`, created_at };
    });
  }
}
