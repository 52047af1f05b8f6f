import { type AgentEvent, type Checkpoint, Fold, type Msg } from "@recount/client";
import { isRecord } from "../lib/json";
import type { Entry } from "../service/log";
import { type Kind, kindOf } from "./kinds";

/** The number of events between two checkpoints of a message. Seeking applies fewer events than this. */
export const EVERY = 64;

/** The events of one message, with checkpoints. */
interface Track {
  readonly fold: Fold;
  /** The indices of its events among all events. */
  readonly places: number[];
  /** The checkpoints after 0, `EVERY`, 2 × `EVERY` … of its events. */
  readonly states: Checkpoint[];
}

/** Returns the id of the message that an event concerns; `undefined` for events about the session. */
export function subjectOf(event: AgentEvent): string | undefined {
  if (event.type !== "CUSTOM") return event.reply_id;
  const { name, value } = event;
  if (!isRecord(value)) return;
  const id = name === "recount.message" ? value.id : value.reply_id;
  return typeof id === "string" ? id : undefined;
}

/** All events of a session, and the state of its messages after each of them. */
export class History {
  readonly entries: Entry[] = [];
  /** The kind of each event. */
  readonly kinds: Kind[] = [];
  /** The message that each event concerns, or the last one before it. */
  readonly #subjects: (string | undefined)[] = [];
  readonly #tracks = new Map<string, Track>();
  /** Why events had no effect, by index. */
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

  /** Returns the id of the message that the event at an index concerns, or of the last one before it. */
  subjectAt(place: number): string | undefined {
    return this.#subjects[place];
  }

  /** Returns that message as it was right after the event. */
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

  /** Returns why the event at an index had no effect, or only a partial one. */
  reasonAt(place: number): string | undefined {
    return this.#reasons.get(place);
  }

  /** Returns the indices of the first and last event of the message at an index. */
  extentAt(place: number): { first: number; last: number } | undefined {
    const track = this.#tracks.get(this.#subjects[place] ?? "");
    return track && { first: track.places[0]!, last: track.places.at(-1)! };
  }

  /** Returns the index of the first event of a message. */
  beginningOf(message: string): number | undefined {
    return this.#tracks.get(message)?.places[0];
  }

  /** Returns the indices at which messages begin, in order. */
  beginnings(): number[] {
    return Array.from(this.#tracks.values(), ({ places }) => places[0]!);
  }
}

/** Returns how many numbers of an ascending list are at most `limit`. */
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
