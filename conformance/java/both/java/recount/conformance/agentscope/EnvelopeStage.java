package recount.conformance.agentscope;

import io.agentscope.core.ReActAgent;
import io.agentscope.core.agent.Event;
import io.agentscope.core.agent.EventType;
import io.agentscope.core.agent.StreamOptions;
import io.agentscope.core.message.Msg;
import java.util.List;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import recount.conformance.Library;

/** Runs scenarios with {@code stream}, whose events are envelopes around messages. */
public final class EnvelopeStage extends Stage {

  private final StreamOptions options;
  private final Function<ReActAgent, List<Msg>> memory;

  public EnvelopeStage(Library library, StreamOptions options, Function<ReActAgent, List<Msg>> memory) {
    super(library);
    this.options = options;
    this.memory = memory;
  }

  @Override
  protected Flux<?> perform(ReActAgent agent, List<Msg> input, Class<?> structure) {
    return structure == null ? agent.stream(input, options) : agent.stream(input, options, structure);
  }

  @Override
  protected Msg resultOf(Object event) {
    Event envelope = (Event) event;
    return envelope.getType() == EventType.AGENT_RESULT ? envelope.getMessage() : null;
  }

  @Override
  protected List<Msg> memoryOf(ReActAgent agent) {
    return memory.apply(agent);
  }
}
