import type { Checkpoint } from "./checkpoint.js";
import { completeMsg, text } from "./complete.js";
import { dispatch } from "./dispatch.js";
import { Draft } from "./draft.js";
import { type AgentEvent, blankMsg, type MsgFields, type ReplyStartEvent } from "./generated.js";
import { marksOf } from "./marks.js";
import { adopt, floors, isReply, type Msg } from "./msg.js";
import { APPLIED, no, type Outcome, SEEN } from "./outcome.js";
import { objectOf } from "./values.js";

/**
 * The fold of a stream: any number of interleaved replies, and the messages between them.
 *
 * The cost of an event does not grow with the messages. Reading the messages copies only those that changed since the
 * last read: unchanged messages and blocks are the same objects.
 */
export class Fold {
  #cursor = 0;
  readonly #drafts: Draft[] = [];
  readonly #places = new Map<string, Draft>();
  #taken = new Set<string>();
  /** The message of the last event. */
  #recent: Draft | undefined;
  #messages: readonly Msg[] | undefined;

  /** Resumes from a checkpoint. Parse an untrusted one with `parseCheckpoint` first. */
  static resume(checkpoint: Checkpoint): Fold {
    if (checkpoint.version !== 1) throw new Error("unknown version");
    const fold = new Fold();
    fold.#cursor = +checkpoint.cursor;
    fold.#taken = new Set(checkpoint.taken);
    for (const { message, call_floor } of checkpoint.replies)
      fold.#push(completeMsg({ ...message }), isReply(message) ? call_floor : null);
    return fold;
  }

  /** The number of applied events, or the cursor of the last one. */
  get cursor(): number {
    return this.#cursor;
  }

  /** Applies the next event. */
  apply(event: AgentEvent): Outcome {
    return this.applyAt(this.#cursor + 1, event);
  }

  /**
   * Applies the event at a cursor. An event at or before the current cursor has no effect, so events may be repeated.
   * An invalid event does not advance the cursor.
   */
  applyAt(cursor: number, event: AgentEvent): Outcome {
    if (cursor <= this.#cursor) return SEEN;
    const outcome = dispatch(event, this.#find, this.#add);
    if (outcome.reason?.code !== "bad_event") this.#cursor = cursor;
    if (outcome === APPLIED || outcome.kind === "partly") this.#messages = undefined;
    return outcome;
  }

  /** The messages in the order in which they began, including open ones. */
  get messages(): readonly Msg[] {
    this.#messages ??= this.#drafts.map(look);
    return this.#messages;
  }

  /** Returns the message with an id. */
  message(id: string): Msg | undefined {
    const draft = this.#places.get(id);
    return draft && look(draft);
  }

  /**
   * Removes and returns the ended messages at the front, up to the first open one. Only their ids are kept, so that
   * late events for them can be rejected.
   */
  takeEnded(): Msg[] {
    const ended: Msg[] = [];
    for (const { message, floor } of this.#drafts) {
      if (floor !== null && message.finished_at == null) break;
      this.#places.delete(message.id);
      this.#taken.add(message.id);
      this.#recent = this.#messages = undefined;
      ended.push(message);
    }
    this.#drafts.splice(0, ended.length);
    return ended;
  }

  /** Returns the state from which a fold can resume. */
  checkpoint(): Checkpoint {
    const taken = [...this.#taken].sort();
    return {
      version: 1,
      cursor: `${this.#cursor}`,
      replies: this.#drafts.map((draft) => ({ message: look(draft), call_floor: draft.floor })),
      ...(taken.length && { taken }),
    };
  }

  #push(message: MsgFields, floor: number | null): void {
    this.#recent = new Draft(adopt(message), floor);
    this.#places.set(message.id, this.#recent);
    this.#drafts.push(this.#recent);
  }

  readonly #find = (reply: string | undefined, event: AgentEvent): Draft | Outcome | undefined => {
    if (reply === undefined) return;
    if (this.#recent?.message.id !== reply) this.#recent = this.#places.get(reply);
    if (!this.#recent) {
      if (this.#taken.has(reply)) return no("reply_ended", reply);
      if (event.type !== "REPLY_START") return no("unknown_reply", reply);
      this.#push(begun(event), 0);
    }
    const draft = this.#recent as Draft;
    return draft.floor === null ? no("not_a_reply", reply) : draft;
  };

  readonly #add = (message: MsgFields): Outcome => {
    const { id } = message;
    if (this.#places.has(id) || this.#taken.has(id)) return no("message_exists", id);
    this.#push(message, null);
    return APPLIED;
  };
}

/** Returns the current message. Later events do not change it. */
function look(draft: Draft): Msg {
  draft.share();
  floors.set(draft.message, draft.floor);
  return draft.message;
}

/** Returns the message that a `REPLY_START` begins. */
function begun(event: ReplyStartEvent): MsgFields {
  const { metadata, parent } = marksOf(event.metadata);
  const own = objectOf(metadata);
  return {
    ...blankMsg(text(event.reply_id), text(event.created_at ?? "")),
    name: text(event.name),
    metadata: parent === undefined ? own : { ...own, recount: { ...marksOf(own), parent } },
  };
}
