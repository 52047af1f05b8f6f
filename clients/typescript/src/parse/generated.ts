// Generated from the Rust declarations. To regenerate:
// UPDATE_DOCS=1 cargo test -p recount-message --test typescript

import {
  block, boolean, count, empty, leftOut, list, maybe, messageOrObject, none, nullable, object,
  oneOf, or, orTime, ownId, ownTime, record, text, textOr, words,
} from "./shapes.js";

export const textBlock = record({
  text: text,
  id: ownId,
  created_at: ownTime,
  finished_at: maybe,
}, "text");
export const thinkingBlock = record({
  thinking: text,
  id: ownId,
  created_at: ownTime,
  finished_at: maybe,
}, "thinking");
export const base64Source = record({
  data: text,
  media_type: text,
}, "base64");
export const urlSource = record({
  url: text,
  media_type: text,
}, "url");
export const dataBlock = record({
  id: ownId,
  source: oneOf(base64Source, urlSource),
  name: maybe,
  created_at: ownTime,
  finished_at: maybe,
}, "data");
export const hintBlock = record({
  hint: textOr(list(block(textBlock, dataBlock))),
  id: ownId,
  source: maybe,
  created_at: ownTime,
  finished_at: orTime(nullable(text)),
}, "hint");
export const permissionRule = record({
  tool_name: text,
  rule_content: nullable(text),
  behavior: words("allow", "deny", "ask", "passthrough"),
  source: text,
});
export const toolCallBlock = record({
  id: text,
  name: text,
  input: text,
  state: or(words("pending", "asking", "allowed", "submitted", "finished"), "pending"),
  suggested_rules: or(list(permissionRule), none),
  created_at: ownTime,
  finished_at: maybe,
}, "tool_call");
export const toolResultBlock = record({
  id: text,
  name: text,
  output: textOr(list(block(textBlock, dataBlock))),
  state: or(words("success", "error", "interrupted", "denied", "running"), "running"),
  metadata: or(object, empty),
  created_at: ownTime,
  finished_at: maybe,
}, "tool_result");
export const usage = record({
  input_tokens: count,
  output_tokens: count,
  cache_input_tokens: or(count, 0),
  cache_creation_input_tokens: or(count, 0),
});
export const errorInfo = record({
  type: or(words("authentication", "permission", "rate_limit", "invalid_request", "upstream", "connection", "internal", "setup", "unknown"), "unknown"),
  message: text,
});
export const contentBlock = block(textBlock, thinkingBlock, hintBlock, toolCallBlock, toolResultBlock, dataBlock);
export const msg = record({
  name: text,
  content: list(contentBlock),
  role: words("user", "assistant", "system"),
  id: ownId,
  metadata: or(object, empty),
  created_at: ownTime,
  usage: or(usage, null),
  finished_at: maybe,
  finished_reason: or(words("completed", "interrupted", "exceed_max_iters", "error"), null),
  structured_output: or(object, null),
  error: or(errorInfo, null),
});
export const confirmResult = record({
  confirmed: boolean,
  tool_call: toolCallBlock,
  rules: or(list(permissionRule), null),
});

/** The fields of every event after its head, in the order in which they are written. */
export const events = {
  REPLY_START: {
    session_id: text,
    reply_id: text,
    name: text,
    role: or(text, "assistant"),
  },
  REPLY_END: {
    session_id: text,
    reply_id: text,
    finished_reason: or(words("completed", "interrupted", "exceed_max_iters", "error"), "completed"),
    error: or(errorInfo, null),
  },
  MODEL_CALL_START: {
    reply_id: text,
    model_name: text,
  },
  MODEL_CALL_END: {
    reply_id: text,
    input_tokens: count,
    output_tokens: count,
    cache_input_tokens: or(count, 0),
    cache_creation_input_tokens: or(count, 0),
    finished_reason: or(words("completed", "interrupted"), "completed"),
  },
  TEXT_BLOCK_START: {
    reply_id: text,
    block_id: text,
  },
  TEXT_BLOCK_DELTA: {
    reply_id: text,
    block_id: text,
    delta: text,
  },
  TEXT_BLOCK_END: {
    reply_id: text,
    block_id: text,
    text: maybe,
  },
  THINKING_BLOCK_START: {
    reply_id: text,
    block_id: text,
  },
  THINKING_BLOCK_DELTA: {
    reply_id: text,
    block_id: text,
    delta: text,
  },
  THINKING_BLOCK_END: {
    reply_id: text,
    block_id: text,
  },
  DATA_BLOCK_START: {
    reply_id: text,
    block_id: text,
    media_type: text,
    name: maybe,
  },
  DATA_BLOCK_DELTA: {
    reply_id: text,
    block_id: text,
    media_type: text,
    data: maybe,
    url: maybe,
  },
  DATA_BLOCK_END: {
    reply_id: text,
    block_id: text,
  },
  HINT_BLOCK: {
    reply_id: text,
    block_id: text,
    source: maybe,
    hint: textOr(list(block(textBlock, dataBlock))),
  },
  TOOL_CALL_START: {
    reply_id: text,
    tool_call_id: text,
    tool_call_name: text,
  },
  TOOL_CALL_DELTA: {
    reply_id: text,
    tool_call_id: text,
    delta: text,
  },
  TOOL_CALL_END: {
    reply_id: text,
    tool_call_id: text,
  },
  TOOL_RESULT_START: {
    reply_id: text,
    tool_call_id: text,
    tool_call_name: text,
  },
  TOOL_RESULT_TEXT_DELTA: {
    reply_id: text,
    tool_call_id: text,
    delta: text,
  },
  TOOL_RESULT_DATA_DELTA: {
    reply_id: text,
    tool_call_id: text,
    block_id: leftOut,
    media_type: text,
    data: maybe,
    url: maybe,
  },
  TOOL_RESULT_END: {
    reply_id: text,
    tool_call_id: text,
    state: words("success", "error", "interrupted", "denied", "running"),
  },
  EXCEED_MAX_ITERS: {
    reply_id: text,
    name: text,
  },
  REQUIRE_USER_CONFIRM: {
    reply_id: text,
    tool_calls: list(toolCallBlock),
  },
  REQUIRE_EXTERNAL_EXECUTION: {
    reply_id: text,
    tool_calls: list(toolCallBlock),
  },
  USER_CONFIRM_RESULT: {
    reply_id: text,
    confirm_results: list(confirmResult),
  },
  USER_INTERRUPT: {
    reply_id: text,
  },
  EXTERNAL_EXECUTION_RESULT: {
    reply_id: text,
    execution_results: list(toolResultBlock),
  },
  CUSTOM: {
    reply_id: leftOut,
    name: text,
    value: or(messageOrObject, empty),
  },
};
