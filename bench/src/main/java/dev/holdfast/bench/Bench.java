package dev.holdfast.bench;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Runs one benchmark: {@code dev/bench NAME [--quick]}. Every benchmark compares variants side by side in one run, so
 * that its ratios hold on a busy machine as well; it works in a directory of its own beside its figures, which it deletes,
 * meets no login, and ends within a minute or two. No network is met but by {@code held}, which installs the SDK it measures
 * beside, once. The figures are kept in {@code target/bench/NAME.json}.
 */
public final class Bench {
    static final List<String> NAMES = List.of("turn", "journal", "inbox", "held", "tools");

    private Bench() {}

    /** Exits 0, or 2 when the arguments are not understood. */
    public static void main(String[] args) throws Exception {
        var names = new ArrayList<>(List.of(args));
        boolean quick = names.remove("--quick");
        if (names.size() != 1 || !NAMES.contains(names.getFirst())) {
            System.err.println("usage: dev/bench NAME [--quick], where NAME is one of " + String.join(", ", NAMES));
            System.exit(2);
        }
        Path root = Path.of(System.getProperty("holdfast.root", "."));
        run(names.getFirst(), quick, root.resolve("target/bench"), System.out);
        System.exit(0); // nothing a failed variant left behind keeps the process
    }

    /**
     * Runs one benchmark and writes its figures.
     *
     * @param quick a few hundred operations: shows that it works, measures nothing
     * @param figures the directory for {@code NAME.json}, created when it is missing
     */
    static Figures run(String name, boolean quick, Path figures, PrintStream out) throws Exception {
        // Not where temporary files lie: that is often memory, where an fsync costs nothing.
        Path directory = Files.createTempDirectory(Files.createDirectories(figures), "data-");
        try {
            var result = new Figures(name, quick);
            switch (name) {
                case "turn" -> new TurnBench(directory, quick).run(result);
                case "journal" -> new JournalBench(directory, quick).run(result);
                case "held" -> new HeldBench(directory, figures, quick).run(result);
                case "tools" -> new ToolBench(directory, quick).run(result);
                case "inbox" -> new InboxBench(directory, quick).run(result);
                default -> throw new IllegalArgumentException("no benchmark is called '" + name + "'; one of " + NAMES);
            }
            result.finish();
            result.print(out);
            out.println("figures: " + result.write(figures));
            return result;
        } finally {
            delete(directory);
        }
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }
}
