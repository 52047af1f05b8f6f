package recount.conformance;

import java.util.List;
import java.util.Map;

/** One published version of AgentScope for Java, as far as this kit needs it. */
public interface Library {

  /** The version that is on the class path, as its artifact calls it. */
  String version();

  /** What a kind of text is read as. */
  Map<String, Class<?>> kinds();

  /**
   * Reads with the library's own mapper.
   *
   * @throws RuntimeException whatever the library throws, unwrapped by {@link Answer}
   */
  Object read(String text, Class<?> type);

  /** Writes with the library's own mapper. */
  String write(Object value);

  /** Everything that is written down about this version, one entry for each file. */
  List<RecordedFile> record();
}
