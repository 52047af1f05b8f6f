package recount.conformance.agentscope;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.agentscope.core.util.JsonUtils;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import recount.conformance.Library;
import recount.conformance.Questions;
import recount.conformance.RecordedFile;
import recount.conformance.TextCase;

/** The code shared by both versions: access to the library's mapper, and the files for values and texts. */
public abstract class Codec implements Library {

  @Override
  public final Object read(String text, Class<?> type) {
    return JsonUtils.getJsonCodec().fromJson(text, type);
  }

  @Override
  public final String write(Object value) {
    return JsonUtils.getJsonCodec().toJson(value);
  }

  /** Returns one file for each kind of value. */
  protected final List<RecordedFile> valueFiles(List<Value> values) {
    Questions questions = new Questions(this);
    Map<String, List<ObjectNode>> files = new LinkedHashMap<>();
    for (Value value : values) {
      files
          .computeIfAbsent(fileOf(value), name -> new ArrayList<>())
          .add(questions.about(value.name(), value.kind(), value.value()));
    }
    return files.entrySet().stream().map(file -> new RecordedFile(file.getKey(), file.getValue())).toList();
  }

  /** Lists of any kind share a file. */
  private static String fileOf(Value value) {
    return value.value() instanceof List ? "list.jsonl" : value.kind() + ".jsonl";
  }

  /** Returns the file of accepted and rejected texts. Texts of kinds that this version does not have are omitted. */
  protected final RecordedFile acceptFile(List<TextCase> cases) {
    Questions questions = new Questions(this);
    return new RecordedFile(
        "accept.jsonl",
        cases.stream().filter(each -> kinds().containsKey(each.kind())).map(questions::about).toList());
  }
}
