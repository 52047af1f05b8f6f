package recount.conformance.v2;

import static recount.conformance.agentscope.Steps.call;
import static recount.conformance.agentscope.Steps.fragment;
import static recount.conformance.agentscope.Steps.modelCall;
import static recount.conformance.agentscope.Steps.says;
import static recount.conformance.agentscope.Steps.text;
import static recount.conformance.agentscope.Steps.usage;

import io.agentscope.core.ReActAgent;
import java.util.List;
import recount.conformance.agentscope.Scenario;
import recount.conformance.agentscope.ScriptedModel;
import recount.conformance.agentscope.Tools;

/** Scenarios in which the caller requests structured output of a class. */
final class StructuredScenarios {

  private static final String TOOL = ReActAgent.STRUCTURED_OUTPUT_TOOL_NAME;
  private static final String REPORT = "{\"city\":\"Rome\",\"degrees\":25}";

  private StructuredScenarios() {}

  /** The requested class. */
  public static final class Report {
    public String city;
    public int degrees;
  }

  /** A model that returns structured output without the help of a tool. */
  private static final class NativeModel extends ScriptedModel {
    NativeModel(List<List<Step>> calls) {
      super(calls);
    }

    @Override
    public boolean supportsNativeStructuredOutput() {
      return true;
    }

    @Override
    public boolean supportsNativeStructuredOutputWithTools() {
      return true;
    }
  }

  static List<Scenario> all() {
    return List.of(
        wanted("structured-tool", "the model calls the tool that takes the answer")
            .model(modelCall(call("call_1", TOOL, "{\"response\":" + REPORT + "}"), usage())),
        wanted("structured-tool-bare", "the arguments of that tool are the answer itself")
            .model(modelCall(call("call_1", TOOL, REPORT), usage()), says("unused")),
        wanted("structured-fragments", "the answer comes in pieces")
            .model(
                modelCall(
                    text("Let me see. "),
                    call("call_1", TOOL),
                    fragment("{\"response\":{\"city\":\"Rome\","),
                    fragment("\"degrees\":25}}"),
                    usage())),
        wanted("structured-after-tool", "another tool first")
            .model(
                modelCall(call("call_1", "weather", "{\"city\":\"Rome\"}"), usage()),
                modelCall(call("call_2", TOOL, "{\"response\":" + REPORT + "}"), usage()))
            .tools(Tools.weather()),
        wanted("structured-text-first", "the model answers with text before it calls the tool")
            .model(
                says("It is sunny."), modelCall(call("call_1", TOOL, "{\"response\":" + REPORT + "}"), usage())),
        wanted("structured-wrong", "the first answer does not fit")
            .model(
                modelCall(call("call_1", TOOL, "{\"response\":{\"degrees\":\"hot\"}}"), usage()),
                modelCall(call("call_2", TOOL, "{\"response\":" + REPORT + "}"), usage())),
        wanted("structured-native", "the model gives structured answers itself")
            .modelClass(NativeModel::new)
            .model(modelCall(text("{\"city\":\"Rome\","), text("\"degrees\":25}"), usage())));
  }

  private static Scenario wanted(String name, String note) {
    return new Scenario(name, note).structured(Report.class).says("weather?");
  }
}
