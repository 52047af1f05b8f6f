package recount.conformance.agentscope;

import io.agentscope.core.message.ContentBlock;
import io.agentscope.core.message.TextBlock;
import io.agentscope.core.message.ThinkingBlock;
import io.agentscope.core.message.ToolUseBlock;
import io.agentscope.core.model.ChatResponse;
import io.agentscope.core.model.ChatUsage;
import java.util.List;
import java.util.Map;
import recount.conformance.agentscope.ScriptedModel.Step;

/** The steps of scripts. */
public final class Steps {

  /** The tool name that the library's providers use for a chunk of arguments without a name. */
  public static final String FRAGMENT = "__fragment__";

  private Steps() {}

  /** One model call. */
  public static List<Step> modelCall(Step... steps) {
    return List.of(steps);
  }

  /** A model call that returns a text and its usage. */
  public static List<Step> says(String text) {
    return List.of(text(text), usage());
  }

  public static Step text(String text) {
    return chunk(TextBlock.builder().text(text).build());
  }

  public static Step thinking(String thinking) {
    return chunk(ThinkingBlock.builder().thinking(thinking).build());
  }

  /** The start of a call, without arguments. */
  public static Step call(String id, String name) {
    return call(id, name, "");
  }

  /** A call with raw arguments, or a chunk of them. */
  public static Step call(String id, String name, String arguments) {
    return chunk(toolUse(id, name, arguments));
  }

  /** A chunk of arguments without an id or a tool name. */
  public static Step fragment(String arguments) {
    return call("", FRAGMENT, arguments);
  }

  /** A call with parsed arguments and no raw ones. */
  public static Step wholeCall(String id, String name, Map<String, Object> input) {
    return chunk(ToolUseBlock.builder().id(id).name(name).input(input).build());
  }

  public static ToolUseBlock toolUse(String id, String name, String arguments) {
    return ToolUseBlock.builder().id(id).name(name).input(Map.of()).content(arguments).build();
  }

  /** The last chunk of most providers: usage without content. */
  public static Step usage() {
    return response ->
        ChatResponse.builder().id(response).content(List.of()).usage(new ChatUsage(20, 5, 0.25)).build();
  }

  public static Step chunk(ContentBlock... content) {
    return response -> ChatResponse.builder().id(response).content(List.of(content)).build();
  }

  /** A chunk with an id of its own. */
  public static Step chunkOf(String id, ContentBlock... content) {
    return response -> ChatResponse.builder().id(id).content(List.of(content)).build();
  }

  public static Step fails(String message) {
    return response -> {
      throw new IllegalStateException(message);
    };
  }

  /** An action between two chunks. */
  public static Step meanwhile(Runnable action) {
    return response -> {
      action.run();
      return null;
    };
  }
}
