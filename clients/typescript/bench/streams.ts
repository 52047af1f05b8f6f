import { Random } from "../test/support/random.js";

/**
 * A stream of events as JSON lines, in the format of AgentScope Python 2.0.10. The Rust benchmarks use the same shapes.
 */
export interface Stream {
  readonly name: string;
  readonly lines: readonly string[];
}

/** One text block that grows by twelve characters at a time. */
export function textStream(deltas: number): Stream {
  const writer = new Writer();
  writer.reply(() => writer.textBlock(deltas));
  return writer.stream("text");
}

/** One tool call whose arguments arrive in many deltas. */
export function argumentsStream(deltas: number): Stream {
  const writer = new Writer();
  const json = endless(ARGUMENTS);
  writer.reply(() => {
    const call = writer.id();
    writer.event("TOOL_CALL_START", { tool_call_id: call, tool_call_name: "write_file" });
    for (let count = 0; count < deltas; count++)
      writer.event("TOOL_CALL_DELTA", { tool_call_id: call, delta: json(12) });
    writer.event("TOOL_CALL_END", { tool_call_id: call });
  });
  return writer.stream("arguments");
}

/** 5,000 text blocks with ten deltas each, in messages of `size` blocks. */
export function blocksStream(size: number): Stream {
  const writer = new Writer();
  for (let message = 0; message < 5_000 / size; message++) {
    writer.reply(() => {
      for (let block = 0; block < size; block++) writer.textBlock(10);
    });
  }
  return writer.stream(`${size} blocks`);
}

/**
 * Like `blocksStream`, but all blocks of a message are open at once. Consecutive deltas are always for different
 * blocks.
 */
export function openBlocksStream(size: number): Stream {
  const writer = new Writer();
  const prose = endless(PROSE);
  for (let message = 0; message < 5_000 / size; message++) {
    writer.reply(() => {
      const open = Array.from({ length: size }, () => writer.id());
      for (const block_id of open) writer.event("TEXT_BLOCK_START", { block_id });
      for (let round = 0; round < 10; round++) {
        writer.shuffle(open);
        for (const block_id of open) writer.event("TEXT_BLOCK_DELTA", { block_id, delta: prose(12) });
      }
      for (const block_id of open) writer.event("TEXT_BLOCK_END", { block_id, text: null });
    });
  }
  return writer.stream(`${size} open blocks`);
}

/** 4,000 data deltas of 4,800 bytes each, in messages of `size` deltas. */
export function dataStream(size: number, bytes = 4_800): Stream {
  const writer = new Writer();
  for (let message = 0; message < 4_000 / size; message++) {
    writer.reply(() => {
      const data = { block_id: writer.id(), media_type: "image/png" };
      writer.event("DATA_BLOCK_START", { ...data, name: null });
      for (let count = 0; count < size; count++) {
        writer.event("DATA_BLOCK_DELTA", { ...data, data: writer.base64(bytes), url: null });
      }
      writer.event("DATA_BLOCK_END", { block_id: data.block_id });
    });
  }
  return writer.stream(`${size} data deltas${bytes % 3 ? ", padded" : ""}`);
}

/** Writes consecutive events, each with its own id and time. */
class Writer {
  readonly #lines: string[] = [];
  readonly #random = new Random(0x5eed);
  readonly #prose = endless(PROSE);
  #reply = "";

  stream(name: string): Stream {
    return { name, lines: this.#lines };
  }

  id(): string {
    const half = () =>
      this.#random
        .between(0, 2 ** 32 - 1)
        .toString(16)
        .padStart(8, "0");
    return half() + half() + half() + half();
  }

  event(type: string, fields: object): void {
    const microseconds = this.#lines.length * 7_919 + 123_457;
    const created_at = new Date(Date.UTC(2026, 2, 1) + microseconds / 1_000).toISOString().replace("Z", "457");
    this.#lines.push(
      JSON.stringify({ id: this.id(), created_at, metadata: {}, type, reply_id: this.#reply, ...fields }),
    );
  }

  /** Writes a whole reply with one model call. */
  reply(content: () => void): void {
    this.#reply = this.id();
    this.event("REPLY_START", { session_id: "s", name: "Friday", role: "assistant" });
    this.event("MODEL_CALL_START", { model_name: "qwen3-max" });
    content();
    this.event("MODEL_CALL_END", { input_tokens: 1_200, output_tokens: 340, finished_reason: "completed" });
    this.event("REPLY_END", { session_id: "s", finished_reason: "completed", error: null });
  }

  textBlock(deltas: number): void {
    const block_id = this.id();
    this.event("TEXT_BLOCK_START", { block_id });
    for (let count = 0; count < deltas; count++) this.event("TEXT_BLOCK_DELTA", { block_id, delta: this.#prose(12) });
    this.event("TEXT_BLOCK_END", { block_id, text: null });
  }

  base64(bytes: number): string {
    return Buffer.from(Uint8Array.from({ length: bytes }, () => this.#random.between(0, 255))).toString("base64");
  }

  shuffle<T>(items: T[]): void {
    for (let last = items.length - 1; last > 0; last--) {
      const other = this.#random.between(0, last);
      [items[last], items[other]] = [items[other] as T, items[last] as T];
    }
  }
}

/** Returns a function that takes the next piece of an endlessly repeated text. */
function endless(text: string): (length: number) => string {
  let at = 0;
  return (length) => {
    const piece = (text + text).slice(at, at + length);
    at = (at + length) % text.length;
    return piece;
  };
}

const PROSE = `The report has three parts. First the figures of the last quarter, then what has changed since, and last
what to do about it. Sales in the north grew by 4.2 %, which is more than "the best case" of the plan.

- **North**: two new customers, one of them with an order for the whole year.
- **South**: no change; the old contract runs until June and will then be negotiated anew.

`;

const ARGUMENTS = JSON.stringify({
  path: "reports/quarter.csv",
  content: "region,plan,actual,delta\nnorth,120000,125040,4.2\nsouth,98000,98000,0.0\n",
  mode: "overwrite",
});
