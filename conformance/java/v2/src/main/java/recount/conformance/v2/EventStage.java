package recount.conformance.v2;

import io.agentscope.core.ReActAgent;
import io.agentscope.core.agent.RuntimeContext;
import io.agentscope.core.event.AgentEvent;
import io.agentscope.core.event.AgentResultEvent;
import io.agentscope.core.message.Msg;
import java.util.List;
import reactor.core.publisher.Flux;
import recount.conformance.Library;
import recount.conformance.agentscope.Stage;

/** Runs scenarios with {@code streamEvents}. */
final class EventStage extends Stage {

  private final RuntimeContext context;

  EventStage(Library library) {
    this(library, null);
  }

  /** A stage on which every turn belongs to a session. */
  EventStage(Library library, RuntimeContext context) {
    super(library);
    this.context = context;
  }

  @Override
  protected Flux<AgentEvent> perform(ReActAgent agent, List<Msg> input, Class<?> structure) {
    return context == null ? agent.streamEvents(input) : agent.streamEvents(input, context);
  }

  @Override
  protected Msg resultOf(Object event) {
    return event instanceof AgentResultEvent end ? end.getResult() : null;
  }

  @Override
  protected List<Msg> memoryOf(ReActAgent agent) {
    return (context == null ? agent.getAgentState() : agent.getAgentState(context)).getContext();
  }
}
