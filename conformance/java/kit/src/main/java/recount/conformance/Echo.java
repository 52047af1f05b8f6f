package recount.conformance;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;

/** Checks JSON lines with the library and writes one result for each. */
final class Echo {

  /** The maximum number of failures that are printed. */
  private static final int SHOWN = 20;

  private final Library library;
  private final PrintStream answers;
  private final PrintStream report;
  private int passed;
  private int failed;

  Echo(Library library, PrintStream answers, PrintStream report) {
    this.library = library;
    this.answers = answers;
    this.report = report;
  }

  /** Processes every line and returns whether all expectations hold. */
  boolean run(BufferedReader questions) throws IOException {
    int number = 0;
    for (String line = questions.readLine(); line != null; line = questions.readLine()) {
      number++;
      if (line.isBlank()) {
        continue;
      }
      String wrong = answer(line);
      if (wrong == null) {
        passed++;
        continue;
      }
      failed++;
      if (failed <= SHOWN) {
        report.println("line " + number + ": " + wrong);
        report.println("  " + (line.length() <= 400 ? line : line.substring(0, 400) + "…"));
      }
    }
    if (failed > SHOWN) {
      report.println("and " + (failed - SHOWN) + " more");
    }
    report.println("AgentScope Java " + library.version() + ": " + passed + " passed, " + failed + " failed");
    return failed == 0;
  }

  /** Prints the result for a line. Returns the failure, or null. */
  private String answer(String line) {
    JsonNode question;
    try {
      question = Json.parse(line);
    } catch (IllegalArgumentException thrown) {
      return "no JSON: " + thrown.getMessage();
    }
    String kind = question.path("kind").asText();
    if (!library.kinds().containsKey(kind) || !question.path("text").isTextual()) {
      return "not a text of a kind that " + library.version() + " knows: " + library.kinds().keySet();
    }
    Answer answer = Answer.of(library, kind, question.get("text").textValue());
    answers.println(Json.text(asLine(question, kind, answer)));
    return wrong(question, answer);
  }

  private static ObjectNode asLine(JsonNode question, String kind, Answer answer) {
    ObjectNode line = Json.object();
    line.set("case", question.get("case"));
    line.put("kind", kind);
    line.put("accepted", answer.accepted());
    if (answer.error() == null) {
      line.put("text", answer.written());
      line.set("means", Json.tree(Meaning.of(answer.value())));
    } else {
      line.put("error", answer.error());
      line.put("message", answer.message());
    }
    return line;
  }

  private static String wrong(JsonNode question, Answer answer) {
    String must = question.path("must").asText("");
    String thrown = answer.error() + ": " + answer.message();
    if (must.equals("accept") && !answer.accepted()) {
      return "rejected: " + thrown;
    }
    if (must.equals("reject") && answer.accepted()) {
      return "accepted, but had to be rejected";
    }
    if (!question.path("same").isTextual()) {
      return null;
    }
    if (answer.written() == null) {
      return "not written again: " + thrown;
    }
    return Json.difference(Json.parse(question.get("same").textValue()), Json.parse(answer.written()), "");
  }
}
