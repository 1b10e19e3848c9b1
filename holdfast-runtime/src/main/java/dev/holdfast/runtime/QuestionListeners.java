package dev.holdfast.runtime;

import dev.holdfast.OpenQuestion;
import dev.holdfast.Subscription;
import dev.holdfast.core.AskedCall;
import dev.holdfast.core.Durable;
import dev.holdfast.core.Event;
import dev.holdfast.core.Question;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Who listens to a session's questions; each hears of each question once. Thread-safe. */
final class QuestionListeners {
    private static final Logger LOG = LoggerFactory.getLogger(QuestionListeners.class);

    private final Executor executor;
    private final List<Listener> all = new CopyOnWriteArrayList<>();

    QuestionListeners(Executor executor) {
        this.executor = executor;
    }

    private static final class Listener {
        private final Consumer<OpenQuestion> handler;
        private final Set<String> told = new HashSet<>();

        Listener(Consumer<OpenQuestion> handler) {
            this.handler = handler;
        }

        synchronized void tell(OpenQuestion question) {
            if (!told.add(question.id())) {
                return;
            }
            try {
                handler.accept(question);
            } catch (RuntimeException e) { // somebody else's code
                LOG.warn("a listener to questions failed on {}", question.id(), e);
            }
        }
    }

    static OpenQuestion shown(Question q) {
        return new OpenQuestion(q.id(), q.text(), q.deadline(), q.call().map(AskedCall::tool));
    }

    boolean any() {
        return !all.isEmpty();
    }

    Subscription add(Consumer<OpenQuestion> handler, CompletionStage<Durable> now) {
        var listener = new Listener(handler);
        all.add(listener);
        now.whenComplete((state, failure) -> {
            if (state != null) {
                executor.execute(() -> state.questions().forEach(q -> tell(listener, shown(q))));
            }
        });
        return () -> all.remove(listener);
    }

    private void tell(Listener listener, OpenQuestion question) {
        if (all.contains(listener)) {
            listener.tell(question);
        }
    }

    void committed(Event event) {
        if (event instanceof Event.QuestionAsked q && !all.isEmpty()) {
            var shown =
                    new OpenQuestion(q.id(), q.text(), q.deadline(), q.call().map(AskedCall::tool));
            all.forEach(listener -> executor.execute(() -> tell(listener, shown)));
        }
    }
}
