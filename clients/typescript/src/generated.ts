// Made from the Rust declarations. To make it anew:
// UPDATE_DOCS=1 cargo test -p recount-message --test typescript

/** Plain text. */
export interface TextBlock {
  type: "text";
  /** The text. */
  text: string;
  /** Id of the block. */
  id: string;
  /** When the block began. */
  created_at: string;
  /** When the block was complete. */
  finished_at: string | null;
}

/** The model's reasoning. */
export interface ThinkingBlock {
  type: "thinking";
  /** The reasoning. */
  thinking: string;
  /** Id of the block. */
  id: string;
  /** When the block began. */
  created_at: string;
  /** When the block was complete. */
  finished_at: string | null;
}

/** Something said to the model in the middle of its reply: a schedule that fired, another agent's message, the outcome of a background tool. */
export interface HintBlock {
  type: "hint";
  /** What is said: a string, or blocks of text and data. */
  hint: string | (TextBlock | DataBlock)[];
  /** Id of the block. */
  id: string;
  /** Who says it; may be a small JSON object with `label` and `sublabel`. */
  source: string | null;
  /** When the block began. */
  created_at: string;
  /** When the block was complete. */
  finished_at: string | null;
}

/** A tool that the model wants to be called. */
export interface ToolCallBlock {
  type: "tool_call";
  /** Id of the call. */
  id: string;
  /** The tool. */
  name: string;
  /** The arguments: JSON text, as the model wrote it. */
  input: string;
  /** Where the call stands. */
  state: "pending" | "asking" | "allowed" | "submitted" | "finished";
  /** Rules that the user may accept along with the call. */
  suggested_rules: PermissionRule[];
  /** When the block began. */
  created_at: string;
  /** When the block was complete. */
  finished_at: string | null;
}

/** What a tool answered. */
export interface ToolResultBlock {
  type: "tool_result";
  /** Id of the call that this answers. */
  id: string;
  /** The tool. */
  name: string;
  /** The answer: a string, or blocks of text and data. */
  output: string | (TextBlock | DataBlock)[];
  /** How the execution went. */
  state: "success" | "error" | "interrupted" | "denied" | "running";
  /** What the tool says beside its answer. */
  metadata: Record<string, unknown>;
  /** When the block began. */
  created_at: string;
  /** When the block was complete. */
  finished_at: string | null;
}

/** Binary data, held in the block or found at a URL. */
export interface DataBlock {
  type: "data";
  /** Id of the block. */
  id: string;
  /** Where the bytes are. */
  source: Base64Source | UrlSource;
  /** What the data is called, such as a file name. */
  name: string | null;
  /** When the block began. */
  created_at: string;
  /** When the block was complete. */
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

/** Bytes at a URL: http, https, file, or whatever the one who sends it understands. */
export interface UrlSource {
  type: "url";
  /** The URL exactly as it was given. */
  url: string;
  /** The media type, such as `image/png`. */
  media_type: string;
}

/** A rule that lets a tool run, forbids it, or has the user asked. */
export interface PermissionRule {
  /** The tool that the rule is for. */
  tool_name: string;
  /** What the rule matches, in the tool's own language; `null` matches everything. */
  rule_content: string | null;
  /** What happens to a call that matches. */
  behavior: "allow" | "deny" | "ask" | "passthrough";
  /** Where the rule comes from, such as `suggested`. */
  source: string;
}

/** One turn of a conversation: what a user said, a system prompt, or a whole reply of an agent with all its rounds of thinking, tool calls and results. */
export interface MsgFields {
  /** Who says it. */
  name: string;
  /** What is said, block by block. */
  content: (TextBlock | ThinkingBlock | HintBlock | ToolCallBlock | ToolResultBlock | DataBlock)[];
  /** The part that the sender plays. */
  role: "user" | "assistant" | "system";
  /** Id of the message; a reply's is its `reply_id`. */
  id: string;
  /** What else is known about the message. */
  metadata: Record<string, unknown>;
  /** When the message began. */
  created_at: string;
  /** How many tokens it took, summed over its model calls. */
  usage: Usage | null;
  /** When the message was complete. */
  finished_at: string | null;
  /** Why a reply ended. */
  finished_reason: "completed" | "interrupted" | "exceed_max_iters" | "error" | null;
  /** The structured output, where one was asked for. */
  structured_output: Record<string, unknown> | null;
  /** What went wrong, where the reply ended with an error. */
  error: ErrorInfo | null;
}

/** How many tokens a message, or a model call, took. */
export interface Usage {
  /** Tokens read. */
  input_tokens: number;
  /** Tokens written. */
  output_tokens: number;
  /** Tokens read from the prompt cache. */
  cache_input_tokens: number;
  /** Tokens written to the prompt cache. */
  cache_creation_input_tokens: number;
}

/** What went wrong. */
export interface ErrorInfo {
  /** What kind of error it was. */
  type: "authentication" | "permission" | "rate_limit" | "invalid_request" | "upstream" | "connection" | "internal" | "setup" | "unknown";
  /** What happened, for a person. */
  message: string;
}

/** A user's answer to one call. */
export interface ConfirmResult {
  /** Whether the call may run. */
  confirmed: boolean;
  /** The call. */
  tool_call: ToolCallBlock;
  /** Rules that the user accepts along with the call. */
  rules: PermissionRule[] | null;
}

/** What every event begins with. */
export interface EventHead {
  /** Id of the event. */
  id?: string;
  /** When it happened. */
  created_at?: string;
  /** What else is known about it. */
  metadata?: Record<string, unknown>;
}

/** An agent begins a reply. */
export interface ReplyStartEvent extends EventHead {
  type: "REPLY_START";
  /** Id of the producer's session. */
  session_id: string;
  /** Id of the reply, and of the message that it becomes. */
  reply_id: string;
  /** The agent's name. */
  name: string;
  /** The agent's role. */
  role?: string;
}

/** The reply is over. */
export interface ReplyEndEvent extends EventHead {
  type: "REPLY_END";
  /** Id of the producer's session. */
  session_id: string;
  /** Id of the reply. */
  reply_id: string;
  /** Why the reply ended. */
  finished_reason?: "completed" | "interrupted" | "exceed_max_iters" | "error";
  /** What went wrong, where something did. */
  error?: ErrorInfo | null;
}

/** A model is called. */
export interface ModelCallStartEvent extends EventHead {
  type: "MODEL_CALL_START";
  /** Id of the reply. */
  reply_id: string;
  /** The model. */
  model_name: string;
}

/** The model has answered. */
export interface ModelCallEndEvent extends EventHead {
  type: "MODEL_CALL_END";
  /** Id of the reply. */
  reply_id: string;
  /** Tokens read. */
  input_tokens: number;
  /** Tokens written. */
  output_tokens: number;
  /** Tokens read from the prompt cache. */
  cache_input_tokens?: number;
  /** Tokens written to the prompt cache. */
  cache_creation_input_tokens?: number;
  /** Why the call ended. */
  finished_reason?: "completed" | "interrupted";
}

/** A text block begins. */
export interface TextBlockStartEvent extends EventHead {
  type: "TEXT_BLOCK_START";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the block. */
  block_id: string;
}

/** More text. */
export interface TextBlockDeltaEvent extends EventHead {
  type: "TEXT_BLOCK_DELTA";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the block. */
  block_id: string;
  /** What is appended. */
  delta: string;
}

/** The text block is complete. */
export interface TextBlockEndEvent extends EventHead {
  type: "TEXT_BLOCK_END";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the block. */
  block_id: string;
  /** The whole text, where it is not what the deltas make. */
  text?: string | null;
}

/** A thinking block begins. */
export interface ThinkingBlockStartEvent extends EventHead {
  type: "THINKING_BLOCK_START";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the block. */
  block_id: string;
}

/** More thinking. */
export interface ThinkingBlockDeltaEvent extends EventHead {
  type: "THINKING_BLOCK_DELTA";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the block. */
  block_id: string;
  /** What is appended. */
  delta: string;
}

/** The thinking block is complete. */
export interface ThinkingBlockEndEvent extends EventHead {
  type: "THINKING_BLOCK_END";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the block. */
  block_id: string;
}

/** A data block begins. */
export interface DataBlockStartEvent extends EventHead {
  type: "DATA_BLOCK_START";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the block. */
  block_id: string;
  /** The media type, such as `image/png`. */
  media_type: string;
  /** What the data is called. */
  name?: string | null;
}

/** More data, or where it is. */
export interface DataBlockDeltaEvent extends EventHead {
  type: "DATA_BLOCK_DELTA";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the block. */
  block_id: string;
  /** The media type. */
  media_type: string;
  /** Base64, cut anywhere. */
  data?: string | null;
  /** Where the data is; it replaces what came before. */
  url?: string | null;
}

/** The data block is complete. */
export interface DataBlockEndEvent extends EventHead {
  type: "DATA_BLOCK_END";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the block. */
  block_id: string;
}

/** Something is said to the model from outside, all at once. */
export interface HintBlockEvent extends EventHead {
  type: "HINT_BLOCK";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the block. */
  block_id: string;
  /** Who says it; may be a small JSON object with `label` and `sublabel`. */
  source?: string | null;
  /** What is said. */
  hint: string | (TextBlock | DataBlock)[];
}

/** The model begins a tool call. */
export interface ToolCallStartEvent extends EventHead {
  type: "TOOL_CALL_START";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the call. */
  tool_call_id: string;
  /** The tool. */
  tool_call_name: string;
}

/** More of the arguments. */
export interface ToolCallDeltaEvent extends EventHead {
  type: "TOOL_CALL_DELTA";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the call. */
  tool_call_id: string;
  /** A piece of JSON text, cut anywhere. */
  delta: string;
}

/** The arguments are complete. */
export interface ToolCallEndEvent extends EventHead {
  type: "TOOL_CALL_END";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the call. */
  tool_call_id: string;
}

/** A tool begins to run. */
export interface ToolResultStartEvent extends EventHead {
  type: "TOOL_RESULT_START";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the call that is answered. */
  tool_call_id: string;
  /** The tool. */
  tool_call_name: string;
}

/** The tool says more. */
export interface ToolResultTextDeltaEvent extends EventHead {
  type: "TOOL_RESULT_TEXT_DELTA";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the call that is answered. */
  tool_call_id: string;
  /** What is appended. */
  delta: string;
}

/** The tool gives data. */
export interface ToolResultDataDeltaEvent extends EventHead {
  type: "TOOL_RESULT_DATA_DELTA";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the call that is answered. */
  tool_call_id: string;
  /** Id of the data: a known one is continued, a new one appended. */
  block_id?: string | null;
  /** The media type. */
  media_type: string;
  /** Base64, cut anywhere. */
  data?: string | null;
  /** Where the data is. */
  url?: string | null;
}

/** The tool is done. */
export interface ToolResultEndEvent extends EventHead {
  type: "TOOL_RESULT_END";
  /** Id of the reply. */
  reply_id: string;
  /** Id of the call that is answered. */
  tool_call_id: string;
  /** How it went. */
  state: "success" | "error" | "interrupted" | "denied" | "running";
}

/** The agent took more rounds than it may. */
export interface ExceedMaxItersEvent extends EventHead {
  type: "EXCEED_MAX_ITERS";
  /** Id of the reply. */
  reply_id: string;
  /** The agent's name. */
  name: string;
}

/** The agent waits for the user's permission. */
export interface RequireUserConfirmEvent extends EventHead {
  type: "REQUIRE_USER_CONFIRM";
  /** Id of the reply. */
  reply_id: string;
  /** The calls that need it, with the rules that the user may accept. */
  tool_calls: ToolCallBlock[];
}

/** The agent waits for tools that run elsewhere. */
export interface RequireExternalExecutionEvent extends EventHead {
  type: "REQUIRE_EXTERNAL_EXECUTION";
  /** Id of the reply. */
  reply_id: string;
  /** The calls to run. */
  tool_calls: ToolCallBlock[];
}

/** The user allows or refuses calls. */
export interface UserConfirmResultEvent extends EventHead {
  type: "USER_CONFIRM_RESULT";
  /** Id of the reply. */
  reply_id: string;
  /** One answer for each call. */
  confirm_results: ConfirmResult[];
}

/** The user stops a reply that waits. */
export interface UserInterruptEvent extends EventHead {
  type: "USER_INTERRUPT";
  /** Id of the reply. */
  reply_id: string;
}

/** Tools that ran elsewhere have answered. */
export interface ExternalExecutionResultEvent extends EventHead {
  type: "EXTERNAL_EXECUTION_RESULT";
  /** Id of the reply. */
  reply_id: string;
  /** The answers. */
  execution_results: ToolResultBlock[];
}

/** A signal that is no other event. */
export interface CustomEvent extends EventHead {
  type: "CUSTOM";
  /** Id of the reply, where the producer names one. */
  reply_id?: string | null;
  /** The kind of signal. */
  name: string;
  /** What it says. */
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
