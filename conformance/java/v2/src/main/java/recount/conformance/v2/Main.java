package recount.conformance.v2;

import java.io.IOException;
import recount.conformance.CommandLine;

/** The program for AgentScope Java 2.0.0. */
public final class Main {

  private Main() {}

  public static void main(String[] arguments) throws IOException, InterruptedException {
    if (arguments.length == 3 && arguments[0].equals("forward")) {
      Forwarding.forward(new ServiceSession(arguments[1], arguments[2]), System.out);
      System.exit(0);
    }
    if (arguments.length == 3 && arguments[0].equals("answer")) {
      Forwarding.answer(new ServiceSession(arguments[1], arguments[2]), System.out);
      System.exit(0);
    }
    CommandLine.run(arguments, AgentScope2::new);
  }
}
