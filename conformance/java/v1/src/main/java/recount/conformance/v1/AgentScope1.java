package recount.conformance.v1;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.agentscope.core.agent.Event;
import io.agentscope.core.agent.EventType;
import io.agentscope.core.agent.StreamOptions;
import io.agentscope.core.message.ContentBlock;
import io.agentscope.core.message.Msg;
import io.agentscope.core.message.Source;
import io.agentscope.core.message.ToolUseBlock;
import io.agentscope.core.model.ChatUsage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import recount.conformance.MessageInputs;
import recount.conformance.RecordedFile;
import recount.conformance.agentscope.Codec;
import recount.conformance.agentscope.CommonScenarios;
import recount.conformance.agentscope.CommonValues;
import recount.conformance.agentscope.EnvelopeStage;
import recount.conformance.agentscope.Stage;

/** AgentScope Java 1.0.9, whose only events are envelopes around messages. */
final class AgentScope1 extends Codec {

  private static final Map<String, Class<?>> KINDS = new LinkedHashMap<>();

  static {
    KINDS.put("message", Msg.class);
    KINDS.put("block", ContentBlock.class);
    KINDS.put("source", Source.class);
    KINDS.put("usage", ChatUsage.class);
    KINDS.put("event1", Event.class);
    KINDS.put("tool-use-class", ToolUseBlock.class);
    KINDS.put("messages", Msg[].class);
    KINDS.put("blocks", ContentBlock[].class);
    KINDS.put("sources", Source[].class);
  }

  @Override
  public String version() {
    return "1.0.9";
  }

  @Override
  public Map<String, Class<?>> kinds() {
    return KINDS;
  }

  @Override
  public List<RecordedFile> record() {
    List<RecordedFile> files = new ArrayList<>(valueFiles(CommonValues.all()));
    files.add(acceptFile(MessageInputs.all()));
    files.add(new RecordedFile("stream.jsonl", stage(StreamOptions.defaults()).play(CommonScenarios.all())));
    files.add(new RecordedFile("stream-cumulative.jsonl", cumulativeStreams()));
    return files;
  }

  /** Streams with cumulative chunks, which the envelopes do not mark as such. */
  private List<ObjectNode> cumulativeStreams() {
    StreamOptions options = StreamOptions.builder().eventTypes(EventType.ALL).incremental(false).build();
    Set<String> some = Set.of("text-deltas", "thinking-text", "call-fragments", "calls-interleaved", "result-chunks");
    return stage(options)
        .play(CommonScenarios.all().stream().filter(scenario -> some.contains(scenario.name())).toList());
  }

  private Stage stage(StreamOptions options) {
    return new EnvelopeStage(this, options, agent -> agent.getMemory().getMessages());
  }
}
