import { type AgentEvent, type Checkpoint, Fold, type Msg } from "@recount/client";
import { isRecord } from "../lib/json";
import type { Entry } from "../service/log";
import { type Kind, kindOf } from "./kinds";

/** After how many events of a message its state is kept. Going to any event applies fewer than these. */
export const EVERY = 64;

/** The events of one message, and its state after some of them. */
interface Track {
  readonly fold: Fold;
  /** Where its events are among all. */
  readonly places: number[];
  /** Its state after 0, `EVERY`, 2 × `EVERY` … of them. */
  readonly states: Checkpoint[];
}

/** The message that an event is about; `undefined` where it is about the session. */
export function subjectOf(event: AgentEvent): string | undefined {
  if (event.type !== "CUSTOM") return event.reply_id;
  const { name, value } = event;
  if (!isRecord(value)) return;
  const id = name === "recount.message" ? value.id : value.reply_id;
  return typeof id === "string" ? id : undefined;
}

/** All that has happened in a session, and how its messages stood at any time. */
export class History {
  readonly entries: Entry[] = [];
  /** What kind each event is of. */
  readonly kinds: Kind[] = [];
  /** The message that each event is about, or the last one before it was. */
  readonly #subjects: (string | undefined)[] = [];
  readonly #tracks = new Map<string, Track>();
  /** Why events changed nothing, for those that did not. */
  readonly #reasons = new Map<number, string>();

  get length(): number {
    return this.entries.length;
  }

  push(entry: Entry): void {
    const place = this.entries.push(entry) - 1;
    this.kinds.push(kindOf(entry.event));
    const subject = subjectOf(entry.event);
    this.#subjects.push(subject ?? this.#subjects[place - 1]);
    if (subject === undefined) return;
    let track = this.#tracks.get(subject);
    if (!track) {
      const fold = new Fold();
      track = { fold, places: [], states: [fold.checkpoint()] };
      this.#tracks.set(subject, track);
    }
    const { reason } = track.fold.apply(entry.event);
    if (reason) this.#reasons.set(place, reason.code.replaceAll("_", " "));
    if (track.places.push(place) % EVERY === 0) track.states.push(track.fold.checkpoint());
  }

  /** The id of the message that the event at a place is about, or of the last one before it. */
  subjectAt(place: number): string | undefined {
    return this.#subjects[place];
  }

  /** That message as it was right after the event. */
  messageAt(place: number): Msg | undefined {
    const subject = this.#subjects[place];
    const track = subject === undefined ? undefined : this.#tracks.get(subject);
    if (!track || subject === undefined) return;
    const count = countUpTo(track.places, place);
    const state = Math.floor(count / EVERY);
    const fold = Fold.resume(track.states[state]!);
    for (let i = state * EVERY; i < count; i++) fold.apply(this.entries[track.places[i]!]!.event);
    return fold.message(subject);
  }

  /** Why the event at a place changed nothing, or not all that it says. */
  reasonAt(place: number): string | undefined {
    return this.#reasons.get(place);
  }

  /** Where the message begins that the event at a place is about, and how many events it has. */
  extentAt(place: number): { first: number; last: number } | undefined {
    const track = this.#tracks.get(this.#subjects[place] ?? "");
    return track && { first: track.places[0]!, last: track.places.at(-1)! };
  }

  /** Where the first event is of a message. */
  beginningOf(message: string): number | undefined {
    return this.#tracks.get(message)?.places[0];
  }

  /** Where messages begin, in order. */
  beginnings(): number[] {
    return Array.from(this.#tracks.values(), ({ places }) => places[0]!);
  }
}

/** How many numbers of a rising list are not above a limit. */
function countUpTo(numbers: readonly number[], limit: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numbers[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
