package recount.conformance.agentscope;

import io.agentscope.core.message.Msg;
import io.agentscope.core.model.ChatResponse;
import io.agentscope.core.model.GenerateOptions;
import io.agentscope.core.model.Model;
import io.agentscope.core.model.ToolSchema;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.scheduler.Schedulers;

/** A model that runs a script: each call uses the next list of steps. */
public class ScriptedModel implements Model {

  /** A step of a model call: a chunk arrives, something else happens (null), or the call fails. */
  public interface Step {

    /**
     * Runs the step.
     *
     * @param responseId the provider's id of the response
     */
    ChatResponse play(String responseId) throws Exception;
  }

  private final Queue<List<Step>> calls;
  private int called;

  public ScriptedModel(List<List<Step>> calls) {
    this.calls = new ArrayDeque<>(calls);
  }

  @Override
  public Flux<ChatResponse> stream(List<Msg> messages, List<ToolSchema> tools, GenerateOptions options) {
    return Flux.<ChatResponse>create(this::play)
        // Providers also use a thread other than the agent's.
        .subscribeOn(Schedulers.boundedElastic());
  }

  private void play(FluxSink<ChatResponse> sink) {
    List<Step> steps = calls.poll();
    if (steps == null) {
      sink.error(new IllegalStateException("the script has no more model calls"));
      return;
    }
    String responseId = "resp-" + ++called;
    try {
      for (Step step : steps) {
        ChatResponse chunk = step.play(responseId);
        if (chunk != null) {
          sink.next(chunk);
        }
      }
      sink.complete();
    } catch (Exception thrown) {
      sink.error(thrown);
    }
  }

  @Override
  public String getModelName() {
    return "scripted";
  }
}
