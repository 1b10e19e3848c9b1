package dev.holdfast.claude;

import dev.holdfast.Launch;
import dev.holdfast.StopMode;
import dev.holdfast.process.Child;
import dev.holdfast.process.ChildListener;
import dev.holdfast.process.ChildSpec;
import dev.holdfast.process.Ended;
import dev.holdfast.process.Ladder;
import dev.holdfast.process.Marker;
import dev.holdfast.process.OutputLine;
import dev.holdfast.process.Reaped;
import dev.holdfast.process.Reaper;
import dev.holdfast.process.SpawnFailed;
import dev.holdfast.process.Spawner;
import dev.holdfast.process.StopStep;
import dev.holdfast.process.Stopped;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Agents as real processes. One spawner per run directory, opened at first use. Thread-safe. */
final class SpawnedAgents implements AgentProcess.Source, AutoCloseable {
    /** In mid-turn the end of input would break the agent's own answers, so the ladder begins with TERM. */
    private static final Ladder BUSY = new Ladder(Duration.ZERO, Duration.ofSeconds(5), Duration.ofSeconds(5));

    private final ConcurrentHashMap<Path, Spawner> spawners = new ConcurrentHashMap<>();
    private volatile boolean closed;

    private static Path runDirectory(Path home) {
        return home.resolve("run").toAbsolutePath().normalize();
    }

    private static Marker marker(Launch launch) {
        return new Marker(launch.store(), launch.session().value(), launch.epoch(), launch.incarnation());
    }

    @Override
    public Optional<String> endOlder(Launch launch) {
        Marker own = marker(launch);
        try {
            Reaped reaped =
                    new Reaper(runDirectory(launch.home())).reap(other -> other.isOlderThan(own), Ladder.standard());
            if (reaped.allDead()) {
                return Optional.empty();
            }
            return Optional.of("processes of an older incarnation could not be seen dead: "
                    + reaped.swept().survivors() + " " + reaped.unjudged() + "; end them by hand");
        } catch (UncheckedIOException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    @Override
    public AgentProcess start(AgentProcess.Command command, Launch launch, AgentProcess.Listener listener) {
        try {
            Spawner spawner = spawners.computeIfAbsent(runDirectory(launch.home()), Spawner::open);
            if (closed) {
                release(launch.home());
                throw new AgentProcess.CannotStart("", "no agent is started any more: everything was closed");
            }
            ChildSpec spec =
                    ChildSpec.of(command.words(), command.workingDirectory(), command.environment(), marker(launch));
            Ear ear = new Ear(listener);
            return new Held(spawner.spawn(spec, ear), listener);
        } catch (SpawnFailed e) {
            boolean missing =
                    e.reason() == SpawnFailed.Reason.NOT_FOUND || e.reason() == SpawnFailed.Reason.NOT_EXECUTABLE;
            throw new AgentProcess.CannotStart(missing ? "not_found" : "", String.valueOf(e.getMessage()));
        }
    }

    /** Ends what runs for this home; a later start opens a spawner of its own. */
    void release(Path home) {
        Spawner spawner = spawners.remove(runDirectory(home));
        if (spawner != null) {
            spawner.close();
        }
    }

    /** Ends every agent and every thread. */
    @Override
    public void close() {
        closed = true;
        spawners.values().forEach(Spawner::close);
        spawners.clear();
    }

    private record Held(Child child, AgentProcess.Listener listener) implements AgentProcess {
        @Override
        public long pid() {
            return child.pid();
        }

        @Override
        public void send(String line, boolean urgent) {
            byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
            watch(urgent ? child.writeUrgent(bytes) : child.write(bytes));
        }

        @Override
        public void sendToReader(String line, long unread) {
            byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
            boolean room = unread + bytes.length < Child.ROOM;
            watch(room ? child.writeIntoRoom(bytes) : child.write(bytes));
        }

        private void watch(CompletionStage<@Nullable Void> written) {
            written.whenComplete((nothing, failure) -> {
                if (failure != null) {
                    listener.lineLost(String.valueOf(failure.getMessage()));
                }
            });
        }

        @Override
        public void stop(StopMode mode) {
            child.stop(mode == StopMode.IDLE ? Ladder.standard() : BUSY);
        }
    }

    private static final class Ear implements ChildListener {
        private final AgentProcess.Listener listener;
        private final AtomicReference<@Nullable Ended> ended = new AtomicReference<>();

        Ear(AgentProcess.Listener listener) {
            this.listener = listener;
        }

        @Override
        public void line(OutputLine line) {
            if (line.replaced() > 0) {
                listener.step("invalid_utf8", line.replaced() + " byte sequences in one line were no UTF-8");
            }
            listener.line(line.text());
        }

        @Override
        public void skippedLine(long bytes, SkipReason reason) {
            listener.skipped(bytes, reason.name());
        }

        @Override
        public void caughtUp() {
            listener.caughtUp();
        }

        @Override
        public void partialLine(OutputLine rest) {
            listener.step("partial_line", "the output ended inside a line of " + rest.bytes() + " bytes");
        }

        @Override
        public void endOfOutput() {
            listener.endOfOutput();
        }

        @Override
        public void step(StopStep step) {
            listener.step("stop_" + step.kind().name(), step.processes() + " processes");
        }

        @Override
        public void ended(Ended how) {
            ended.set(how);
        }

        @Override
        public void gone(Stopped stopped) {
            Ended how = ended.get();
            String why = how == null ? "the process did not end" : describe(how);
            String tail = how == null ? "" : how.stderrTail();
            listener.gone(new AgentProcess.Exit(why, tail, stopped.allDead()));
        }

        private static String describe(Ended how) {
            OptionalInt signal = how.signal();
            return signal.isPresent() ? "ended by signal " + signal.getAsInt() : "exit code " + how.exitCode();
        }
    }
}
