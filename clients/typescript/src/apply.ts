import { appendBase64 } from "./base64.js";
import { completeBlock, isBlockType, text } from "./complete.js";
import type { Draft } from "./draft.js";
import { type AgentEvent, blankBlocks, type ContentBlock, type ToolCallBlock, type Usage } from "./generated.js";
import { marksOf } from "./marks.js";
import { no, type Outcome, ofItems } from "./outcome.js";
import type { BlockOf, BlockType } from "./types.js";
import { isObject, isText, type JsonObject, objectOf } from "./values.js";

/** The result of a handler; `undefined` if the whole event was applied. */
export type Answer = Outcome | undefined;

/** Applies an event with its time. Throws on an invalid event, before any change. */
// biome-ignore lint/suspicious/noExplicitAny: each handler declares its own event type.
type Handler = (draft: Draft, event: any, time: string) => Answer;

type EventOf<T> = Extract<AgentEvent, { type: T }>;

/** The handler of each event type. It changes the message of the event's reply. */
export const handlers = new Map(
  Object.entries<Handler>({
    ...streamed("TEXT_BLOCK", "text", "block_id", "text"),
    ...streamed("THINKING_BLOCK", "thinking", "block_id", "thinking"),
    ...streamed("TOOL_CALL", "tool_call", "tool_call_id", "input", (event) => ({ name: text(event.tool_call_name) })),
    ...streamed("DATA_BLOCK", "data", "block_id", "", (event) => ({
      source: noBytes(event.media_type),
      name: textOrNull(event.name),
    })),
    ...streamed("TOOL_RESULT", "tool_result", "tool_call_id", "", (event) => ({
      name: text(event.tool_call_name),
      ...extraOf(event, "tool_result"),
    })),

    DATA_BLOCK_DELTA: (draft, { block_id: id, media_type, data, url }: EventOf<"DATA_BLOCK_DELTA">) =>
      draft.open("data", id, (index) => {
        const { source } = draft.at(index) as BlockOf<"data">;
        if (data == null) return url ? draft.update(index, { source: { type: "url", url, media_type } }) : undefined;
        if (source.type === "url") return no("data_at_url", id);
        const grown = appendBase64(source, data);
        return grown ? draft.update(index, { source: grown }) : no("bad_data", id);
      }),

    TOOL_RESULT_TEXT_DELTA: (draft, { tool_call_id: id, delta }: EventOf<"TOOL_RESULT_TEXT_DELTA">, time) =>
      draft.open("tool_result", id, (index) => {
        const items = draft.items(index);
        const last = items.at(-1);
        const continues = last?.type === "text";
        const place = continues ? items.length - 1 : items.length;
        const item = continues ? last : blankBlocks.text(`${id}.${place}`, time);
        return draft.setItem(index, place, { ...item, text: item.text + text(delta) });
      }),

    TOOL_RESULT_DATA_DELTA: (draft, event: EventOf<"TOOL_RESULT_DATA_DELTA">, time) =>
      draft.open("tool_result", event.tool_call_id, (index) => {
        const { media_type, url } = event;
        const items = draft.items(index);
        const id = event.block_id ?? `${event.tool_call_id}.${items.length}`;
        const place = draft.find(index, id) ?? -1;
        const known = items[place] as BlockOf<"data"> | undefined;
        const bytes = known?.source.type === "base64" ? known.source : noBytes(media_type);
        const source = url == null ? appendBase64(bytes, text(event.data)) : { type: "url", url, media_type };
        if (!source) return no("bad_data", id);
        // Bytes cannot be appended to data at a URL, so they become a separate block.
        const continues = known && (url != null || known.source === bytes);
        const item = continues
          ? known
          : {
              ...blankBlocks.data(id, time),
              name: textOrNull(marksOf(event.metadata).name),
              ...extraOf(event, "data"),
            };
        return draft.setItem(index, continues ? place : items.length, { ...item, source } as BlockOf<"data">);
      }),

    TOOL_RESULT_END: (draft, event: EventOf<"TOOL_RESULT_END">, finished_at) =>
      draft.open("tool_result", event.tool_call_id, (index) => {
        // In a hand-made message, a result may have no call.
        changeCall(draft, event.tool_call_id, FINISHED);
        return draft.update(index, { state: event.state, metadata: event.metadata ?? {}, finished_at });
      }),

    HINT_BLOCK: (draft, event: EventOf<"HINT_BLOCK">, time) =>
      draft.push(
        completeBlock(
          { type: "hint", hint: event.hint, source: textOrNull(event.source), ...extraOf(event, "hint") },
          text(event.block_id),
          time,
        ),
      ),

    MODEL_CALL_START(draft) {
      draft.floor = draft.message.content.length;
      return;
    },

    MODEL_CALL_END(draft, event: EventOf<"MODEL_CALL_END">) {
      if (marksOf(event.metadata).usage === "unknown") return;
      const total = { ...draft.message.usage } as Usage;
      for (const tokens of [
        "input_tokens",
        "output_tokens",
        "cache_input_tokens",
        "cache_creation_input_tokens",
      ] as const) {
        total[tokens] = (total[tokens] ?? 0) + (event[tokens] ?? 0);
      }
      draft.change().usage = total;
      return;
    },

    REQUIRE_USER_CONFIRM: (draft, event: EventOf<"REQUIRE_USER_CONFIRM">) =>
      ofItems(event.tool_calls, ({ id, suggested_rules = [] }) =>
        changeCall(draft, id, () => ({ state: "asking", suggested_rules })),
      ),

    REQUIRE_EXTERNAL_EXECUTION: (draft, event: EventOf<"REQUIRE_EXTERNAL_EXECUTION">) =>
      ofItems(event.tool_calls, ({ id }) => changeCall(draft, id, () => ({ state: "submitted" }))),

    USER_CONFIRM_RESULT: (draft, event: EventOf<"USER_CONFIRM_RESULT">) =>
      ofItems(
        event.confirm_results.map(({ confirmed, tool_call }) => ({ ...tool_call, confirmed })),
        ({ confirmed, id, input }) =>
          changeCall(draft, id, (call) => {
            if (call.state !== "asking") return no("not_asking", id);
            return confirmed ? { state: "allowed", input: input ?? call.input } : { state: "finished" };
          }),
      ),

    EXTERNAL_EXECUTION_RESULT: (draft, event: EventOf<"EXTERNAL_EXECUTION_RESULT">, time) =>
      ofItems(
        event.execution_results.map((result) => completeBlock({ ...result, type: "tool_result" }, "", time)),
        (result) => {
          const begun = draft.at(resultOf(draft, result.id));
          // The producer sends this result as deltas, which follow.
          if (begun && begun.finished_at == null) return;
          return pushBlock(draft, { ...result, finished_at: result.finished_at ?? time });
        },
      ),

    REPLY_END(draft, event: EventOf<"REPLY_END">, time) {
      const { finished_reason = "completed", error = null } = event;
      // This runs once per reply, so it may iterate over all blocks.
      const content = draft.message.content.map((block) =>
        isBlockType(block.type) && block.finished_at == null ? { ...block, finished_at: time } : block,
      );
      const { structured_output, metadata } = marksOf(event.metadata);
      const message = draft.change();
      Object.assign(message, { content, finished_at: time, finished_reason, error });
      if (isObject(structured_output)) message.structured_output = structured_output;
      if (isObject(metadata)) message.metadata = { ...message.metadata, ...metadata };
      return;
    },

    // These events only announce or summarise other events.
    REPLY_START: () => undefined,
    EXCEED_MAX_ITERS: () => undefined,
    USER_INTERRUPT: () => undefined,
  }),
);

/**
 * Returns the handlers of the events that begin, fill and end blocks of a type. Deltas are appended to the field
 * `growing`.
 */
function streamed(
  prefix: string,
  type: BlockType,
  idKey: string,
  growing: string,
  // biome-ignore lint/suspicious/noExplicitAny: there is no common type for these events.
  begun?: (event: any) => JsonObject,
): Record<string, Handler> {
  const grow: Handler = (draft, event) =>
    draft.open(type, event[idKey], (index) => {
      const delta = text(event.delta);
      const block = draft.edit(index) as ContentBlock & Record<string, string>;
      block[growing] += delta;
      return undefined;
    });
  return {
    ...(growing && { [`${prefix}_DELTA`]: grow }),

    [`${prefix}_START`](draft, event, time) {
      const id: string = event[idKey];
      const floor = draft.floor as number;
      const index = draft.find(type, id) ?? -1;
      if (type === "tool_result") {
        if (draft.find("tool_call", id) === undefined) return no("unknown_call", id);
        if (index < floor && resultOf(draft, id) >= 0) return no("result_exists", id);
      }
      if (index >= 0 && draft.at(index).finished_at == null) return no("block_open", id);
      // A block of the same model call is reopened.
      if (index >= floor) return draft.update(index, { finished_at: null });
      return draft.push({ ...blankBlocks[type](id, time), ...begun?.(event) } as ContentBlock);
    },

    [`${prefix}_END`]: (draft, event, finished_at) =>
      draft.open(type, event[idKey], (index) =>
        draft.update(index, {
          ...extraOf(event, type),
          ...(type === "text" && isText(event.text) && { text: event.text }),
          finished_at,
        }),
      ),
  };
}

const FINISHED = () => ({ state: "finished" }) as const;

/** Returns the index of the result of the newest call with an id, or -1 if there is none. */
const resultOf = (draft: Draft, id: string): number => {
  const result = draft.find("tool_result", id) ?? -1;
  return result > (draft.find("tool_call", id) ?? result) ? result : -1;
};

/** Appends a complete block. A tool result finishes its call. */
export function pushBlock(draft: Draft, block: ContentBlock): Answer {
  const { id } = block;
  const reason =
    block.type === "tool_result" &&
    (resultOf(draft, id) < 0 ? changeCall(draft, id, FINISHED) : no("result_exists", id));
  return reason || draft.push(block);
}

/** Changes the newest tool call with an id. */
export function changeCall(
  draft: Draft,
  id: string,
  changesOf: (call: ToolCallBlock) => Partial<ToolCallBlock> | Outcome,
): Answer {
  const index = draft.find("tool_call", id);
  if (index === undefined) return no("unknown_call", id);
  const changes = changesOf(draft.at(index) as ToolCallBlock);
  return "kind" in changes ? changes : draft.update(index, changes);
}

/** Returns the extra fields that an event carries for a block of a type. Declared fields are removed. */
function extraOf(event: AgentEvent, type: BlockType): JsonObject {
  const carried = { ...objectOf(marksOf(event.metadata).extra) };
  for (const key in blankBlocks[type]("", "")) delete carried[key];
  return carried;
}

const noBytes = (media_type: string) => ({ type: "base64", data: "", media_type: text(media_type) }) as const;

const textOrNull = (value: unknown) => (isText(value) ? value : null);
