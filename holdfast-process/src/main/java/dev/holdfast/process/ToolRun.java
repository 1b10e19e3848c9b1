package dev.holdfast.process;

import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Short runs of small system programs: no input, no output, empty environment, a deadline. */
final class ToolRun {

    private static final long SECONDS = 10;
    private static final File NOTHING = new File("/dev/null");

    private ToolRun() {}

    /** Whether the program ended with 0 in time; one that is too slow is ended. An interrupt is kept for the caller. */
    static boolean succeeds(List<String> command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectInput(ProcessBuilder.Redirect.from(NOTHING))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().clear();
        Process process = builder.start();
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    if (process.waitFor(SECONDS, TimeUnit.SECONDS)) {
                        return process.exitValue() == 0;
                    }
                    process.toHandle().destroyForcibly();
                    return false;
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
