// The AI SDK's parser and reducer, reading chunks as from a connection.
import { DefaultChatTransport, readUIMessageStream } from "ai";

/** The transport of `useChat`, whose response is a list of frames. */
class Frames extends DefaultChatTransport {
  chunks(frames) {
    const text = [...frames, "[DONE]"].map((frame) => `data: ${frame}\n\n`).join("");
    return this.processResponseStream(new Blob([text]).stream());
  }
}

/** Reads frames on top of the reader's current message. Returns all messages in their final state. */
async function read(frames, message, messages = new Map()) {
  const errors = [];
  const stream = new Frames().chunks(frames);
  const onError = (error) => errors.push(error);
  let last = message;
  for await (const state of readUIMessageStream({ message: structuredClone(message), stream, onError })) {
    messages.set(state.id, state);
    last = state;
  }
  // A failed reply reports one error. Any other error is a failure.
  const failures = frames.map((frame) => JSON.parse(frame)).filter((chunk) => chunk.type === "error");
  if (errors.length !== failures.length) throw errors.at(-1);
  return { messages, last };
}

const seen = ({ messages }) => JSON.parse(JSON.stringify([...messages.values()]));

/** Yields every way to read a stream, by name. All of them must give the same result. */
export async function* readings({ steps, preludes, resumed }) {
  yield ["whole", seen(await read(steps.flat()))];
  for (let cut = 0; cut <= steps.length; cut += 1) {
    const rest = steps.slice(cut).flat();
    yield [`joined at ${cut}`, seen(await read([...preludes[cut], ...rest]))];
    const before = await read(steps.slice(0, cut).flat());
    yield [`came back at ${cut}`, seen(await read([...resumed[cut], ...rest], before.last, before.messages))];
  }
}
