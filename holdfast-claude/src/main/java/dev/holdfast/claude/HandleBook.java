package dev.holdfast.claude;

import dev.holdfast.TurnMark;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import java.util.UUID;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What handles stand for, one small file each, so that a handle outlives its process and this JVM (HS-01, HS-05). A handle
 * without a file stands for the conversation that its own id names. Written when a process has ended, not in a turn: after
 * a kill of this JVM the last mark may be an older one, which only makes the claim weaker. Thread-safe for different handles.
 */
final class HandleBook {
    /**
     * @param place under which name the agent's directories lie
     * @param nativeSession the agent's own session
     * @param mark its last turn with an answer, as far as known
     */
    record Entry(String place, String nativeSession, Optional<TurnMark> mark) {
        Entry nativeSession(String other) {
            return new Entry(place, other, Optional.empty());
        }

        Entry mark(TurnMark last) {
            return new Entry(place, nativeSession, Optional.of(last));
        }
    }

    private final Path directory;
    private final StreamJson codec;

    HandleBook(Path directory, StreamJson codec) {
        this.directory = directory;
        this.codec = codec;
    }

    private Path file(SessionHandle handle) {
        return directory.resolve(AgentPlace.fileName(handle.id()) + ".json");
    }

    boolean knows(SessionHandle handle) {
        return Files.exists(file(handle));
    }

    /** What a handle without a file stands for. */
    static Entry unwritten(SessionHandle handle) {
        return new Entry(handle.id(), nativeId(handle.id()), Optional.empty());
    }

    /** A handle that is a UUID names its own session; of any other one follows from the name. */
    private static String nativeId(String id) {
        try {
            String same = UUID.fromString(id).toString();
            if (same.equals(id)) {
                return same;
            }
        } catch (IllegalArgumentException noUuid) {
            return derived(id);
        }
        return derived(id);
    }

    private static String derived(String id) {
        return UUID.nameUUIDFromBytes(("holdfast held session " + id).getBytes(StandardCharsets.UTF_8))
                .toString();
    }

    /** @throws UncheckedIOException when there is a file and it cannot be read */
    Entry read(SessionHandle handle) {
        try {
            return entry(Files.readString(file(handle))).orElseGet(() -> unwritten(handle));
        } catch (NoSuchFileException none) {
            return unwritten(handle);
        } catch (IOException e) {
            throw new UncheckedIOException("what handle " + handle + " stands for cannot be read", e);
        }
    }

    private Optional<Entry> entry(String json) {
        return codec.tree(json)
                .filter(raw -> !StreamJson.text(raw, "place").isEmpty()
                        && !StreamJson.text(raw, "native").isEmpty())
                .map(raw -> new Entry(StreamJson.text(raw, "place"), StreamJson.text(raw, "native"), mark(raw)));
    }

    private static Optional<TurnMark> mark(JsonNode raw) {
        long turn = raw.path("turn").longValue(0);
        return turn == 0
                ? Optional.empty()
                : Optional.of(
                        new TurnMark(turn, StreamJson.texts(raw.path("asked")), StreamJson.text(raw, "answered")));
    }

    /** @throws UncheckedIOException when it cannot be written; then what was there before stays */
    void write(SessionHandle handle, Entry entry) {
        ObjectNode json = StreamJson.NODES.objectNode();
        json.put("version", 1).put("place", entry.place()).put("native", entry.nativeSession());
        entry.mark().ifPresent(mark -> {
            json.put("turn", mark.turn()).put("answered", mark.answered());
            var asked = json.putArray("asked");
            mark.asked().forEach(asked::add);
        });
        Path file = file(handle);
        Path next = file.resolveSibling(file.getFileName() + ".next");
        try {
            Files.createDirectories(directory);
            Files.writeString(next, codec.write(json));
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException("what handle " + handle + " stands for cannot be written to " + file, e);
        }
    }
}
