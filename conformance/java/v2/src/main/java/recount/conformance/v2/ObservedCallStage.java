package recount.conformance.v2;

import io.agentscope.core.ReActAgent;
import io.agentscope.core.agent.Agent;
import io.agentscope.core.agent.RuntimeContext;
import io.agentscope.core.event.AgentEvent;
import io.agentscope.core.message.Msg;
import io.agentscope.core.middleware.AgentInput;
import io.agentscope.core.middleware.MiddlewareBase;
import java.util.List;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import recount.conformance.Library;
import recount.conformance.agentscope.Scenario;
import recount.conformance.agentscope.Stage;

/**
 * Runs scenarios with {@code call} and a class. Structured output has no event stream, so a middleware records the
 * events.
 */
final class ObservedCallStage extends Stage {

  private final Observer observer = new Observer();
  private Msg answer;

  ObservedCallStage(Library library) {
    super(library);
  }

  /** Registers the middleware. */
  Scenario observed(Scenario scenario) {
    return scenario.settings(builder -> builder.middleware(observer));
  }

  @Override
  protected Flux<AgentEvent> perform(ReActAgent agent, List<Msg> input, Class<?> structure) {
    return Flux.create(
        sink -> {
          observer.sink = sink;
          answer = null;
          agent.call(input, structure).subscribe(message -> answer = message, sink::error, sink::complete);
        });
  }

  @Override
  protected Msg resultOf(Object event) {
    return null;
  }

  /** The reply is returned by the call, not by an event. */
  @Override
  protected Msg resultAfter() {
    return answer;
  }

  @Override
  protected List<Msg> memoryOf(ReActAgent agent) {
    return agent.getAgentState().getContext();
  }

  private static final class Observer implements MiddlewareBase {

    private volatile FluxSink<AgentEvent> sink;

    @Override
    public Flux<AgentEvent> onAgent(
        Agent agent, RuntimeContext context, AgentInput input, Function<AgentInput, Flux<AgentEvent>> next) {
      return next.apply(input).doOnNext(event -> sink.next(event));
    }
  }
}
