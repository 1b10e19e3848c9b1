package dev.holdfast.process;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A JVM that holds one child and is killed in the middle of it. Arguments: the run directory, how the child is bound to
 * it ({@code unbound}, {@code bound}, {@code kernel-only}), and the child's shell script. Prints the child's pid, then
 * what the child prints.
 */
final class TestHost {

    private TestHost() {}

    public static void main(String[] arguments) throws IOException {
        Path run = Path.of(arguments[0]);
        Spawner spawner = arguments[1].equals("kernel-only")
                ? Spawner.open(
                        run, new HostTools(Optional.empty(), HostTools.find().setpriv()), false)
                : Spawner.open(run);
        ChildListener printing = new ChildListener() {
            @Override
            public void line(OutputLine line) {
                System.out.println(line.text());
            }

            @Override
            public void skippedLine(long bytes, SkipReason reason) {}

            @Override
            public void ended(Ended ended) {}
        };
        Child child = spawner.spawn(
                ChildSpec.of(
                                List.of("sh", "-c", arguments[2], "sh", run.toString()),
                                Path.of("/"),
                                Kit.ENVIRONMENT,
                                Kit.MARKER)
                        .withDieWithHost(!arguments[1].equals("unbound")),
                printing);
        System.out.println(child.pid());
        System.out.flush();
        while (System.in.read() >= 0) {
            // Waits to be killed, or for the end of the test.
        }
        spawner.close(Ladder.urgent());
    }
}
