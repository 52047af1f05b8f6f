package recount.conformance;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;

/**
 * The library's result for a text.
 *
 * @param accepted whether the library parsed it
 * @param value the parsed value, or null
 * @param written the JSON written for that value, or null
 * @param error the simple name of the exception on reading or writing, or null
 * @param message the first line of the exception's message, or null
 */
public record Answer(boolean accepted, Object value, String written, String error, String message) {

  private static final ObjectMapper PLAIN_MAPPER = new ObjectMapper();

  /** Parses a text of a known kind with the library and writes it again. */
  public static Answer of(Library library, String kind, String text) {
    boolean accepted = false;
    Object value = null;
    try {
      value = library.read(text, library.kinds().get(kind));
      accepted = true;
      // Encoded as it would be sent: half of a surrogate pair, which Java allows, becomes a question mark in UTF-8.
      String written = new String(library.write(value).getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
      return new Answer(true, value, written, null, null);
    } catch (RuntimeException | StackOverflowError thrown) {
      Throwable cause = thrown;
      // The codec wraps Jackson's exceptions, which contain the actual cause.
      while (cause.getCause() instanceof JsonProcessingException) {
        cause = cause.getCause();
      }
      return new Answer(accepted, value, null, cause.getClass().getSimpleName(), firstLine(cause));
    }
  }

  /**
   * Returns whether a mapper without configuration accepts the text. The documentation's examples use such a mapper.
   */
  public static boolean plainMapperReads(Library library, String kind, String text) {
    try {
      PLAIN_MAPPER.readValue(text, library.kinds().get(kind));
      return true;
    } catch (JsonProcessingException | StackOverflowError thrown) {
      return false;
    }
  }

  /** Returns the first line of a message. The following lines contain text positions. */
  public static String firstLine(Throwable thrown) {
    String message = thrown.getMessage();
    if (thrown instanceof JsonProcessingException json) {
      message = json.getOriginalMessage();
    }
    return message == null ? null : message.lines().findFirst().orElse("");
  }
}
