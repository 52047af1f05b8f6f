package recount.conformance.v2;

import static recount.conformance.agentscope.Steps.call;
import static recount.conformance.agentscope.Steps.modelCall;
import static recount.conformance.agentscope.Steps.says;
import static recount.conformance.agentscope.Steps.text;
import static recount.conformance.agentscope.Steps.usage;

import io.agentscope.core.ReActAgent;
import io.agentscope.core.event.AgentEvent;
import io.agentscope.core.event.AgentEventType;
import io.agentscope.core.event.AgentResultEvent;
import io.agentscope.core.event.ConfirmResult;
import io.agentscope.core.event.RequireUserConfirmEvent;
import io.agentscope.core.event.UserConfirmResultEvent;
import io.agentscope.core.message.Msg;
import io.agentscope.core.message.MsgRole;
import java.io.IOException;
import java.io.PrintStream;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import recount.conformance.agentscope.Scenario;

/** Both ends of a conversation over the service: an agent of this library, and a reader that replies to it. */
final class Forwarding {

  private Forwarding() {}

  /** A real agent whose tool asks for approval. Its stream goes to the service, which returns the decision. */
  static void forward(ServiceSession session, PrintStream report) throws IOException, InterruptedException {
    ReActAgent agent =
        new Scenario("forward", "a tool asks, somebody answers by way of the service")
            .model(modelCall(text("I will."), call("call_1", "erase", "{\"city\":\"Rome\"}"), usage()), says("So be it."))
            .tools(new AskingTool("erase"))
            .build();
    session.create();
    String start = turn(session, agent, Msg.builder().role(MsgRole.USER).name("user").textContent("erase it").build());
    List<ConfirmResult> decided = awaitDecision(session, start);
    report.println("decided: " + decided.stream().map(ConfirmResult::isConfirmed).toList());
    turn(
        session,
        agent,
        Msg.builder()
            .role(MsgRole.USER)
            .name("user")
            .metadata(Map.of(Msg.METADATA_CONFIRM_RESULTS, decided))
            .build());
  }

  /** Reads the session with this library's parser, approves the request, and reads to the end. */
  static void answer(ServiceSession session, PrintStream report) throws IOException, InterruptedException {
    Iterator<AgentEvent> events = session.follow("start");
    String text = "";
    while (events.hasNext()) {
      AgentEvent event = events.next();
      report.println(event.getType());
      if (event instanceof RequireUserConfirmEvent asked) {
        List<ConfirmResult> results =
            asked.getToolCalls().stream().map(each -> new ConfirmResult(true, each)).toList();
        session.post(List.of(new UserConfirmResultEvent(asked.getReplyId(), results)));
      }
      if (event instanceof AgentResultEvent end) {
        text = end.getResult().getTextContent();
      }
      if (event.getType() == AgentEventType.AGENT_END) {
        break;
      }
    }
    report.println("text: " + text);
  }

  /** Runs one invocation of the agent. Returns the cursor after it. */
  private static String turn(ServiceSession session, ReActAgent agent, Msg input) {
    return agent
        .streamEvents(List.of(input))
        .map(
            event -> {
              try {
                return session.post(List.of(event));
              } catch (IOException | InterruptedException trouble) {
                throw new IllegalStateException(trouble);
              }
            })
        .blockLast();
  }

  private static List<ConfirmResult> awaitDecision(ServiceSession session, String after)
      throws IOException, InterruptedException {
    Iterator<AgentEvent> events = session.follow(after);
    while (events.hasNext()) {
      if (events.next() instanceof UserConfirmResultEvent decided) {
        return decided.getConfirmResults();
      }
    }
    throw new IOException("the stream ended before anybody decided");
  }
}
