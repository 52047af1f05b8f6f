package recount.conformance.v1;

import java.io.IOException;
import recount.conformance.CommandLine;

/** The program for AgentScope Java 1.0.9. */
public final class Main {

  private Main() {}

  public static void main(String[] arguments) throws IOException {
    CommandLine.run(arguments, AgentScope1::new);
  }
}
