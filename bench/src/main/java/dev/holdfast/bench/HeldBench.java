package dev.holdfast.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Turns of {@code HeldSessions} beside a raw pipe loop, both against the least agent there can be: one session, and many
 * at once with a thread each.
 */
final class HeldBench {
    private final Path directory;
    private final int many;
    private final int perRound;
    private final int rounds;

    HeldBench(Path directory, boolean quick) {
        this.directory = directory;
        this.many = quick ? 4 : 64;
        this.perRound = quick ? 20 : 2_000;
        this.rounds = quick ? 2 : 40;
    }

    void run(Figures figures) throws Exception {
        Optional<Path> program = StubAgent.compileIn(directory);
        if (program.isEmpty()) {
            figures.remark("Not measured: there is no C compiler (cc) for the agent.");
            return;
        }
        var crowds = new ArrayList<Crowd>();
        try {
            for (int size : List.of(1, many)) {
                crowds.add(new RawCrowd(program.get(), size));
                crowds.add(new HeldCrowd(program.get(), directory, size));
            }
            measure(crowds, figures);
        } finally {
            for (Crowd crowd : crowds) {
                crowd.close();
            }
        }
    }

    private void measure(List<Crowd> crowds, Figures figures) throws Exception {
        var results = new ArrayList<Latencies>();
        for (Crowd crowd : crowds) {
            var result = new Latencies();
            for (int warm = 0; warm < 8; warm++) {
                crowd.round(turns(crowd), result);
            }
            result.clear();
            crowd.measured();
            results.add(result);
        }
        var time = new Allowance();
        int done = 0;
        while (done < rounds && time.allowsAnother()) {
            for (int i = 0; i < crowds.size(); i++) {
                int at = (i + done) % crowds.size();
                crowds.get(at).round(turns(crowds.get(at)), results.get(at));
            }
            done++;
        }
        for (int i = 0; i < crowds.size(); i++) {
            Crowd crowd = crowds.get(i);
            figures.row(crowd.name(), results.get(i));
            figures.put(crowd.name(), "cpu_us/turn", Figures.round(crowd.cpuPerTurn()));
        }
        for (int i = 1; i < crowds.size(); i += 2) {
            ratios(crowds.get(i - 1).name(), crowds.get(i).name(), figures);
        }
        figures.remark("p50 of HeldSessions over that of the raw pipe: x_p50; turns per second: x_raw. " + done
                + " rounds, the order turned round by round. CPU is this JVM's alone.");
    }

    private int turns(Crowd crowd) {
        return Math.max(5, perRound / crowd.size());
    }

    private static void ratios(String raw, String held, Figures figures) {
        figures.put(
                held,
                "x_p50",
                Figures.round(figures.number(held, "p50_us") / Math.max(1e-9, figures.number(raw, "p50_us"))));
        figures.put(
                held,
                "x_raw",
                Figures.round(figures.number(held, "per_s") / Math.max(1e-9, figures.number(raw, "per_s"))));
    }
}
