package recount.conformance;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The test inputs for the events of 2.x and their contents. */
public final class EventInputs {

  private static final String CALL =
      "{\"type\":\"tool_use\",\"id\":\"call_1\",\"name\":\"bash\",\"input\":{\"cmd\":\"ls\"},\"content\":null,"
          + "\"metadata\":{},\"state\":\"asking\"}";
  private static final String RULE =
      "{\"tool_name\":\"bash\",\"rule_content\":\"ls:*\",\"behavior\":\"allow\",\"source\":\"session\"}";
  private static final String CONFIRM = "{\"confirmed\":true,\"toolCall\":" + CALL + ",\"rules\":[" + RULE + "]}";
  private static final String RESULT =
      "{\"type\":\"tool_result\",\"id\":\"call_1\",\"name\":\"bash\",\"output\":[{\"type\":\"text\",\"text\":\"a\"}],"
          + "\"metadata\":{},\"state\":\"success\"}";
  private static final String MESSAGE =
      "{\"id\":\"m\",\"name\":\"Friday\",\"role\":\"ASSISTANT\",\"content\":[],\"metadata\":{},"
          + "\"timestamp\":\"2026-08-22 10:30:00.123\",\"usage\":null}";

  private static final String BLOCK = "\"replyId\":\"r\",\"blockId\":\"b\"";
  private static final String TOOL = "\"replyId\":\"r\",\"toolCallId\":\"call_1\",\"toolCallName\":\"bash\"";

  /** The fields of each event other than the common ones. */
  private static final Map<String, String> EVENTS = new LinkedHashMap<>();

  static {
    EVENTS.put("AGENT_START", "\"sessionId\":\"s\",\"replyId\":\"r\",\"name\":\"Friday\",\"role\":\"assistant\"");
    EVENTS.put("AGENT_END", "\"replyId\":\"r\"");
    EVENTS.put("AGENT_RESULT", "\"result\":" + MESSAGE);
    EVENTS.put("MODEL_CALL_START", "\"replyId\":\"r\"");
    EVENTS.put(
        "MODEL_CALL_END",
        "\"replyId\":\"r\",\"usage\":{\"inputTokens\":1,\"outputTokens\":2,\"cachedTokens\":0,\"time\":0.5,"
            + "\"totalTokens\":3}");
    for (String block : List.of("TEXT", "THINKING", "DATA")) {
      EVENTS.put(block + "_BLOCK_START", BLOCK);
      EVENTS.put(block + "_BLOCK_DELTA", BLOCK + ",\"delta\":\"hi\"");
      EVENTS.put(block + "_BLOCK_END", BLOCK);
    }
    EVENTS.put("TOOL_CALL_START", TOOL);
    EVENTS.put("TOOL_CALL_DELTA", TOOL + ",\"delta\":\"{\"");
    EVENTS.put("TOOL_CALL_END", TOOL);
    EVENTS.put("TOOL_RESULT_START", TOOL);
    EVENTS.put("TOOL_RESULT_TEXT_DELTA", TOOL + ",\"delta\":\"out\"");
    EVENTS.put("TOOL_RESULT_DATA_DELTA", TOOL + ",\"data\":{\"type\":\"text\",\"text\":\"out\"}");
    EVENTS.put("TOOL_RESULT_END", TOOL + ",\"state\":\"success\"");
    EVENTS.put("EXCEED_MAX_ITERS", "\"replyId\":\"r\",\"maxIters\":3,\"currentIter\":3");
    EVENTS.put("REQUIRE_USER_CONFIRM", "\"replyId\":\"r\",\"toolCalls\":[" + CALL + "]");
    EVENTS.put("REQUIRE_EXTERNAL_EXECUTION", "\"replyId\":\"r\",\"toolCalls\":[" + CALL + "]");
    EVENTS.put("USER_CONFIRM_RESULT", "\"replyId\":\"r\",\"confirmResults\":[" + CONFIRM + "]");
    EVENTS.put("EXTERNAL_EXECUTION_RESULT", "\"replyId\":\"r\",\"toolResults\":[" + RESULT + "]");
    EVENTS.put("REQUEST_STOP", "\"reason\":\"enough\",\"generateReason\":\"ACTING_STOP_REQUESTED\"");
    EVENTS.put("SUBAGENT_EXPOSED", "\"subagentId\":\"sub\",\"agentId\":\"a\",\"sessionId\":\"s\",\"label\":\"l\"");
    EVENTS.put("HINT_BLOCK", BLOCK + ",\"hintSource\":\"user\",\"hint\":\"be brief\"");
    EVENTS.put("ALL_TOOLS_DENIED", "\"deniedToolCalls\":[" + CALL + "]");
    EVENTS.put("CUSTOM", "\"name\":\"progress\",\"value\":{\"done\":1}");
  }

  private final List<TextCase> cases = new ArrayList<>();

  private EventInputs() {}

  public static List<TextCase> all() {
    EventInputs inputs = new EventInputs();
    inputs.everyEvent();
    inputs.typeNames();
    inputs.nativeAndDocumented();
    inputs.insideEvents();
    inputs.confirmations();
    return inputs.cases;
  }

  /** The types in the table, to be compared with those of the library. */
  public static List<String> types() {
    return List.copyOf(EVENTS.keySet());
  }

  private void ask(String name, String kind, String text) {
    cases.add(new TextCase(name, kind, text));
  }

  private void event(String name, String text) {
    ask("event/" + name, "event", text);
  }

  private void everyEvent() {
    String common = ",\"id\":\"e\",\"createdAt\":\"2026-01-02T03:04:05.678901234Z\",";
    EVENTS.forEach(
        (type, fields) -> {
          String tag = "\"type\":\"" + type + "\"";
          cases.addAll(new Shape(type, "event", "{" + tag + "," + fields + "}").cases());
          ask(type + "/alone", "event", "{" + tag + "}");
          ask(type + "/written", "event", "{" + tag + common + fields + "," + tag + "}");
          ask(type + "/extra", "event", "{" + tag + "," + fields + ",\"z\":{\"a\":[1]},\"reply_id\":\"x\"}");
          ask(
              type + "/source-and-metadata",
              "event",
              "{" + tag + common + fields + ",\"metadata\":{\"k\":1,\"n\":null},\"source\":\"main/sub\"}");
        });
    cases.addAll(
        new Shape(
                "event-common",
                "event",
                "{\"type\":\"AGENT_END\",\"id\":\"e\",\"createdAt\":\"2026-01-02T03:04:05Z\",\"source\":\"main\","
                    + "\"metadata\":{\"k\":1},\"replyId\":\"r\"}")
            .cases());
  }

  private void typeNames() {
    event("type-missing", "{\"id\":\"e\",\"replyId\":\"r\"}");
    event("type-first", "{\"type\":\"TEXT_BLOCK_DELTA\",\"blockId\":\"b\",\"delta\":\"x\"}");
    event("type-last", "{\"blockId\":\"b\",\"delta\":\"x\",\"type\":\"TEXT_BLOCK_DELTA\"}");
    event("type-in-the-middle", "{\"blockId\":\"b\",\"type\":\"TEXT_BLOCK_DELTA\",\"delta\":\"x\"}");
    event("type-twice-differs", "{\"type\":\"TEXT_BLOCK_DELTA\",\"delta\":\"x\",\"type\":\"AGENT_END\"}");
    event("type-last-twice-differs", "{\"delta\":\"x\",\"type\":\"TEXT_BLOCK_DELTA\",\"type\":\"AGENT_END\"}");
    event("type-lower", "{\"type\":\"text_block_delta\",\"delta\":\"x\"}");
    event("type-class", "{\"type\":\"TextBlockDeltaEvent\",\"delta\":\"x\"}");
    event("type-empty", "{\"type\":\"\"}");
    event("type-ordinal", "{\"type\":0}");
    List<String> names =
        List.of(
            "RUN_STARTED",
            "RUN_FINISHED",
            "REPLY_START",
            "REPLY_END",
            "MODEL_CALL_STARTED",
            "MODEL_CALL_ENDED",
            "BINARY_BLOCK_START",
            "BINARY_BLOCK_DELTA",
            "BINARY_BLOCK_END",
            "TOOL_RESULT_BINARY_DELTA",
            "THREAD_EXPOSED",
            "USER_INTERRUPT",
            "agent_start",
            "AGENT_START");
    for (String name : names) {
      event("type=" + name, "{\"type\":\"" + name + "\",\"replyId\":\"r\"}");
      ask("event-type/" + name, "event-type", "\"" + name + "\"");
    }
    ask("event-type/ordinal", "event-type", "3");
    ask("event-type/empty", "event-type", "\"\"");
  }

  /** Events as written by Python and as shown in the documentation. */
  private void nativeAndDocumented() {
    event(
        "native-text-delta",
        "{\"id\":\"e\",\"created_at\":\"2026-01-02T03:04:05.678901\",\"metadata\":{},\"type\":\"TEXT_BLOCK_DELTA\","
            + "\"reply_id\":\"r\",\"block_id\":\"b\",\"delta\":\"x\"}");
    event("native-reply-start", "{\"type\":\"REPLY_START\",\"session_id\":\"s\",\"reply_id\":\"r\",\"name\":\"n\"}");
    event(
        "native-model-end",
        "{\"type\":\"MODEL_CALL_END\",\"reply_id\":\"r\",\"input_tokens\":1,\"output_tokens\":2}");
    event(
        "native-confirm",
        "{\"type\":\"USER_CONFIRM_RESULT\",\"reply_id\":\"r\",\"confirm_results\":[{\"confirmed\":true,"
            + "\"tool_call\":{\"type\":\"tool_call\",\"id\":\"c\",\"name\":\"f\",\"input\":\"{}\"}}]}");
    event(
        "native-data-delta",
        "{\"type\":\"TOOL_RESULT_DATA_DELTA\",\"reply_id\":\"r\",\"tool_call_id\":\"c\",\"block_id\":\"b\","
            + "\"media_type\":\"image/png\",\"data\":\"AAAA\"}");
    event("native-hint", "{\"type\":\"HINT_BLOCK\",\"reply_id\":\"r\",\"source\":\"user\",\"hint\":\"x\"}");
    event("documented-model-name", "{\"type\":\"MODEL_CALL_START\",\"replyId\":\"r\",\"modelName\":\"m\"}");
    event("documented-tokens", "{\"type\":\"MODEL_CALL_END\",\"replyId\":\"r\",\"inputTokens\":1,\"outputTokens\":2}");
    event("documented-media-type", "{\"type\":\"DATA_BLOCK_START\",\"blockId\":\"b\",\"mediaType\":\"image/png\"}");
    event("documented-data", "{\"type\":\"DATA_BLOCK_DELTA\",\"blockId\":\"b\",\"data\":\"AAAA\"}");
  }

  private void insideEvents() {
    for (String state : List.of("success", "error", "interrupted", "denied", "running", "SUCCESS", "pending", "")) {
      event("state=" + state, "{\"type\":\"TOOL_RESULT_END\",\"toolCallId\":\"c\",\"state\":\"" + state + "\"}");
    }
    for (String reason : List.of("MODEL_STOP", "PERMISSION_ASKING", "permission_asking", "LUNCH", "")) {
      event("reason=" + reason, "{\"type\":\"REQUEST_STOP\",\"generateReason\":\"" + reason + "\"}");
    }
    event("result-lower-role", "{\"type\":\"AGENT_RESULT\",\"result\":{\"role\":\"assistant\",\"content\":[]}}");
    event(
        "result-user-with-call",
        "{\"type\":\"AGENT_RESULT\",\"result\":{\"role\":\"USER\",\"content\":[{\"type\":\"tool_use\"}]}}");
    event("confirm-null-item", "{\"type\":\"USER_CONFIRM_RESULT\",\"confirmResults\":[null]}");
    event("confirm-empty-item", "{\"type\":\"USER_CONFIRM_RESULT\",\"confirmResults\":[{}]}");
    event("calls-null-item", "{\"type\":\"REQUIRE_USER_CONFIRM\",\"toolCalls\":[null]}");
    event("calls-without-type", "{\"type\":\"REQUIRE_USER_CONFIRM\",\"toolCalls\":[{\"id\":\"c\"}]}");
    event("calls-other-block", "{\"type\":\"REQUIRE_USER_CONFIRM\",\"toolCalls\":[{\"type\":\"text\"}]}");
    event("results-null-item", "{\"type\":\"EXTERNAL_EXECUTION_RESULT\",\"toolResults\":[null]}");
    event("results-without-type", "{\"type\":\"EXTERNAL_EXECUTION_RESULT\",\"toolResults\":[{\"id\":\"c\"}]}");
    event("data-any-block", "{\"type\":\"TOOL_RESULT_DATA_DELTA\",\"data\":{\"type\":\"hint\",\"hint\":\"x\"}}");
    event("data-without-type", "{\"type\":\"TOOL_RESULT_DATA_DELTA\",\"data\":{\"text\":\"x\"}}");
    event("custom-value-null-value", "{\"type\":\"CUSTOM\",\"name\":\"n\",\"value\":{\"a\":null}}");
    event("custom-value-list", "{\"type\":\"CUSTOM\",\"name\":\"n\",\"value\":[1]}");
    event("custom-numbers", "{\"type\":\"CUSTOM\",\"value\":{\"n\":1e400,\"m\":12345678901234567890,\"o\":1.0}}");
    event("created-at-any-text", "{\"type\":\"AGENT_END\",\"createdAt\":\"yesterday\"}");
    event("metadata-empty", "{\"type\":\"AGENT_END\",\"metadata\":{}}");
  }

  private void confirmations() {
    cases.addAll(new Shape("confirm", "confirm", CONFIRM).cases());
    cases.addAll(new Shape("rule", "rule", RULE).cases());
    ask("confirm/empty", "confirm", "{}");
    ask("confirm/rules-null-item", "confirm", "{\"confirmed\":true,\"toolCall\":" + CALL + ",\"rules\":[null]}");
    ask("confirm/call-without-type", "confirm", "{\"confirmed\":true,\"toolCall\":{\"id\":\"c\"}}");
    ask("confirm/native", "confirm", "{\"confirmed\":true,\"tool_call\":" + CALL + ",\"rules\":null}");
    ask("rule/camel", "rule", "{\"toolName\":\"f\",\"ruleContent\":\"x\",\"behavior\":\"ask\",\"source\":\"s\"}");
    for (String behavior : List.of("allow", "deny", "ask", "passthrough", "ALLOW", "Deny", "never", "")) {
      ask(
          "rule/behavior=" + behavior,
          "rule",
          "{\"tool_name\":\"f\",\"rule_content\":null,\"behavior\":\"" + behavior + "\",\"source\":\"s\"}");
    }
  }
}
