package dev.holdfast.testkit;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * The session's file: one JSON object a line, under the agent's configuration directory. Lines wait in memory until
 * they are flushed, which is what a kill loses. The file is opened for each flush, so that one deleted meanwhile comes
 * back with the later lines only. Safe for use by several threads.
 */
final class SessionRecord {
    private final Path file;
    private final List<String> waiting = new ArrayList<>();
    private boolean begun;

    private SessionRecord(Path file) {
        this.file = file;
    }

    static SessionRecord of(Path projects, String workingDirectory, String sessionId) {
        return new SessionRecord(projects.resolve(slug(workingDirectory)).resolve(sessionId + ".jsonl"));
    }

    /** The working directory as a name: every character that is no ASCII letter or digit becomes a dash. */
    static String slug(String workingDirectory) {
        StringBuilder slug = new StringBuilder();
        for (int at = 0; at < workingDirectory.length(); at++) {
            char c = workingDirectory.charAt(at);
            boolean plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            slug.append(plain ? c : '-');
        }
        return slug.toString();
    }

    boolean exists() {
        return Files.exists(file);
    }

    /** Everything readable in the file; a line that is no JSON, a torn one for instance, is passed over. */
    List<Json> read() {
        List<Json> lines = new ArrayList<>();
        try {
            String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
            for (String line : AgentProfile.split(text, '\n')) {
                readable(line, lines);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read the session record " + file, e);
        }
        return lines;
    }

    private static void readable(String line, List<Json> lines) {
        if (!line.isBlank()) {
            try {
                lines.add(Json.read(line));
            } catch (Json.Malformed ignored) {
                // A process was killed in the middle of this line.
            }
        }
    }

    /**
     * Puts a line behind the waiting ones.
     *
     * @return true when it is the first waiting one, so that somebody should see to a flush
     */
    synchronized boolean append(Json line) {
        waiting.add(line.write());
        return waiting.size() == 1;
    }

    /** Whether this process has written to the file, or it was there before. */
    synchronized boolean isBegun() {
        return begun || exists();
    }

    synchronized void flush() {
        if (waiting.isEmpty()) {
            return;
        }
        StringBuilder lines = new StringBuilder();
        for (String line : waiting) {
            lines.append(line).append('\n');
        }
        waiting.clear();
        try {
            Path directory = file.getParent();
            if (directory != null) {
                Files.createDirectories(directory);
            }
            try (OutputStream out = Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
                out.write(lines.toString().getBytes(StandardCharsets.UTF_8));
            }
            begun = true;
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write the session record " + file, e);
        }
    }
}
