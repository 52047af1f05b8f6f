// AG-UI's client, reading frames as from a connection.
import { AbstractAgent } from "@ag-ui/client";
import { from } from "rxjs";

/** An agent whose connection is a list of frames. */
class Frames extends AbstractAgent {
  constructor(frames, messages) {
    super({ threadId: "s", initialMessages: messages });
    this.frames = frames;
  }

  connect() {
    return from(this.frames.map((frame) => JSON.parse(frame)));
  }

  run() {
    return this.connect();
  }
}

/** Applies replacements of streamed content, as the documentation describes. */
export const replacing = {
  onCustomEvent({ event, messages }) {
    if (event.name !== "recount.replaced") return undefined;
    const { messageId, toolCallId, content, arguments: input } = event.value;
    const changed = messages.map((message) => {
      if (message.id === messageId) return { ...message, content };
      if (!message.toolCalls?.some((call) => call.id === toolCallId)) return message;
      const toolCalls = message.toolCalls.map((call) =>
        call.id === toolCallId ? { ...call, function: { ...call.function, arguments: input } } : call,
      );
      return { ...message, toolCalls };
    });
    return { messages: changed };
  },
};

/**
 * Reads frames on top of the messages that a reader has. Calls `onFrame` with the messages before each frame, and
 * returns the final state.
 */
async function read(frames, messages = [], onFrame = () => {}) {
  const agent = new Frames(frames, messages);
  agent.subscribe(replacing);
  let count = 0;
  agent.subscribe({
    onEvent: ({ messages }) => {
      onFrame(count, structuredClone(messages));
      count += 1;
    },
  });
  const quiet = console.error;
  console.error = () => {};
  try {
    await agent.connectAgent();
  } finally {
    console.error = quiet;
  }
  // A client reads the interrupts only when a run ends.
  const isOver = frames.length > 0 && JSON.parse(frames.at(-1)).type === "RUN_FINISHED";
  return { messages: agent.messages, interrupts: isOver ? agent.pendingInterrupts : undefined };
}

/** Yields every way to read a stream, by name. All of them must give the same result. */
export async function* readings({ steps, preludes, resumed }) {
  const all = steps.flat();
  const starts = [];
  let place = 0;
  for (const frames of steps) {
    starts.push(place);
    place += frames.length;
  }
  starts.push(place);
  // The messages of a reader before each frame.
  const had = [];
  const whole = await read(all, [], (index, messages) => (had[index] = messages));
  had.push(whole.messages);
  yield ["whole", whole];
  const known = ({ messages, interrupts }) => {
    const isKnown = interrupts !== undefined && whole.interrupts !== undefined;
    return { messages, interrupts: isKnown ? interrupts : whole.interrupts };
  };
  for (let cut = 0; cut <= steps.length; cut += 1) {
    const rest = all.slice(starts[cut]);
    yield [`joined at ${cut}`, known(await read([...preludes[cut], ...rest]))];
    const back = [...resumed[cut], ...rest];
    const kept = had[starts[cut]] ?? [];
    yield [`came back at ${cut}`, known(await read(back, kept))];
  }
}
