package recount.conformance;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.TimeZone;
import java.util.function.Supplier;

/** The commands of each version's program. */
public final class CommandLine {

  private static final String USAGE =
      """
      usage: echo                      answer the JSON lines of standard input
             record FOLDER             write down what the library does, below FOLDER
             record --check FOLDER     do it again and compare; 1 if anything differs""";

  private CommandLine() {}

  /** Runs a command and exits the process, because the library keeps threads running. */
  public static void run(String[] arguments, Supplier<Library> library) throws IOException {
    // Output of the library must not be mixed with the results.
    PrintStream answers =
        new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
    PrintStream report =
        new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
    System.setOut(report);
    // Neither may appear in a recording.
    TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
    Locale.setDefault(Locale.ROOT);

    boolean held = run(List.of(arguments), library, answers, report);
    answers.flush();
    System.exit(held ? 0 : 1);
  }

  private static boolean run(
      List<String> arguments, Supplier<Library> library, PrintStream answers, PrintStream report)
      throws IOException {
    if (arguments.equals(List.of("echo"))) {
      InputStreamReader input = new InputStreamReader(System.in, StandardCharsets.UTF_8);
      return new Echo(library.get(), answers, report).run(new BufferedReader(input));
    }
    boolean checks = arguments.size() == 3 && arguments.get(1).equals("--check");
    if ((checks || arguments.size() == 2) && arguments.get(0).equals("record")) {
      Path folder = Path.of(arguments.get(arguments.size() - 1));
      Recorder recorder = new Recorder(folder, library.get().record(), answers);
      return checks ? recorder.check() : recorder.write();
    }
    report.println(USAGE);
    return false;
  }
}
