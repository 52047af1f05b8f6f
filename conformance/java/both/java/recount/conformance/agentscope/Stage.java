package recount.conformance.agentscope;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import io.agentscope.core.ReActAgent;
import io.agentscope.core.message.Msg;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import recount.conformance.Answer;
import recount.conformance.Json;
import recount.conformance.Library;
import recount.conformance.Stabiliser;

/**
 * Runs scenarios and records the results: every event as the library's mapper writes it when it arrives, the reply of
 * each turn, and the agent's memory at the end.
 */
public abstract class Stage {

  /** After this time without an event, a stream counts as endless. */
  private static final Duration SILENCE = Duration.ofSeconds(4);

  private final Library library;

  protected Stage(Library library) {
    this.library = library;
  }

  /** Returns the events of one turn. */
  protected abstract Flux<?> perform(ReActAgent agent, List<Msg> input, Class<?> structure);

  /** Returns the reply in an event, or null. */
  protected abstract Msg resultOf(Object event);

  /** Returns the reply to a turn whose events contain none, or null. */
  protected Msg resultAfter() {
    return null;
  }

  /** Returns the agent's memory. */
  protected abstract List<Msg> memoryOf(ReActAgent agent);

  /** Returns the lines of all scenarios. */
  public final List<ObjectNode> play(List<Scenario> scenarios) {
    return scenarios.stream().map(this::play).toList();
  }

  private ObjectNode play(Scenario scenario) {
    ReActAgent agent = scenario.build();
    Stabiliser stabiliser = new Stabiliser();
    Function<Object, RawValue> raw = value -> new RawValue(stabiliser.apply(library.write(value)));
    ObjectNode line = Json.object();
    line.put("case", scenario.name());
    line.put("note", scenario.note());
    ArrayNode events = line.putArray("events");
    ArrayNode turns = line.putArray("turns");
    Msg last = null;
    for (Scenario.Turn each : scenario.turns()) {
      List<Msg> input = scenario.nextInput(each);
      ObjectNode turn = turns.addObject();
      ArrayNode said = turn.putArray("input");
      input.forEach(message -> said.addRawValue(raw.apply(message)));
      Performance performance = perform(agent, input, scenario);
      performance.events.forEach(text -> events.addRawValue(new RawValue(stabiliser.apply(text))));
      turn.put("events", performance.events.size());
      turn.put("error", performance.error == null ? null : stabiliser.apply(performance.error));
      putRaw(turn, "result", performance.result, raw);
      last = performance.result;
      scenario.answered(last);
    }
    putRaw(line, "final", last, raw);
    ArrayNode context = line.putArray("context");
    memoryOf(agent).forEach(message -> context.addRawValue(raw.apply(message)));
    return line;
  }

  private static void putRaw(ObjectNode node, String key, Msg value, Function<Object, RawValue> raw) {
    if (value == null) {
      node.putNull(key);
    } else {
      node.putRawValue(key, raw.apply(value));
    }
  }

  private Performance perform(ReActAgent agent, List<Msg> input, Scenario scenario) {
    Performance performance = new Performance();
    try {
      perform(agent, input, scenario.structure())
          .doOnNext(
              event -> {
                // Written immediately, because an event can contain objects that change later.
                String text = library.write(event);
                performance.events.add(text);
                scenario.sees(text);
                Msg result = resultOf(event);
                performance.result = result == null ? performance.result : result;
              })
          .timeout(SILENCE, Flux.error(() -> new IllegalStateException("the stream neither goes on nor ends")))
          .blockLast();
      performance.result = performance.result == null ? resultAfter() : performance.result;
    } catch (RuntimeException thrown) {
      performance.error = thrown.getClass().getSimpleName() + ": " + Answer.firstLine(thrown);
    }
    return performance;
  }

  private static final class Performance {
    private final List<String> events = Collections.synchronizedList(new ArrayList<>());
    private Msg result;
    private String error;
  }
}
