package dev.holdfast.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Turns of {@code HeldSessions} beside a raw pipe loop and the official TypeScript SDK, all against the least agent there
 * can be: one session, and many at once. Then how fast it reads an agent at work, and what sessions cost in memory.
 */
final class HeldBench {
    private final Path directory;
    private final Path figuresDirectory;
    private final boolean quick;
    private final int many;
    private final int perRound;
    private final int rounds;

    HeldBench(Path directory, Path figuresDirectory, boolean quick) {
        this.directory = directory;
        this.figuresDirectory = figuresDirectory;
        this.quick = quick;
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
        Optional<Path> sdk = sdk(figures);
        var crowds = new ArrayList<Crowd>();
        try {
            for (int size : List.of(1, many)) {
                crowds.add(new RawCrowd(program.get(), size));
                if (sdk.isPresent()) {
                    crowds.add(SdkCrowd.open(program.get(), sdk.get(), directory, size));
                }
                crowds.add(new HeldCrowd(program.get(), directory, size));
                crowds.add(new CallbackCrowd(program.get(), directory, size));
            }
            measure(crowds, figures);
        } finally {
            for (Crowd crowd : crowds) {
                crowd.close();
            }
        }
        new HeldFlood(program.get(), directory, quick).run(figures);
        new HeldMemory(program.get(), directory, quick).run(figures);
    }

    private Optional<Path> sdk(Figures figures) throws InterruptedException {
        if (quick) {
            figures.remark("The TypeScript SDK is left out of a quick run: it would have to be installed.");
            return Optional.empty();
        }
        try {
            return Optional.of(SdkCrowd.install(figuresDirectory));
        } catch (IOException e) {
            figures.remark("The TypeScript SDK was not measured: " + e.getMessage());
            return Optional.empty();
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
        for (int size : List.of(1, many)) {
            ratios(HeldCrowd.NAME, size, figures);
            ratios(CallbackCrowd.NAME, size, figures);
        }
        figures.remark(
                "x_p50, x_raw, x_cpu: p50, turns per second and CPU per turn of HeldSessions over those of the raw pipe; "
                        + "sdk_p50, sdk_per_s, sdk_cpu: over those of the SDK. Callbacks: the next turn starts where the end "
                        + "of the last is heard, as in the SDK; else a thread waits for each. " + done
                        + " rounds, the order turned round by round. CPU is the host's process alone, without the agents.");
    }

    private int turns(Crowd crowd) {
        return Math.max(5, perRound / crowd.size());
    }

    private static void ratios(String of, int size, Figures figures) {
        String held = of + ", " + size;
        ratios(held, "raw pipe, " + size, List.of("x_p50", "x_raw", "x_cpu"), figures);
        ratios(held, SdkCrowd.NAME + ", " + size, List.of("sdk_p50", "sdk_per_s", "sdk_cpu"), figures);
    }

    private static void ratios(String held, String other, List<String> into, Figures figures) {
        List<String> of = List.of("p50_us", "per_s", "cpu_us/turn");
        for (int i = 0; i < of.size(); i++) {
            double base = figures.number(other, of.get(i));
            if (base > 0) {
                figures.put(held, into.get(i), Figures.round(figures.number(held, of.get(i)) / base));
            }
        }
    }
}
