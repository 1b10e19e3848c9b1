package dev.holdfast.bench;

import dev.holdfast.claude.ClaudeCode;
import dev.holdfast.claude.ClaudeCodeAgent;
import dev.holdfast.claude.HeldOptions;
import dev.holdfast.claude.HeldResult;
import dev.holdfast.claude.HeldSessions;
import dev.holdfast.claude.SessionHandle;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** {@code HeldSessions} alone: no journal, no listener. */
final class HeldCrowd extends ThreadCrowd {
    static final String NAME = "HeldSessions";

    private final HeldSessions sessions;
    private final ClaudeCodeAgent agent;

    HeldCrowd(Path program, Path directory, int size) {
        super(NAME, size);
        sessions = open(directory.resolve("held-" + size), directory, size);
        agent = agent(program);
    }

    /**
     * Sessions that keep their processes.
     *
     * @param home of the agents
     * @param processes so many at once
     */
    static HeldSessions open(Path directory, Path home, int processes) {
        return HeldSessions.open(HeldOptions.in(directory)
                .processes(processes)
                .recycling(Duration.ofHours(1), 1L << 40, Integer.MAX_VALUE)
                .environment(Map.of("HOME", home.toString(), "PATH", "/usr/bin:/bin")));
    }

    static ClaudeCodeAgent agent(Path program) {
        return ClaudeCode.agent().binary(program).inference("http://127.0.0.1:9", "sk-fake");
    }

    /** Runs a turn that must end with an answer. */
    static void turn(HeldSessions sessions, ClaudeCodeAgent agent, String session, String text)
            throws InterruptedException {
        HeldResult result = sessions.run(new SessionHandle(session), agent, text);
        if (result.ending() != HeldResult.Ending.ANSWERED) {
            throw new IllegalStateException("a turn did not end with an answer: " + result);
        }
    }

    @Override
    void turn(int session, int number) throws InterruptedException {
        turn(sessions, agent, "s" + session, TurnBench.text(number));
    }

    @Override
    public void close() {
        sessions.close();
    }
}
