package recount.conformance.agentscope;

import io.agentscope.core.ReActAgent;
import io.agentscope.core.message.Msg;
import io.agentscope.core.message.MsgRole;
import io.agentscope.core.model.ExecutionConfig;
import io.agentscope.core.tool.AgentTool;
import io.agentscope.core.tool.Toolkit;
import io.agentscope.core.tool.ToolkitConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import recount.conformance.Stabiliser;
import recount.conformance.agentscope.ScriptedModel.Step;

/** A real agent with a scripted model and scripted user messages. */
public final class Scenario {

  /** The timeout of every wait in a scenario. */
  static final Duration PATIENCE = Duration.ofSeconds(20);

  /**
   * The messages of a user's turn, which can depend on the agent's earlier replies.
   *
   * @see #lastResult
   */
  public interface Turn {
    List<Msg> input(Scenario scenario);
  }

  private final String name;
  private final String note;
  private final List<List<Step>> modelCalls = new ArrayList<>();
  private final List<Turn> turns = new ArrayList<>();
  private final List<Consumer<Toolkit>> registrations = new ArrayList<>();
  private Consumer<ReActAgent.Builder> settings = builder -> {};
  private Function<List<List<Step>>, ScriptedModel> model = ScriptedModel::new;
  private boolean parallel;
  private Class<?> structure;
  private final AtomicReference<ReActAgent> agent = new AtomicReference<>();
  private final List<String> seen = new ArrayList<>();
  private Msg lastResult;
  private int turnsTaken;

  public Scenario(String name, String note) {
    this.name = name;
    this.note = note;
  }

  /** Adds the next response of the model. */
  @SafeVarargs
  public final Scenario model(List<Step>... calls) {
    for (List<Step> call : calls) {
      modelCalls.add(call);
    }
    return this;
  }

  /** Uses another model than the plain scripted one. */
  public Scenario modelClass(Function<List<List<Step>>, ScriptedModel> constructor) {
    model = constructor;
    return this;
  }

  public Scenario tools(AgentTool... tools) {
    for (AgentTool tool : tools) {
      registrations.add(toolkit -> toolkit.registerAgentTool(tool));
    }
    return this;
  }

  public Scenario toolkit(Consumer<Toolkit> registration) {
    registrations.add(registration);
    return this;
  }

  /** Runs the tools of one round concurrently. */
  public Scenario parallel() {
    parallel = true;
    return this;
  }

  public Scenario settings(Consumer<ReActAgent.Builder> more) {
    settings = settings.andThen(more);
    return this;
  }

  public Scenario says(String text) {
    return turn(scenario -> List.of(scenario.userMessage(text)));
  }

  public Scenario turn(Turn turn) {
    turns.add(turn);
    return this;
  }

  /** Requests structured output of this class. */
  public Scenario structured(Class<?> type) {
    structure = type;
    return this;
  }

  /** Interrupts the agent. Used by script steps and tools. */
  public void interrupt() {
    agent.get().interrupt();
  }

  public void interrupt(String text) {
    agent.get().interrupt(userMessage(text));
  }

  /**
   * Waits until an event with this text has arrived, so that an error after a chunk cannot precede the chunk's events.
   */
  public Step afterSeeing(String text) {
    return response -> {
      synchronized (seen) {
        long until = System.nanoTime() + PATIENCE.toNanos();
        while (seen.stream().noneMatch(event -> event.contains(text))) {
          if (System.nanoTime() > until) {
            throw new IllegalStateException(name + ": no event says " + text);
          }
          seen.wait(100);
        }
      }
      return null;
    };
  }

  void sees(String event) {
    synchronized (seen) {
      seen.add(event);
      seen.notifyAll();
    }
  }

  /** A message of the user. Its id is the number of the turn, so that recordings contain no generated id. */
  public Msg userMessage(String text) {
    return input(MsgRole.USER, "user").textContent(text).build();
  }

  /** An incoming message without content. */
  public Msg.Builder input(MsgRole role, String from) {
    return Msg.builder()
        .id("input-" + turnsTaken)
        .name(from)
        .role(role)
        .timestamp(Stabiliser.FIXED_TIMESTAMP);
  }

  /** The agent with its script. */
  public ReActAgent build() {
    Toolkit toolkit = new Toolkit(ToolkitConfig.builder().parallel(parallel).build());
    registrations.forEach(registration -> registration.accept(toolkit));
    ReActAgent.Builder builder =
        ReActAgent.builder()
            .name("Friday")
            .sysPrompt("You are Friday.")
            .model(model.apply(modelCalls))
            // Failures in a script are intended, and 1.0.9 would retry.
            .modelExecutionConfig(ExecutionConfig.builder().maxAttempts(1).timeout(PATIENCE).build())
            .toolkit(toolkit);
    settings.accept(builder);
    agent.set(builder.build());
    return agent.get();
  }

  public String name() {
    return name;
  }

  public String note() {
    return note;
  }

  List<Turn> turns() {
    return turns;
  }

  Class<?> structure() {
    return structure;
  }

  /** Returns the agent's reply of the previous turn, or null. */
  public Msg lastResult() {
    return lastResult;
  }

  List<Msg> nextInput(Turn turn) {
    turnsTaken++;
    return turn.input(this);
  }

  void answered(Msg result) {
    lastResult = result;
  }
}
