import { Fold } from "../fold.js";
import type { AgentEvent, MsgFields } from "../generated.js";
import { adopt, type Msg } from "../msg.js";
import type { Snapshot } from "./frames.js";

/** Whether an entry comes after another, or is of another history. All come after none. */
export function isAfter(cursor: string, other = ""): boolean {
  const [history, place] = cursor.split(".");
  const [otherHistory, otherPlace] = other.split(".");
  return history !== otherHistory || +place! > +otherPlace!;
}

/**
 * The messages of a session, folded. Those that have ended are kept apart, so that a look at a long conversation costs no
 * more than a list of what is in it.
 */
export interface Messages {
  /** The last entry that was taken. */
  cursor?: string;
  /** The oldest message here, if there are older ones. */
  before: string | null;
  /** Goes on from a snapshot, and forgets what was there before. */
  begin(cursor: string, snapshot: Snapshot): void;
  /** Takes the entry at a cursor, and says whether it is a new one. */
  take(cursor: string, event: AgentEvent): boolean;
  /** Puts older messages before those that are here. */
  unshift(messages: readonly MsgFields[], before: string | null): void;
  /** All of them as they stand, oldest first. */
  look(): readonly Msg[];
}

export function newMessages(): Messages {
  let ended: Msg[] = [];
  let fold = new Fold();
  const all: Messages = {
    before: null,

    begin(cursor, snapshot) {
      const { open, places = {} } = snapshot;
      const replies = snapshot.messages.map((message) => ({ message, call_floor: null as number | null }));
      // Each is at its place when those before it are at theirs. One without a place is the only one, and the last.
      const inOrder = Object.keys(open).sort((id, other) => places[id]! - places[other]!);
      for (const id of inOrder) replies.splice(places[id] ?? Infinity, 0, open[id]!);
      all.cursor = cursor;
      all.before = snapshot.before;
      fold = Fold.resume({ version: 1, cursor: "0", replies });
      ended = fold.takeEnded();
    },

    take(cursor, event) {
      // Nothing can be made of events before there is a snapshot.
      if (!all.cursor || !isAfter(cursor, all.cursor)) return false;
      all.cursor = cursor;
      fold.apply(event);
      ended.push(...fold.takeEnded());
      return true;
    },

    unshift(messages, before) {
      all.before = before;
      // A reply that was still open then has been here all along.
      const known = new Set(all.look().map(({ id }) => id));
      ended.unshift(...messages.filter(({ id }) => !known.has(id)).map(adopt));
    },

    look: () => [...ended, ...fold.messages],
  };
  return all;
}
