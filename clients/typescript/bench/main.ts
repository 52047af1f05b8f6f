/**
 * Measures the fold next to the plain cost of `JSON.parse` of the same lines.
 *
 * Prints a table, then the figures as JSON in the last line. Fails if a target is missed.
 */

import { type AgentEvent, AssistantMsg, appendEvent, Fold, type Msg } from "../src/index.js";
import { argumentsStream, blocksStream, dataStream, openBlocksStream, type Stream, textStream } from "./streams.js";

interface Row {
  readonly stream: string;
  readonly events: number;
  /** Nanoseconds per event. */
  readonly parse: number;
  readonly parseAndFold: number;
}

const ROUNDS = 20;

/** Processes the lines of a stream. It returns a result so that the engine cannot eliminate the work. */
type Work = (lines: readonly string[]) => unknown;

const parse: Work = (lines) => lines.reduce((length, line) => length + JSON.parse(line).type.length, 0);

const parseAndFold: Work = (lines) => {
  const fold = new Fold();
  for (const line of lines) fold.apply(JSON.parse(line));
  return fold;
};

/** The loop of a caller that holds a single message. */
const parseAndAppend =
  (append: (msg: Msg, event: AgentEvent) => Msg): Work =>
  (lines) => {
    let msg: Msg | undefined;
    for (const line of lines) {
      const event: AgentEvent = JSON.parse(line);
      if (event.type === "REPLY_START") msg = new AssistantMsg({ name: event.name, content: [], id: event.reply_id });
      else if (msg) msg = append(msg, event);
    }
    return msg;
  };

/** A stream, and the work that is measured on it besides parsing. */
interface Case {
  readonly stream: Stream;
  readonly folding: Work;
}

/**
 * Returns nanoseconds per event. The cases run in turns, so that other load on the machine affects all of them equally.
 * The fastest round counts, because noise only adds time.
 */
function measure(cases: readonly Case[]): Row[] {
  const nanoseconds = ({ lines }: Stream, work: Work) => {
    const start = process.hrtime.bigint();
    if (!work(lines)) throw new Error("nothing came out");
    return Number(process.hrtime.bigint() - start) / lines.length;
  };
  const rounds = Array.from({ length: ROUNDS }, () =>
    cases.map(({ stream, folding }) => [nanoseconds(stream, parse), nanoseconds(stream, folding)] as const),
  );
  return cases.map(({ stream }, index) => ({
    stream: stream.name,
    events: stream.lines.length,
    parse: Math.min(...rounds.map((round) => round[index]?.[0] ?? 0)),
    parseAndFold: Math.min(...rounds.map((round) => round[index]?.[1] ?? 0)),
  }));
}

const text = textStream(20_000);
const method = parseAndAppend((msg, event) => {
  msg.appendEvent(event);
  return msg;
});
const folded = (stream: Stream): Case => ({ stream, folding: parseAndFold });
const rows = measure([
  ...[text, argumentsStream(20_000)].map(folded),
  ...[10, 100, 1_000, 5_000].map((size) => folded(blocksStream(size))),
  ...[10, 100, 1_000, 5_000].map((size) => folded(openBlocksStream(size))),
  ...[100, 1_000, 4_000].map((size) => folded(dataStream(size))),
  ...[100, 1_000, 4_000].map((size) => folded(dataStream(size, 4_799))),
  { stream: { ...text, name: "text, msg.appendEvent(event)" }, folding: method },
  { stream: { ...text, name: "text, appendEvent(msg, event)" }, folding: parseAndAppend(appendEvent) },
]);

console.log(
  `${"stream".padEnd(32)}${"events".padStart(8)}${"parse ns".padStart(10)}${"+ fold ns".padStart(11)}${"ratio".padStart(7)}`,
);
for (const { stream, events, parse, parseAndFold } of rows) {
  const figures = [
    parse.toFixed(0).padStart(10),
    parseAndFold.toFixed(0).padStart(11),
    (parseAndFold / parse).toFixed(2).padStart(7),
  ];
  console.log(stream.padEnd(32) + String(events).padStart(8) + figures.join(""));
}

const row = (name: string) => rows.find(({ stream }) => stream === name) as Row;
const growth = (small: string, large: string) => row(large).parseAndFold / row(small).parseAndFold;
const targets = {
  text: row("text").parseAndFold / row("text").parse,
  blocks: growth("10 blocks", "5000 blocks"),
  open_blocks: growth("10 open blocks", "5000 open blocks"),
  data: growth("100 data deltas", "4000 data deltas"),
  padded_data: growth("100 data deltas, padded", "4000 data deltas, padded"),
};
const missed = Object.entries(targets).filter(([, ratio]) => ratio > 1.5);
for (const [name, ratio] of Object.entries(targets)) {
  console.log(`${name}: ${ratio.toFixed(2)}, at most 1.50${ratio > 1.5 ? " MISSED" : ""}`);
}
console.log(JSON.stringify({ rows, targets }));
process.exitCode = missed.length ? 1 : 0;
