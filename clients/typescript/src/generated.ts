// Generated from the Rust declarations. To regenerate:
// UPDATE_DOCS=1 cargo test -p recount-message --test typescript

/** Plain text. */
export interface TextBlock {
  type: "text";
  /** The text. */
  text: string;
  /** Id of the block. */
  id: string;
  /** The time at which the block started. */
  created_at: string;
  /** The time at which the block was complete; `None` while it is open. */
  finished_at: string | null;
}

/** Reasoning of the model. */
export interface ThinkingBlock {
  type: "thinking";
  /** The reasoning. */
  thinking: string;
  /** Id of the block. */
  id: string;
  /** The time at which the block started. */
  created_at: string;
  /** The time at which the block was complete; `None` while it is open. */
  finished_at: string | null;
}

/** Input to the model during its reply: a scheduled reminder, a message of another agent, the outcome of a background tool. */
export interface HintBlock {
  type: "hint";
  /** Content of the hint: a string, or blocks of text and data. */
  hint: string | (TextBlock | DataBlock)[];
  /** Id of the block. */
  id: string;
  /** Sender of the hint: a name, or a JSON object with `label` and `sublabel`. */
  source: string | null;
  /** The time at which the block started. */
  created_at: string;
  /** The time at which the block was complete. */
  finished_at: string | null;
}

/** A tool call of the model. */
export interface ToolCallBlock {
  type: "tool_call";
  /** Id of the call. */
  id: string;
  /** Name of the tool. */
  name: string;
  /** The arguments: JSON text as written by the model. */
  input: string;
  /** State of the call. */
  state: "pending" | "asking" | "allowed" | "submitted" | "finished";
  /** Permission rules that the user may accept together with the call. */
  suggested_rules: PermissionRule[];
  /** The time at which the block started. */
  created_at: string;
  /** The time at which the block was complete; `None` while it is open. */
  finished_at: string | null;
}

/** The result of a tool call. */
export interface ToolResultBlock {
  type: "tool_result";
  /** Id of the tool call. */
  id: string;
  /** Name of the tool. */
  name: string;
  /** The output: a string, or blocks of text and data. */
  output: string | (TextBlock | DataBlock)[];
  /** Outcome of the call. */
  state: "success" | "error" | "interrupted" | "denied" | "running";
  /** Metadata of the tool. */
  metadata: Record<string, unknown>;
  /** The time at which the block started. */
  created_at: string;
  /** The time at which the block was complete; `None` while it is open. */
  finished_at: string | null;
}

/** Binary data, in the block itself or at a URL. */
export interface DataBlock {
  type: "data";
  /** Id of the block. */
  id: string;
  /** The bytes or their URL. */
  source: Base64Source | UrlSource;
  /** Name of the data, such as a file name. */
  name: string | null;
  /** The time at which the block started. */
  created_at: string;
  /** The time at which the block was complete; `None` while it is open. */
  finished_at: string | null;
}

/** Bytes in base64. */
export interface Base64Source {
  type: "base64";
  /** The bytes in base64, with padding. */
  data: string;
  /** The media type, such as `image/png`. */
  media_type: string;
}

/** Bytes at a URL with any scheme, such as http, https or file. */
export interface UrlSource {
  type: "url";
  /** The URL, not normalised. */
  url: string;
  /** The media type, such as `image/png`. */
  media_type: string;
}

/** A rule that allows or denies calls of a tool, or asks the user. */
export interface PermissionRule {
  /** Name of the tool. */
  tool_name: string;
  /** The pattern that calls must match, in a syntax of the tool; `null` matches every call. */
  rule_content: string | null;
  /** The effect on matching calls. */
  behavior: "allow" | "deny" | "ask" | "passthrough";
  /** Origin of the rule, such as `user` or `suggested`. */
  source: string;
}

/** One turn of a conversation: a user message, a system prompt, or a complete reply of an agent with all its rounds of thinking, tool calls and results. */
export interface MsgFields {
  /** Name of the sender. */
  name: string;
  /** The blocks of the message. */
  content: (TextBlock | ThinkingBlock | HintBlock | ToolCallBlock | ToolResultBlock | DataBlock)[];
  /** Role of the sender. */
  role: "user" | "assistant" | "system";
  /** Id of the message; for a reply, its `reply_id`. */
  id: string;
  /** Metadata. */
  metadata: Record<string, unknown>;
  /** The time at which the message started. */
  created_at: string;
  /** Tokens used, summed over the model calls of the reply. */
  usage: Usage | null;
  /** The time at which the message was complete; `None` while it is open. */
  finished_at: string | null;
  /** Why the reply ended. */
  finished_reason: "completed" | "interrupted" | "exceed_max_iters" | "error" | null;
  /** Structured output, if one was requested. */
  structured_output: Record<string, unknown> | null;
  /** The error that ended the reply. */
  error: ErrorInfo | null;
}

/** The tokens used by a message or a model call. */
export interface Usage {
  /** Number of input tokens. */
  input_tokens: number;
  /** Number of output tokens. */
  output_tokens: number;
  /** Number of input tokens read from the prompt cache. */
  cache_input_tokens: number;
  /** Number of input tokens written to the prompt cache. */
  cache_creation_input_tokens: number;
}

/** The error that ended a reply. */
export interface ErrorInfo {
  /** Kind of the error. */
  type: "authentication" | "permission" | "rate_limit" | "invalid_request" | "upstream" | "connection" | "internal" | "setup" | "unknown";
  /** Description for people. */
  message: string;
}

/** The decision of a user about one tool call. */
export interface ConfirmResult {
  /** Whether the call is allowed. */
  confirmed: boolean;
  /** The call. */
  tool_call: ToolCallBlock;
  /** Permission rules that the user accepts together with the call. */
  rules: PermissionRule[] | null;
}

/** What every event begins with. */
export interface EventHead {
  /** Id of the event. */
  id?: string;
  /** The time of the event. */
  created_at?: string;
  /** Metadata. */
  metadata?: Record<string, unknown>;
}

/** The start of a reply. */
export interface ReplyStartEvent extends EventHead {
  type: "REPLY_START";
  /** Id of the producer's session. */
  session_id: string;
  /** Id of the reply, and of the message that it becomes. */
  reply_id: string;
  /** Name of the agent. */
  name: string;
  /** Role of the agent. */
  role?: string;
}

/** The end of a reply. */
export interface ReplyEndEvent extends EventHead {
  type: "REPLY_END";
  /** Id of the producer's session. */
  session_id: string;
  /** Id of the reply. */
  reply_id: string;
  /** Why the reply ended. */
  finished_reason?: "completed" | "interrupted" | "exceed_max_iters" | "error";
  /** The error that ended the reply. */
  error?: ErrorInfo | null;
}

/** The start of a model call. */
export interface ModelCallStartEvent extends EventHead {
  type: "MODEL_CALL_START";
  /** Id of the reply. */
  reply_id: string;
  /** Name of the model. */
  model_name: string;
}

/** The end of a model call. */
export interface ModelCallEndEvent extends EventHead {
  type: "MODEL_CALL_END";
  /** Id of the reply. */
  reply_id: string;
  /** Number of input tokens. */
  input_tokens: number;
  /** Number of output tokens. */
  output_tokens: number;
  /** Number of input tokens read from the prompt cache. */
  cache_input_tokens?: number;
  /** Number of input tokens written to the prompt cache. */
  cache_creation_input_tokens?: number;
  /** Why the call ended. */
  finished_reason?: "completed" | "interrupted";
}

/** The start of a text block. */
export interface TextBlockStartEvent extends EventHead {
  type: "TEXT_BLOCK_START";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the block. */
  block_id: string;
}

/** Text to append to a text block. */
export interface TextBlockDeltaEvent extends EventHead {
  type: "TEXT_BLOCK_DELTA";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the block. */
  block_id: string;
  /** The text to append. */
  delta: string;
}

/** The end of a text block. */
export interface TextBlockEndEvent extends EventHead {
  type: "TEXT_BLOCK_END";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the block. */
  block_id: string;
  /** The full text, if it differs from the concatenated deltas. */
  text?: string | null;
}

/** The start of a thinking block. */
export interface ThinkingBlockStartEvent extends EventHead {
  type: "THINKING_BLOCK_START";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the block. */
  block_id: string;
}

/** Text to append to a thinking block. */
export interface ThinkingBlockDeltaEvent extends EventHead {
  type: "THINKING_BLOCK_DELTA";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the block. */
  block_id: string;
  /** The text to append. */
  delta: string;
}

/** The end of a thinking block. */
export interface ThinkingBlockEndEvent extends EventHead {
  type: "THINKING_BLOCK_END";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the block. */
  block_id: string;
}

/** The start of a data block. */
export interface DataBlockStartEvent extends EventHead {
  type: "DATA_BLOCK_START";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the block. */
  block_id: string;
  /** The media type, such as `image/png`. */
  media_type: string;
  /** Name of the data, such as a file name. */
  name?: string | null;
}

/** Bytes to append to a data block, or its URL. */
export interface DataBlockDeltaEvent extends EventHead {
  type: "DATA_BLOCK_DELTA";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the block. */
  block_id: string;
  /** The media type. */
  media_type: string;
  /** Base64 to append, split at any character. */
  data?: string | null;
  /** URL of the data. */
  url?: string | null;
}

/** The end of a data block. */
export interface DataBlockEndEvent extends EventHead {
  type: "DATA_BLOCK_END";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the block. */
  block_id: string;
}

/** A complete hint block: input to the model from outside the conversation. */
export interface HintBlockEvent extends EventHead {
  type: "HINT_BLOCK";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the block. */
  block_id: string;
  /** Sender of the hint: a name, or a JSON object with `label` and `sublabel`. */
  source?: string | null;
  /** Content of the hint. */
  hint: string | (TextBlock | DataBlock)[];
}

/** The start of a tool call. */
export interface ToolCallStartEvent extends EventHead {
  type: "TOOL_CALL_START";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the call. */
  tool_call_id: string;
  /** Name of the tool. */
  tool_call_name: string;
}

/** A piece of the arguments of a tool call. */
export interface ToolCallDeltaEvent extends EventHead {
  type: "TOOL_CALL_DELTA";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the call. */
  tool_call_id: string;
  /** JSON text to append, split at any character. */
  delta: string;
}

/** The end of the arguments of a tool call. */
export interface ToolCallEndEvent extends EventHead {
  type: "TOOL_CALL_END";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the call. */
  tool_call_id: string;
}

/** The start of a tool result. */
export interface ToolResultStartEvent extends EventHead {
  type: "TOOL_RESULT_START";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the tool call. */
  tool_call_id: string;
  /** Name of the tool. */
  tool_call_name: string;
}

/** Text to append to a tool result. */
export interface ToolResultTextDeltaEvent extends EventHead {
  type: "TOOL_RESULT_TEXT_DELTA";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the tool call. */
  tool_call_id: string;
  /** The text to append. */
  delta: string;
}

/** Data of a tool result. */
export interface ToolResultDataDeltaEvent extends EventHead {
  type: "TOOL_RESULT_DATA_DELTA";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the tool call. */
  tool_call_id: string;
  /** Id of the data. */
  block_id?: string | null;
  /** The media type. */
  media_type: string;
  /** Base64 to append, split at any character. */
  data?: string | null;
  /** URL of the data. */
  url?: string | null;
}

/** The end of a tool result. */
export interface ToolResultEndEvent extends EventHead {
  type: "TOOL_RESULT_END";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the tool call. */
  tool_call_id: string;
  /** Outcome of the tool call. */
  state: "success" | "error" | "interrupted" | "denied" | "running";
}

/** The agent reached its limit of rounds. */
export interface ExceedMaxItersEvent extends EventHead {
  type: "EXCEED_MAX_ITERS";
  /** Id of the reply. */
  reply_id: string;
  /** Name of the agent. */
  name: string;
}

/** The reply waits for the user to confirm tool calls. */
export interface RequireUserConfirmEvent extends EventHead {
  type: "REQUIRE_USER_CONFIRM";
  /** Id of the reply. */
  reply_id: string;
  /** The calls to confirm, with the rules that the user may accept. */
  tool_calls: ToolCallBlock[];
}

/** The reply waits for tool calls that another process executes. */
export interface RequireExternalExecutionEvent extends EventHead {
  type: "REQUIRE_EXTERNAL_EXECUTION";
  /** Id of the reply. */
  reply_id: string;
  /** The calls to execute. */
  tool_calls: ToolCallBlock[];
}

/** The user allows or denies tool calls. */
export interface UserConfirmResultEvent extends EventHead {
  type: "USER_CONFIRM_RESULT";
  /** Id of the reply. */
  reply_id: string;
  /** One decision for each call. */
  confirm_results: ConfirmResult[];
}

/** The user interrupts a waiting reply. */
export interface UserInterruptEvent extends EventHead {
  type: "USER_INTERRUPT";
  /** Id of the reply. */
  reply_id: string;
}

/** The results of externally executed tool calls. */
export interface ExternalExecutionResultEvent extends EventHead {
  type: "EXTERNAL_EXECUTION_RESULT";
  /** Id of the reply. */
  reply_id: string;
  /** The results. */
  execution_results: ToolResultBlock[];
}

/** A custom signal. */
export interface CustomEvent extends EventHead {
  type: "CUSTOM";
  /** Id of the reply, if the producer set one. */
  reply_id?: string | null;
  /** Name of the signal. */
  name: string;
  /** Value of the signal. */
  value?: Record<string, unknown>;
}

/** One step of a reply: a block begins, grows or ends, a tool answers, the user is asked. */
export type AgentEvent =
  | ReplyStartEvent
  | ReplyEndEvent
  | ModelCallStartEvent
  | ModelCallEndEvent
  | TextBlockStartEvent
  | TextBlockDeltaEvent
  | TextBlockEndEvent
  | ThinkingBlockStartEvent
  | ThinkingBlockDeltaEvent
  | ThinkingBlockEndEvent
  | DataBlockStartEvent
  | DataBlockDeltaEvent
  | DataBlockEndEvent
  | HintBlockEvent
  | ToolCallStartEvent
  | ToolCallDeltaEvent
  | ToolCallEndEvent
  | ToolResultStartEvent
  | ToolResultTextDeltaEvent
  | ToolResultDataDeltaEvent
  | ToolResultEndEvent
  | ExceedMaxItersEvent
  | RequireUserConfirmEvent
  | RequireExternalExecutionEvent
  | UserConfirmResultEvent
  | UserInterruptEvent
  | ExternalExecutionResultEvent
  | CustomEvent;

/** One piece of a message. One of a type that is not declared here may stand there too. */
export type ContentBlock = TextBlock | ThinkingBlock | HintBlock | ToolCallBlock | ToolResultBlock | DataBlock;

/** The names of Recount's own `CUSTOM` events. */
export type CustomName =
  | "recount.message"
  | "recount.block"
  | "recount.call"
  | "recount.waiting"
  | "recount.retry"
  | "recount.fallback"
  | "recount.truncated"
  | "recount.offloaded"
  | "recount.compressed"
  | "recount.permissions"
  | "recount.agent"
  | "recount.request_stop"
  | "recount.taken_over";

/** The fields that may be missing where a block is read. */
export interface MayBeMissing {
  text: "id" | "created_at" | "finished_at";
  thinking: "id" | "created_at" | "finished_at";
  hint: "id" | "source" | "created_at" | "finished_at";
  tool_call: "state" | "suggested_rules" | "created_at" | "finished_at";
  tool_result: "state" | "metadata" | "created_at" | "finished_at";
  data: "id" | "name" | "created_at" | "finished_at";
  base64: never;
  url: never;
}

/** The blocks with nothing in them, by their type. */
export const blankBlocks = {
  text: (id: string, created_at: string): TextBlock => ({
    type: "text",
    text: "",
    id,
    created_at,
    finished_at: null,
  }),
  thinking: (id: string, created_at: string): ThinkingBlock => ({
    type: "thinking",
    thinking: "",
    id,
    created_at,
    finished_at: null,
  }),
  hint: (id: string, created_at: string): HintBlock => ({
    type: "hint",
    hint: [],
    id,
    source: null,
    created_at,
    finished_at: created_at,
  }),
  tool_call: (id: string, created_at: string): ToolCallBlock => ({
    type: "tool_call",
    id,
    name: "",
    input: "",
    state: "pending",
    suggested_rules: [],
    created_at,
    finished_at: null,
  }),
  tool_result: (id: string, created_at: string): ToolResultBlock => ({
    type: "tool_result",
    id,
    name: "",
    output: [],
    state: "running",
    metadata: {},
    created_at,
    finished_at: null,
  }),
  data: (id: string, created_at: string): DataBlock => ({
    type: "data",
    id,
    source: { type: "base64", data: "", media_type: "" },
    name: null,
    created_at,
    finished_at: null,
  }),
};

/** An agent's message with nothing in it. */
export const blankMsg = (id: string, created_at: string): MsgFields => ({
  name: "",
  content: [],
  role: "assistant",
  id,
  metadata: {},
  created_at,
  usage: null,
  finished_at: null,
  finished_reason: null,
  structured_output: null,
  error: null,
});
