package dev.holdfast.cli;

import dev.holdfast.process.Child;
import dev.holdfast.process.ChildListener;
import dev.holdfast.process.ChildSpec;
import dev.holdfast.process.Ended;
import dev.holdfast.process.EnvironmentAllowList;
import dev.holdfast.process.Ladder;
import dev.holdfast.process.Marker;
import dev.holdfast.process.OutputLine;
import dev.holdfast.process.SpawnFailed;
import dev.holdfast.process.Spawner;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Short runs of programs to see whether they work. One at a time. */
final class ToolTry implements AutoCloseable {
    private static final long SECONDS = 20;
    private static final int LINE_MAX = 4_096;

    /**
     * How a run ended.
     *
     * @param words its first line, or why there was no end
     */
    record Outcome(boolean worked, String words) {}

    private final Path directory;
    private final Spawner spawner;
    private long tries;

    /** @param directory where programs run, and where it is noted what runs */
    ToolTry(Path directory) {
        this.directory = directory;
        this.spawner = Spawner.open(directory.resolve("tries"));
    }

    /** Whether children are ended with this process even when it is killed. */
    boolean bindsChildren() {
        return spawner.canBindToHost();
    }

    /** Runs a program to its end, for so long at most, with what HS-09 lets through of that environment. */
    Outcome run(Map<String, String> environment, String... command) {
        var lines = new ArrayList<String>();
        var end = new CompletableFuture<Ended>();
        var marker = new Marker("doctor-" + directory.getFileName(), "doctor", 0, ++tries);
        var allowed = EnvironmentAllowList.standard().from(environment);
        try {
            var spec =
                    ChildSpec.of(List.of(command), directory, allowed, marker).withLineLimit(LINE_MAX);
            Child child = spawner.spawn(spec, new Ear(lines, end));
            child.closeInput();
            Optional<Ended> how = Waiting.on(
                    end.thenApply(Optional::of).completeOnTimeout(Optional.empty(), SECONDS, TimeUnit.SECONDS));
            if (how.isEmpty()) {
                Waiting.on(child.stop(Ladder.urgent()));
                return new Outcome(false, "it did not end within " + SECONDS + " s");
            }
            int code = how.get().exitCode();
            String complaint =
                    how.get().stderrTail().strip().lines().findFirst().orElse("it ended with " + code);
            return new Outcome(code == 0, lines.isEmpty() ? complaint : lines.getFirst());
        } catch (SpawnFailed e) {
            return new Outcome(false, String.valueOf(e.getMessage()));
        }
    }

    private record Ear(List<String> lines, CompletableFuture<Ended> end) implements ChildListener {
        @Override
        public void line(OutputLine line) {
            if (lines.isEmpty()) {
                lines.add(line.text());
            }
        }

        @Override
        public void skippedLine(long bytes, SkipReason reason) {}

        @Override
        public void ended(Ended how) {
            end.complete(how);
        }
    }

    @Override
    public void close() {
        spawner.close();
    }
}
