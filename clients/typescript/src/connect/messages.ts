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

const began = ({ message }: { message: MsgFields }) => Date.parse(message.created_at);

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

    begin(cursor, { messages, open, before }) {
      const replies = messages.map((message) => ({ message, call_floor: null as number | null }));
      for (const reply of Object.values(open)) {
        // A snapshot has them apart. A reply that is still open may have begun before a message that came whole.
        let place = replies.length;
        while (place && began(replies[place - 1]!) > began(reply)) place--;
        replies.splice(place, 0, reply);
      }
      all.cursor = cursor;
      all.before = before;
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
      // A reply that is still open is here already.
      ended.unshift(...messages.filter(({ id }) => !fold.message(id)).map(adopt));
    },

    look: () => [...ended, ...fold.messages],
  };
  return all;
}
