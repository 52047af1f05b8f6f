import { Fold } from "../fold.js";
import type { AgentEvent, MsgFields } from "../generated.js";
import { adopt, type Msg } from "../msg.js";
import type { Snapshot } from "./frames.js";

/** Returns whether an entry is after another, or is from another epoch. Any entry is after none. */
export function isAfter(cursor: string, other = ""): boolean {
  const [history, place] = cursor.split(".");
  const [otherHistory, otherPlace] = other.split(".");
  return history !== otherHistory || +place! > +otherPlace!;
}

/**
 * The folded messages of a session. Ended messages are stored separately, so that reading a long session costs no more
 * than copying the list.
 */
export interface Messages {
  /** The cursor of the last entry that was applied. */
  cursor?: string;
  /** The id of the oldest message here; `null` if there are no older ones. */
  before: string | null;
  /** Replaces all messages by a snapshot and continues from it. */
  begin(cursor: string, snapshot: Snapshot): void;
  /** Applies the entry at a cursor. Returns whether it is new. */
  take(cursor: string, event: AgentEvent): boolean;
  /** Prepends older messages. */
  unshift(messages: readonly MsgFields[], before: string | null): void;
  /** Returns all messages in their current state, oldest first. */
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
      // Inserting in ascending order puts each reply at its final index. A reply without an index is the only one, and
      // the last.
      const inOrder = Object.keys(open).sort((id, other) => places[id]! - places[other]!);
      for (const id of inOrder) replies.splice(places[id] ?? Infinity, 0, open[id]!);
      all.cursor = cursor;
      all.before = snapshot.before;
      fold = Fold.resume({ version: 1, cursor: "0", replies });
      ended = fold.takeEnded();
    },

    take(cursor, event) {
      // Events cannot be applied before there is a snapshot.
      if (!all.cursor || !isAfter(cursor, all.cursor)) return false;
      all.cursor = cursor;
      fold.apply(event);
      ended.push(...fold.takeEnded());
      return true;
    },

    unshift(messages, before) {
      all.before = before;
      // A reply that was open in the snapshot is already here.
      const known = new Set(all.look().map(({ id }) => id));
      ended.unshift(...messages.filter(({ id }) => !known.has(id)).map(adopt));
    },

    look: () => [...ended, ...fold.messages],
  };
  return all;
}
