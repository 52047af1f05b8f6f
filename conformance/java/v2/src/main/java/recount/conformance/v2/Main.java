package recount.conformance.v2;

import java.io.IOException;
import recount.conformance.CommandLine;

/** The program that asks AgentScope Java 2.0.0. */
public final class Main {

  private Main() {}

  public static void main(String[] arguments) throws IOException {
    CommandLine.run(arguments, AgentScope2::new);
  }
}
