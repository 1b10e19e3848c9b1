package dev.holdfast.runtime;

import dev.holdfast.DeliveryId;
import dev.holdfast.Outcome;
import dev.holdfast.core.Event;
import dev.holdfast.core.Live;
import dev.holdfast.core.Told;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Requests of the host's own to the agent's present process (MB-16): kept in memory only, gone with the process. Used under
 * its session's lock.
 */
final class Internals {
    private final Executor executor;
    private final Map<DeliveryId, Request> requests = new LinkedHashMap<>();
    private long asked;

    /** The ticket tells when the owner has looked at it; the turn is 0 until it has one. */
    private static final class Request {
        private final String text;
        private final long ticket;
        private final CompletableFuture<Optional<String>> answer = new CompletableFuture<>();
        private long turn;

        Request(String text, long ticket) {
            this.text = text;
            this.ticket = ticket;
        }
    }

    Internals(Executor executor) {
        this.executor = executor;
    }

    boolean isEmpty() {
        return requests.isEmpty();
    }

    CompletableFuture<Optional<String>> ask(DeliveryId id, String text) {
        asked++;
        var request = new Request(text, asked);
        requests.put(id, request);
        return request.answer;
    }

    Optional<String> text(DeliveryId id) {
        return Optional.ofNullable(requests.get(id)).map(r -> r.text);
    }

    /** There is a new owner, or none any more: what was asked of the one before is gone. */
    void forget() {
        asked = 0;
        requests.values().forEach(r -> complete(r, Optional.empty()));
        requests.clear();
    }

    void committed(Event event) {
        if (event instanceof Event.TurnOpened e && e.kind() == Told.Kind.INTERNAL) {
            Optional.ofNullable(requests.get(e.delivery())).ifPresent(r -> r.turn = e.turn());
        } else if (event instanceof Event.TurnSettled e && e.kind() == Told.Kind.INTERNAL) {
            var answer = e.outcome() == Outcome.ANSWERED ? Optional.of(e.text()) : Optional.<String>empty();
            requests.values().removeIf(r -> {
                if (r.turn == e.turn()) {
                    complete(r, answer);
                }
                return r.turn == e.turn();
            });
        }
    }

    /** Requests that neither wait nor have a turn are gone with their incarnation. */
    void moved(Live live) {
        requests.entrySet().removeIf(entry -> {
            var request = entry.getValue();
            boolean gone = request.ticket <= live.asked()
                    && request.turn == 0
                    && !live.internal().contains(entry.getKey());
            if (gone) {
                complete(request, Optional.empty());
            }
            return gone;
        });
    }

    private void complete(Request request, Optional<String> answer) {
        executor.execute(() -> request.answer.complete(answer));
    }
}
