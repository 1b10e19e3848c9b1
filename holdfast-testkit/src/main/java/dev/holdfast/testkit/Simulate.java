package dev.holdfast.testkit;

import java.io.PrintStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * Runs simulations from a terminal: {@code [--seeds N] [--first N] [--seed N [--trace]] [--bug NAME] [--matrix]}. Exits 1 when a
 * promise fails, or a seeded bug is not caught.
 */
public final class Simulate {
    private Simulate() {}

    public static void main(String[] args) {
        try {
            System.exit(run(List.of(args), System.out));
        } catch (IllegalArgumentException e) {
            System.err.println("dev/sim: " + e.getMessage());
            System.exit(2);
        }
    }

    static int run(List<String> args, PrintStream out) {
        var bug = option(args, "--bug").map(SeededBug::named);
        if (args.contains("--matrix")) {
            return matrix(out);
        }
        if (option(args, "--seed").isPresent()) {
            return one(number(args, "--seed", 0), bug, args.contains("--trace"), out);
        }
        return many(
                number(args, "--first", 1),
                number(args, "--seeds", 1_000),
                bug,
                args.contains("--all") ? 10_000 : 10,
                out);
    }

    private static Optional<String> option(List<String> args, String name) {
        int at = args.indexOf(name);
        if (at >= 0 && at + 1 == args.size()) {
            throw new IllegalArgumentException(name + " wants a value");
        }
        return at < 0 ? Optional.empty() : Optional.of(args.get(at + 1));
    }

    private static long number(List<String> args, String name, long otherwise) {
        return option(args, name).map(Long::parseLong).orElse(otherwise);
    }

    private static int one(long seed, Optional<SeededBug> bug, boolean trace, PrintStream out) {
        var outcome = Simulation.run(seed, bug, new Coverage(), trace ? Optional.of(out::println) : Optional.empty());
        out.println(outcome);
        return outcome.violation().isPresent() ? 1 : 0;
    }

    private static int many(long first, long count, Optional<SeededBug> bug, int shown, PrintStream out) {
        long began = System.nanoTime();
        var coverage = new Coverage();
        var outcomes = LongStream.range(first, first + count)
                .parallel()
                .mapToObj(seed -> Simulation.run(seed, bug, coverage, Optional.empty()))
                .toList();
        double seconds = (System.nanoTime() - began) / 1e9;
        var failed = outcomes.stream().filter(o -> o.violation().isPresent()).toList();
        failed.stream()
                .limit(shown)
                .forEach(o -> out.println("seed " + o.seed() + ": "
                        + o.violation().orElseThrow() + "\n  again with: dev/sim --seed " + o.seed()
                        + bug.map(b -> " --bug " + b.option()).orElse("")));
        var simulated = outcomes.stream().map(Simulation.Outcome::simulated).reduce(Duration.ZERO, Duration::plus);
        out.printf(
                "%,d seeds from %d in %.1f s (%,.0f a second), %,d messages, %,d host crashes, %,d steps, %,d hours simulated,"
                        + " %,d states, %,d pairs of state and input: %d broke a promise%n",
                count,
                first,
                seconds,
                count / seconds,
                outcomes.stream().mapToLong(Simulation.Outcome::messages).sum(),
                outcomes.stream().mapToLong(Simulation.Outcome::crashes).sum(),
                outcomes.stream().mapToLong(Simulation.Outcome::steps).sum(),
                simulated.toHours(),
                coverage.states(),
                coverage.pairs(),
                failed.size());
        return failed.isEmpty() ? 0 : 1;
    }

    /** For each seeded bug, the first seed that catches it, and by which promise. */
    private static int matrix(PrintStream out) {
        boolean all = Arrays.stream(SeededBug.values())
                .map(bug -> {
                    var caught = catching(bug);
                    out.printf(
                            "%-32s %s%n",
                            bug.option(),
                            caught.map(o -> "caught at seed " + o.seed() + ": "
                                            + o.violation().orElseThrow())
                                    .orElse("NOT CAUGHT in " + bug.seeds() + " seeds"));
                    return caught.isPresent();
                })
                .reduce(true, Boolean::logicalAnd);
        return all ? 0 : 1;
    }

    /** The first of the seeds that shows the bug. */
    static Optional<Simulation.Outcome> catching(SeededBug bug) {
        return LongStream.rangeClosed(1, bug.seeds())
                .mapToObj(seed -> Simulation.run(seed, Optional.of(bug)))
                .filter(o -> o.violation().isPresent())
                .findFirst();
    }
}
