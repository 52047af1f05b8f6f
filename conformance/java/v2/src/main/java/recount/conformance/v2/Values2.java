package recount.conformance.v2;

import static recount.conformance.agentscope.CommonValues.PNG;
import static recount.conformance.agentscope.CommonValues.URL;
import static recount.conformance.agentscope.CommonValues.answer;
import static recount.conformance.agentscope.CommonValues.call;
import static recount.conformance.agentscope.CommonValues.map;
import static recount.conformance.agentscope.CommonValues.message;
import static recount.conformance.agentscope.CommonValues.text;

import io.agentscope.core.agent.Event;
import io.agentscope.core.agent.EventSource;
import io.agentscope.core.agent.EventType;
import io.agentscope.core.event.ConfirmResult;
import io.agentscope.core.message.AssistantMessage;
import io.agentscope.core.message.ContentBlock;
import io.agentscope.core.message.DataBlock;
import io.agentscope.core.message.HintBlock;
import io.agentscope.core.message.ImageBlock;
import io.agentscope.core.message.Msg;
import io.agentscope.core.message.MsgRole;
import io.agentscope.core.message.SystemMessage;
import io.agentscope.core.message.ToolCallState;
import io.agentscope.core.message.ToolResultBlock;
import io.agentscope.core.message.ToolResultMessage;
import io.agentscope.core.message.ToolResultState;
import io.agentscope.core.message.URLSource;
import io.agentscope.core.message.UserMessage;
import io.agentscope.core.message.VideoBlock;
import io.agentscope.core.model.ChatUsage;
import io.agentscope.core.permission.PermissionBehavior;
import io.agentscope.core.permission.PermissionRule;
import java.util.ArrayList;
import java.util.List;
import recount.conformance.Stabiliser;
import recount.conformance.agentscope.Value;

/** The values, other than events, that only 2.0.0 can create. */
final class Values2 {

  static final PermissionRule RULE = new PermissionRule("bash", "ls:*", PermissionBehavior.ALLOW, "session");

  private final List<Value> values = new ArrayList<>();

  private Values2() {}

  static List<Value> all() {
    Values2 made = new Values2();
    made.sourcesAndUsage();
    made.blocks();
    made.messages();
    made.confirmations();
    made.envelopes();
    made.values.addAll(EventValues.all());
    return made.values;
  }

  private void add(String name, String kind, Object value) {
    values.add(new Value(name, kind, value));
  }

  private void sourcesAndUsage() {
    add("url-mime", "source", URLSource.builder().url("https://files.test/a").mimeType("image/png").build());
    add("url-mime-empty", "source", new URLSource("https://files.test/a", ""));
    add("cached", "usage", new ChatUsage(100, 50, 30, 1.5));
  }

  private void blocks() {
    add("image-pixels", "block", ImageBlock.builder().source(URL).minPixels(3136).maxPixels(1003520).build());
    add(
        "video-whole",
        "block",
        VideoBlock.builder()
            .source(URL)
            .fps(2f)
            .maxFrames(16)
            .minPixels(4096)
            .maxPixels(602112)
            .totalPixels(10240000)
            .build());
    add("video-fps-exact", "block", VideoBlock.builder().source(URL).fps(0.1f).build());
    add("data-base64", "block", DataBlock.builder().source(PNG).id("data-1").name("pixel.png").build());
    add("data-url", "block", DataBlock.builder().source(URL).id("data-1").build());
    add("data-fresh", "block", DataBlock.builder().source(PNG).build());
    add("hint", "block", new HintBlock("hint-1", "be brief", "user"));
    add("hint-nulls", "block", new HintBlock(null, null, null));
    add("hint-fresh", "block", new HintBlock("be brief", "user"));
    for (ToolCallState state : ToolCallState.values()) {
      add("tool_use-state-" + state, "block", call().state(state).build());
    }
    add("tool_use-state-null", "block", call().state(null).build());
    for (ToolResultState state : ToolResultState.values()) {
      add(
          "tool_result-state-" + state,
          "block",
          ToolResultBlock.builder().id("call_1").name("weather").output(text("Sunny")).state(state).build());
    }
    add(
        "tool_result-data",
        "block",
        ToolResultBlock.of("call_1", "camera", DataBlock.builder().source(PNG).id("data-1").build()));
    add("tool_result-hint", "block", ToolResultBlock.of("call_1", "f", new HintBlock("hint-1", "x", null)));
  }

  private void messages() {
    ContentBlock data = DataBlock.builder().source(PNG).id("data-1").name("pixel.png").build();
    ChatUsage usage = new ChatUsage(100, 50, 30, 1.5);
    add("data", "message", message(MsgRole.USER, "user", text("see"), data).build());
    add("hint", "message", answer(new HintBlock("hint-1", "be brief", "user"), text("ok")).build());
    add("usage", "message", answer(text("hi")).usage(usage).build());
    add("usage-twice", "message", answer(text("hi")).usage(usage).metadata(map("_chat_usage", usage)).build());
    add("class-user", "message", new UserMessage("Hello"));
    add("class-user-named", "message", new UserMessage("Alice", "Hello"));
    add("class-assistant", "message", new AssistantMessage("Hello"));
    add("class-system", "message", new SystemMessage("Be kind."));
    add("class-tool", "message", new ToolResultMessage("call_1", "weather", "Sunny"));
    for (MsgRole role : MsgRole.values()) {
      add(
          "builder-for-" + role,
          "message",
          Msg.builderForRole(role).id("msg-1").textContent("x").timestamp(Stabiliser.FIXED_TIMESTAMP).build());
    }
    add("with-content", "message", answer(text("a")).build().withContent(List.of(text("b"))));
    for (ToolResultState state : ToolResultState.values()) {
      add(
          "tool-result-" + state,
          "message",
          message(MsgRole.TOOL, "Friday", ToolResultBlock.text("x").withIdAndName("call_1", "f").withState(state))
              .build());
    }
    List<ConfirmResult> confirmed = List.of(new ConfirmResult(true, call().state(ToolCallState.ASKING).build()));
    add(
        "confirm-results",
        "message",
        message(MsgRole.USER, "user").metadata(map(Msg.METADATA_CONFIRM_RESULTS, confirmed)).build());
    add(
        "reminder",
        "message",
        message(MsgRole.USER, "user", text("x"))
            .metadata(map(Msg.METADATA_SYNTHETIC, true, Msg.METADATA_REMINDER_KIND, "task"))
            .build());
  }

  private void confirmations() {
    add("yes", "confirm", new ConfirmResult(true, call().build()));
    add("no", "confirm", new ConfirmResult(false, call().build()));
    add("rules", "confirm", new ConfirmResult(true, call().build(), List.of(RULE)));
    add("rules-empty", "confirm", new ConfirmResult(true, call().build(), List.of()));
    add("call-null", "confirm", new ConfirmResult(true, null, null));
    for (PermissionBehavior behavior : PermissionBehavior.values()) {
      add("rule-" + behavior, "rule", new PermissionRule("bash", "ls:*", behavior, "session"));
    }
    add("rule-without-content", "rule", new PermissionRule("bash", null, PermissionBehavior.ASK, "user"));
  }

  private void envelopes() {
    EventSource source =
        EventSource.builder()
            .agentKey("researcher")
            .agentId("agent-1")
            .agentName("Researcher")
            .sessionId("session-2")
            .parentSessionId("session-1")
            .taskId("task-1")
            .depth(1)
            .path("main/researcher")
            .build();
    add("envelope-source", "event1", new Event(EventType.REASONING, answer(text("x")).build(), false, source));
    add(
        "envelope-source-least",
        "event1",
        new Event(EventType.REASONING, answer(text("x")).build(), false, EventSource.builder().build()));
  }
}
