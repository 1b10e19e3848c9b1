package dev.holdfast.bench;

import dev.holdfast.claude.ClaudeCode;
import dev.holdfast.claude.ClaudeCodeAgent;
import dev.holdfast.claude.HeldOptions;
import dev.holdfast.claude.HeldResult;
import dev.holdfast.claude.HeldSessions;
import dev.holdfast.claude.SessionHandle;
import java.nio.file.Path;
import java.util.Map;

/** {@code HeldSessions} alone: no journal, no listener. */
final class HeldCrowd extends Crowd {
    private final HeldSessions sessions;
    private final ClaudeCodeAgent agent;

    HeldCrowd(Path program, Path directory, int size) {
        super("HeldSessions", size);
        sessions = HeldSessions.open(HeldOptions.in(directory.resolve("held-" + size))
                .processes(size)
                .recycling(java.time.Duration.ofHours(1), 1L << 40, Integer.MAX_VALUE)
                .environment(Map.of("HOME", directory.toString(), "PATH", "/usr/bin:/bin")));
        agent = ClaudeCode.agent().binary(program).inference("http://127.0.0.1:9", "sk-fake");
    }

    @Override
    void turn(int session, int number) throws InterruptedException {
        HeldResult result = sessions.run(new SessionHandle("s" + session), agent, TurnBench.text(number));
        if (result.ending() != HeldResult.Ending.ANSWERED) {
            throw new IllegalStateException("a turn did not end with an answer: " + result);
        }
    }

    @Override
    public void close() {
        sessions.close();
    }
}
