package recount.conformance.agentscope;

import static recount.conformance.agentscope.CommonValues.PNG;
import static recount.conformance.agentscope.Steps.FRAGMENT;
import static recount.conformance.agentscope.Steps.call;
import static recount.conformance.agentscope.Steps.chunk;
import static recount.conformance.agentscope.Steps.chunkOf;
import static recount.conformance.agentscope.Steps.fails;
import static recount.conformance.agentscope.Steps.fragment;
import static recount.conformance.agentscope.Steps.meanwhile;
import static recount.conformance.agentscope.Steps.modelCall;
import static recount.conformance.agentscope.Steps.says;
import static recount.conformance.agentscope.Steps.text;
import static recount.conformance.agentscope.Steps.thinking;
import static recount.conformance.agentscope.Steps.toolUse;
import static recount.conformance.agentscope.Steps.usage;
import static recount.conformance.agentscope.Steps.wholeCall;

import io.agentscope.core.message.ImageBlock;
import io.agentscope.core.message.Msg;
import io.agentscope.core.message.MsgRole;
import io.agentscope.core.message.TextBlock;
import io.agentscope.core.message.ThinkingBlock;
import io.agentscope.core.message.ToolResultBlock;
import io.agentscope.core.model.ToolSchema;
import io.agentscope.core.tool.AgentTool;
import io.agentscope.core.tool.ToolSuspendException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Exchanger;
import java.util.concurrent.TimeUnit;

/** The scenarios for agents of both versions. */
public final class CommonScenarios {

  private static final String ROME = "{\"city\":\"Rome\"}";
  private static final String OSLO = "{\"city\":\"Oslo\"}";

  private final List<Scenario> scenarios = new ArrayList<>();

  private CommonScenarios() {}

  /** Returns new instances of all scenarios, because each can be run only once. */
  public static List<Scenario> all() {
    CommonScenarios all = new CommonScenarios();
    all.texts();
    all.thoughts();
    all.calls();
    all.severalCalls();
    all.results();
    all.suspended();
    all.troubles();
    all.interruptions();
    return all.scenarios;
  }

  private Scenario add(String name, String note) {
    Scenario scenario = new Scenario(name, note);
    scenarios.add(scenario);
    return scenario;
  }

  private void texts() {
    add("text-deltas", "text in three pieces, usage in a last empty chunk")
        .model(modelCall(text("Hel"), text("lo, "), text("world"), usage()))
        .says("hi");
    add("text-without-usage-and-id", "one piece, no usage, no id of the provider")
        .model(modelCall(chunkOf(null, CommonValues.text("Hello"))))
        .says("hi");
    add("text-two-in-a-chunk", "two text blocks in one chunk, an empty piece behind")
        .model(modelCall(chunk(CommonValues.text("a"), CommonValues.text("b")), text(""), usage()))
        .says("hi");
    add("text-changing-ids", "each chunk has another id of the provider")
        .model(
            modelCall(
                chunkOf("resp-a", CommonValues.text("one ")),
                chunkOf("resp-b", CommonValues.text("two ")),
                chunkOf("resp-c", CommonValues.text("three"))))
        .says("hi");
    add("text-odd", "a text with everything that needs escaping")
        .model(modelCall(text(CommonValues.ODD_TEXT), usage()))
        .says("hi");
    add("empty-no-chunk", "the model ends without any chunk").model(modelCall()).says("hi");
    add("empty-chunk", "the model sends one chunk with nothing in it").model(modelCall(usage())).says("hi");
    add("empty-text", "the model answers with an empty text").model(modelCall(text(""), usage())).says("hi");
    add("two-turns", "the user speaks twice in one session")
        .model(says("one"), says("two"))
        .says("first")
        .says("second");
  }

  private void thoughts() {
    add("thinking-text", "thinking in two pieces, then text")
        .model(modelCall(thinking("Let me "), thinking("see."), text("42"), usage()))
        .says("what?");
    add("text-thinking-text", "thinking between two texts")
        .model(modelCall(text("First"), thinking("hm"), text(", second"), usage()))
        .says("what?");
    add("thinking-text-thinking", "thinking again after the text")
        .model(modelCall(thinking("a"), text("x"), thinking("b"), text("y"), usage()))
        .says("what?");
    add("thinking-only", "thinking and no answer").model(modelCall(thinking("hm"), usage())).says("what?");
    add("thinking-signature", "thinking with metadata")
        .model(
            modelCall(
                chunk(ThinkingBlock.builder().thinking("hm").metadata(Map.of("signature", "c2ln")).build()),
                text("42"),
                usage()))
        .says("what?");
    add("image-answer", "the model answers with an image beside text")
        .model(modelCall(text("look"), chunk(new ImageBlock(PNG)), usage()))
        .says("draw");
  }

  private void calls() {
    add("call-fragments", "a call begins with its id and name; its arguments follow in nameless pieces")
        .model(
            modelCall(
                text("Let me see. "),
                call("call_1", "weather"),
                fragment("{\"city\":"),
                fragment("\"Rome\"}"),
                usage()),
            says("It is sunny."))
        .tools(Tools.weather())
        .says("weather?");
    add("call-fragments-first-piece", "the first chunk of a call already has arguments")
        .model(
            modelCall(call("call_1", "weather", "{\"city\":"), fragment("\"Rome\"}"), usage()), says("Sunny."))
        .tools(Tools.weather())
        .says("weather?");
    add("call-fragments-with-id", "the pieces repeat the id, with the name of a fragment")
        .model(
            modelCall(
                call("call_1", "weather"),
                call("call_1", FRAGMENT, "{\"city\":"),
                call("call_1", FRAGMENT, "\"Rome\"}"),
                usage()),
            says("Sunny."))
        .tools(Tools.weather())
        .says("weather?");
    add("call-repeated-name", "the pieces repeat id and name")
        .model(
            modelCall(call("call_1", "weather", "{\"city\":"), call("call_1", "weather", "\"Rome\"}"), usage()),
            says("Sunny."))
        .tools(Tools.weather())
        .says("weather?");
    add("call-one-chunk", "a call with raw arguments in one chunk")
        .model(modelCall(call("call_1", "weather", ROME), usage()), says("Sunny."))
        .tools(Tools.weather())
        .says("weather?");
    add("call-whole", "a call with parsed arguments and no raw ones")
        .model(modelCall(wholeCall("call_1", "weather", Map.of("city", "Rome")), usage()), says("Sunny."))
        .tools(Tools.weather())
        .says("weather?");
    add("call-bad-arguments", "raw arguments that are no JSON")
        .model(modelCall(call("call_1", "weather", "{\"city\":"), usage()), says("Hm."))
        .tools(Tools.weather())
        .says("weather?");
    add("call-no-arguments", "a call without any arguments")
        .model(modelCall(call("call_1", "weather"), usage()), says("Sunny."))
        .tools(Tools.weather())
        .says("weather?");
    add("call-after-thinking-and-text", "thinking, text and a call; thinking again in the next model call")
        .model(
            modelCall(thinking("need it"), text("One moment."), call("call_1", "weather", ROME), usage()),
            modelCall(thinking("got it"), text("Sunny."), usage()))
        .tools(Tools.weather())
        .says("weather?");
    add("call-before-text", "text after a call in one model call")
        .model(
            modelCall(text("Wait"), call("call_1", "weather", ROME), text(" a bit"), usage()), says("Sunny."))
        .tools(Tools.weather())
        .says("weather?");
    add("call-without-id", "a call without an id")
        .model(modelCall(call(null, "weather", ROME), usage()), says("Sunny."))
        .tools(Tools.weather())
        .says("weather?");
    add("call-id-reused", "the next model call uses the same call id again")
        .model(
            modelCall(call("call_0", "weather", ROME), usage()),
            modelCall(call("call_0", "weather", OSLO), usage()),
            says("Both sunny."))
        .tools(Tools.weather())
        .says("weather?");
    add("call-id-reused-in-next-turn", "the next turn of the user uses the same call id again")
        .model(
            modelCall(call("call_0", "weather", ROME), usage()),
            says("Sunny."),
            modelCall(call("call_0", "weather", OSLO), usage()),
            says("Sunny too."))
        .tools(Tools.weather())
        .says("weather?")
        .says("and in Oslo?");
  }

  private void severalCalls() {
    add("calls-in-turn", "two calls in one model call, run one after the other")
        .model(
            modelCall(call("call_1", "weather", ROME), call("call_2", "weather", OSLO), usage()), says("Both sunny."))
        .tools(Tools.weather())
        .says("weather?");
    add("calls-parallel", "two calls in one model call, run at the same time")
        .model(
            modelCall(call("call_1", "weather", ROME), call("call_2", "weather", OSLO), usage()), says("Both sunny."))
        .tools(Tools.weather())
        .parallel()
        .says("weather?");
    add("calls-one-chunk", "two calls in one chunk")
        .model(
            modelCall(chunk(toolUse("call_1", "weather", ROME), toolUse("call_2", "weather", OSLO)), usage()),
            says("Both sunny."))
        .tools(Tools.weather())
        .says("weather?");
    add("calls-interleaved", "pieces of two calls take turns; each says its id and name")
        .model(
            modelCall(
                call("call_1", "weather", "{\"city\":"),
                call("call_2", "weather", "{\"city\":"),
                call("call_1", "weather", "\"Rome\"}"),
                call("call_2", "weather", "\"Oslo\"}"),
                usage()),
            says("Both sunny."))
        .tools(Tools.weather())
        .says("weather?");
    add("calls-interleaved-fragments", "pieces of two calls take turns; each says its id only")
        .model(
            modelCall(
                call("call_1", "weather"),
                call("call_2", "weather"),
                call("call_1", FRAGMENT, ROME),
                call("call_2", FRAGMENT, OSLO),
                usage()),
            says("Both sunny."))
        .tools(Tools.weather())
        .says("weather?");
    add("calls-nameless-fragments", "two calls, one after the other, each followed by nameless pieces")
        .model(
            modelCall(
                call("call_1", "weather"),
                fragment("{\"city\":"),
                fragment("\"Rome\"}"),
                call("call_2", "weather"),
                fragment(OSLO),
                usage()),
            says("Both sunny."))
        .tools(Tools.weather())
        .says("weather?");
    add("three-rounds", "three model calls, two of them with a tool")
        .model(
            modelCall(text("First Rome. "), call("call_1", "weather", ROME), usage()),
            modelCall(text("Now Oslo. "), call("call_2", "weather", OSLO), usage()),
            says("Both sunny."))
        .tools(Tools.weather())
        .says("weather?");
  }

  private void results() {
    result("result-throws", "the tool throws", "failing", Tools.failing());
    result("result-unknown-tool", "there is no such tool", "nonsense", Tools.weather());
    result(
        "result-error",
        "the tool returns an error block",
        "broken",
        Tools.tool("broken", call -> ToolResultBlock.error("no such city")));
    result(
        "result-error-mark",
        "the tool returns a text that begins like the library's errors",
        "broken",
        Tools.tool("broken", call -> ToolResultBlock.text("[ERROR] no such city")));
    result(
        "result-empty",
        "the tool returns an empty text",
        "quiet",
        Tools.tool("quiet", call -> ToolResultBlock.text("")));
    result(
        "result-nothing",
        "the tool returns no block at all",
        "quiet",
        Tools.tool("quiet", call -> ToolResultBlock.of(List.of())));
    result(
        "result-texts",
        "the tool returns two texts and metadata",
        "twice",
        Tools.tool(
            "twice",
            call ->
                ToolResultBlock.of(List.of(CommonValues.text("a"), CommonValues.text("b")), Map.of("cost", 1))));
    result(
        "result-image",
        "the tool returns text and an image",
        "camera",
        Tools.tool(
            "camera", call -> ToolResultBlock.of(List.of(CommonValues.text("here"), new ImageBlock(PNG)))));
    result("result-chunks", "the tool emits two chunks and returns something else", "slow", Tools.chunking("slow"));
    add("result-chunks-in-turn", "two tools that emit chunks, one after the other")
        .model(modelCall(call("call_1", "slow", "{}"), call("call_2", "late", "{}"), usage()), says("Done."))
        .tools(Tools.chunking("slow"), Tools.chunking("late"))
        .says("go");
    Exchanger<String> meeting = new Exchanger<>();
    add("result-chunks-parallel", "two tools that emit chunks in turn while both run")
        .model(modelCall(call("call_1", "left", "{}"), call("call_2", "right", "{}"), usage()), says("Done."))
        .tools(alternating("left", true, meeting), alternating("right", false, meeting))
        .parallel()
        .says("go");
  }

  private void result(String name, String note, String toolName, AgentTool tool) {
    add(name, note)
        .model(modelCall(call("call_1", toolName, ROME), usage()), says("I see."))
        .tools(tool)
        .says("go");
  }

  /** One of two concurrent tools that emit their chunks alternately. */
  private static AgentTool alternating(String name, boolean begins, Exchanger<String> meeting) {
    return Tools.tool(
        name,
        call -> {
          for (int turn = 0; turn < 4; turn++) {
            if ((turn % 2 == 0) == begins) {
              call.getEmitter().emit(ToolResultBlock.text(name + " " + turn));
            }
            meet(meeting);
          }
          return ToolResultBlock.text(name + " is done");
        });
  }

  private static void meet(Exchanger<String> meeting) {
    try {
      meeting.exchange("", 10, TimeUnit.SECONDS);
    } catch (Exception thrown) {
      throw new IllegalStateException("the tools do not run at the same time", thrown);
    }
  }

  private void suspended() {
    ToolSchema door =
        ToolSchema.builder().name("door").description("Opens the door").parameters(Tools.parameters()).build();
    add("external", "a tool that only the caller can run; the caller brings its result")
        .model(modelCall(text("I open it."), call("call_1", "door", "{}"), usage()), says("It is open."))
        .toolkit(toolkit -> toolkit.registerSchema(door))
        .says("open")
        .turn(scenario -> List.of(toolResult(scenario, "call_1", "door", "opened")));
    add("external-missing", "the caller brings no result")
        .model(modelCall(call("call_1", "door", "{}"), usage()), says("It is open."))
        .toolkit(toolkit -> toolkit.registerSchema(door))
        .says("open")
        .says("well?");
    add("external-beside-own", "one call for the caller and one that the agent runs")
        .model(modelCall(call("call_1", "weather", ROME), call("call_2", "door", "{}"), usage()), says("Done."))
        .toolkit(toolkit -> toolkit.registerSchema(door))
        .tools(Tools.weather())
        .says("open")
        .turn(scenario -> List.of(toolResult(scenario, "call_2", "door", "opened")));
    add("suspended", "a tool suspends itself and says why; the caller brings its result")
        .model(modelCall(call("call_1", "approval", "{}"), usage()), says("Approved."))
        .tools(
            Tools.tool(
                "approval",
                call -> {
                  throw new ToolSuspendException("a person has to approve");
                }))
        .says("go")
        .turn(scenario -> List.of(toolResult(scenario, "call_1", "approval", "yes")));
  }

  private static Msg toolResult(Scenario scenario, String id, String name, String text) {
    return scenario
        .input(MsgRole.TOOL, null)
        .content(ToolResultBlock.of(id, name, TextBlock.builder().text(text).build()))
        .build();
  }

  private void troubles() {
    add("error-at-once", "the model fails before its first chunk")
        .model(modelCall(fails("the provider says 400")))
        .says("hi");
    Scenario inText = add("error-midway", "the model fails after some text");
    inText.model(modelCall(text("Hel"), inText.afterSeeing("Hel"), fails("the connection is gone"))).says("hi");
    Scenario inThinking = add("error-in-thinking", "the model fails while it thinks");
    inThinking
        .model(modelCall(thinking("Hmm"), inThinking.afterSeeing("Hmm"), fails("the connection is gone")))
        .says("hi");
    Scenario inCall = add("error-in-call", "the model fails in the arguments of a call");
    inCall
        .model(
            modelCall(
                call("call_1", "weather", "{\"ci"), inCall.afterSeeing("\\\"ci"), fails("the connection is gone")))
        .tools(Tools.weather())
        .says("weather?");
    add("error-after-tool", "the second model call fails")
        .model(modelCall(call("call_1", "weather", ROME), usage()), modelCall(fails("the connection is gone")))
        .tools(Tools.weather())
        .says("weather?");
    Scenario andOn = add("error-then-turn", "after an error the user speaks again");
    andOn
        .model(
            modelCall(text("Hel"), andOn.afterSeeing("Hel"), fails("the connection is gone")), says("Here I am."))
        .says("hi")
        .says("still there?");
    add("max-iterations", "two rounds are allowed and both call a tool; a summary ends it")
        .model(
            modelCall(call("call_1", "weather", ROME), usage()),
            modelCall(call("call_2", "weather", OSLO), usage()),
            says("So far: sunny."))
        .tools(Tools.weather())
        .settings(builder -> builder.maxIters(2))
        .says("weather?");
    add("max-iterations-summary-fails", "the summary fails")
        .model(modelCall(call("call_1", "weather", ROME), usage()), modelCall(fails("the connection is gone")))
        .tools(Tools.weather())
        .settings(builder -> builder.maxIters(1))
        .says("weather?");
  }

  private void interruptions() {
    Scenario inText = add("interrupt-text", "interrupted while text streams");
    inText
        .model(
            modelCall(
                text("Hel"), inText.afterSeeing("Hel"), meanwhile(inText::interrupt), text("lo"), usage()))
        .says("hi");
    Scenario byMessage = add("interrupt-message", "interrupted by a message of the user while text streams");
    byMessage
        .model(
            modelCall(
                text("Hel"),
                byMessage.afterSeeing("Hel"),
                meanwhile(() -> byMessage.interrupt("stop it")),
                text("lo"),
                usage()))
        .says("hi");
    Scenario inThinking = add("interrupt-thinking", "interrupted while the model thinks");
    inThinking
        .model(
            modelCall(
                thinking("Hmm"),
                inThinking.afterSeeing("Hmm"),
                meanwhile(inThinking::interrupt),
                text("lo"),
                usage()))
        .says("hi");
    Scenario inCall = add("interrupt-call", "interrupted in the arguments of a call");
    inCall
        .model(
            modelCall(
                call("call_1", "weather", "{\"ci"),
                inCall.afterSeeing("\\\"ci"),
                meanwhile(inCall::interrupt),
                fragment("ty\""),
                usage()))
        .tools(Tools.weather())
        .says("weather?");
    Scenario inTool = add("interrupt-tool", "interrupted while a tool runs");
    inTool
        .model(modelCall(text("Let me see."), call("call_1", "slow", "{}"), usage()), says("Not reached."))
        .tools(
            Tools.tool(
                "slow",
                call -> {
                  inTool.interrupt();
                  return ToolResultBlock.text("done all the same");
                }))
        .says("go");
    Scenario andOn = add("interrupt-then-turn", "interrupted, then the user speaks again");
    andOn
        .model(
            modelCall(text("Hel"), andOn.afterSeeing("Hel"), meanwhile(andOn::interrupt), text("lo"), usage()),
            says("Here I am."))
        .says("hi")
        .says("go on");
  }
}
