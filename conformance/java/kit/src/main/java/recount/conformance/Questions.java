package recount.conformance;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;

/** Runs test inputs with the library and writes the results as lines. */
public final class Questions {

  /** The recorded properties of messages. The others are part of the JSON. */
  private static final List<String> MEANING_OF_MESSAGES =
      List.of("textContent", "generateReason", "hasStructuredData", "chatUsage");

  private final Library library;

  public Questions(Library library) {
    this.library = library;
  }

  /** Returns the line for a value created by the library: its JSON, and whether the library can parse it. */
  public ObjectNode about(String name, String kind, Object value) {
    return about(new TextCase(name, kind, new Stabiliser().apply(library.write(value))));
  }

  /** Returns the line for a text. */
  public ObjectNode about(TextCase question) {
    Answer answer = Answer.of(library, question.kind(), question.text());
    ObjectNode line = Json.object();
    line.put("case", question.name());
    line.put("kind", question.kind());
    line.put("text", question.text());
    line.put("accepted", answer.accepted());
    line.put("plain", Answer.plainMapperReads(library, question.kind(), question.text()));
    if (answer.error() != null) {
      line.put("error", answer.error());
      line.put("message", answer.message());
      return line;
    }
    line.put("class", answer.value() == null ? null : answer.value().getClass().getSimpleName());
    line.put("written", new Stabiliser().keepingWhatIsIn(question.text()).apply(answer.written()));
    if (question.kind().equals("message") && Meaning.of(answer.value()) instanceof Map<?, ?> meaning) {
      ObjectNode means = line.putObject("means");
      MEANING_OF_MESSAGES.forEach(key -> means.set(key, Json.tree(meaning.get(key))));
    }
    return line;
  }
}
