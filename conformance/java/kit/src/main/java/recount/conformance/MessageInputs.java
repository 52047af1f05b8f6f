package recount.conformance;

import java.util.ArrayList;
import java.util.List;

/** The test inputs for messages, blocks, sources and usage, which both versions have. */
public final class MessageInputs {

  private final List<TextCase> cases = new ArrayList<>();

  private MessageInputs() {}

  public static List<TextCase> all() {
    MessageInputs inputs = new MessageInputs();
    inputs.sources();
    inputs.usage();
    inputs.mediaBlocks();
    inputs.textBlocks();
    inputs.toolBlocks();
    inputs.messages();
    inputs.roles();
    inputs.contentByRole();
    inputs.metadata();
    inputs.envelopes();
    inputs.odd();
    return inputs.cases;
  }

  private void shape(String name, String kind, String whole) {
    cases.addAll(new Shape(name, kind, whole).cases());
  }

  private void ask(String name, String kind, String text) {
    cases.add(new TextCase(name, kind, text));
  }

  private void block(String name, String text) {
    ask(name, "block", text);
  }

  private void message(String name, String text) {
    ask("message/" + name, "message", text);
  }

  private void sources() {
    shape(
        "source-url", "source", "{\"type\":\"url\",\"url\":\"https://files.test/a.png\",\"mime_type\":\"image/png\"}");
    shape("source-base64", "source", "{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"iVBORw0KGgo=\"}");
    String[][] more = {
      {"url-media_type", "{\"type\":\"url\",\"url\":\"https://files.test/a\",\"media_type\":\"image/png\"}"},
      {"url-mimeType", "{\"type\":\"url\",\"url\":\"https://files.test/a\",\"mimeType\":\"image/png\"}"},
      {"url-mediaType", "{\"type\":\"url\",\"url\":\"https://files.test/a\",\"mediaType\":\"image/png\"}"},
      {"url-no-url", "{\"type\":\"url\",\"url\":\"not a url\"}"},
      {"url-empty", "{\"type\":\"url\",\"url\":\"\"}"},
      {"url-type-last", "{\"url\":\"https://files.test/a\",\"type\":\"url\"}"},
      {"base64-mediaType", "{\"type\":\"base64\",\"mediaType\":\"image/png\",\"data\":\"AAAA\"}"},
      {"base64-mime_type", "{\"type\":\"base64\",\"mime_type\":\"image/png\",\"data\":\"AAAA\"}"},
      {"base64-garbage", "{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"???\"}"},
      {"base64-empty", "{\"type\":\"base64\",\"media_type\":\"\",\"data\":\"\"}"},
      {"type-unknown", "{\"type\":\"file\",\"path\":\"/a\"}"},
      {"type-upper", "{\"type\":\"URL\",\"url\":\"https://files.test/a\"}"},
      {"type-base-class", "{\"type\":\"Source\"}"},
      {"type-twice", "{\"type\":\"url\",\"url\":\"https://files.test/a\",\"type\":\"base64\"}"},
      {"extra", "{\"type\":\"url\",\"url\":\"https://files.test/a\",\"detail\":\"high\"}"},
    };
    for (String[] each : more) {
      ask("source/" + each[0], "source", each[1]);
    }
  }

  private void usage() {
    shape(
        "usage",
        "usage",
        "{\"inputTokens\":10,\"outputTokens\":5,\"cachedTokens\":2,\"time\":0.5,\"totalTokens\":15}");
    String[][] more = {
      {"empty", "{}"},
      {"snake", "{\"input_tokens\":10,\"output_tokens\":5,\"time\":0.5}"},
      {"total-wrong", "{\"inputTokens\":1,\"outputTokens\":2,\"time\":0.0,\"totalTokens\":99}"},
      {"negative", "{\"inputTokens\":-1,\"outputTokens\":-2,\"time\":-0.5}"},
      {"beyond-int", "{\"inputTokens\":3000000000,\"outputTokens\":0,\"time\":0.0}"},
      {"sum-beyond-int", "{\"inputTokens\":2147483647,\"outputTokens\":1,\"time\":0.0}"},
      {"time-whole", "{\"inputTokens\":1,\"outputTokens\":2,\"time\":3}"},
      {"time-small", "{\"inputTokens\":1,\"outputTokens\":2,\"time\":0.0001}"},
      {"time-large", "{\"inputTokens\":1,\"outputTokens\":2,\"time\":12345678.5}"},
      {"time-huge", "{\"inputTokens\":1,\"outputTokens\":2,\"time\":1e400}"},
      {"extra", "{\"inputTokens\":1,\"outputTokens\":2,\"time\":0.5,\"model\":\"m\"}"},
    };
    for (String[] each : more) {
      ask("usage/" + each[0], "usage", each[1]);
    }
  }

  private void mediaBlocks() {
    String source = "\"source\":{\"type\":\"url\",\"url\":\"https://files.test/a\"}";
    shape("image", "block", "{\"type\":\"image\"," + source + ",\"minPixels\":4,\"maxPixels\":9}");
    shape("audio", "block", "{\"type\":\"audio\"," + source + "}");
    shape(
        "video",
        "block",
        "{\"type\":\"video\","
            + source
            + ",\"fps\":2.0,\"maxFrames\":16,\"minPixels\":4,\"maxPixels\":9,\"totalPixels\":90}");
    shape("data", "block", "{\"type\":\"data\"," + source + ",\"id\":\"data-1\",\"name\":\"a.png\"}");
    block("image/snake", "{\"type\":\"image\"," + source + ",\"min_pixels\":4,\"max_pixels\":9}");
    block("image/snake-and-camel", "{\"type\":\"image\"," + source + ",\"min_pixels\":4,\"minPixels\":9}");
    block("image/url-beside", "{\"type\":\"image\",\"url\":\"https://files.test/a\"}");
    block("image/source-without-type", "{\"type\":\"image\",\"source\":{\"url\":\"https://files.test/a\"}}");
    block("image/source-base-class", "{\"type\":\"image\",\"source\":{\"type\":\"Source\"}}");
    block(
        "video/snake",
        "{\"type\":\"video\","
            + source
            + ",\"max_frames\":16,\"min_pixels\":4,\"max_pixels\":9,\"total_pixels\":90}");
    block("video/alone", "{\"type\":\"video\"}");
    block("video/fps-whole", "{\"type\":\"video\"," + source + ",\"fps\":2}");
    block("video/fps-exact", "{\"type\":\"video\"," + source + ",\"fps\":0.1}");
    block("data/id-empty", "{\"type\":\"data\"," + source + ",\"id\":\"\"}");
    block(
        "data/native",
        "{\"type\":\"data\",\"id\":\"b\",\"source\":{\"type\":\"url\",\"url\":\"https://files.test/a\","
            + "\"media_type\":\"image/png\"},\"name\":null,\"created_at\":\"2026-01-02T03:04:05\"}");
  }

  private void textBlocks() {
    shape("text", "block", "{\"type\":\"text\",\"text\":\"hi\"}");
    shape("thinking", "block", "{\"type\":\"thinking\",\"thinking\":\"hm\",\"metadata\":{\"signature\":\"s\"}}");
    shape("hint", "block", "{\"type\":\"hint\",\"id\":\"h\",\"hint\":\"be brief\",\"source\":\"user\"}");
    block("text/type-last", "{\"text\":\"hi\",\"type\":\"text\"}");
    block("text/type-twice", "{\"type\":\"text\",\"text\":\"hi\",\"type\":\"thinking\"}");
    block("text/text-twice", "{\"type\":\"text\",\"text\":\"a\",\"text\":\"b\"}");
    block("text/type-upper", "{\"type\":\"TEXT\",\"text\":\"hi\"}");
    block("text/type-class", "{\"type\":\"TextBlock\",\"text\":\"hi\"}");
    block("text/type-base-class", "{\"type\":\"ContentBlock\"}");
    block("text/type-unknown", "{\"type\":\"citation\",\"text\":\"hi\"}");
    block("text/native", "{\"type\":\"text\",\"text\":\"hi\",\"id\":\"b\",\"created_at\":\"2026-01-02T03:04:05\"}");
    block("text/surrogate", "{\"type\":\"text\",\"text\":\"\\ud800\"}");
    block("text/pair", "{\"type\":\"text\",\"text\":\"\\ud83d\\ude00\"}");
    block("text/escapes", "{\"type\":\"text\",\"text\":\"\\u0041\\/\\u2028\\u007f\\u0000\\b\\f\\n\\r\\t\\\"\\\\\"}");
    block("text/control", "{\"type\":\"text\",\"text\":\"a\tb\"}");
    block("thinking/signature-beside", "{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"s\"}");
    block("thinking/metadata-null-value", "{\"type\":\"thinking\",\"thinking\":\"hm\",\"metadata\":{\"a\":null}}");
    block("hint/blocks", "{\"type\":\"hint\",\"hint\":[{\"type\":\"text\",\"text\":\"x\"}]}");
  }

  private void toolBlocks() {
    shape(
        "tool_use",
        "block",
        "{\"type\":\"tool_use\",\"id\":\"call_1\",\"name\":\"weather\",\"input\":{\"city\":\"Rome\"},"
            + "\"content\":\"{\\\"city\\\":\\\"Rome\\\"}\",\"metadata\":{\"k\":\"v\"},\"state\":\"allowed\"}");
    shape(
        "tool_result",
        "block",
        "{\"type\":\"tool_result\",\"id\":\"call_1\",\"name\":\"weather\","
            + "\"output\":[{\"type\":\"text\",\"text\":\"Sunny\"}],\"metadata\":{\"k\":\"v\"},\"state\":\"success\"}");
    for (String state : List.of("pending", "asking", "allowed", "submitted", "finished", "ASKING", "running", "")) {
      block("tool_use/state=" + state, "{\"type\":\"tool_use\",\"id\":\"c\",\"state\":\"" + state + "\"}");
    }
    for (String state : List.of("success", "error", "interrupted", "denied", "running", "SUCCESS", "pending", "")) {
      block("tool_result/state=" + state, "{\"type\":\"tool_result\",\"id\":\"c\",\"state\":\"" + state + "\"}");
    }
    block("tool_use/alone", "{\"type\":\"tool_use\"}");
    block("tool_use/input-null-value", "{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":{\"a\":null}}");
    block("tool_use/input-json-text", "{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":\"{}\"}");
    block("tool_use/metadata-null-value", "{\"type\":\"tool_use\",\"id\":\"c\",\"metadata\":{\"a\":null}}");
    block(
        "tool_use/content-differs",
        "{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":{\"a\":1},\"content\":\"{\\\"a\\\":2}\"}");
    block(
        "tool_use/content-no-json",
        "{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":{},\"content\":\"{\\\"a\\\":\"}");
    block("tool_use/documented-arguments", "{\"type\":\"tool_use\",\"id\":\"c\",\"arguments\":{\"a\":1}}");
    block(
        "tool_use/suggested_rules",
        "{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"suggested_rules\":[{\"tool_name\":\"f\"}]}");
    block("tool_use/native", "{\"type\":\"tool_call\",\"id\":\"c\",\"name\":\"f\",\"input\":\"{}\"}");
    block("tool_result/alone", "{\"type\":\"tool_result\"}");
    block("tool_result/output-null-item", "{\"type\":\"tool_result\",\"id\":\"c\",\"output\":[null]}");
    block("tool_result/output-texts", "{\"type\":\"tool_result\",\"id\":\"c\",\"output\":[\"x\"]}");
    block(
        "tool_result/output-one-block",
        "{\"type\":\"tool_result\",\"id\":\"c\",\"output\":{\"type\":\"text\",\"text\":\"x\"}}");
    block("tool_result/metadata-null-value", "{\"type\":\"tool_result\",\"id\":\"c\",\"metadata\":{\"a\":null}}");
    block(
        "tool_result/metadata-nested-null",
        "{\"type\":\"tool_result\",\"id\":\"c\",\"metadata\":{\"a\":{\"b\":null}}}");
    block(
        "tool_result/suspended",
        "{\"type\":\"tool_result\",\"id\":\"c\",\"metadata\":{\"agentscope_suspended\":true}}");
    block(
        "tool_result/suspended-text",
        "{\"type\":\"tool_result\",\"id\":\"c\",\"metadata\":{\"agentscope_suspended\":\"true\"}}");
    block(
        "tool_result/documented-toolUseId",
        "{\"type\":\"tool_result\",\"toolUseId\":\"c\",\"output\":[{\"type\":\"text\",\"text\":\"x\"}]}");
    block(
        "tool_result/documented-result",
        "{\"type\":\"tool_result\",\"id\":\"c\",\"result\":{\"type\":\"text\",\"text\":\"x\"}}");
    block("tool_result/is_error", "{\"type\":\"tool_result\",\"id\":\"c\",\"is_error\":true}");
    block(
        "tool_result/nested",
        "{\"type\":\"tool_result\",\"id\":\"c\",\"output\":[{\"type\":\"tool_use\",\"id\":\"d\"},"
            + "{\"type\":\"tool_result\",\"id\":\"d\",\"output\":[{\"type\":\"thinking\",\"thinking\":\"t\"}]}]}");
    ask("tool-use-class/with-type", "tool-use-class", "{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\"}");
    ask("tool-use-class/without-type", "tool-use-class", "{\"id\":\"c\",\"name\":\"f\"}");
    ask("tool-use-class/other-type", "tool-use-class", "{\"type\":\"text\",\"text\":\"x\"}");
  }

  private void messages() {
    shape(
        "message",
        "message",
        "{\"id\":\"m\",\"name\":\"Friday\",\"role\":\"ASSISTANT\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}],"
            + "\"metadata\":{\"k\":1},\"timestamp\":\"2026-08-22 10:30:00.123\","
            + "\"usage\":{\"inputTokens\":1,\"outputTokens\":2,\"cachedTokens\":0,\"time\":0.5,\"totalTokens\":3}}");
    message("empty", "{}");
    message("role-only", "{\"role\":\"USER\"}");
    message("extra", "{\"role\":\"USER\",\"type\":\"message\",\"created_at\":\"x\",\"finished_at\":null,\"z\":[1]}");
    message("derived-fields", "{\"role\":\"USER\",\"textContent\":\"x\",\"generateReason\":\"INTERRUPTED\"}");
    message("timestamp-iso", "{\"role\":\"USER\",\"timestamp\":\"2026-01-02T03:04:05Z\"}");
    message("timestamp-instant", "{\"role\":\"USER\",\"timestamp\":1767323045.5}");
    message("content-one-block", "{\"role\":\"USER\",\"content\":{\"type\":\"text\",\"text\":\"x\"}}");
    message("content-texts", "{\"role\":\"USER\",\"content\":[\"x\"]}");
    message("content-null-items", "{\"role\":\"USER\",\"content\":[null,{\"type\":\"text\",\"text\":\"x\"},null]}");
    message("content-unknown-block", "{\"role\":\"ASSISTANT\",\"content\":[{\"type\":\"citation\"}]}");
    message("content-block-without-type", "{\"role\":\"USER\",\"content\":[{\"text\":\"x\"}]}");
    message("id-twice", "{\"id\":\"a\",\"role\":\"USER\",\"id\":\"b\"}");
    message("role-last", "{\"content\":[{\"type\":\"text\",\"text\":\"x\"}],\"role\":\"SYSTEM\"}");
    message("role-twice", "{\"role\":\"USER\",\"content\":[],\"role\":\"ASSISTANT\"}");
    message(
        "native-user",
        "{\"id\":\"m\",\"name\":\"u\",\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"x\",\"id\":\"b\"}],"
            + "\"metadata\":{},\"created_at\":\"2026-01-02T03:04:05.678901\",\"finished_at\":null}");
    message("text-empty-blocks", "{\"role\":\"USER\",\"content\":[{\"type\":\"text\"},{\"type\":\"text\"}]}");
    message(
        "text-between",
        "{\"role\":\"ASSISTANT\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
            + "{\"type\":\"thinking\",\"thinking\":\"t\"},{\"type\":\"text\",\"text\":\"b\"},"
            + "{\"type\":\"tool_result\",\"id\":\"c\",\"output\":[{\"type\":\"text\",\"text\":\"inside\"}]}]}");
    message(
        "documented-instant",
        "{\"id\":\"m\",\"name\":\"u\",\"role\":\"USER\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}],"
            + "\"metadata\":{},\"timestamp\":\"2026-01-15T10:30:00Z\"}");
  }

  private void roles() {
    for (String role : List.of("USER", "ASSISTANT", "SYSTEM", "TOOL")) {
      message("role=" + role, "{\"role\":\"" + role + "\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}");
      String lower = role.toLowerCase(java.util.Locale.ROOT);
      message("role=" + lower, "{\"role\":\"" + lower + "\",\"content\":[]}");
      for (String type : List.of("user-class", "assistant-class", "system-class", "tool-class")) {
        ask("message-" + type + "/role=" + role, type, "{\"role\":\"" + role + "\",\"content\":[]}");
      }
    }
    for (String role : List.of("User", "DEVELOPER", "", " USER")) {
      message("role=" + role, "{\"role\":\"" + role + "\"}");
    }
    for (int ordinal = 0; ordinal < 5; ordinal++) {
      message("role-ordinal-" + ordinal, "{\"role\":" + ordinal + "}");
    }
    ask("message-user-class/role-missing", "user-class", "{\"content\":[]}");
  }

  /** The blocks that are allowed in messages of each role. */
  private void contentByRole() {
    String source = ",\"source\":{\"type\":\"url\",\"url\":\"https://files.test/a\"}";
    String[][] blocks = {
      {"text", ",\"text\":\"x\""},
      {"thinking", ",\"thinking\":\"x\""},
      {"image", source},
      {"audio", source},
      {"video", source},
      {"data", source + ",\"id\":\"d\""},
      {"tool_use", ",\"id\":\"c\""},
      {"tool_result", ",\"id\":\"c\""},
      {"hint", ",\"hint\":\"x\""},
    };
    for (String role : List.of("USER", "ASSISTANT", "SYSTEM", "TOOL")) {
      for (String[] each : blocks) {
        String content = "[{\"type\":\"" + each[0] + "\"" + each[1] + "}]";
        message(role + "-with-" + each[0], "{\"role\":\"" + role + "\",\"content\":" + content + "}");
      }
    }
    message("null-role-with-tool_use", "{\"role\":null,\"content\":[{\"type\":\"tool_use\",\"id\":\"c\"}]}");
  }

  private void metadata() {
    String[][] values = {
      {"null-value", "{\"a\":null,\"b\":{\"c\":null},\"d\":[null]}"},
      {"twice", "{\"a\":1,\"a\":2}"},
      {"integer-long", "{\"n\":9223372036854775807}"},
      {"integer-beyond-long", "{\"n\":123456789012345678901234567890}"},
      {"float-long", "{\"n\":0.1234567890123456789}"},
      {"float-whole", "{\"n\":25.0}"},
      {"float-exponent", "{\"n\":1e5,\"m\":1E-7,\"o\":1.50}"},
      {"float-huge", "{\"n\":1e400}"},
      {"float-tiny", "{\"n\":1e-400}"},
      {"negative-zero", "{\"n\":-0,\"m\":-0.0}"},
      {"nan", "{\"n\":NaN}"},
      {"leading-zero", "{\"n\":01}"},
      {"text-odd", "{\"\\u0000é\\u2028\":\"\\ud83d\\ude00 </script> \\u007f\"}"},
      {"block-inside", "{\"block\":{\"type\":\"text\",\"text\":\"x\"}}"},
      {"reason-known", "{\"agentscope_generate_reason\":\"MAX_ITERATIONS\"}"},
      {"reason-lower", "{\"agentscope_generate_reason\":\"max_iterations\"}"},
      {"reason-unknown", "{\"agentscope_generate_reason\":\"LUNCH\"}"},
      {"reason-number", "{\"agentscope_generate_reason\":3}"},
      {"reason-of-2", "{\"agentscope_generate_reason\":\"PERMISSION_ASKING\"}"},
      {"structured-object", "{\"_structured_output\":{\"a\":1}}"},
      {"structured-list", "{\"_structured_output\":[1,2]}"},
      {"structured-text", "{\"_structured_output\":\"{\\\"a\\\":1}\"}"},
      {"structured-number", "{\"_structured_output\":0}"},
      {"structured-false", "{\"_structured_output\":false}"},
      {"structured-null", "{\"_structured_output\":null}"},
      {"chat-usage", "{\"_chat_usage\":{\"inputTokens\":7,\"outputTokens\":8,\"cachedTokens\":3,\"time\":1.0}}"},
      {"chat-usage-partial", "{\"_chat_usage\":{\"inputTokens\":7}}"},
      {"chat-usage-text", "{\"_chat_usage\":\"x\"}"},
    };
    for (String[] each : values) {
      message("metadata-" + each[0], "{\"role\":\"ASSISTANT\",\"metadata\":" + each[1] + "}");
    }
    message(
        "usage-and-chat-usage",
        "{\"role\":\"ASSISTANT\",\"usage\":{\"inputTokens\":1,\"outputTokens\":2,\"cachedTokens\":1,\"time\":0.5},"
            + "\"metadata\":{\"_chat_usage\":{\"inputTokens\":7,\"outputTokens\":8,\"time\":1.0}}}");
    message("usage-snake", "{\"role\":\"ASSISTANT\",\"usage\":{\"input_tokens\":1,\"output_tokens\":2}}");
  }

  /** The events of 1.x, which 2.0.0 still has. */
  private void envelopes() {
    String text = "\"message\":{\"id\":\"m\",\"role\":\"ASSISTANT\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}";
    shape("envelope", "event1", "{\"type\":\"REASONING\"," + text + ",\"isLast\":true,\"messageId\":\"m\"}");
    for (String type : List.of("TOOL_RESULT", "HINT", "AGENT_RESULT", "SUMMARY", "ALL", "reasoning", "TEXT", "")) {
      ask("envelope/type=" + type, "event1", "{\"type\":\"" + type + "\"," + text + ",\"isLast\":false}");
    }
    ask("envelope/last", "event1", "{\"type\":\"REASONING\"," + text + ",\"last\":true}");
    ask("envelope/last-and-isLast", "event1", "{\"type\":\"REASONING\"," + text + ",\"last\":true,\"isLast\":true}");
    ask(
        "envelope/last-against-isLast",
        "event1",
        "{\"type\":\"REASONING\"," + text + ",\"last\":true,\"isLast\":false}");
    ask("envelope/is_last", "event1", "{\"type\":\"REASONING\"," + text + ",\"is_last\":true}");
    ask("envelope/messageId-differs", "event1", "{\"type\":\"REASONING\"," + text + ",\"messageId\":\"other\"}");
    ask("envelope/type-last", "event1", "{" + text + ",\"isLast\":true,\"type\":\"SUMMARY\"}");
    ask("envelope/empty", "event1", "{}");
    ask("envelope/extra", "event1", "{\"type\":\"REASONING\"," + text + ",\"isLast\":true,\"z\":1}");
    ask(
        "envelope/source",
        "event1",
        "{\"type\":\"REASONING\","
            + text
            + ",\"isLast\":true,\"source\":{\"agentKey\":\"k\",\"agentId\":\"a\",\"agentName\":\"n\","
            + "\"sessionId\":\"s\",\"parentSessionId\":\"p\",\"taskId\":\"t\",\"depth\":2,\"path\":\"main/n\"}}");
  }

  /** Unusual JSON texts. */
  private void odd() {
    String[][] texts = {
      {"nothing", ""},
      {"null", "null"},
      {"list", "[]"},
      {"text", "\"x\""},
      {"number", "7"},
      {"open", "{\"role\":\"USER\""},
      {"two", "{\"role\":\"USER\"}{\"role\":\"SYSTEM\"}"},
      {"garbage-behind", "{\"role\":\"USER\"} x"},
      {"comma-behind", "{\"role\":\"USER\",}"},
      {"single-quotes", "{'role':'USER'}"},
      {"comment", "{/* c */\"role\":\"USER\"}"},
      {"space", " \n\t{ \"role\" : \"USER\" }\r\n"},
      {"byte-order-mark", "\ufeff{\"role\":\"USER\"}"},
      {"deep-900", "{\"role\":\"USER\",\"metadata\":{\"a\":" + "[".repeat(900) + "]".repeat(900) + "}}"},
      {"deep-1100", "{\"role\":\"USER\",\"metadata\":{\"a\":" + "[".repeat(1100) + "]".repeat(1100) + "}}"},
    };
    for (String[] each : texts) {
      message("json-" + each[0], each[1]);
    }
  }
}
