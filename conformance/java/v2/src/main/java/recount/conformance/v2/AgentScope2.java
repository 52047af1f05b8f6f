package recount.conformance.v2;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.agentscope.core.agent.Event;
import io.agentscope.core.agent.RuntimeContext;
import io.agentscope.core.agent.StreamOptions;
import io.agentscope.core.event.AgentEvent;
import io.agentscope.core.event.AgentEventType;
import io.agentscope.core.event.ConfirmResult;
import io.agentscope.core.message.AssistantMessage;
import io.agentscope.core.message.ContentBlock;
import io.agentscope.core.message.Msg;
import io.agentscope.core.message.Source;
import io.agentscope.core.message.SystemMessage;
import io.agentscope.core.message.ToolResultMessage;
import io.agentscope.core.message.ToolUseBlock;
import io.agentscope.core.message.UserMessage;
import io.agentscope.core.model.ChatUsage;
import io.agentscope.core.permission.PermissionRule;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import recount.conformance.EventInputs;
import recount.conformance.MessageInputs;
import recount.conformance.RecordedFile;
import recount.conformance.TextCase;
import recount.conformance.agentscope.Codec;
import recount.conformance.agentscope.CommonScenarios;
import recount.conformance.agentscope.CommonValues;
import recount.conformance.agentscope.EnvelopeStage;
import recount.conformance.agentscope.Value;

/** AgentScope Java 2.0.0. */
final class AgentScope2 extends Codec {

  private static final Map<String, Class<?>> KINDS = new LinkedHashMap<>();

  static {
    KINDS.put("message", Msg.class);
    KINDS.put("block", ContentBlock.class);
    KINDS.put("source", Source.class);
    KINDS.put("usage", ChatUsage.class);
    KINDS.put("event", AgentEvent.class);
    KINDS.put("event1", Event.class);
    KINDS.put("confirm", ConfirmResult.class);
    KINDS.put("rule", PermissionRule.class);
    KINDS.put("event-type", AgentEventType.class);
    KINDS.put("user-class", UserMessage.class);
    KINDS.put("assistant-class", AssistantMessage.class);
    KINDS.put("system-class", SystemMessage.class);
    KINDS.put("tool-class", ToolResultMessage.class);
    KINDS.put("tool-use-class", ToolUseBlock.class);
    KINDS.put("messages", Msg[].class);
    KINDS.put("blocks", ContentBlock[].class);
    KINDS.put("sources", Source[].class);
    KINDS.put("events", AgentEvent[].class);
  }

  @Override
  public String version() {
    return "2.0.0";
  }

  @Override
  public Map<String, Class<?>> kinds() {
    return KINDS;
  }

  @Override
  public List<RecordedFile> record() {
    checkTables();
    List<Value> values = Stream.concat(CommonValues.all().stream(), Values2.all().stream()).toList();
    List<TextCase> texts = Stream.concat(MessageInputs.all().stream(), EventInputs.all().stream()).toList();
    List<RecordedFile> files = new ArrayList<>(valueFiles(values));
    files.add(acceptFile(texts));
    files.add(new RecordedFile("stream.jsonl", eventStreams()));
    files.add(new RecordedFile("stream1.jsonl", envelopeStreams()));
    return files;
  }

  private List<ObjectNode> eventStreams() {
    List<ObjectNode> lines = new ArrayList<>(new EventStage(this).play(CommonScenarios.all()));
    lines.addAll(new EventStage(this).play(Scenarios2.all()));
    RuntimeContext session = RuntimeContext.builder().sessionId("session-1").userId("user-1").build();
    lines.addAll(new EventStage(this, session).play(Scenarios2.inSession()));
    ObservedCallStage observed = new ObservedCallStage(this);
    lines.addAll(observed.play(StructuredScenarios.all().stream().map(observed::observed).toList()));
    return lines;
  }

  /** The same scenarios with the stream of 1.x, which 2.0.0 still has. */
  private List<ObjectNode> envelopeStreams() {
    return new EnvelopeStage(this, StreamOptions.defaults(), agent -> agent.getAgentState().getContext())
        .play(CommonScenarios.all());
  }

  /** An event that is missing in the tables would not be tested. */
  private static void checkTables() {
    Set<String> known = Stream.of(AgentEventType.values()).map(Enum::name).collect(Collectors.toSet());
    Set<String> asked = new TreeSet<>(EventInputs.types());
    if (!asked.equals(known)) {
      throw new IllegalStateException("the table of events has " + asked + ", the library " + known);
    }
  }
}
