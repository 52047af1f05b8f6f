import type { Random } from "./random.js";
import type { Service } from "./service.js";
import { legalStream, type RawEvent } from "./streams.js";

/** Somebody elsewhere who says something in a session, again and again, in pieces of any size. */
export class Talk {
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

  /** Says a little more. */
  async more(): Promise<void> {
    if (!this.#rest.length) this.#rest = this.#stream();
    const piece = this.#rest.splice(0, this.#random.between(1, 12));
    await this.#service.append(this.#session, piece).catch((error) => {
      // Now and then something is made up that is no event. What is refused was never said.
      if (![400, 409].includes(error.status)) throw error;
    });
  }

  /** Replies that nobody has heard yet, by somebody whose clock goes forward. */
  #stream(): RawEvent[] {
    const prefix = `s${this.#streams++}-`;
    return legalStream(this.#random, prefix).map((event, index) => {
      const created_at = new Date(Date.UTC(2026, 0) + this.#events++).toISOString();
      return { ...event, id: `${prefix}${index}`, created_at };
    });
  }
}
