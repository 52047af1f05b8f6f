import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type AgentEvent,
  appendEvent,
  type ContentBlock,
  Fold,
  Msg,
  type MsgFields,
  type Outcome,
} from "../src/index.js";
import { parseCheckpoint, readEvent } from "../src/parse/index.js";
import { Random } from "./support/random.js";
import { legalStream, someStream } from "./support/streams.js";
import type { JsonObject } from "./support/values.js";

/** Streams of events as returned by `JSON.parse`. */
const raw = fc
  .tuple(fc.nat(), fc.boolean())
  .map(([seed, legal]) => (legal ? legalStream : someStream)(new Random(seed)))
  .map((stream) => JSON.parse(JSON.stringify(stream)) as AgentEvent[]);

/** Streams of events that were parsed with `parseEvent`. */
const parsed = raw.map((stream) => stream.flatMap(readable));

function readable(event: AgentEvent): AgentEvent[] {
  try {
    return [readEvent(event)];
  } catch {
    return [];
  }
}

function folded(events: readonly AgentEvent[], fold = new Fold()): Fold {
  for (const event of events) fold.apply(event);
  return fold;
}

const text = (fold: Fold) => JSON.stringify(fold.messages);

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}

const check = <T>(property: fc.IRawProperty<T>) =>
  fc.assert(property, { numRuns: Number(process.env.RECOUNT_RUNS ?? 200) });

describe("the laws of the fold", () => {
  test("determined: the same events give the same messages", () => {
    check(
      fc.property(parsed, (events) => {
        expect(text(folded(events))).toBe(text(folded(events)));
      }),
    );
  });

  test("checkpointed: resuming at any event gives the same as an uninterrupted fold", () => {
    check(
      fc.property(parsed, (events) => {
        const whole = text(folded(events));
        for (let at = 0; at <= events.length; at++) {
          const before = folded(events.slice(0, at));
          const after = Fold.resume(parseCheckpoint(JSON.stringify(before.checkpoint())));
          expect(text(folded(events.slice(at), after))).toBe(whole);
        }
      }),
    );
  });

  test("checkpointed: messages removed by takeEnded are not needed", () => {
    check(
      fc.property(parsed, fc.nat(), (events, cut) => {
        const at = events.length ? cut % events.length : 0;
        const before = folded(events.slice(0, at));
        const taken = before.takeEnded();
        const after = folded(events.slice(at), Fold.resume(before.checkpoint()));
        expect(JSON.stringify([...taken, ...after.messages])).toBe(text(folded(events)));
      }),
    );
  });

  test("idempotent: an event at or before the cursor changes nothing", () => {
    check(
      fc.property(parsed, fc.array(fc.nat()), (events, again) => {
        const fold = new Fold();
        for (const [index, event] of events.entries()) {
          fold.applyAt(index + 1, event);
          for (const number of again) {
            const earlier = number % (index + 1);
            expect(fold.applyAt(earlier + 1, events[earlier] as AgentEvent).kind).toBe("seen");
          }
        }
        expect(text(fold)).toBe(text(folded(events)));
      }),
    );
  });

  test("compactable: consecutive deltas of a block may be joined", () => {
    check(
      fc.property(parsed, (events) => {
        expect(text(folded(compacted(events)))).toBe(text(folded(events)));
      }),
    );
  });

  test("total: no input makes the fold throw, and ignored events change nothing", () => {
    const damages = fc.array(fc.tuple(fc.nat(), fc.nat(), fc.jsonValue()), { maxLength: 60 });
    check(
      fc.property(raw, damages, (events, damages) => {
        const stream: unknown[] = [...events];
        for (const [at, key, value] of damages) {
          stream[at % stream.length] = damaged(stream[at % stream.length] as JsonObject, key, value);
        }
        stream.push(null, undefined, 7, "text", [], {});
        const fold = new Fold();
        for (const event of stream) {
          const before = text(fold);
          const { messages } = fold;
          const outcome = fold.apply(event as AgentEvent);
          if (outcome.kind !== "ignored" && outcome.kind !== "not_for_message") continue;
          expect(text(fold)).toBe(before);
          expect(fold.messages).toBe(messages);
        }
      }),
    );
  });

  /** Damages an event: adds a value to a list, or replaces a field by it. */
  function damaged(event: JsonObject, number: number, value: unknown): JsonObject {
    const keys = Object.keys(event);
    const key = keys[number % keys.length] as string;
    const field = event[key];
    return { ...event, [key]: Array.isArray(field) ? [...field, value] : value };
  }

  test("equivalent: the method, the function and the fold agree", () => {
    check(
      fc.property(parsed, (events) => {
        const fold = new Fold();
        const methods = new Map<string, Msg>();
        const functions = new Map<string, Msg>();
        for (const event of events) {
          const known = new Set(fold.messages.map(({ id }) => id));
          fold.apply(event);
          for (const message of fold.messages.filter(({ id }) => !known.has(id))) {
            // A complete message is not a reply. A caller that holds only the message cannot detect that.
            if (event.type !== "REPLY_START") continue;
            methods.set(message.id, new Msg({ ...message }));
            functions.set(message.id, deepFreeze(new Msg({ ...message })));
          }
          for (const message of methods.values()) message.appendEvent(event);
          for (const [id, message] of functions) functions.set(id, deepFreeze(appendEvent(message, deepFreeze(event))));
        }
        for (const id of methods.keys()) {
          const expected = JSON.stringify(fold.message(id));
          expect(JSON.stringify(methods.get(id))).toBe(expected);
          expect(JSON.stringify(functions.get(id))).toBe(expected);
        }
      }),
    );
  });
});

/** Joins consecutive deltas of a block, as compaction does. The first one keeps its id and time. */
function compacted(events: readonly AgentEvent[]): AgentEvent[] {
  const result: AgentEvent[] = [];
  for (const event of events) {
    const last = result.at(-1);
    if (!last || !isSameDelta(last, event)) result.push(event);
    else result[result.length - 1] = { ...last, delta: deltaOf(last) + deltaOf(event) } as AgentEvent;
  }
  return result;
}

const deltaOf = (event: AgentEvent) => ("delta" in event ? event.delta : "");

function isSameDelta(one: AgentEvent, other: AgentEvent): boolean {
  if (!("delta" in one) || one.type !== other.type) return false;
  const target = (event: AgentEvent) => {
    const { reply_id, block_id, tool_call_id } = event as unknown as JsonObject;
    return JSON.stringify([reply_id, block_id, tool_call_id]);
  };
  return target(one) === target(other);
}

describe("identity", () => {
  /**
   * Returns whether an event concerns a block. An event that changes no value may still create a new object with the
   * same content.
   */
  const isAbout = (event: AgentEvent, { id }: ContentBlock) => JSON.stringify(event).includes(JSON.stringify(id));

  /**
   * Compares a message before and after an event. Everything that the event does not concern must be the same objects.
   */
  function checkBlocks(event: AgentEvent, before: MsgFields, after: MsgFields) {
    for (const [place, block] of before.content.entries()) {
      const now = after.content[place];
      if (JSON.stringify(block) !== JSON.stringify(now)) expect(now).not.toBe(block);
      else if (!isAbout(event, block)) expect(now).toBe(block);
    }
  }

  test("unchanged messages and blocks are the same objects, and returned ones never change", () => {
    check(
      fc.property(parsed, (events) => {
        const fold = new Fold();
        for (const event of events) {
          const before = fold.messages;
          const texts = before.map((message) => JSON.stringify(message));
          fold.apply(event);
          for (const [index, message] of before.entries()) {
            const now = fold.messages[index] as Msg;
            expect(JSON.stringify(message)).toBe(texts[index]);
            if (JSON.stringify(now) !== texts[index]) expect(now).not.toBe(message);
            else if (!JSON.stringify(event).includes(message.id)) expect(now).toBe(message);
            checkBlocks(event, message, now);
          }
        }
      }),
    );
  });

  test("the function never changes its input, and shares every block that an event does not change", () => {
    check(
      fc.property(parsed, (events) => {
        let message: Msg | undefined;
        for (const event of events) {
          if (event.type === "REPLY_START") message ??= folded([event]).messages[0];
          if (!message) continue;
          const before: Msg = message;
          const text = JSON.stringify(before);
          message = appendEvent(before, event);
          checkBlocks(event, before, message);
          expect(JSON.stringify(before)).toBe(text);
        }
      }),
    );
  });

  test("applying two events to the same message gives two messages", () => {
    const start = folded([
      { type: "REPLY_START", session_id: "s", reply_id: "r", name: "Friday" },
      { type: "TEXT_BLOCK_START", reply_id: "r", block_id: "t" },
    ]).messages[0] as Msg;
    const delta = (delta: string): AgentEvent => ({ type: "TEXT_BLOCK_DELTA", reply_id: "r", block_id: "t", delta });
    const [one, other] = [appendEvent(start, delta("one")), appendEvent(start, delta("other"))];
    expect([start, one, other].map((message) => message.getTextContent())).toEqual(["", "one", "other"]);
    expect(appendEvent(one, delta("!")).getTextContent()).toBe("one!");
  });

  test("an outcome has a reason", () => {
    const outcome: Outcome = new Fold().apply({ type: "USER_INTERRUPT", reply_id: "r" });
    expect(outcome).toEqual({ kind: "ignored", reason: { code: "unknown_reply", detail: "r" }, skipped: [] });
  });
});
