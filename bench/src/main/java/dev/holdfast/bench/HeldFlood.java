package dev.holdfast.bench;

import dev.holdfast.claude.ClaudeCodeAgent;
import dev.holdfast.claude.HeldSessions;
import java.nio.file.Path;

/**
 * How many lines of an agent at work one core reads: one session, turns of very many lines, mostly pieces of an answer.
 * From the bytes of the pipe to what the turn is told, not the parser alone.
 */
final class HeldFlood {
    private static final String ROW = "lines of one agent";

    private final Path program;
    private final Path directory;
    private final int lines;
    private final int turns;

    HeldFlood(Path program, Path directory, boolean quick) {
        this.program = program;
        this.directory = directory;
        this.lines = quick ? 1_000 : 50_000;
        this.turns = quick ? 2 : 12;
    }

    void run(Figures figures) throws Exception {
        ClaudeCodeAgent agent = HeldCrowd.agent(program);
        try (HeldSessions sessions = HeldCrowd.open(directory.resolve("flood"), directory, 1)) {
            for (int warm = 0; warm < turns / 2; warm++) {
                HeldCrowd.turn(sessions, agent, "flood", "flood " + lines);
            }
            long cpu = ProcessorTime.nanos();
            long began = System.nanoTime();
            for (int i = 0; i < turns; i++) {
                HeldCrowd.turn(sessions, agent, "flood", "flood " + lines);
            }
            double all = (double) lines * turns;
            double used = Math.max(1, ProcessorTime.nanos() - cpu);
            figures.put(ROW, "count", (long) all);
            figures.put(ROW, "per_s", Figures.round(all * 1e9 / (System.nanoTime() - began)));
            figures.put(ROW, "cpu_us/turn", Figures.round(used / 1e3 / all));
            figures.put(ROW, "per_core_s", Figures.round(all * 1e9 / used));
        }
        figures.remark(
                ROW + ": a turn of " + lines + " lines, eight pieces of an answer, a tool call and its result in "
                        + "turn; CPU is per line there, per_core_s are lines per second of CPU of all threads.");
    }
}
