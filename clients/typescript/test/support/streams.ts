import type { Random } from "./random.js";
import { type JsonObject, someBase64, someObject, someText, someValue } from "./values.js";

/** An event as JSON, valid or not. */
export type RawEvent = JsonObject;

/** Creates a stream, valid or not, with a common prefix for all message ids. */
export function someStream(random: Random, prefix = ""): RawEvent[] {
  const maker = new EventMaker(random, prefix);
  const legal = random.many(1, 2, () => maker.reply()).flat();
  const events = random.oneIn(3) ? legal : disturbed(random, maker, legal);
  return random.oneIn(3) ? events.map((event) => damaged(random, event)) : events;
}

/** Creates a stream that satisfies the whole contract. */
export function legalStream(random: Random, prefix = ""): RawEvent[] {
  const maker = new EventMaker(random, prefix);
  return random.many(1, 3, (index) => maker.reply(`${prefix}r${index}`)).flat();
}

/** Drops, repeats and moves events, and inserts others. */
function disturbed(random: Random, maker: EventMaker, events: RawEvent[]): RawEvent[] {
  const result: RawEvent[] = [];
  for (const event of events) {
    if (random.oneIn(6)) result.push(maker.any());
    if (random.oneIn(12)) continue;
    if (random.oneIn(12)) result.push(event);
    if (random.oneIn(12)) result.splice(random.between(0, result.length), 0, event);
    else result.push(event);
  }
  return result;
}

/** Sometimes removes a key, changes its value, or changes the order of the keys. */
function damaged(random: Random, event: RawEvent): RawEvent {
  if (!random.oneIn(8)) return event;
  const entries = Object.entries(event);
  const at = random.between(0, entries.length - 1);
  const [key] = entries[at] as [string, unknown];
  const damages = [
    () => entries.splice(at, 1),
    () => entries.splice(at, 1, [key, someValue(random)]),
    () => entries.splice(at, 1, [key, null]),
    () => entries.reverse(),
  ];
  random.pick(damages)();
  return Object.fromEntries(entries);
}

const TOOL_STATES = ["success", "error", "interrupted", "denied", "running"];
const CALL_STATES = ["pending", "asking", "allowed", "submitted", "finished"];

/** Creates events. There are few ids, so that they collide. */
class EventMaker {
  #made = 0;
  readonly #random: Random;
  readonly #prefix: string;

  constructor(random: Random, prefix: string) {
    this.#random = random;
    this.#prefix = prefix;
  }

  #time(): string {
    return `2026-01-01T00:00:${String(this.#made % 60).padStart(2, "0")}.000000+00:00`;
  }

  /** Creates an event as a peer writes it, sometimes without optional fields or with unknown ones. */
  #event(type: string, fields: JsonObject, carried: () => JsonObject = () => ({})): RawEvent {
    const random = this.#random;
    const event: RawEvent = { id: `e${this.#made++}`, created_at: this.#time(), metadata: {}, type, ...fields };
    if (random.oneIn(10)) event.metadata = { ...someObject(random), ...(random.oneIn(2) && { recount: carried() }) };
    if (random.oneIn(40)) return { ...someObject(random), ...event };
    for (const key of ["id", "created_at", "metadata"]) if (random.oneIn(60)) delete event[key];
    return event;
  }

  #reply(): string {
    return `${this.#prefix}r${this.#random.between(1, 2)}`;
  }

  #id(kind: string): string {
    return `${kind}${this.#random.between(1, 3)}`;
  }

  /** Creates a whole reply, in order. */
  reply(reply_id = this.#reply()): RawEvent[] {
    const random = this.#random;
    const rounds = random.many(0, 2, (round) => this.#round(reply_id, round));
    const last = this.#modelCall(reply_id, [this.#thinking(reply_id, "t9"), this.#answer(reply_id, "b9")].flat());
    const events = [this.#start(reply_id), ...rounds.flat(), ...last];
    return random.oneIn(4) ? events : [...events, this.#end(reply_id)];
  }

  #start(reply_id: string): RawEvent {
    const fields = { session_id: "s", reply_id, name: this.#random.pick(["Friday", "", "Jürgen"]), role: "assistant" };
    return this.#event("REPLY_START", fields, () => ({
      metadata: someObject(this.#random),
      parent: someValue(this.#random),
    }));
  }

  #end(reply_id: string): RawEvent {
    const random = this.#random;
    const finished_reason = random.pick(["completed", "interrupted", "exceed_max_iters", "error"]);
    const error = random.oneIn(3) ? { type: random.pick(["upstream", "unknown"]), message: someText(random) } : null;
    const fields = { session_id: "s", reply_id, finished_reason, error };
    return this.#event("REPLY_END", fields, () => ({
      structured_output: someValue(random),
      metadata: someValue(random),
    }));
  }

  #modelCall(reply_id: string, content: RawEvent[]): RawEvent[] {
    const random = this.#random;
    const start = this.#event("MODEL_CALL_START", { reply_id, model_name: "m" });
    const tokens = { input_tokens: random.between(0, 900), output_tokens: random.between(0, 90) };
    const cached = random.oneIn(2) ? { cache_input_tokens: random.between(0, 9), cache_creation_input_tokens: 1 } : {};
    const end = { reply_id, ...tokens, ...cached, finished_reason: "completed" };
    return [start, ...content, this.#event("MODEL_CALL_END", end, () => ({ usage: "unknown" }))];
  }

  #extra(): JsonObject {
    return { extra: someValue(this.#random) };
  }

  #thinking(reply_id: string, block_id: string): RawEvent[] {
    return [
      this.#event("THINKING_BLOCK_START", { reply_id, block_id }),
      ...this.#deltas("THINKING_BLOCK_DELTA", { reply_id, block_id }),
      this.#event("THINKING_BLOCK_END", { reply_id, block_id }, () => this.#extra()),
    ];
  }

  #answer(reply_id: string, block_id: string): RawEvent[] {
    const random = this.#random;
    const text = random.oneIn(4) ? { text: someText(random) } : random.oneIn(2) ? { text: null } : {};
    return [
      this.#event("TEXT_BLOCK_START", { reply_id, block_id }),
      ...this.#deltas("TEXT_BLOCK_DELTA", { reply_id, block_id }),
      this.#event("TEXT_BLOCK_END", { reply_id, block_id, ...text }, () => this.#extra()),
    ];
  }

  #image(reply_id: string, block_id: string): RawEvent[] {
    const random = this.#random;
    return [
      this.#event("DATA_BLOCK_START", {
        reply_id,
        block_id,
        media_type: "image/png",
        name: random.pick([null, "a.png"]),
      }),
      ...random.many(0, 4, () => this.#data("DATA_BLOCK_DELTA", { reply_id, block_id })),
      this.#event("DATA_BLOCK_END", { reply_id, block_id }, () => this.#extra()),
    ];
  }

  #deltas(type: string, fields: JsonObject): RawEvent[] {
    return this.#random.many(0, 4, () => this.#event(type, { ...fields, delta: someText(this.#random) }));
  }

  #data(type: string, fields: JsonObject): RawEvent {
    const random = this.#random;
    const source = random.oneIn(6)
      ? { data: null, url: random.pick(["https://example.com/a.png", "", "x"]) }
      : { data: someBase64(random), url: null };
    const media_type = random.pick(["image/png", "audio/wav"]);
    return this.#event(type, { ...fields, media_type, ...source }, () => ({ name: someValue(random) }));
  }

  #round(reply_id: string, round: number): RawEvent[] {
    const random = this.#random;
    const names = ["c1", "c2", "c3"].slice(0, random.between(1, 3)).map((id) => (random.oneIn(3) ? id : id + round));
    const calls = names.flatMap((tool_call_id) => [
      this.#event("TOOL_CALL_START", { reply_id, tool_call_id, tool_call_name: "search" }),
      ...this.#deltas("TOOL_CALL_DELTA", { reply_id, tool_call_id }),
      this.#event("TOOL_CALL_END", { reply_id, tool_call_id }, () => this.#extra()),
    ]);
    const blocks = [
      random.oneIn(2) ? this.#thinking(reply_id, this.#id("t")) : [],
      random.oneIn(2) ? this.#answer(reply_id, this.#id("b")) : [],
      random.oneIn(3) ? this.#image(reply_id, this.#id("d")) : [],
    ].flat();
    const content = this.#modelCall(reply_id, [...blocks, ...calls]);
    const hint = random.oneIn(4) ? [this.#hint(reply_id)] : [];
    return [...content, ...hint, ...this.#acting(reply_id, names)];
  }

  #acting(reply_id: string, names: string[]): RawEvent[] {
    const random = this.#random;
    const asked = random.oneIn(3) ? [this.#require(reply_id, names), this.#confirm(reply_id, names)] : [];
    if (random.oneIn(4)) {
      const handedOut = this.#require(reply_id, names, "REQUIRE_EXTERNAL_EXECUTION");
      return [...asked, handedOut, this.#external(reply_id, names)];
    }
    return [
      ...asked,
      ...names.map((tool_call_id) =>
        this.#event("TOOL_RESULT_START", { reply_id, tool_call_id, tool_call_name: "search" }, () => this.#extra()),
      ),
      ...random.many(0, 6, () => this.#resultDelta(reply_id, random.pick(names))),
      ...names.map((tool_call_id) =>
        this.#event("TOOL_RESULT_END", { reply_id, tool_call_id, state: random.pick(TOOL_STATES) }, () =>
          this.#extra(),
        ),
      ),
    ];
  }

  #resultDelta(reply_id: string, tool_call_id: string): RawEvent {
    const random = this.#random;
    if (random.oneIn(2)) {
      return this.#event("TOOL_RESULT_TEXT_DELTA", { reply_id, tool_call_id, delta: someText(random) });
    }
    const block_id = random.oneIn(3) ? {} : { block_id: random.pick(["i1", "i2", `${tool_call_id}.0`]) };
    return this.#data("TOOL_RESULT_DATA_DELTA", { reply_id, tool_call_id, ...block_id });
  }

  #hint(reply_id: string): RawEvent {
    const hint = this.#payload();
    const source = this.#random.pick([null, "alice", '{"label":"System"}']);
    return this.#event("HINT_BLOCK", { reply_id, block_id: this.#id("h"), source, hint }, () => this.#extra());
  }

  #rules(): JsonObject[] {
    return this.#random.many(0, 2, () => ({
      tool_name: "search",
      rule_content: this.#random.pick([null, "*"]),
      behavior: "allow",
      source: "suggested",
      ...(this.#random.oneIn(6) && someObject(this.#random)),
    }));
  }

  /** Creates a block for an event or a message, sometimes without optional fields. */
  #block(type: string, fields: JsonObject): JsonObject {
    const random = this.#random;
    const block: JsonObject = { type, ...fields, created_at: "2025-12-31T00:00:00", finished_at: null };
    if (random.oneIn(4)) delete block.created_at;
    if (random.oneIn(4)) block.finished_at = "2025-12-31T00:00:01";
    if (random.oneIn(4)) delete block.finished_at;
    if (random.oneIn(8) && type !== "tool_call" && type !== "tool_result") delete block.id;
    if (random.oneIn(12)) block.created_at = null;
    if (random.oneIn(12)) return Object.fromEntries(Object.entries(block).reverse());
    return random.oneIn(8) ? { ...someObject(random), ...block } : block;
  }

  #callBlock(id: string): JsonObject {
    const random = this.#random;
    const call: JsonObject = {
      id,
      name: "search",
      input: someText(random),
      state: random.pick(CALL_STATES),
      suggested_rules: this.#rules(),
    };
    if (random.oneIn(6)) delete call.suggested_rules;
    if (random.oneIn(6)) delete call.state;
    return this.#block("tool_call", call);
  }

  #resultBlock(id: string): JsonObject {
    const random = this.#random;
    const result: JsonObject = {
      id,
      name: "search",
      output: this.#payload(),
      state: random.pick(TOOL_STATES),
      metadata: someObject(random),
    };
    if (random.oneIn(6)) delete result.metadata;
    if (random.oneIn(6)) delete result.state;
    return this.#block("tool_result", result);
  }

  #payload(): unknown {
    const random = this.#random;
    return random.oneIn(2) ? someText(random) : random.many(0, 3, () => this.#media());
  }

  #media(): JsonObject {
    const random = this.#random;
    if (random.oneIn(10)) return { type: "novel", id: "n", deep: someValue(random) };
    if (random.oneIn(2)) return this.#block("text", { text: someText(random), id: this.#id("b") });
    return this.#dataBlock();
  }

  #dataBlock(): JsonObject {
    const random = this.#random;
    const data = random.pick(["", "AA", "QUI=", "QUJD", "AA=", "QQ=="]);
    const source = random.oneIn(3)
      ? { type: "url", url: "https://example.com", media_type: "image/png" }
      : { media_type: "image/png", type: "base64", data, ...(random.oneIn(5) && { extra: 1 }) };
    return this.#block("data", { id: random.pick(["d1", "i1"]), source, name: random.pick([null, "a.png"]) });
  }

  #require(reply_id: string, names: string[], type = "REQUIRE_USER_CONFIRM"): RawEvent {
    return this.#event(type, { reply_id, tool_calls: names.map((id) => this.#callBlock(id)) });
  }

  #confirm(reply_id: string, names: string[]): RawEvent {
    const random = this.#random;
    const confirm_results = names.map((id) => ({
      confirmed: !random.oneIn(3),
      tool_call: this.#callBlock(id),
      ...(random.oneIn(2) && { rules: random.pick([null, this.#rules()]) }),
    }));
    return this.#event("USER_CONFIRM_RESULT", { reply_id, confirm_results });
  }

  #external(reply_id: string, names: string[]): RawEvent {
    return this.#event("EXTERNAL_EXECUTION_RESULT", {
      reply_id,
      execution_results: names.map((id) => this.#resultBlock(id)),
    });
  }

  #anyBlock(): JsonObject {
    const random = this.#random;
    switch (random.between(0, 6)) {
      case 0:
        return this.#block("thinking", { thinking: someText(random), id: this.#id("t") });
      case 1:
        return this.#block("hint", { hint: this.#payload(), id: this.#id("h"), source: null });
      case 2:
        return this.#callBlock(this.#id("c"));
      case 3:
        return this.#resultBlock(this.#id("c"));
      case 4:
        return this.#dataBlock();
      default:
        return this.#media();
    }
  }

  #custom(): RawEvent {
    const random = this.#random;
    const reply_id = this.#reply();
    const own = (name: string, value: JsonObject) => this.#event("CUSTOM", { name, value });
    switch (random.between(0, 4)) {
      case 0:
        return own("recount.message", this.#message());
      case 1:
        return own("recount.block", { reply_id, block: this.#anyBlock() });
      case 2:
        return own("recount.call", {
          reply_id,
          tool_call_id: this.#id("c"),
          state: random.pick([...CALL_STATES, "done", null, 7]),
        });
      case 3:
        return this.#event("CUSTOM", { reply_id, name: "team_updated", value: someObject(random) });
      default:
        return own(
          random.pick(["recount.message", "recount.block", "recount.call", "recount.retry"]),
          someObject(random),
        );
    }
  }

  #message(): JsonObject {
    const random = this.#random;
    const message: JsonObject = {
      name: "Alice",
      content: random.many(0, 2, () => (random.oneIn(3) ? this.#anyBlock() : this.#media())),
      role: random.pick(["user", "user", "assistant", "system", "tool", "nobody"]),
      id: random.oneIn(3) ? this.#reply() : `${this.#prefix}m${random.between(1, 3)}`,
      metadata: someObject(random),
      created_at: this.#time(),
      usage: random.pick([null, { input_tokens: 3, output_tokens: 4 }]),
      finished_at: random.pick([null, this.#time()]),
      finished_reason: random.pick([null, "completed"]),
      structured_output: random.pick([null, someObject(random)]),
      error: random.pick([null, { message: "no" }]),
    };
    for (const key of Object.keys(message)) if (random.oneIn(12)) delete message[key];
    if (random.oneIn(10)) message.metadata = { recount: { role: "tool", ...someObject(random) } };
    return message;
  }

  /** Creates any event for any reply, in any order. */
  any(): RawEvent {
    const random = this.#random;
    const reply_id = this.#reply();
    const names = random.many(0, 3, () => this.#id("c"));
    const choices: (() => RawEvent)[] = [
      () => this.#start(reply_id),
      () => random.pick(this.#thinking(reply_id, this.#id("t"))),
      () => random.pick(this.#answer(reply_id, this.#id("b"))),
      () => random.pick(this.#image(reply_id, this.#id("d"))),
      () => random.pick(this.#modelCall(reply_id, [])),
      () => random.pick(this.#round(reply_id, random.between(0, 1))),
      () => this.#resultDelta(reply_id, this.#id("c")),
      () => this.#event("TOOL_RESULT_START", { reply_id, tool_call_id: this.#id("c"), tool_call_name: "search" }),
      () => this.#hint(reply_id),
      () => this.#require(reply_id, names),
      () => this.#confirm(reply_id, names),
      () => this.#require(reply_id, names, "REQUIRE_EXTERNAL_EXECUTION"),
      () => this.#external(reply_id, names),
      () => this.#custom(),
      () => this.#custom(),
      () => this.#event("EXCEED_MAX_ITERS", { reply_id, name: "Friday" }),
      () => this.#event("USER_INTERRUPT", { reply_id }),
      () => this.#event(random.pick(["NOVEL", "constructor", ""]), { reply_id, deep: someValue(random) }),
      () => (random.oneIn(3) ? this.#end(reply_id) : this.#start(reply_id)),
    ];
    return random.pick(choices)();
  }
}
