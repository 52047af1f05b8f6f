package recount.conformance.agentscope;

import io.agentscope.core.message.ToolResultBlock;
import io.agentscope.core.tool.AgentTool;
import io.agentscope.core.tool.ToolCallParam;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/** The tools of the scripted agents. */
public final class Tools {

  private Tools() {}

  /** The parameters of every tool: one optional text. */
  public static Map<String, Object> parameters() {
    Map<String, Object> parameters = new LinkedHashMap<>();
    parameters.put("type", "object");
    parameters.put("properties", Map.of("city", Map.of("type", "string")));
    parameters.put("required", List.of());
    return parameters;
  }

  public static AgentTool tool(String name, Function<ToolCallParam, ToolResultBlock> body) {
    return asyncTool(name, call -> Mono.fromCallable(() -> body.apply(call)));
  }

  public static AgentTool asyncTool(String name, Function<ToolCallParam, Mono<ToolResultBlock>> body) {
    return new AgentTool() {
      @Override
      public String getName() {
        return name;
      }

      @Override
      public String getDescription() {
        return "The tool " + name;
      }

      @Override
      public Map<String, Object> getParameters() {
        return parameters();
      }

      @Override
      public Mono<ToolResultBlock> callAsync(ToolCallParam call) {
        return body.apply(call);
      }
    };
  }

  /** Returns that the weather is sunny for any place. */
  public static AgentTool weather() {
    return tool("weather", call -> ToolResultBlock.text("Sunny in " + call.getInput().get("city")));
  }

  public static AgentTool failing() {
    return tool(
        "failing",
        call -> {
          throw new IllegalStateException("the station is closed");
        });
  }

  /** Emits two chunks and returns something else. */
  public static AgentTool chunking(String name) {
    return tool(
        name,
        call -> {
          call.getEmitter().emit(ToolResultBlock.text(name + " begins"));
          call.getEmitter().emit(ToolResultBlock.text(name + " goes on"));
          return ToolResultBlock.text(name + " is done");
        });
  }
}
