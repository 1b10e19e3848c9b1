package dev.holdfast.bench;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.json.JsonMapper;

/** What a benchmark found: one row per variant, then remarks. Not thread-safe. */
final class Figures {
    private final String name;
    private final boolean quick;
    private final Map<String, Map<String, Object>> rows = new LinkedHashMap<>();
    private final List<String> remarks = new ArrayList<>();
    private final double loadBefore = load();
    private final long began = System.nanoTime();
    private double loadAfter;
    private double seconds;

    Figures(String name, boolean quick) {
        this.name = name;
        this.quick = quick;
    }

    /** The load average of the last minute; negative where the system does not tell. */
    private static double load() {
        return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    }

    void finish() {
        loadAfter = load();
        seconds = (System.nanoTime() - began) / 1e9;
    }

    /** Adds the columns every variant has. */
    void row(String variant, Latencies latencies) {
        put(variant, "count", latencies.count());
        put(variant, "per_s", round(latencies.perSecond()));
        put(variant, "p50_us", round(latencies.percentile(50)));
        put(variant, "p99_us", round(latencies.percentile(99)));
    }

    void put(String variant, String column, Object value) {
        rows.computeIfAbsent(variant, v -> new LinkedHashMap<>()).put(column, value);
    }

    void remark(String text) {
        remarks.add(text);
    }

    Map<String, Map<String, Object>> rows() {
        return rows;
    }

    double number(String variant, String column) {
        return ((Number) rows.getOrDefault(variant, Map.of()).getOrDefault(column, 0)).doubleValue();
    }

    /** To three digits behind the point: enough for every column, readable in the file. */
    static double round(double value) {
        return Math.round(value * 1000) / 1000.0;
    }

    void print(PrintStream out) {
        var columns = new ArrayList<String>();
        rows.values()
                .forEach(row -> row.keySet().stream()
                        .filter(column -> !columns.contains(column))
                        .forEach(columns::add));
        int width = rows.keySet().stream().mapToInt(String::length).max().orElse(0);
        out.printf(
                Locale.ROOT,
                "%n%s%s: %.1f s, load average %.1f before, %.1f after, %d processors%n",
                name,
                quick ? " (quick: shows that it works, measures nothing)" : "",
                seconds,
                loadBefore,
                loadAfter,
                Runtime.getRuntime().availableProcessors());
        out.printf(Locale.ROOT, "%-" + width + "s", "");
        columns.forEach(column -> out.printf(Locale.ROOT, "  %" + wide(column) + "s", column));
        out.println();
        rows.forEach((variant, row) -> {
            out.printf(Locale.ROOT, "%-" + width + "s", variant);
            columns.forEach(
                    column -> out.printf(Locale.ROOT, "  %" + wide(column) + "s", cell(row.getOrDefault(column, ""))));
            out.println();
        });
        remarks.forEach(remark -> out.println("  " + remark));
    }

    private static int wide(String column) {
        return Math.max(9, column.length());
    }

    private static String cell(Object value) {
        if (value instanceof Double number) {
            return String.format(Locale.ROOT, Math.abs(number) < 100 ? "%.2f" : "%.0f", number);
        }
        return value.toString();
    }

    /** Writes {@code NAME.json} and answers where it is. */
    Path write(Path directory) throws IOException {
        var all = new LinkedHashMap<String, Object>();
        all.put("benchmark", name);
        all.put("quick", quick);
        all.put("seconds", round(seconds));
        all.put("load_before", round(loadBefore));
        all.put("load_after", round(loadAfter));
        all.put("processors", Runtime.getRuntime().availableProcessors());
        all.put("java", Runtime.version().toString());
        all.put("variants", rows);
        all.put("remarks", remarks);
        Path file = Files.createDirectories(directory).resolve(name + ".json");
        Files.writeString(
                file, JsonMapper.shared().writerWithDefaultPrettyPrinter().writeValueAsString(all) + "\n");
        return file;
    }
}
