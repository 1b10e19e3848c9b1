package dev.holdfast.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Turns of one held session against the scripted agent: a raw pipe loop, the harness alone, and Holdfast with its
 * journal, a round of each in turn. Each variant has an agent process of its own that lives for the whole run.
 */
final class TurnBench {
    private final Path directory;
    private final boolean quick;
    private final int perRound;
    private final int rounds;

    TurnBench(Path directory, boolean quick) {
        this.directory = directory;
        this.quick = quick;
        this.perRound = quick ? 10 : 50;
        this.rounds = quick ? 2 : 40;
    }

    static String text(int i) {
        return "turn " + i + " of a benchmark";
    }

    void run(Figures figures) throws Exception {
        long began = System.nanoTime();
        var lanes = new ArrayList<Lane>();
        try {
            lanes.add(new RawPipe(home("raw").raw().start()));
            lanes.add(new BareHarness(home("bare")));
            lanes.add(new HeldLane(home("lone"), false));
            lanes.add(new HeldLane(home("queue"), true));
            figures.remark("Four agents were started in " + (System.nanoTime() - began) / 1_000_000 + " ms.");
            measure(lanes, figures);
        } finally {
            for (Lane lane : lanes) {
                lane.close();
            }
        }
        new TurnCost(Files.createDirectory(directory.resolve("cost")), quick).run(figures);
    }

    private AgentHome home(String name) throws Exception {
        return AgentHome.in(Files.createDirectory(directory.resolve(name)));
    }

    private void measure(List<Lane> lanes, Figures figures) throws Exception {
        var results = new ArrayList<Latencies>();
        for (Lane lane : lanes) {
            var result = new Latencies();
            lane.round(perRound, result);
            result.clear();
            lane.measured();
            results.add(result);
        }
        var time = new Allowance();
        int done = 0;
        while (done < rounds && time.allowsAnother()) {
            for (int i = 0; i < lanes.size(); i++) {
                int at = (i + done) % lanes.size();
                lanes.get(at).round(perRound, results.get(at));
            }
            done++;
        }
        for (int i = 0; i < lanes.size(); i++) {
            figures.row(lanes.get(i).name(), results.get(i));
            lanes.get(i).report(figures);
        }
        ratios(lanes, figures);
        figures.remark("per_s of each variant over the raw pipe: x_raw. " + done + " rounds of " + perRound
                + " turns, the order turned round by round. The harness is driven by Harness.attach, without core"
                + " or journal.");
        figures.remark("queue: all turns of a round sent at once; its p50 and p99 are the time between two answers;"
                + " 'without accepts' counts from the last receipt of a round on.");
    }

    private static void ratios(List<Lane> lanes, Figures figures) {
        String raw = lanes.getFirst().name();
        for (Lane lane : lanes) {
            double own = figures.number(lane.name(), "per_s");
            figures.put(lane.name(), "x_raw", Figures.round(own / Math.max(1e-9, figures.number(raw, "per_s"))));
        }
    }
}
