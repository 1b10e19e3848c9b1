package dev.holdfast.runtime;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A control file with its session and its follower, which looks when it is told to. */
final class ControlFileStage implements AutoCloseable {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    final Path file;
    final ControlledSession session;
    final List<ControlFileNotice> notices = new ArrayList<>();
    final HandClock clock = new HandClock();
    ControlFileOptions options;
    Consumer<ControlFile.Step> steps = step -> {};
    ControlFile follower;

    ControlFileStage(Path directory) {
        this(directory, new ControlledSession("support-42"));
    }

    ControlFileStage(Path directory, ControlledSession session) {
        this.file = directory.resolve("control.jsonl");
        this.session = session;
        this.options = ControlFileOptions.standard().notices(notices::add).surroundings(clock);
    }

    static String message(String text) {
        return "{\"kind\":\"message\",\"text\":" + JSON.writeValueAsString(text) + "}\n";
    }

    ControlFileStage follow() {
        follower = ControlFile.follow(session.session(), file, options, step -> steps.accept(step));
        return this;
    }

    ControlFileStage restart() {
        follower.close();
        return follow();
    }

    /** Looks as often as is needed until a change that is waited for has been decided on. */
    ControlFileStage look() {
        return look(4);
    }

    ControlFileStage look(int times) {
        for (int i = 0; i < times; i++) {
            follower.look();
            clock.pass(options.poll());
        }
        return this;
    }

    ControlFileStage append(String text) {
        return append(text.getBytes(StandardCharsets.UTF_8));
    }

    ControlFileStage append(byte[] bytes) {
        return write(bytes, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /** In the same inode, from nothing. */
    ControlFileStage rewrite(String text) {
        return write(
                text.getBytes(StandardCharsets.UTF_8),
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.WRITE);
    }

    private ControlFileStage write(byte[] bytes, StandardOpenOption... how) {
        try {
            Files.write(file, bytes, how);
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Path beside(String name) {
        return file.resolveSibling(name);
    }

    /** What stands in the file of acknowledgements about lines, as result and number or reason. */
    List<String> results() {
        return acknowledged().stream()
                .map(line -> line.path("result").asString("")
                        + (line.has("number") ? " " + line.get("number").asLong() : ""))
                .toList();
    }

    List<JsonNode> acknowledged() {
        try (Stream<String> lines = Files.lines(beside("control.ack.jsonl"))) {
            return lines.map(JSON::readTree).filter(line -> line.has("result")).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    List<ControlFileNotice.Kind> kinds() {
        return notices.stream().map(ControlFileNotice::kind).toList();
    }

    @Override
    public void close() {
        if (follower != null) {
            follower.close();
        }
    }
}
