package dev.holdfast.bench;

import dev.holdfast.claude.ClaudeCodeAgent;
import dev.holdfast.claude.HeldFailure;
import dev.holdfast.claude.HeldResult;
import dev.holdfast.claude.HeldSessions;
import dev.holdfast.claude.SessionHandle;
import dev.holdfast.claude.TurnRequest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * {@code HeldSessions} with no threads of the caller's: the end of a turn is heard where it is made, and the next one starts
 * there, as in the SDK's one thread.
 */
final class CallbackCrowd extends Crowd {
    static final String NAME = "HeldSessions, callbacks";

    private static final int PATIENCE_S = 120;

    private final HeldSessions sessions;
    private final ClaudeCodeAgent agent;

    CallbackCrowd(Path program, Path directory, int size) {
        super(NAME, size);
        sessions = HeldCrowd.open(directory.resolve("callbacks-" + size), directory, size);
        agent = HeldCrowd.agent(program);
    }

    @Override
    void round(int perSession, Latencies into) throws Exception {
        long cpu = ProcessorTime.nanos();
        long began = System.nanoTime();
        List<Runner> runners = new ArrayList<>();
        for (int i = 0; i < size(); i++) {
            runners.add(new Runner("s" + i, perSession));
        }
        runners.forEach(Runner::next);
        for (Runner runner : runners) {
            runner.done.get(PATIENCE_S, TimeUnit.SECONDS);
        }
        into.elapsed(System.nanoTime() - began);
        ran(perSession, ProcessorTime.nanos() - cpu);
        for (Runner runner : runners) {
            for (long duration : runner.durations) {
                into.add(duration);
            }
        }
    }

    /** One session's turns, one after the other. */
    private final class Runner {
        private final SessionHandle handle;
        private final long[] durations;
        private final CompletableFuture<@Nullable Void> done = new CompletableFuture<>();
        private int number;
        private long began;

        Runner(String session, int turns) {
            handle = new SessionHandle(session);
            durations = new long[turns];
        }

        void next() {
            if (number == durations.length) {
                done.complete(null);
                return;
            }
            began = System.nanoTime();
            sessions.start(handle, agent, TurnRequest.of(TurnBench.text(number)))
                    .whenEnded(this::ended);
        }

        private void ended(@Nullable HeldResult result, @Nullable HeldFailure failure) {
            if (result == null || result.ending() != HeldResult.Ending.ANSWERED) {
                done.completeExceptionally(
                        new IllegalStateException("a turn did not end with an answer: " + result, failure));
                return;
            }
            durations[number] = System.nanoTime() - began;
            number++;
            next();
        }
    }

    @Override
    public void close() {
        sessions.close();
    }
}
