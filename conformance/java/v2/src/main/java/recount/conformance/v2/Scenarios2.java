package recount.conformance.v2;

import static recount.conformance.agentscope.CommonValues.PNG;
import static recount.conformance.agentscope.CommonValues.map;
import static recount.conformance.agentscope.Steps.call;
import static recount.conformance.agentscope.Steps.chunk;
import static recount.conformance.agentscope.Steps.modelCall;
import static recount.conformance.agentscope.Steps.says;
import static recount.conformance.agentscope.Steps.text;
import static recount.conformance.agentscope.Steps.usage;

import io.agentscope.core.ReActAgent;
import io.agentscope.core.agent.Agent;
import io.agentscope.core.agent.RuntimeContext;
import io.agentscope.core.event.AgentEvent;
import io.agentscope.core.event.AgentEventEmitter;
import io.agentscope.core.event.ConfirmResult;
import io.agentscope.core.event.CustomEvent;
import io.agentscope.core.event.RequestStopEvent;
import io.agentscope.core.message.DataBlock;
import io.agentscope.core.message.Msg;
import io.agentscope.core.message.MsgRole;
import io.agentscope.core.message.ToolResultBlock;
import io.agentscope.core.message.ToolResultState;
import io.agentscope.core.message.ToolUseBlock;
import io.agentscope.core.middleware.ActingInput;
import io.agentscope.core.middleware.AgentInput;
import io.agentscope.core.middleware.MiddlewareBase;
import io.agentscope.core.model.ChatResponse;
import io.agentscope.core.model.ChatUsage;
import io.agentscope.core.model.ToolSchema;
import io.agentscope.core.permission.PermissionBehavior;
import io.agentscope.core.permission.PermissionContextState;
import io.agentscope.core.permission.PermissionDecision;
import io.agentscope.core.permission.PermissionRule;
import io.agentscope.core.tool.Tool;
import io.agentscope.core.tool.ToolParam;
import io.agentscope.core.tool.subagent.SubAgentConfig;
import io.agentscope.core.util.JsonUtils;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import recount.conformance.agentscope.CommonValues;
import recount.conformance.agentscope.Scenario;
import recount.conformance.agentscope.ScriptedModel;
import recount.conformance.agentscope.Tools;

/** The scenarios for agents of 2.0.0 only. */
final class Scenarios2 {

  private static final String ROME = "{\"city\":\"Rome\"}";
  private static final String OSLO = "{\"city\":\"Oslo\"}";

  private final List<Scenario> scenarios = new ArrayList<>();

  private Scenarios2() {}

  static List<Scenario> all() {
    Scenarios2 all = new Scenarios2();
    all.data();
    all.confirmations();
    all.severalConfirmations();
    all.rules();
    all.recovery();
    all.middlewares();
    all.subAgents();
    return all.scenarios;
  }

  static List<Scenario> inSession() {
    return List.of(
        new Scenario("session", "a session and a user are given").model(says("hi")).says("hello"),
        new Scenario("session-two-turns", "two turns in a given session")
            .model(says("one"), says("two"))
            .says("first")
            .says("second"));
  }

  private Scenario add(String name, String note) {
    Scenario scenario = new Scenario(name, note);
    scenarios.add(scenario);
    return scenario;
  }

  /** A tool as most programs define it. */
  public static final class AnnotatedTools {

    @Tool(name = "add", description = "Adds two numbers")
    public int add(@ToolParam(name = "a") int a, @ToolParam(name = "b") int b) {
      return a + b;
    }

    @Tool(name = "locate", description = "Says where a city is")
    public Map<String, Object> locate(@ToolParam(name = "city") String city) {
      return map("city", city, "latitude", 41.9);
    }
  }

  private void data() {
    DataBlock pixel = DataBlock.builder().source(PNG).id("data-1").name("pixel.png").build();
    add("data-answer", "the model answers with a data block beside text")
        .model(modelCall(text("look"), chunk(pixel), usage()))
        .says("draw");
    add("result-data", "the tool returns text and a data block, with metadata")
        .model(modelCall(call("call_1", "camera", "{}"), usage()), says("I see."))
        .tools(
            Tools.tool(
                "camera",
                call -> ToolResultBlock.of(List.of(CommonValues.text("here"), pixel), Map.of("cost", 1))))
        .says("go");
    add("result-state", "the tool returns a result that says it is an error")
        .model(modelCall(call("call_1", "broken", "{}"), usage()), says("I see."))
        .tools(Tools.tool("broken", call -> ToolResultBlock.text("no").withState(ToolResultState.ERROR)))
        .says("go");
    add("result-of-annotated-methods", "tools that are methods and return values")
        .model(
            modelCall(call("call_1", "add", "{\"a\":1,\"b\":2}"), call("call_2", "locate", ROME), usage()),
            modelCall(call("call_3", "add", "{\"a\":\"one\"}"), usage()),
            says("I see."))
        .toolkit(toolkit -> toolkit.registerTool(new AnnotatedTools()))
        .says("go");
    ScriptedModel.Step cached =
        response ->
            ChatResponse.builder().id(response).content(List.of()).usage(new ChatUsage(20, 5, 15, 0.25)).build();
    add("usage-cached", "usage with cached tokens, and again in a later chunk")
        .model(modelCall(usage(), text("hi"), cached))
        .says("hello");
    add("custom-from-tool", "a tool emits an event of its own")
        .model(modelCall(call("call_1", "search", "{}"), usage()), says("Found."))
        .tools(
            Tools.asyncTool(
                "search",
                call ->
                    Mono.deferContextual(
                        context -> {
                          AgentEventEmitter.fromContext(context)
                              .orElseThrow()
                              .emit(new CustomEvent("progress", map("done", 1, "of", 2)));
                          return Mono.just(ToolResultBlock.text("a result"));
                        })))
        .says("go");
  }

  /** The user's decisions about calls, in the metadata of a message without content, as the library requires. */
  private static Msg decisions(Scenario scenario, List<ConfirmResult> results) {
    return scenario
        .input(MsgRole.USER, "user")
        .metadata(map(Msg.METADATA_CONFIRM_RESULTS, results))
        .build();
  }

  private static Scenario.Turn decides(Function<List<ToolUseBlock>, List<ConfirmResult>> decide) {
    return scenario ->
        List.of(decisions(scenario, decide.apply(scenario.lastResult().getContentBlocks(ToolUseBlock.class))));
  }

  private Scenario asksOnce(String name, String note) {
    return add(name, note)
        .model(modelCall(text("I will."), call("call_1", "erase", ROME), usage()), says("So be it."))
        .tools(new AskingTool("erase"))
        .says("erase it");
  }

  private void confirmations() {
    asksOnce("confirm-yes", "the tool asks, the user agrees")
        .turn(decides(calls -> List.of(new ConfirmResult(true, calls.get(0)))));
    asksOnce("confirm-no", "the tool asks, the user refuses")
        .turn(decides(calls -> List.of(new ConfirmResult(false, calls.get(0)))));
    asksOnce("confirm-edited", "the user agrees, but with other arguments")
        .turn(
            decides(
                calls ->
                    List.of(
                        new ConfirmResult(
                            true,
                            ToolUseBlock.builder()
                                .id("call_1")
                                .name("erase")
                                .input(Map.of("city", "Oslo"))
                                .content(OSLO)
                                .build()))));
    PermissionRule rule = new PermissionRule("erase", null, PermissionBehavior.ALLOW, "session");
    add("confirm-with-rule", "the user agrees once and for all, and the tool is called again")
        .model(
            modelCall(call("call_1", "erase", ROME), usage()),
            modelCall(call("call_2", "erase", OSLO), usage()),
            says("Both erased."))
        .tools(new AskingTool("erase", PermissionDecision.passthrough("let the rules say")))
        .settings(
            builder ->
                builder.permissionContext(
                    PermissionContextState.builder()
                        .addAskRule("erase", new PermissionRule("erase", "Rome", PermissionBehavior.ASK, "user"))
                        .build()))
        .says("erase them")
        .turn(decides(calls -> List.of(new ConfirmResult(true, calls.get(0), List.of(rule)))));
    asksOnce("confirm-missing", "the user says something else instead").says("what was that?");
    asksOnce("confirm-unknown-call", "the user decides about a call that was never asked")
        .turn(
            decides(
                calls ->
                    List.of(new ConfirmResult(true, ToolUseBlock.builder().id("call_9").name("erase").build()))));
    asksOnce("confirm-through-json", "the decision has been JSON in between")
        .turn(
            scenario -> {
              ToolUseBlock call = scenario.lastResult().getFirstContentBlock(ToolUseBlock.class);
              Msg decided = decisions(scenario, List.of(new ConfirmResult(true, call)));
              String json = JsonUtils.getJsonCodec().toJson(decided);
              return List.of(JsonUtils.getJsonCodec().fromJson(json, Msg.class));
            });
    asksOnce("confirm-then-turn", "the user agrees and speaks again afterwards")
        .model(says("You are welcome."))
        .turn(decides(calls -> List.of(new ConfirmResult(true, calls.get(0)))))
        .says("thanks");
  }

  private Scenario asksTwice(String name, String note) {
    return add(name, note)
        .model(
            modelCall(call("call_1", "erase", ROME), call("call_2", "erase", OSLO), usage()), says("So be it."))
        .tools(new AskingTool("erase"))
        .says("erase them");
  }

  private void severalConfirmations() {
    asksTwice("confirm-two-yes", "two calls ask, the user agrees to both")
        .turn(
            decides(calls -> List.of(new ConfirmResult(true, calls.get(0)), new ConfirmResult(true, calls.get(1)))));
    asksTwice("confirm-one-of-two", "two calls ask, the user agrees to one and refuses the other")
        .turn(
            decides(calls -> List.of(new ConfirmResult(true, calls.get(0)), new ConfirmResult(false, calls.get(1)))));
    asksTwice("confirm-one-after-the-other", "two calls ask, the user decides about one, then about the other")
        .turn(decides(calls -> List.of(new ConfirmResult(true, calls.get(0)))))
        .turn(
            scenario ->
                List.of(
                    decisions(
                        scenario,
                        List.of(
                            new ConfirmResult(
                                true,
                                ToolUseBlock.builder()
                                    .id("call_2")
                                    .name("erase")
                                    .input(Map.of("city", "Oslo"))
                                    .content(OSLO)
                                    .build())))));
    asksTwice("confirm-two-no-stop", "the user refuses both, and the agent is told to stop then")
        .settings(builder -> builder.stopOnReject(true))
        .turn(
            decides(
                calls -> List.of(new ConfirmResult(false, calls.get(0)), new ConfirmResult(false, calls.get(1)))));
    asksTwice("confirm-two-no", "two calls ask, the user refuses both")
        .turn(
            decides(
                calls -> List.of(new ConfirmResult(false, calls.get(0)), new ConfirmResult(false, calls.get(1)))));
    add("confirm-beside-free", "one call asks, one does not need to")
        .model(
            modelCall(call("call_1", "weather", ROME), call("call_2", "erase", OSLO), usage()), says("So be it."))
        .tools(Tools.weather(), new AskingTool("erase"))
        .says("go")
        .turn(
            decides(
                calls ->
                    calls.stream().map(asked -> new ConfirmResult(true, asked)).toList()));
  }

  private void rules() {
    PermissionContextState denied =
        PermissionContextState.builder()
            .addDenyRule("erase", new PermissionRule("erase", null, PermissionBehavior.DENY, "user"))
            .build();
    add("rule-denies", "a rule denies the only call")
        .model(modelCall(call("call_1", "erase", ROME), usage()), says("Not allowed."))
        .tools(new AskingTool("erase"))
        .settings(builder -> builder.permissionContext(denied))
        .says("erase it");
    add("rule-denies-one", "a rule denies one of two calls")
        .model(
            modelCall(call("call_1", "erase", ROME), call("call_2", "weather", OSLO), usage()), says("Half done."))
        .tools(new AskingTool("erase"), Tools.weather())
        .settings(builder -> builder.permissionContext(denied))
        .says("go");
    add("tool-denies", "the tool itself says no")
        .model(modelCall(call("call_1", "erase", ROME), usage()), says("Not allowed."))
        .tools(new AskingTool("erase", PermissionDecision.deny("never")))
        .says("erase it");
    add("rule-denies-beside-asking", "a rule denies one call while another asks")
        .model(
            modelCall(call("call_1", "erase", ROME), call("call_2", "send", OSLO), usage()), says("Half done."))
        .tools(new AskingTool("erase"), new AskingTool("send"))
        .settings(builder -> builder.permissionContext(denied))
        .says("go")
        .turn(decides(calls -> calls.stream().map(asked -> new ConfirmResult(true, asked)).toList()));
    add("stop-on-reject", "the agent is told to stop when all is denied")
        .model(modelCall(call("call_1", "erase", ROME), usage()), says("Not allowed."))
        .tools(new AskingTool("erase"))
        .settings(builder -> builder.permissionContext(denied).stopOnReject(true))
        .says("erase it");
  }

  private void recovery() {
    ToolSchema door =
        ToolSchema.builder().name("door").description("Opens the door").parameters(Tools.parameters()).build();
    add("external-recovered", "the caller brings no result, and the agent is told to go on")
        .model(modelCall(call("call_1", "door", "{}"), usage()), says("Never mind."))
        .toolkit(toolkit -> toolkit.registerSchema(door))
        .settings(builder -> builder.enablePendingToolRecovery(true))
        .says("open")
        .says("well?");
    add("external-failed", "the caller brings a result that failed")
        .model(modelCall(call("call_1", "door", "{}"), usage()), says("Oh."))
        .toolkit(toolkit -> toolkit.registerSchema(door))
        .says("open")
        .turn(
            scenario ->
                List.of(
                    scenario
                        .input(MsgRole.TOOL, "caller")
                        .content(
                            ToolResultBlock.text("stuck")
                                .withIdAndName("call_1", "door")
                                .withState(ToolResultState.ERROR))
                        .build()));
  }

  /** Requests the agent to stop after its tools have run. */
  private static final class StopAfterActing implements MiddlewareBase {
    @Override
    public Flux<AgentEvent> onActing(
        Agent agent, RuntimeContext context, ActingInput input, Function<ActingInput, Flux<AgentEvent>> next) {
      return next.apply(input).concatWith(Mono.just(new RequestStopEvent("enough for today")));
    }
  }

  /** Adds an event before those of the model call. */
  private static final class Announcing implements MiddlewareBase {
    @Override
    public Flux<AgentEvent> onAgent(
        Agent agent,
        RuntimeContext context,
        AgentInput input,
        Function<AgentInput, Flux<AgentEvent>> next) {
      return Flux.concat(Flux.just(new CustomEvent("announcement", map("by", "middleware"))), next.apply(input));
    }
  }

  private void middlewares() {
    add("stop-requested", "a middleware asks to stop after acting")
        .model(modelCall(call("call_1", "weather", ROME), usage()), says("Not reached."))
        .tools(Tools.weather())
        .settings(builder -> builder.middleware(new StopAfterActing()))
        .says("weather?");
    add("custom-from-middleware", "a middleware adds an event of its own")
        .model(says("hi"))
        .settings(builder -> builder.middleware(new Announcing()))
        .says("hello");
  }

  private void subAgents() {
    for (boolean forward : new boolean[] {true, false}) {
      add(
              forward ? "subagent-forwarded" : "subagent-silent",
              "an agent is a tool of another; its events are " + (forward ? "forwarded" : "kept back"))
          .model(
              modelCall(call("call_1", "ask_researcher", "{\"message\":\"find it\"}"), usage()), says("Here it is."))
          .toolkit(
              toolkit ->
                  toolkit
                      .registration()
                      .subAgent(
                          Scenarios2::researcher,
                          SubAgentConfig.builder().toolName("ask_researcher").forwardEvents(forward).build())
                      .apply())
          .says("research");
    }
  }

  private static ReActAgent researcher() {
    return ReActAgent.builder()
        .name("Researcher")
        .sysPrompt("You are a researcher.")
        .model(new ScriptedModel(List.of(modelCall(text("It is "), text("here."), usage()))))
        .build();
  }
}
