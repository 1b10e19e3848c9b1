package dev.holdfast.runtime;

import dev.holdfast.HoldfastException;
import dev.holdfast.Reply;
import dev.holdfast.SteerAnswer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Predicate;

/**
 * Those who wait for the end of a message, or for what became of a steer, and the ends told last. Used under its session's
 * lock; what hangs on a caller's future is somebody else's code, so each is completed on the executor.
 */
final class Callers {
    private static final int RECENT_REPLIES = 256;

    private final Executor executor;
    /** By the number of their message, so that an end does not go through all who wait for others. */
    private final Map<Long, List<Caller>> waiting = new LinkedHashMap<>();

    private final Map<Long, Reply> recent = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Reply> eldest) {
            return size() > RECENT_REPLIES;
        }
    };

    /** One of them. */
    static final class Caller {
        private final long number;
        private final boolean failsWhenParked;
        private final CompletableFuture<Reply> reply = new CompletableFuture<>();
        private final CompletableFuture<SteerAnswer> steer = new CompletableFuture<>();
        private boolean watched;

        /** @param failsWhenParked he asked, and is told when nothing will run before somebody comes */
        Caller(long number, boolean failsWhenParked) {
            this.number = number;
            this.failsWhenParked = failsWhenParked;
        }

        long number() {
            return number;
        }

        boolean failsWhenParked() {
            return failsWhenParked;
        }

        CompletableFuture<Reply> reply() {
            return reply;
        }

        CompletableFuture<SteerAnswer> steer() {
            return steer;
        }

        boolean watched() {
            return watched;
        }

        /** His end is looked for in the journal from now on; false when it is already. */
        boolean watches() {
            boolean first = !watched;
            watched = true;
            return first;
        }
    }

    Callers(Executor executor) {
        this.executor = executor;
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    List<Caller> waiting() {
        return waiting.values().stream().flatMap(List::stream).toList();
    }

    /** One of the last ends. */
    Optional<Reply> recent(long number) {
        return Optional.ofNullable(recent.get(number));
    }

    void add(Caller caller) {
        waiting.computeIfAbsent(caller.number(), n -> new ArrayList<>(1)).add(caller);
    }

    void remove(Caller caller) {
        waiting.computeIfPresent(caller.number(), (n, his) -> his.remove(caller) && his.isEmpty() ? null : his);
    }

    /** A message has ended. */
    void ended(Reply reply) {
        recent.put(reply.number(), reply);
        taken(reply.number()).forEach(c -> complete(c, reply));
    }

    /** Also for a caller who was found his end elsewhere. */
    void complete(Caller caller, Reply reply) {
        executor.execute(() -> {
            caller.reply().complete(reply);
            caller.steer().complete(SteerAnswer.QUEUED);
        });
    }

    /** What became of a steer; its caller goes on waiting for its end. */
    void steered(long number, SteerAnswer answer) {
        waiting.getOrDefault(number, List.of())
                .forEach(c -> executor.execute(() -> c.steer().complete(answer)));
    }

    private List<Caller> taken(long number) {
        var his = waiting.remove(number);
        return his == null ? List.of() : his;
    }

    /** Nothing runs before somebody resumes the session. */
    void parked(HoldfastException why) {
        fail(why, c -> c.failsWhenParked);
    }

    void failAll(HoldfastException why) {
        fail(why, c -> true);
    }

    /** What carries no words has no reply. */
    void wordless(long number, HoldfastException why) {
        taken(number).forEach(c -> fail(c, why));
    }

    private void fail(HoldfastException why, Predicate<Caller> whom) {
        waiting().stream().filter(whom).forEach(c -> {
            remove(c);
            fail(c, why);
        });
    }

    private void fail(Caller caller, HoldfastException why) {
        executor.execute(() -> {
            caller.reply().completeExceptionally(why);
            caller.steer().complete(SteerAnswer.QUEUED);
        });
    }
}
