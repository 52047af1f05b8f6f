package recount.conformance.v2;

import io.agentscope.core.message.ToolResultBlock;
import io.agentscope.core.permission.PermissionContextState;
import io.agentscope.core.permission.PermissionDecision;
import io.agentscope.core.tool.ToolBase;
import io.agentscope.core.tool.ToolCallParam;
import java.util.Map;
import reactor.core.publisher.Mono;
import recount.conformance.agentscope.Tools;

/** A tool that requires the user's approval. */
final class AskingTool extends ToolBase {

  private final PermissionDecision decision;

  AskingTool(String name) {
    this(name, PermissionDecision.ask("may " + name + " run?"));
  }

  /** A tool that returns another permission. */
  AskingTool(String name, PermissionDecision decision) {
    super(ToolBase.builder().name(name).description("The tool " + name).inputSchema(Tools.parameters()));
    this.decision = decision;
  }

  @Override
  public Mono<PermissionDecision> checkPermissions(Map<String, Object> input, PermissionContextState context) {
    return Mono.just(decision);
  }

  /** The rules of this kit contain a city. */
  @Override
  public boolean matchRule(String ruleContent, Map<String, Object> input) {
    return ruleContent == null || ruleContent.equals(input.get("city"));
  }

  @Override
  public Mono<ToolResultBlock> callAsync(ToolCallParam call) {
    return Mono.fromCallable(() -> ToolResultBlock.text(getName() + " ran with " + call.getInput()));
  }
}
