package recount.conformance;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Replaces random and time-dependent values of the library, so that recordings are reproducible. A replacement has the
 * same form, and equal values stay equal:
 *
 * <ul>
 *   <li>ids are numbered in the order of their first occurrence, with or without dashes,
 *   <li>the id of a call without one, which the library derives from the clock (twice, so that the two can differ by a
 *       millisecond), is always the same,
 *   <li>the time of an event is incremented for each event, always with nine digits (the clock can produce fewer),
 *   <li>the time of a message is derived from its id: two messages created in the same millisecond would otherwise be
 *       numbered differently in each run.
 * </ul>
 * <p>One instance must be used for all texts that belong together, for example those of a scenario.
 */
public final class Stabiliser {

  /** The time of a message in cases that set it. It is not replaced. */
  public static final String FIXED_TIMESTAMP = "2026-08-22 10:30:00.123";

  /**
   * The times of events in such cases: with nine fractional digits, six, three and none, as the library writes them.
   */
  public static final List<String> FIXED_INSTANTS =
      List.of(
          "2026-08-22T02:30:00.123456789Z",
          "2026-08-22T02:30:00.123456Z",
          "2026-08-22T02:30:00.123Z",
          "2026-08-22T02:30:00Z");

  private static final Pattern ID =
      Pattern.compile("\\b[0-9a-f]{8}(-?)[0-9a-f]{4}\\1[0-9a-f]{4}\\1[0-9a-f]{4}\\1[0-9a-f]{12}\\b");
  private static final Pattern CALL_BY_CLOCK = Pattern.compile("\\btool_call_\\d{13}\\b");
  private static final Pattern INSTANT =
      Pattern.compile("\\b\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?Z");
  private static final Pattern TIMESTAMP = Pattern.compile("\\b\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d{3}\\b");

  private final Map<String, Integer> ids = new HashMap<>();
  private final Map<String, Integer> messages = new HashMap<>();
  private final Set<String> kept = new HashSet<>();
  private int instants;

  public Stabiliser() {
    kept.add(FIXED_TIMESTAMP);
    kept.addAll(FIXED_INSTANTS);
  }

  /** Excludes values that already occur in a text, because the library did not generate them. */
  public Stabiliser keepingWhatIsIn(String text) {
    for (Pattern pattern : new Pattern[] {ID, INSTANT, TIMESTAMP}) {
      pattern.matcher(text).results().map(MatchResult::group).forEach(kept::add);
    }
    return this;
  }

  /** Returns the text with all replacements. */
  public String apply(String text) {
    String stable = replace(ID, text, this::id);
    stable = replace(CALL_BY_CLOCK, stable, found -> "tool_call_0000000000000");
    stable = replace(INSTANT, stable, found -> String.format("2026-01-01T00:00:00.%09dZ", ++instants));
    return timestamps(stable);
  }

  private interface Replacement {
    String of(MatchResult found);
  }

  private String replace(Pattern pattern, String text, Replacement replacement) {
    return pattern
        .matcher(text)
        .replaceAll(
            found -> kept.contains(found.group()) ? Matcher.quoteReplacement(found.group()) : replacement.of(found));
  }

  private String id(MatchResult found) {
    int number = ids.computeIfAbsent(found.group().replace("-", ""), key -> ids.size() + 1);
    String dash = found.group(1);
    // The version and variant digits of a random UUID.
    return String.join(dash, "00000000", "0000", "4000", "8000", String.format("%012x", number));
  }

  /** Replaces timestamps, based on the id of the message that contains them. */
  private String timestamps(String text) {
    if (!TIMESTAMP.matcher(text).find()) {
      return text;
    }
    StringBuilder stable = new StringBuilder();
    int copied = 0;
    Deque<String> owners = new ArrayDeque<>();
    try (JsonParser parser = new JsonFactory().createParser(text)) {
      for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
        switch (token) {
          case START_OBJECT -> owners.push("");
          case END_OBJECT -> owners.pop();
          case VALUE_STRING -> {
            if (owners.isEmpty()) {
              continue;
            }
            if ("id".equals(parser.currentName())) {
              owners.pop();
              owners.push(parser.getText());
            }
            String owner = owners.peek();
            // Read to the end, so that the location is after the text.
            parser.finishToken();
            int start = (int) parser.currentTokenLocation().getCharOffset();
            int end = (int) parser.currentLocation().getCharOffset();
            stable.append(text, copied, start);
            stable.append(replace(TIMESTAMP, text.substring(start, end), found -> timestamp(owner)));
            copied = end;
          }
          default -> {}
        }
      }
    } catch (IOException thrown) {
      throw new UncheckedIOException(thrown);
    }
    return stable.append(text.substring(copied)).toString();
  }

  private String timestamp(String owner) {
    int number = messages.computeIfAbsent(owner, key -> messages.size() + 1);
    return String.format("2026-01-01 00:00:00.%03d", number);
  }
}
