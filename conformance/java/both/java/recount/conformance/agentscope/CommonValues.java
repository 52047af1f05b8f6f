package recount.conformance.agentscope;

import io.agentscope.core.agent.Event;
import io.agentscope.core.agent.EventType;
import io.agentscope.core.message.AudioBlock;
import io.agentscope.core.message.Base64Source;
import io.agentscope.core.message.ContentBlock;
import io.agentscope.core.message.GenerateReason;
import io.agentscope.core.message.ImageBlock;
import io.agentscope.core.message.Msg;
import io.agentscope.core.message.MsgRole;
import io.agentscope.core.message.TextBlock;
import io.agentscope.core.message.ThinkingBlock;
import io.agentscope.core.message.ToolResultBlock;
import io.agentscope.core.message.ToolUseBlock;
import io.agentscope.core.message.URLSource;
import io.agentscope.core.message.VideoBlock;
import io.agentscope.core.model.ChatUsage;
import io.agentscope.core.tool.ToolSuspendException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import recount.conformance.Stabiliser;

/** The values that both versions can create. */
public final class CommonValues {

  /** Characters of each width, including all that a JSON writer can escape. */
  public static final String ODD_TEXT =
      "q\" b\\ s/ \b\f\n\r\t\0\u001f\u007f\u0085\u00a0é\u2028\u2029\ufeff中😀</script>";

  public static final Base64Source PNG =
      Base64Source.builder().mediaType("image/png").data("iVBORw0KGgo=").build();
  public static final URLSource URL = URLSource.builder().url("https://files.test/photo.jpg").build();

  private final List<Value> values = new ArrayList<>();

  private CommonValues() {}

  public static List<Value> all() {
    CommonValues made = new CommonValues();
    made.sources();
    made.usage();
    made.textBlocks();
    made.mediaBlocks();
    made.toolUses();
    made.toolResults();
    made.messages();
    made.metadata();
    made.envelopes();
    made.lists();
    return made.values;
  }

  public static TextBlock text(String text) {
    return TextBlock.builder().text(text).build();
  }

  /** A message that sets everything the builder would otherwise generate. */
  public static Msg.Builder message(MsgRole role, String name, ContentBlock... content) {
    return Msg.builder()
        .id("msg-1")
        .name(name)
        .role(role)
        .content(Arrays.asList(content))
        .timestamp(Stabiliser.FIXED_TIMESTAMP);
  }

  public static Msg.Builder answer(ContentBlock... content) {
    return message(MsgRole.ASSISTANT, "Friday", content);
  }

  public static ToolUseBlock.Builder call() {
    return ToolUseBlock.builder().id("call_1").name("weather").input(Map.of("city", "Rome"));
  }

  /** A map with a stable order. {@code Map.of} has a different order in every run. */
  public static Map<String, Object> map(Object... pairs) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int at = 0; at < pairs.length; at += 2) {
      map.put((String) pairs[at], pairs[at + 1]);
    }
    return map;
  }

  private void add(String name, String kind, Object value) {
    values.add(new Value(name, kind, value));
  }

  private void sources() {
    add("url", "source", URL);
    add("url-file", "source", new URLSource("file:///data/photo.jpg"));
    add("url-odd", "source", new URLSource("no url at all é"));
    add("base64", "source", PNG);
    add("base64-empty", "source", new Base64Source("", ""));
  }

  private void usage() {
    add("plain", "usage", new ChatUsage(100, 50, 1.5));
    add("zero", "usage", new ChatUsage(0, 0, 0));
    add("time-small", "usage", new ChatUsage(1, 1, 0.0001));
    add("time-large", "usage", new ChatUsage(1, 1, 12345678.25));
    add("time-nan", "usage", new ChatUsage(1, 1, Double.NaN));
    add("sum-overflow", "usage", new ChatUsage(Integer.MAX_VALUE, 1, 1));
    add("builder-defaults", "usage", ChatUsage.builder().build());
  }

  private void textBlocks() {
    add("text", "block", text("Hello"));
    add("text-empty", "block", text(""));
    add("text-null", "block", text(null));
    add("text-odd", "block", text(ODD_TEXT));
    add("thinking", "block", ThinkingBlock.builder().thinking("Let me see").build());
    add("thinking-null", "block", ThinkingBlock.builder().build());
    add(
        "thinking-metadata",
        "block",
        ThinkingBlock.builder()
            .thinking("secret")
            .metadata(map("signature", "c2ln", "reasoningDetails", List.of(map("type", "encrypted", "data", "abc"))))
            .build());
    add("thinking-metadata-empty", "block", ThinkingBlock.builder().thinking("x").metadata(Map.of()).build());
  }

  private void mediaBlocks() {
    add("image-url", "block", ImageBlock.builder().source(URL).build());
    add("image-base64", "block", ImageBlock.builder().source(PNG).build());
    add("audio-url", "block", AudioBlock.builder().source(URL).build());
    add("audio-base64", "block", AudioBlock.builder().source(new Base64Source("audio/wav", "UklGRg==")).build());
    add("video-url", "block", VideoBlock.builder().source(URL).build());
    add("video-base64", "block", VideoBlock.builder().source(new Base64Source("video/mp4", "AAAA")).build());
    add("video-without-source", "block", VideoBlock.builder().build());
  }

  private void toolUses() {
    add("tool_use", "block", call().build());
    add("tool_use-content", "block", call().content("{\"city\": \"Rome\"}").build());
    add("tool_use-content-partial", "block", call().input(Map.of()).content("{\"city\": \"Ro").build());
    add("tool_use-content-differs", "block", call().content("{\"city\": \"Oslo\"}").build());
    add("tool_use-nulls", "block", ToolUseBlock.builder().build());
    add("tool_use-input-null-value", "block", call().input(map("city", null)).build());
    add(
        "tool_use-input-kinds",
        "block",
        call()
            .input(
                map("a", 1, "b", 2.5, "c", true, "d", List.of(1, "x"), "e", map("f", null), "g", 12345678901234567L))
            .build());
    add("tool_use-metadata", "block", call().metadata(Map.of("k", "v")).build());
    add(
        "tool_use-thought-signature",
        "block",
        call().metadata(Map.of(ToolUseBlock.METADATA_THOUGHT_SIGNATURE, new byte[] {1, 2, 3, -1})).build());
  }

  private void toolResults() {
    ContentBlock sunny = text("Sunny, 25°C");
    add("tool_result", "block", ToolResultBlock.of("call_1", "weather", sunny));
    add("tool_result-metadata", "block", ToolResultBlock.of("call_1", "weather", sunny, Map.of("cost", 1)));
    add("tool_result-empty", "block", ToolResultBlock.of("call_1", "weather", List.of()));
    add("tool_result-nulls", "block", ToolResultBlock.builder().build());
    add("tool_result-factory-text", "block", ToolResultBlock.text("Sunny"));
    add("tool_result-factory-error", "block", ToolResultBlock.error("no such city"));
    add("tool_result-factory-of", "block", ToolResultBlock.of(sunny));
    add("tool_result-factory-suspended", "block", ToolResultBlock.suspended(call().build()));
    add(
        "tool_result-factory-suspended-reason",
        "block",
        ToolResultBlock.suspended(call().build(), new ToolSuspendException("a person has to do it")));
    add("tool_result-with-id-and-name", "block", ToolResultBlock.text("Sunny").withIdAndName("call_1", "weather"));
    add(
        "tool_result-media",
        "block",
        ToolResultBlock.of("call_1", "camera", List.of(text("here"), ImageBlock.builder().source(PNG).build())));
    add(
        "tool_result-nested",
        "block",
        ToolResultBlock.of(
            "call_1",
            "agent",
            List.of(
                ThinkingBlock.builder().thinking("sub").build(),
                call().build(),
                ToolResultBlock.of("call_2", "f", text("inner")))));
  }

  private void messages() {
    for (MsgRole role : MsgRole.values()) {
      add("role-" + role, "message", message(role, "someone", text("Hello")).build());
      add("role-" + role + "-empty", "message", message(role, "someone").build());
      add("role-" + role + "-nameless", "message", message(role, null, text("Hello")).build());
    }
    add("fresh", "message", Msg.builder().textContent("Hello").build());
    add("fresh-without-content", "message", Msg.builder().build());
    add("id-null", "message", answer(text("x")).id(null).build());
    add("role-null", "message", answer(text("x"), call().build()).role(null).build());
    add("name-empty", "message", answer(text("x")).name("").build());
    add("name-odd", "message", answer(text("x")).name(ODD_TEXT).build());
    add("content-null-item", "message", answer(text("x"), null, text("y")).build());
    add("text-several", "message", answer(text("a"), text(""), text("b")).build());
    add(
        "media",
        "message",
        message(
                MsgRole.USER,
                "user",
                text("look"),
                new ImageBlock(PNG),
                new AudioBlock(URL),
                new VideoBlock(URL))
            .build());
    add(
        "thinking-text-call",
        "message",
        answer(ThinkingBlock.builder().thinking("hm").build(), text("One moment."), call().build()).build());
    add(
        "tool-result",
        "message",
        message(MsgRole.TOOL, "weather", ToolResultBlock.of("call_1", "weather", text("Sunny"))).build());
    add(
        "tool-results-two",
        "message",
        message(
                MsgRole.TOOL,
                null,
                ToolResultBlock.of("call_1", "weather", text("Sunny")),
                ToolResultBlock.of("call_2", "weather", text("Rain")))
            .build());
    add(
        "call-and-suspended-result",
        "message",
        answer(call().build(), ToolResultBlock.suspended(call().build()))
            .generateReason(GenerateReason.TOOL_SUSPENDED)
            .build());
    for (GenerateReason reason : GenerateReason.values()) {
      add("reason-" + reason, "message", answer(text("x")).generateReason(reason).build());
    }
    add(
        "reason-then-metadata",
        "message",
        answer(text("x")).generateReason(GenerateReason.INTERRUPTED).metadata(map("k", 1)).build());
    add("with-reason", "message", answer(text("x")).build().withGenerateReason(GenerateReason.INTERRUPTED));
  }

  private void metadata() {
    Map<String, Object> kinds = new LinkedHashMap<>();
    kinds.put("text", "x");
    kinds.put("int", 3);
    kinds.put("long", Long.MAX_VALUE);
    kinds.put("double", 0.5);
    kinds.put("double-small", 1.0E-4);
    kinds.put("double-whole", 2.0);
    kinds.put("float", 0.1f);
    kinds.put("big", new java.math.BigInteger("123456789012345678901234567890"));
    kinds.put("decimal", new java.math.BigDecimal("1.50"));
    kinds.put("nan", Double.NaN);
    kinds.put("true", true);
    kinds.put("null", null);
    kinds.put("list", Arrays.asList(1, null, "x"));
    kinds.put("map", map("a", null, "b", List.of()));
    kinds.put("bytes", new byte[] {1, 2, 3});
    kinds.put("instant", java.time.Instant.parse("2026-01-02T03:04:05.678Z"));
    kinds.put("block", text("x"));
    kinds.put("usage", new ChatUsage(1, 2, 0.5));
    kinds.forEach((name, value) -> add("metadata-" + name, "message", answer().metadata(map(name, value)).build()));
    add("metadata-null-map", "message", answer().metadata(null).build());
    add("metadata-order", "message", answer().metadata(map("zebra", 1, "apple", 2, "mango", 3)).build());
    add("usage-in-metadata", "message", answer().metadata(map("_chat_usage", new ChatUsage(7, 8, 1.5))).build());
    Map<String, Object> outputs = new LinkedHashMap<>();
    outputs.put("object", map("goal", "write", "hours", 3, "steps", List.of("a", "b")));
    outputs.put("list", List.of(1, 2));
    outputs.put("text", "done");
    outputs.put("number", 42);
    outputs.put("false", false);
    outputs.put("null", null);
    outputs.forEach(
        (name, output) ->
            add(
                "structured-" + name,
                "message",
                answer(text("{}"))
                    .metadata(map("_structured_output", output))
                    .generateReason(GenerateReason.STRUCTURED_OUTPUT)
                    .build()));
    String[] flags = {
      "_bypass_multiagent_history_merge", "_structured_output_reminder", "_cache_control", "agentscope_synthetic"
    };
    for (String flag : flags) {
      add("flag-" + flag, "message", message(MsgRole.USER, "user", text("x")).metadata(map(flag, true)).build());
    }
  }

  private void envelopes() {
    for (EventType type : EventType.values()) {
      add("envelope-" + type, "event1", new Event(type, answer(text("Hel")).build(), false));
      add("envelope-" + type + "-last", "event1", new Event(type, answer(text("Hello")).build(), true));
    }
    add(
        "envelope-result",
        "event1",
        new Event(
            EventType.TOOL_RESULT,
            message(MsgRole.TOOL, "system", ToolResultBlock.of("call_1", "weather", text("Sunny"))).build(),
            true));
    add("envelope-id-null", "event1", new Event(EventType.REASONING, answer(text("x")).id(null).build(), false));
  }

  /** Lists written without a type. Java then loses the type of their items. */
  private void lists() {
    Msg message = answer(text("x"), call().build()).build();
    add("messages", "messages", List.of(message, message(MsgRole.USER, "user", text("y")).build()));
    add("blocks", "blocks", message.getContent());
    add("sources", "sources", List.of(URL, PNG));
  }
}
