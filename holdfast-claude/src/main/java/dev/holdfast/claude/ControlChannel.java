package dev.holdfast.claude;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What we ask the agent: each question has an id of its own and a deadline, is answered exactly once, and fails at once
 * when the agent is gone (HS-18). Not thread-safe: its owner calls it under its lock and hands in the time.
 */
final class ControlChannel {
    static final String INITIALIZE = "initialize";

    /** The end of a question. */
    sealed interface Answer {
        record Success(JsonNode response) implements Answer {}

        record Refused(String error) implements Answer {}

        /** Nothing came in time. A later answer is dropped. */
        record Expired() implements Answer {}

        /** There is nobody to answer. */
        record Closed(String why) implements Answer {}
    }

    private record Pending(long dueNanos, Consumer<Answer> then) {}

    private final StreamJson codec;
    private final Consumer<String> urgentWriter;
    private final Map<String, Pending> pending = new LinkedHashMap<>();
    private long asked;
    private String closed = "";

    /** @param urgentWriter writes a line ahead of messages that wait (HS-12) */
    ControlChannel(StreamJson codec, Consumer<String> urgentWriter) {
        this.codec = codec;
        this.urgentWriter = urgentWriter;
    }

    /** Asks; {@code then} is called once, from within a later call of this object or, when it is closed, at once. */
    void ask(ObjectNode request, long nowNanos, Duration deadline, Consumer<Answer> then) {
        if (!closed.isEmpty()) {
            then.accept(new Answer.Closed(closed));
            return;
        }
        asked++;
        String id = "holdfast-" + asked;
        pending.put(id, new Pending(nowNanos + deadline.toNanos(), then));
        urgentWriter.accept(codec.controlRequest(id, request));
    }

    /** Whether this answered a question; false for an answer nobody waits for. */
    boolean answered(Frame.ControlResponse response) {
        Pending question = pending.remove(response.id());
        if (question == null) {
            return false;
        }
        question.then.accept(
                response.success() ? new Answer.Success(response.response()) : new Answer.Refused(response.error()));
        return true;
    }

    /** Ends every question whose time is up. */
    void expire(long nowNanos) {
        var due = new ArrayList<Pending>();
        pending.values().removeIf(question -> {
            boolean over = nowNanos - question.dueNanos >= 0;
            if (over) {
                due.add(question);
            }
            return over;
        });
        due.forEach(question -> question.then.accept(new Answer.Expired()));
    }

    /** When the next question expires. */
    OptionalLong dueNanos() {
        if (pending.isEmpty()) {
            return OptionalLong.empty();
        }
        return pending.values().stream().mapToLong(Pending::dueNanos).reduce((a, b) -> a - b < 0 ? a : b);
    }

    /** Fails every question, and every later one. */
    void close(String why) {
        closed = why;
        List<Pending> open = List.copyOf(pending.values());
        pending.clear();
        open.forEach(question -> question.then.accept(new Answer.Closed(why)));
    }

    /** What an agent is told first. It forgets hooks that a greeting does not name. */
    static ObjectNode greeting(Optional<String> systemPrompt, HookBook hooks) {
        ObjectNode hello = request(INITIALIZE);
        // A newer agent goes on with the prompt its record was begun with, unless told not to (HS-03).
        systemPrompt.ifPresent(prompt -> hello.put("systemPrompt", prompt).put("systemPromptSnapshot", false));
        hooks.register(hello);
        return hello;
    }

    /** A request of the given subtype, to be filled. */
    static ObjectNode request(String subtype) {
        return StreamJson.NODES.objectNode().put("subtype", subtype);
    }

    /** Remembers what was seen, forgetting the eldest of many: enough to drop a repeated request. */
    static final class Recent<V> {
        private final int limit;
        private final LinkedHashMap<String, V> seen = new LinkedHashMap<>();

        Recent(int limit) {
            this.limit = limit;
        }

        boolean contains(String id) {
            return seen.containsKey(id);
        }

        V getOrDefault(String id, V otherwise) {
            return seen.getOrDefault(id, otherwise);
        }

        void put(String id, V value) {
            seen.put(id, value);
            if (seen.size() > limit) {
                seen.pollFirstEntry();
            }
        }
    }

    /** The open questions by id, for tests. */
    Map<String, Long> open() {
        var ids = new HashMap<String, Long>();
        pending.forEach((id, question) -> ids.put(id, question.dueNanos));
        return ids;
    }
}
