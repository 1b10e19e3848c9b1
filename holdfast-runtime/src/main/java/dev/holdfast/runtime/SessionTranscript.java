package dev.holdfast.runtime;

import dev.holdfast.ArrivalKind;
import dev.holdfast.Author;
import dev.holdfast.Delivery;
import dev.holdfast.HoldfastException;
import dev.holdfast.JournalReader.Selection;
import dev.holdfast.Message;
import dev.holdfast.Payload;
import dev.holdfast.Receipt;
import dev.holdfast.SessionName;
import dev.holdfast.SessionSummary;
import dev.holdfast.TranscriptEntry;
import dev.holdfast.TranscriptTurn;
import dev.holdfast.TurnMessage.Role;
import dev.holdfast.core.Settings.Taker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The transcript of a session, for its users: reading, throwing away, running again, copying. Thread-safe. */
final class SessionTranscript {
    private static final int FORK_BATCH = 200;

    /** How long the new session may take to take what was copied. */
    private static final Duration COPY_MAX = Duration.ofMinutes(1);

    private final LiveSession session;
    private final Holdfast.Parts parts;

    SessionTranscript(LiveSession session, Holdfast.Parts parts) {
        this.session = session;
        this.parts = parts;
    }

    private TranscriptReader reader() {
        return parts.transcript().reader();
    }

    CompletionStage<List<TranscriptTurn>> page(long after, int max) {
        if (after < 0 || max < 1 || max > 1_000) {
            throw new IllegalArgumentException(
                    "a page of the transcript is of 1 to 1,000 turns after a turn that is not" + " negative; got " + max
                            + " after " + after);
        }
        return reader().page(session.name(), after, max);
    }

    // ---- throwing away --------------------------------------------------------------------------------------------

    /** The newest turn up to {@code newest} that has a message, and all after it. */
    CompletionStage<Receipt> regenerate(OptionalLong turn) {
        var status = session.status();
        if (turn.isEmpty() && (status.openTurn().isPresent() || status.queued() > 0)) {
            return CompletableFuture.failedFuture(new HoldfastException("session " + session.name()
                    + " has an open turn or mail that waits, so that its newest turn is another by then:"
                    + " wait for them, or name the turn to regenerate from"));
        }
        return reader().index(session.name(), new TranscriptIndex())
                .thenCompose(index -> turn.isPresent()
                        ? asked(index, present(index, turn.getAsLong()), false)
                        : asked(index, newest(index, Long.MAX_VALUE), true))
                .thenCompose(again -> parts.journal().acceptAll(again))
                .thenApply(receipts -> {
                    session.signal();
                    return receipts.get(1);
                });
    }

    /** The deliveries that throw the turn away and send its messages again: accepted together or not at all. */
    private CompletionStage<List<Delivery>> asked(TranscriptIndex index, long turn, boolean back) {
        return reader().turn(session.name(), index, turn).thenCompose(t -> {
            var messages =
                    t.entries().stream().filter(e -> e.role() == Role.SENDER).toList();
            if (messages.isEmpty() && back) {
                return asked(index, newest(index, turn), true);
            }
            if (messages.isEmpty()) {
                throw new HoldfastException("turn " + turn + " of session " + session.name()
                        + " has no message of its own: regenerate from an earlier one");
            }
            var all = new ArrayList<Delivery>();
            all.add(cut(turn));
            messages.forEach(m -> all.add(again(m)));
            return CompletableFuture.completedFuture(all);
        });
    }

    private long newest(TranscriptIndex index, long before) {
        var turn = index.turns().lower(before);
        if (turn == null) {
            throw new HoldfastException("session " + session.name() + " has no turn to regenerate");
        }
        return turn;
    }

    private long present(TranscriptIndex index, long turn) {
        if (!index.turns().contains(turn)) {
            throw new HoldfastException(
                    "the transcript of session " + session.name() + " has no turn " + turn + ": read it to see which");
        }
        return turn;
    }

    private Delivery cut(long turn) {
        return parts.envelope()
                .payload(session.name(), new Payload.Cut(turn), Author.host(), Optional.empty(), Optional.empty());
    }

    private Delivery again(TranscriptEntry entry) {
        var message = Message.of(entry.text()).author(entry.author().orElse(Author.host()));
        return parts.envelope().message(session.name(), message);
    }

    CompletionStage<Receipt> deleteFrom(long turn) {
        return reader().index(session.name(), new TranscriptIndex()).thenCompose(index -> {
            present(index, turn);
            return session.submit(new Payload.Cut(turn));
        });
    }

    // ---- copying --------------------------------------------------------------------------------------------------

    CompletionStage<Long> fork(SessionName name, OptionalLong through) {
        if (name.equals(session.name())) {
            throw new IllegalArgumentException(
                    "a fork needs a name of its own; got that of its origin, '" + name + "'");
        }
        return parts.journal()
                .session(name)
                .thenCompose(known -> free(name, known))
                .thenCompose(free -> reader().index(session.name(), new TranscriptIndex()))
                .thenCompose(index -> {
                    var last = index.turns().floor(through.orElse(Long.MAX_VALUE));
                    if (last == null || last <= index.forgotten()) {
                        throw new HoldfastException("session " + session.name() + " has no turn to copy"
                                + (through.isPresent() ? " up to turn " + through.getAsLong() : ""));
                    }
                    var numbers = List.copyOf(index.turns().subSet(index.forgotten(), false, last, true));
                    return parts.journal()
                            .open(name, parts.options().unread())
                            .thenCompose(created -> copy(name, index, last, numbers, 0))
                            .thenCompose(copied -> copied(name, numbers.size()));
                });
    }

    /** A session of that name is none, or a fork already; whether it is this one, its keys say. */
    private CompletionStage<Boolean> free(SessionName name, Optional<SessionSummary> known) {
        if (known.filter(s -> s.lastArrival() > 0).isEmpty()) {
            return CompletableFuture.completedFuture(true);
        }
        return parts.journal().arrivals(name, 0, 1, Selection.HEADERS).thenApply(page -> {
            if (page.getFirst().kind() != ArrivalKind.PAST) {
                throw taken(name);
            }
            return true;
        });
    }

    private HoldfastException taken(SessionName name) {
        return new HoldfastException("a session '" + name + "' exists and is not this fork: fork under another name");
    }

    private CompletionStage<Void> copy(
            SessionName name, TranscriptIndex index, long last, List<Long> numbers, int from) {
        if (from >= numbers.size()) {
            return CompletableFuture.completedFuture(null);
        }
        int to = Math.min(numbers.size(), from + FORK_BATCH);
        CompletionStage<List<Delivery>> batch = CompletableFuture.completedFuture(new ArrayList<>());
        for (int i = from; i < to; i++) {
            long turn = i + 1L;
            batch = batch.thenCombine(reader().turn(session.name(), index, numbers.get(i)), (all, t) -> {
                all.add(past(name, last, turn, t));
                return all;
            });
        }
        return batch.thenCompose(all -> parts.journal().acceptAll(all)).thenCompose(receipts -> {
            if (!receipts.stream().allMatch(Receipt.Stored.class::isInstance)) {
                throw taken(name);
            }
            return copy(name, index, last, numbers, to);
        });
    }

    private Delivery past(SessionName name, long last, long turn, TranscriptTurn of) {
        var entries = of.entries().stream()
                .map(e -> new TranscriptEntry(e.role(), e.author(), 0, e.at(), e.text()))
                .toList();
        var origin = session.name() + "/" + last;
        return parts.envelope().past(name, origin, turn, of.outcome(), entries.size(), TranscriptReader.body(entries));
    }

    private CompletionStage<Long> copied(SessionName name, int turns) {
        var fork = parts.sessions()
                .findOrAdd(name, n -> new LiveSession(n, SessionLife.Taking.without(Taker.NOBODY), parts));
        var over = new CompletableFuture<Long>();
        var copied = fork.reached(now -> now.lastTurn() >= turns);
        var alarm = parts.options()
                .surroundings()
                .at(
                        parts.options().surroundings().now().plus(COPY_MAX),
                        () -> over.completeExceptionally(new HoldfastException(
                                "the fork '" + name + "' has not taken all " + turns + " turns within " + COPY_MAX
                                        + ": somebody else may write to it; look with show")));
        copied.whenComplete((done, failure) -> {
            alarm.cancel();
            if (failure == null) {
                over.complete((long) turns);
            } else {
                over.completeExceptionally(failure);
            }
        });
        return over;
    }
}
