package recount.conformance;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Writes recorded files, or compares them with the committed ones. */
final class Recorder {

  /** The maximum number of differences that are printed. */
  private static final int SHOWN = 20;

  private final Path folder;
  private final List<RecordedFile> files;
  private final PrintStream report;

  Recorder(Path folder, List<RecordedFile> files, PrintStream report) {
    this.folder = folder;
    this.files = files;
    this.report = report;
  }

  /** Writes all files. */
  boolean write() throws IOException {
    Files.createDirectories(folder);
    for (RecordedFile file : files) {
      Map<String, String> lines = byCase(file);
      Files.writeString(folder.resolve(file.name()), String.join("\n", lines.values()) + "\n");
      report.println(file.name() + ": " + lines.size() + " cases");
    }
    return true;
  }

  /** Compares all files with the committed ones and returns whether they are the same. */
  boolean check() throws IOException {
    List<String> differences = new ArrayList<>();
    for (RecordedFile file : files) {
      int before = differences.size();
      Map<String, String> recorded = byCase(file);
      compare(file.name(), committed(file.name()), recorded, differences);
      report.println(file.name() + ": " + recorded.size() + " cases, " + (differences.size() - before) + " differ");
    }
    differences.stream().limit(SHOWN).forEach(report::println);
    if (differences.size() > SHOWN) {
      report.println("and " + (differences.size() - SHOWN) + " more");
    }
    return differences.isEmpty();
  }

  private static Map<String, String> byCase(RecordedFile file) {
    Map<String, String> lines = new TreeMap<>();
    for (ObjectNode line : file.lines()) {
      String name = line.get("case").textValue();
      if (lines.put(name, Json.text(line)) != null) {
        throw new IllegalStateException("two cases of " + file.name() + " are called " + name);
      }
    }
    return lines;
  }

  private Map<String, String> committed(String name) throws IOException {
    Map<String, String> lines = new TreeMap<>();
    Path path = folder.resolve(name);
    if (Files.exists(path)) {
      // Not `lines()`, which also splits at a carriage return.
      for (String line : Files.readString(path, StandardCharsets.UTF_8).split("\n")) {
        lines.put(Json.parse(line).get("case").textValue(), line);
      }
    }
    return lines;
  }

  private static void compare(
      String file, Map<String, String> committed, Map<String, String> recorded, List<String> differences) {
    Set<String> names = new TreeSet<>(committed.keySet());
    names.addAll(recorded.keySet());
    for (String name : names) {
      String before = committed.get(name);
      String now = recorded.get(name);
      if (now == null) {
        differences.add(file + " " + name + "\n  is committed, but no longer recorded");
      } else if (before == null) {
        differences.add(file + " " + name + "\n  is recorded, but not committed");
      } else if (!before.equals(now)) {
        differences.add(file + " " + name + changedParts(Json.parse(before), Json.parse(now)));
      }
    }
  }

  private static String changedParts(JsonNode before, JsonNode now) {
    Set<String> keys = new LinkedHashSet<>();
    for (JsonNode line : Arrays.asList(before, now)) {
      for (Iterator<String> names = line.fieldNames(); names.hasNext(); ) {
        keys.add(names.next());
      }
    }
    StringBuilder parts = new StringBuilder();
    for (String key : keys) {
      String old = Json.text(before.path(key));
      String fresh = Json.text(now.path(key));
      if (!old.equals(fresh)) {
        parts.append("\n  ").append(key).append(" committed: ").append(around(old, fresh));
        parts.append("\n  ").append(key).append(" recorded:  ").append(around(fresh, old));
      }
    }
    return parts.isEmpty() ? "\n  only the spelling of the line differs" : parts.toString();
  }

  /** Returns the part of a long text where it begins to differ from the other. */
  private static String around(String text, String other) {
    int at = 0;
    while (at < Math.min(text.length(), other.length()) && text.charAt(at) == other.charAt(at)) {
      at++;
    }
    int start = Math.max(0, at - 60);
    int end = Math.min(text.length(), at + 120);
    return (start > 0 ? "…" : "") + text.substring(start, end) + (end < text.length() ? "…" : "");
  }
}
