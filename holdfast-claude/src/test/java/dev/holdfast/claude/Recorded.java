package dev.holdfast.claude;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

/** Lines that the real programs wrote: session files in {@code records}, output in {@code frames}. */
final class Recorded {
    static final StreamJson CODEC = new StreamJson(64 << 20);

    private Recorded() {}

    static Stream<String> versions() {
        return Stream.of("2.1.197", "2.1.332");
    }

    /** The id of the n-th line that was sent when the files were made. */
    static String id(int n) {
        return "00000000-0000-4000-8000-%012d".formatted(n);
    }

    static List<String> lines(String folder, String name, String version) {
        String file = "/" + folder + "/" + name + "-" + version + ".jsonl";
        try (var in = Recorded.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalArgumentException("there is no test file " + file);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<String> record(String name, String version) {
        return lines("records", name, version);
    }

    /** The uuid of the last entry of the type whose message holds this text. */
    static String uuidOf(List<String> record, String type, String text) {
        return record.stream()
                .flatMap(line -> CODEC.tree(line).stream())
                .filter(entry -> StreamJson.text(entry, "type").equals(type))
                .filter(entry ->
                        entry.path("message").path("content").toString().contains("\"" + text + "\""))
                .map(entry -> StreamJson.text(entry, "uuid"))
                .reduce((a, b) -> b)
                .orElseThrow(() -> new AssertionError("no " + type + " entry with " + text));
    }
}
