package dev.holdfast.claude;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Requests of the agent that code of users answers, each on a thread of its own: never the reader's, never under the
 * owner's lock (HS-12). Every request is answered exactly once, at its deadline at the latest; one that is withdrawn is not
 * answered, and its thread is interrupted (HS-18). Not thread-safe: its owner calls it under its lock.
 */
final class UserAnswers {
    /** One request and what becomes of it. */
    interface Question {
        /** The users' code, on its own thread; what it throws is why there is no answer. */
        ObjectNode ask() throws Exception;

        /** The answer for want of another, under the owner's lock. */
        ObjectNode otherwise();

        /** It was answered: by the users' code, or where {@code failed} says why not, otherwise. Under the owner's lock. */
        void over(String failed);

        /** The agent no longer wants it. Under the owner's lock. */
        void withdrawn();
    }

    /** Where the users' code runs, and how it comes back. */
    record Threads(Background background, String name, Consumer<Runnable> enter) {}

    private final Threads threads;
    private final BiConsumer<String, ObjectNode> answers;
    private final Vigil vigil;
    private final Map<String, Open> open = new LinkedHashMap<>();
    private boolean closing;

    /**
     * @param answers writes an answer ahead of messages that wait
     * @param vigil stands still while a request is open (TN-04)
     */
    UserAnswers(Threads threads, BiConsumer<String, ObjectNode> answers, Vigil vigil) {
        this.threads = threads;
        this.answers = answers;
        this.vigil = vigil;
    }

    void begin(String requestId, Duration deadline, Question question) {
        if (closing) {
            settle(requestId, question, question.otherwise(), "the session is closing");
            return;
        }
        long now = threads.background().nanoTime();
        if (open.isEmpty()) {
            vigil.hold(now);
        }
        var begun = new Open(requestId, now + deadline.toNanos(), question);
        open.put(requestId, begun);
        threads.background().run(threads.name(), begun);
    }

    private void settle(String requestId, Question question, ObjectNode answer, String failed) {
        answers.accept(requestId, answer);
        question.over(failed);
    }

    void cancelled(String requestId) {
        Open request = remove(requestId);
        if (request != null) {
            request.stop();
            request.question.withdrawn();
        }
    }

    private @Nullable Open remove(String requestId) {
        Open removed = open.remove(requestId);
        if (removed != null && open.isEmpty()) {
            vigil.release(threads.background().nanoTime());
        }
        return removed;
    }

    private void refuse(Open request, String why) {
        remove(request.requestId);
        request.stop();
        settle(request.requestId, request.question, request.question.otherwise(), why);
    }

    void expire(long now) {
        var late = new ArrayList<Open>();
        open.values().stream().filter(each -> now - each.due >= 0).forEach(late::add);
        late.forEach(each -> refuse(each, "it did not answer in time"));
    }

    OptionalLong dueNanos() {
        OptionalLong next = OptionalLong.empty();
        for (Open each : open.values()) {
            next = Alarm.nearer(next, OptionalLong.of(each.due));
        }
        return next;
    }

    /** The session is being ended: nobody is asked any more, and what is open is answered otherwise. */
    void closing() {
        closing = true;
        List.copyOf(open.values()).forEach(each -> refuse(each, "the session is closing"));
    }

    /** The agent is gone: what is open needs no answer. */
    void close() {
        closing = true;
        List.copyOf(open.keySet()).forEach(this::cancelled);
    }

    private final class Open implements Runnable {
        private final String requestId;
        private final long due;
        private final Question question;
        private @Nullable Thread worker;
        private boolean stopped;

        Open(String requestId, long due, Question question) {
            this.requestId = requestId;
            this.due = due;
            this.question = question;
        }

        @Override
        public void run() {
            if (!starts()) {
                return;
            }
            ObjectNode answer = null;
            String failed = "";
            try {
                answer = question.ask();
            } catch (Throwable e) { // whatever it is, the agent waits for an answer
                failed = "it threw " + e;
            }
            ends();
            ObjectNode given = answer;
            String why = failed;
            threads.enter().accept(() -> answered(given, why));
        }

        private void answered(@Nullable ObjectNode given, String failed) {
            if (open.get(requestId) == this) {
                remove(requestId);
                settle(requestId, question, given == null ? question.otherwise() : given, failed);
            }
        }

        private synchronized boolean starts() {
            worker = Thread.currentThread();
            return !stopped;
        }

        private synchronized void ends() {
            worker = null;
        }

        synchronized void stop() {
            stopped = true;
            if (worker != null) {
                worker.interrupt();
            }
        }
    }
}
