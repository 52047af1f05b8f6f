package recount.conformance;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;

/**
 * What the library says to a text.
 *
 * @param accepted whether it read it
 * @param value what it read, or null
 * @param written what it writes for that value, or null
 * @param error the simple name of what was thrown on reading or on writing, or null
 * @param message the first line of what was thrown, or null
 */
public record Answer(boolean accepted, Object value, String written, String error, String message) {

  private static final ObjectMapper PLAIN_MAPPER = new ObjectMapper();

  /** Asks the library to read a text of a kind that it knows and to write it again. */
  public static Answer of(Library library, String kind, String text) {
    boolean accepted = false;
    Object value = null;
    try {
      value = library.read(text, library.kinds().get(kind));
      accepted = true;
      // As it would arrive: half of a surrogate pair, which Java can hold, becomes a question mark in UTF-8.
      String written = new String(library.write(value).getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
      return new Answer(true, value, written, null, null);
    } catch (RuntimeException | StackOverflowError thrown) {
      Throwable cause = thrown;
      // The codec wraps what Jackson throws, and only that says what was wrong.
      while (cause.getCause() instanceof JsonProcessingException) {
        cause = cause.getCause();
      }
      return new Answer(accepted, value, null, cause.getClass().getSimpleName(), firstLine(cause));
    }
  }

  /** Whether a mapper without any configuration takes the text, as the documentation's examples use one. */
  public static boolean plainMapperReads(Library library, String kind, String text) {
    try {
      PLAIN_MAPPER.readValue(text, library.kinds().get(kind));
      return true;
    } catch (JsonProcessingException | StackOverflowError thrown) {
      return false;
    }
  }

  /** The first line of a message: what follows are places in the text, which change with nothing. */
  public static String firstLine(Throwable thrown) {
    String message = thrown.getMessage();
    if (thrown instanceof JsonProcessingException json) {
      message = json.getOriginalMessage();
    }
    return message == null ? null : message.lines().findFirst().orElse("");
  }
}
