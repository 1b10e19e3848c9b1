package dev.holdfast.runtime;

import dev.holdfast.Author;
import dev.holdfast.MessageId;
import dev.holdfast.Payload;
import dev.holdfast.Receipt;
import dev.holdfast.Session;
import dev.holdfast.SessionName;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import tools.jackson.databind.json.JsonMapper;

/**
 * A session that takes what is submitted and keeps it, each key once for ever (IN-12), in a file when it is given one.
 * Nothing but {@code name} and {@code submit} can be called. Thread-safe.
 */
final class ControlledSession {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    /** What was accepted. */
    record Taken(long number, String payload, String author, String surface, String key) {}

    private final String name;
    private final Optional<Path> store;
    private final List<Taken> taken = new ArrayList<>();
    private final Map<String, Taken> keys = new LinkedHashMap<>();
    private int submitted;

    /** Answers in place of the inbox; empty lets the submission through. */
    volatile Function<Payload, Optional<CompletionStage<Receipt>>> answer = payload -> Optional.empty();

    ControlledSession(String name) {
        this(name, Optional.empty());
    }

    ControlledSession(String name, Optional<Path> store) {
        this.name = name;
        this.store = store;
        store.filter(Files::exists).ifPresent(file -> {
            try {
                Files.readAllLines(file).forEach(line -> remember(JSON.readValue(line, Taken.class)));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    Session session() {
        return (Session) Proxy.newProxyInstance(
                Session.class.getClassLoader(),
                new Class<?>[] {Session.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "name" -> new SessionName(name);
                    case "submit" -> {
                        @SuppressWarnings("unchecked") // its declared type
                        var key = (Optional<String>) arguments[2];
                        yield submit((Payload) arguments[0], (Author) arguments[1], key);
                    }
                    default -> throw new AssertionError("a control file needs no " + method.getName());
                });
    }

    private CompletionStage<Receipt> submit(Payload payload, Author author, Optional<String> key) {
        var other = answer.apply(payload);
        if (other.isPresent()) {
            return other.get();
        }
        synchronized (this) {
            submitted++;
            var before = keys.get(key.orElseThrow());
            var id = new MessageId(new UUID(0, taken.size()));
            if (before == null) {
                var next = new Taken(
                        taken.size() + 1, payload.toString(), author.name(), author.surface(), key.orElseThrow());
                keep(next);
                remember(next);
                return CompletableFuture.completedFuture(new Receipt.Accepted(id, next.number(), Instant.EPOCH));
            }
            return CompletableFuture.completedFuture(
                    before.payload().equals(payload.toString())
                            ? new Receipt.Duplicate(id, before.number(), Instant.EPOCH)
                            : new Receipt.KeyConflict(before.number()));
        }
    }

    private void keep(Taken next) {
        store.ifPresent(file -> {
            try {
                Files.write(
                        file,
                        (JSON.writeValueAsString(next) + "\n").getBytes(StandardCharsets.UTF_8),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.APPEND,
                        StandardOpenOption.SYNC);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private void remember(Taken next) {
        taken.add(next);
        keys.put(next.key(), next);
    }

    synchronized List<Taken> taken() {
        return List.copyOf(taken);
    }

    /** How often something was submitted, known or not. */
    synchronized int submitted() {
        return submitted;
    }

    /** The texts of the messages, other payloads as they print. */
    static String text(Taken taken) {
        var words = "Words[text=";
        return taken.payload().startsWith(words)
                ? taken.payload().substring(words.length(), taken.payload().lastIndexOf(", policy="))
                : taken.payload();
    }

    List<String> texts() {
        return taken().stream().map(ControlledSession::text).toList();
    }
}
