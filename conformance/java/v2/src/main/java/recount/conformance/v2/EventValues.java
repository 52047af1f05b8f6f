package recount.conformance.v2;

import static recount.conformance.agentscope.CommonValues.PNG;
import static recount.conformance.agentscope.CommonValues.answer;
import static recount.conformance.agentscope.CommonValues.call;
import static recount.conformance.agentscope.CommonValues.map;
import static recount.conformance.agentscope.CommonValues.text;

import io.agentscope.core.event.AgentEndEvent;
import io.agentscope.core.event.AgentEvent;
import io.agentscope.core.event.AgentResultEvent;
import io.agentscope.core.event.AgentStartEvent;
import io.agentscope.core.event.AllToolsDeniedEvent;
import io.agentscope.core.event.ConfirmResult;
import io.agentscope.core.event.CustomEvent;
import io.agentscope.core.event.DataBlockDeltaEvent;
import io.agentscope.core.event.DataBlockEndEvent;
import io.agentscope.core.event.DataBlockStartEvent;
import io.agentscope.core.event.ExceedMaxItersEvent;
import io.agentscope.core.event.ExternalExecutionResultEvent;
import io.agentscope.core.event.HintBlockEvent;
import io.agentscope.core.event.ModelCallEndEvent;
import io.agentscope.core.event.ModelCallStartEvent;
import io.agentscope.core.event.RequestStopEvent;
import io.agentscope.core.event.RequireExternalExecutionEvent;
import io.agentscope.core.event.RequireUserConfirmEvent;
import io.agentscope.core.event.SubagentExposedEvent;
import io.agentscope.core.event.TextBlockDeltaEvent;
import io.agentscope.core.event.TextBlockEndEvent;
import io.agentscope.core.event.TextBlockStartEvent;
import io.agentscope.core.event.ThinkingBlockDeltaEvent;
import io.agentscope.core.event.ThinkingBlockEndEvent;
import io.agentscope.core.event.ThinkingBlockStartEvent;
import io.agentscope.core.event.ToolCallDeltaEvent;
import io.agentscope.core.event.ToolCallEndEvent;
import io.agentscope.core.event.ToolCallStartEvent;
import io.agentscope.core.event.ToolResultDataDeltaEvent;
import io.agentscope.core.event.ToolResultEndEvent;
import io.agentscope.core.event.ToolResultStartEvent;
import io.agentscope.core.event.ToolResultTextDeltaEvent;
import io.agentscope.core.event.UserConfirmResultEvent;
import io.agentscope.core.message.ContentBlock;
import io.agentscope.core.message.DataBlock;
import io.agentscope.core.message.GenerateReason;
import io.agentscope.core.message.HintBlock;
import io.agentscope.core.message.ImageBlock;
import io.agentscope.core.message.Msg;
import io.agentscope.core.message.ToolResultBlock;
import io.agentscope.core.message.ToolResultState;
import io.agentscope.core.message.ToolUseBlock;
import io.agentscope.core.model.ChatUsage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import recount.conformance.Stabiliser;
import recount.conformance.agentscope.CommonValues;
import recount.conformance.agentscope.Value;

/**
 * Every event of 2.0.0: complete, created by the short constructor (with a generated id and time), empty, and with the
 * source and metadata of a forwarded event.
 */
final class EventValues {

  private static final String ID = "evt-1";
  private static final String AT = Stabiliser.FIXED_INSTANTS.get(0);
  private static final String REPLY = "reply-1";
  private static final String BLOCK = "block-1";
  private static final String CALL = "call_1";
  private static final String NAME = "weather";

  private final List<Value> values = new ArrayList<>();

  private EventValues() {}

  static List<Value> all() {
    EventValues made = new EventValues();
    made.agentAndModel();
    made.blocks();
    made.toolCalls();
    made.toolResults();
    made.waiting();
    made.others();
    made.variations();
    return made.values;
  }

  private void add(String name, AgentEvent event) {
    values.add(new Value(event.getType() + "/" + name, "event", event));
  }

  private void event(AgentEvent whole, AgentEvent fresh, AgentEvent bare, AgentEvent forwarded) {
    add("whole", whole);
    add("fresh", fresh);
    add("bare", bare);
    add("forwarded", forwarded.withSource("main/researcher").withMetadata(map("taskId", "task-1")));
  }

  private void agentAndModel() {
    event(
        new AgentStartEvent(ID, AT, "session-1", REPLY, "Friday", "assistant"),
        new AgentStartEvent("session-1", REPLY, "Friday"),
        new AgentStartEvent(null, null, null, null, null, null),
        new AgentStartEvent(ID, AT, "session-1", REPLY, "Friday", "assistant"));
    event(
        new AgentEndEvent(ID, AT, REPLY),
        new AgentEndEvent(REPLY),
        new AgentEndEvent(null, null, null),
        new AgentEndEvent(ID, AT, REPLY));
    Msg result = answer(text("Sunny")).usage(new ChatUsage(10, 5, 2, 0.5)).build();
    event(
        new AgentResultEvent(ID, AT, result),
        new AgentResultEvent(result),
        new AgentResultEvent(null, null, null),
        new AgentResultEvent(ID, AT, result));
    event(
        new ModelCallStartEvent(ID, AT, REPLY),
        new ModelCallStartEvent(REPLY),
        new ModelCallStartEvent(null, null, null),
        new ModelCallStartEvent(ID, AT, REPLY));
    ChatUsage usage = new ChatUsage(10, 5, 2, 0.5);
    event(
        new ModelCallEndEvent(ID, AT, REPLY, usage),
        new ModelCallEndEvent(REPLY, usage),
        new ModelCallEndEvent(null, null, null, null),
        new ModelCallEndEvent(ID, AT, REPLY, usage));
  }

  private void blocks() {
    event(
        new TextBlockStartEvent(ID, AT, REPLY, BLOCK),
        new TextBlockStartEvent(REPLY, BLOCK),
        new TextBlockStartEvent(null, null, null, null),
        new TextBlockStartEvent(ID, AT, REPLY, BLOCK));
    event(
        new TextBlockDeltaEvent(ID, AT, REPLY, BLOCK, "Hel"),
        new TextBlockDeltaEvent(REPLY, BLOCK, "Hel"),
        new TextBlockDeltaEvent(null, null, null, null, null),
        new TextBlockDeltaEvent(ID, AT, REPLY, BLOCK, "Hel"));
    event(
        new TextBlockEndEvent(ID, AT, REPLY, BLOCK),
        new TextBlockEndEvent(REPLY, BLOCK),
        new TextBlockEndEvent(null, null, null, null),
        new TextBlockEndEvent(ID, AT, REPLY, BLOCK));
    event(
        new ThinkingBlockStartEvent(ID, AT, REPLY, BLOCK),
        new ThinkingBlockStartEvent(REPLY, BLOCK),
        new ThinkingBlockStartEvent(null, null, null, null),
        new ThinkingBlockStartEvent(ID, AT, REPLY, BLOCK));
    event(
        new ThinkingBlockDeltaEvent(ID, AT, REPLY, BLOCK, "hm"),
        new ThinkingBlockDeltaEvent(REPLY, BLOCK, "hm"),
        new ThinkingBlockDeltaEvent(null, null, null, null, null),
        new ThinkingBlockDeltaEvent(ID, AT, REPLY, BLOCK, "hm"));
    event(
        new ThinkingBlockEndEvent(ID, AT, REPLY, BLOCK),
        new ThinkingBlockEndEvent(REPLY, BLOCK),
        new ThinkingBlockEndEvent(null, null, null, null),
        new ThinkingBlockEndEvent(ID, AT, REPLY, BLOCK));
    event(
        new DataBlockStartEvent(ID, AT, REPLY, BLOCK),
        new DataBlockStartEvent(REPLY, BLOCK),
        new DataBlockStartEvent(null, null, null, null),
        new DataBlockStartEvent(ID, AT, REPLY, BLOCK));
    event(
        new DataBlockDeltaEvent(ID, AT, REPLY, BLOCK, "iVBORw0K"),
        new DataBlockDeltaEvent(REPLY, BLOCK, "iVBORw0K"),
        new DataBlockDeltaEvent(null, null, null, null, null),
        new DataBlockDeltaEvent(ID, AT, REPLY, BLOCK, "iVBORw0K"));
    event(
        new DataBlockEndEvent(ID, AT, REPLY, BLOCK),
        new DataBlockEndEvent(REPLY, BLOCK),
        new DataBlockEndEvent(null, null, null, null),
        new DataBlockEndEvent(ID, AT, REPLY, BLOCK));
  }

  private void toolCalls() {
    event(
        new ToolCallStartEvent(ID, AT, REPLY, CALL, NAME),
        new ToolCallStartEvent(REPLY, CALL, NAME),
        new ToolCallStartEvent(null, null, null, null, null),
        new ToolCallStartEvent(ID, AT, REPLY, CALL, NAME));
    event(
        new ToolCallDeltaEvent(ID, AT, REPLY, CALL, NAME, "{\"city\":"),
        new ToolCallDeltaEvent(REPLY, CALL, "__fragment__", "\"Rome\"}"),
        new ToolCallDeltaEvent(null, null, null, null, null, null),
        new ToolCallDeltaEvent(ID, AT, REPLY, CALL, NAME, "{\"city\":"));
    event(
        new ToolCallEndEvent(ID, AT, REPLY, CALL, NAME),
        new ToolCallEndEvent(REPLY, CALL, NAME),
        new ToolCallEndEvent(null, null, null, null, null),
        new ToolCallEndEvent(ID, AT, REPLY, CALL, NAME));
  }

  private void toolResults() {
    event(
        new ToolResultStartEvent(ID, AT, REPLY, CALL, NAME),
        new ToolResultStartEvent(REPLY, CALL, NAME),
        new ToolResultStartEvent(null, null, null, null, null),
        new ToolResultStartEvent(ID, AT, REPLY, CALL, NAME));
    event(
        new ToolResultTextDeltaEvent(ID, AT, REPLY, CALL, NAME, "Sunny"),
        new ToolResultTextDeltaEvent(REPLY, CALL, NAME, "Sunny"),
        new ToolResultTextDeltaEvent(null, null, null, null, null, null),
        new ToolResultTextDeltaEvent(ID, AT, REPLY, CALL, NAME, "Sunny"));
    ContentBlock image = new ImageBlock(PNG);
    event(
        new ToolResultDataDeltaEvent(ID, AT, REPLY, CALL, NAME, image),
        new ToolResultDataDeltaEvent(REPLY, CALL, NAME, image),
        new ToolResultDataDeltaEvent(null, null, null, null, null, null),
        new ToolResultDataDeltaEvent(ID, AT, REPLY, CALL, NAME, image));
    event(
        new ToolResultEndEvent(ID, AT, REPLY, CALL, NAME, ToolResultState.SUCCESS),
        new ToolResultEndEvent(REPLY, CALL, NAME, ToolResultState.SUCCESS),
        new ToolResultEndEvent(null, null, null, null, null, null),
        new ToolResultEndEvent(ID, AT, REPLY, CALL, NAME, ToolResultState.SUCCESS));
  }

  private void waiting() {
    List<ToolUseBlock> calls = List.of(call().build());
    event(
        new RequireUserConfirmEvent(ID, AT, REPLY, calls),
        new RequireUserConfirmEvent(REPLY, calls),
        new RequireUserConfirmEvent(null, null, null, null),
        new RequireUserConfirmEvent(ID, AT, REPLY, calls));
    event(
        new RequireExternalExecutionEvent(ID, AT, REPLY, calls),
        new RequireExternalExecutionEvent(REPLY, calls),
        new RequireExternalExecutionEvent(null, null, null, null),
        new RequireExternalExecutionEvent(ID, AT, REPLY, calls));
    List<ConfirmResult> decisions =
        List.of(
            new ConfirmResult(true, call().build(), List.of(Values2.RULE)),
            new ConfirmResult(false, call().id("call_2").build()));
    event(
        new UserConfirmResultEvent(ID, AT, REPLY, decisions),
        new UserConfirmResultEvent(REPLY, decisions),
        new UserConfirmResultEvent(null, null, null, null),
        new UserConfirmResultEvent(ID, AT, REPLY, decisions));
    List<ToolResultBlock> results = List.of(ToolResultBlock.of(CALL, NAME, text("Sunny")));
    event(
        new ExternalExecutionResultEvent(ID, AT, REPLY, results),
        new ExternalExecutionResultEvent(REPLY, results),
        new ExternalExecutionResultEvent(null, null, null, null),
        new ExternalExecutionResultEvent(ID, AT, REPLY, results));
    // This event has no constructor with an id and a time.
    event(
        new AllToolsDeniedEvent(calls),
        new AllToolsDeniedEvent(List.of()),
        new AllToolsDeniedEvent(null),
        new AllToolsDeniedEvent(calls));
  }

  private void others() {
    event(
        new ExceedMaxItersEvent(ID, AT, REPLY, 10, 10),
        new ExceedMaxItersEvent(REPLY, 10, 10),
        new ExceedMaxItersEvent(null, null, null, 0, 0),
        new ExceedMaxItersEvent(ID, AT, REPLY, 10, 10));
    event(
        new RequestStopEvent(ID, AT, "enough", GenerateReason.ACTING_STOP_REQUESTED),
        new RequestStopEvent("enough"),
        new RequestStopEvent(null, null, null, null),
        new RequestStopEvent(ID, AT, "enough", GenerateReason.PERMISSION_ASKING));
    event(
        new SubagentExposedEvent(ID, AT, "sub-1", "agent-1", "session-1", "Research"),
        new SubagentExposedEvent("sub-1", "agent-1", "session-1", "Research"),
        new SubagentExposedEvent(null, null, null, null, null, null),
        new SubagentExposedEvent(ID, AT, "sub-1", "agent-1", "session-1", "Research"));
    event(
        new HintBlockEvent(ID, AT, REPLY, BLOCK, "user", "be brief"),
        new HintBlockEvent(REPLY, BLOCK, "user", "be brief"),
        new HintBlockEvent(null, null, null, null, null, null),
        new HintBlockEvent(ID, AT, REPLY, BLOCK, "user", "be brief"));
    Map<String, Object> value = map("done", 3, "of", 7.5, "note", null, "list", List.of(1, "x"));
    event(
        new CustomEvent(ID, AT, "progress", value),
        new CustomEvent("progress", value),
        new CustomEvent(null, null, null, null),
        new CustomEvent(ID, AT, "progress", value));
  }

  private void variations() {
    for (ToolResultState state : ToolResultState.values()) {
      add("state-" + state, new ToolResultEndEvent(ID, AT, REPLY, CALL, NAME, state));
    }
    for (GenerateReason reason : GenerateReason.values()) {
      add("reason-" + reason, new RequestStopEvent(ID, AT, "enough", reason));
    }
    List<ContentBlock> pieces =
        List.of(
            text("x"),
            DataBlock.builder().source(PNG).id("data-1").name("pixel.png").build(),
            new HintBlock("hint-1", "x", "user"));
    for (ContentBlock piece : pieces) {
      add(
          piece.getClass().getSimpleName(),
          new ToolResultDataDeltaEvent(ID, AT, REPLY, CALL, NAME, piece));
    }
    add("odd-text", new TextBlockDeltaEvent(ID, AT, REPLY, BLOCK, CommonValues.ODD_TEXT));
    add("empty-text", new TextBlockDeltaEvent(ID, AT, REPLY, BLOCK, ""));
    values.add(
        new Value(
            "events",
            "events",
            List.of(new AgentEndEvent(ID, AT, REPLY), new TextBlockDeltaEvent(ID, AT, REPLY, BLOCK, "x"))));
    add("name-only", new CustomEvent("progress"));
    add("several-calls", new RequireUserConfirmEvent(ID, AT, REPLY, List.of(call().build(), call().id("c2").build())));
    add("no-calls", new RequireUserConfirmEvent(ID, AT, REPLY, List.of()));
    add("metadata-empty", new AgentEndEvent(ID, AT, REPLY).withMetadata(Map.of()));
    add("metadata-null-value", new AgentEndEvent(ID, AT, REPLY).withMetadata(map("k", null)));
    for (String at : Stabiliser.FIXED_INSTANTS) {
      add("at-" + at, new AgentEndEvent(ID, at, REPLY));
    }
  }
}
