package recount.conformance;

import java.util.List;
import java.util.Map;

/** One published version of AgentScope Java. */
public interface Library {

  /** Returns the version on the class path, as named by its artifact. */
  String version();

  /** Returns the class that a kind of text is parsed as. */
  Map<String, Class<?>> kinds();

  /**
   * Parses with the library's mapper.
   *
   * @throws RuntimeException any exception of the library, unwrapped by {@link Answer}
   */
  Object read(String text, Class<?> type);

  /** Writes with the library's mapper. */
  String write(Object value);

  /** Returns all recordings of this version, one entry for each file. */
  List<RecordedFile> record();
}
