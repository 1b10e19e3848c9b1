package dev.holdfast.process;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * A JVM with little memory that holds one child. Arguments: the run directory and the child's shell script. Prints the
 * length of each line it hears and of each it left out; ends with its child.
 */
final class LongLineHost {

    private LongLineHost() {}

    public static void main(String[] arguments) throws InterruptedException {
        var gone = new CountDownLatch(1);
        ChildListener printing = new ChildListener() {
            @Override
            public void line(OutputLine line) {
                System.out.println("line " + line.bytes());
            }

            @Override
            public void skippedLine(long bytes, SkipReason reason) {
                System.out.println("skipped " + bytes + " " + reason);
            }

            @Override
            public void ended(Ended ended) {
                System.out.println("ended " + ended.exitCode() + " " + ended.stderrBytes());
            }

            @Override
            public void gone(Stopped stopped) {
                gone.countDown();
            }
        };
        try (Spawner spawner = Spawner.open(Path.of(arguments[0]))) {
            var unused = spawner.spawn(
                    ChildSpec.of(
                            List.of("sh", "-c", arguments[1]), Path.of("/"), Kit.ENVIRONMENT, Kit.marker("long lines")),
                    printing);
            gone.await();
        }
        System.out.flush();
    }
}
