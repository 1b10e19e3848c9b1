package dev.holdfast.runtime;

import dev.holdfast.Arrival;
import dev.holdfast.Author;
import dev.holdfast.DeliveryId;
import dev.holdfast.JournalReader;
import dev.holdfast.JournalReader.Selection;
import dev.holdfast.Line;
import dev.holdfast.Outcome;
import dev.holdfast.SessionName;
import dev.holdfast.StoredEvent;
import dev.holdfast.TranscriptEntry;
import dev.holdfast.TranscriptTurn;
import dev.holdfast.core.Approval;
import dev.holdfast.core.Event;
import dev.holdfast.core.OpenCall;
import dev.holdfast.core.Taken;
import dev.holdfast.core.Told;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Words for the agent, made from the journal: the lines of a turn with the host's own block last (HS-15), turns told again
 * (TN-16, at most 100,000 characters, the newest kept and the cut said: HN-05), and what a continuation says. Never blocks;
 * thread-safe.
 */
final class Transcript {
    static final int RETELL_CHARACTERS_MAX = 100_000;
    private static final int PAGE = 500;
    static final String AFTER_LIMIT = "[holdfast] You reached your limit of steps in the last turn. Please go on"
            + " with what you were doing; do not begin again with what you have done.";

    private final JournalReader journal;
    private final EventCodec codec;
    private final Envelope envelope;
    private final TranscriptReader reader;

    /** Who sent a message. */
    record Sender(long message, Author author) {}

    /** A line, and who sent the first of its messages unless it is the host's own. */
    record Telling(Line line, Optional<Sender> sender) {}

    Transcript(JournalReader journal, EventCodec codec, Envelope envelope) {
        this.journal = journal;
        this.codec = codec;
        this.envelope = envelope;
        this.reader = new TranscriptReader(journal, codec, envelope);
    }

    /** The same turns as they are shown, not as an agent is told them. */
    TranscriptReader reader() {
        return reader;
    }

    /** The line for {@code told}, whose words are {@code internal}'s when it is a request of the host's own; turns from {@code retellFrom} to {@code turn - 1} stand in front when it is not 0. */
    CompletionStage<Telling> line(
            SessionName session, long turn, Told told, long retellFrom, Function<DeliveryId, String> internal) {
        var retold = retellFrom == 0
                ? CompletableFuture.<Optional<String>>completedFuture(Optional.empty())
                : retell(session, retellFrom, turn - 1, List.of()).thenApply(Optional::of);
        return retold.thenCompose(before -> switch (told.kind()) {
            case CONTINUATION -> continuation(session, turn, told.id()).thenApply(note -> wordless(told, before, note));
            case AFTER_LIMIT -> CompletableFuture.completedFuture(wordless(told, before, AFTER_LIMIT));
            case MESSAGE, STEER -> words(session, told, before);
            case INTERNAL -> CompletableFuture.completedFuture(wordless(told, before, internal.apply(told.id())));
        });
    }

    private static Telling wordless(Told told, Optional<String> before, String note) {
        return new Telling(new Line(told.id(), before.map(List::of).orElse(List.of()), note, false), Optional.empty());
    }

    private CompletionStage<Telling> words(SessionName session, Told told, Optional<String> before) {
        return arrivals(session, told.messages()).thenApply(arrivals -> {
            var texts = new ArrayList<String>();
            before.ifPresent(texts::add);
            arrivals.forEach(a -> texts.add(Envelope.text(a)));
            var line = new Line(told.id(), texts, note(arrivals), told.kind() == Told.Kind.STEER);
            return new Telling(line, Optional.of(sender(arrivals.getFirst())));
        });
    }

    private Sender sender(Arrival arrival) {
        return new Sender(arrival.number(), envelope.label(arrival).by());
    }

    /** Who sent a message. */
    CompletionStage<Author> author(SessionName session, long number) {
        return journal.arrivals(session, number - 1, 1, Selection.HEADERS)
                .thenApply(page -> sender(page.getFirst()).author());
    }

    /** The words of one message. */
    CompletionStage<String> text(SessionName session, long number) {
        return journal.arrivals(session, number - 1, 1, Selection.WITH_BODIES)
                .thenApply(page -> Envelope.text(page.getFirst()));
    }

    private String note(List<Arrival> arrivals) {
        var last = arrivals.getLast();
        var what = switch (last.kind()) {
            case AUTHORIZATION -> "what the authorization of attempt '" + subject(last) + "' brought, message ";
            case TOOL_RUN -> "what the tool run of call '" + subject(last) + "' brought, message ";
            default -> arrivals.size() > 1 ? "messages " : "message ";
        };
        var numbers = arrivals.stream().map(a -> Long.toString(a.number())).collect(Collectors.joining(", "));
        return "[holdfast] " + what + numbers + ", " + from(last);
    }

    private String subject(Arrival arrival) {
        return envelope.label(arrival).subject();
    }

    private String from(Arrival arrival) {
        return from(envelope.label(arrival).by()) + ", " + arrival.acceptedAt();
    }

    private static String from(Author author) {
        return "from " + author.name() + " by " + author.surface();
    }

    private CompletionStage<List<Arrival>> arrivals(SessionName session, List<Taken> messages) {
        CompletionStage<List<Arrival>> all = CompletableFuture.completedFuture(List.of());
        for (Taken m : messages) {
            all = all.thenCombine(
                    journal.arrivals(session, m.number() - 1, 1, Selection.WITH_BODIES), (before, page) -> {
                        var next = new ArrayList<>(before);
                        next.addAll(page);
                        return next;
                    });
        }
        return all;
    }

    // ---- continuation ---------------------------------------------------------------------------------------------

    private CompletionStage<String> continuation(SessionName session, long turn, DeliveryId id) {
        return find(
                        session,
                        0,
                        Event.ContinuationOpened.class,
                        e -> e.turn() == turn && e.delivery().equals(id))
                .thenCompose(found -> found.map(e -> answers(session, e.asked(), Map.of())
                                .thenApply(answers -> continuationText(e, answers)))
                        .orElse(CompletableFuture.completedFuture(
                                "[holdfast] You were interrupted in the middle of this turn. Please go on.")));
    }

    /** What persons said to these questions by now, by the number of their answer. */
    private CompletionStage<Map<Long, String>> answers(
            SessionName session, List<Approval> asked, Map<Long, String> known) {
        var next = asked.stream()
                .filter(a -> a.state() == Approval.State.ANSWERED && !known.containsKey(a.number()))
                .findFirst();
        return next.map(a -> text(session, a.number()).thenCompose(words -> {
                    var more = new HashMap<>(known);
                    more.put(a.number(), words);
                    return answers(session, asked, more);
                }))
                .orElse(CompletableFuture.completedFuture(known));
    }

    static String continuationText(Event.ContinuationOpened e, Map<Long, String> answers) {
        var text =
                new StringBuilder("[holdfast] Your process was restarted in the middle of this turn. Please go on with"
                        + " what you were asked; do not begin again with what you have done.");
        for (OpenCall call : e.calls()) {
            text.append("\nYour call of the tool ").append(call.tool());
            if (call.ended()) {
                text.append(call.error() ? " ended with an error: " : " ended and answered: ")
                        .append(call.answer());
            } else {
                text.append(" may have happened: its end is not known. Check before you call it again.");
            }
        }
        for (Approval asked : e.asked()) {
            text.append("\nYour call of the tool ").append(asked.call().tool()).append(whatBecame(asked, answers));
        }
        for (String call : e.unended()) {
            if (e.calls().stream().noneMatch(c -> c.callId().equals(call))) {
                text.append("\nYour tool call ")
                        .append(call)
                        .append(" may have happened: its end is not known. Check before you repeat it.");
            }
        }
        return text.toString();
    }

    private static String whatBecame(Approval asked, Map<Long, String> answers) {
        return switch (asked.state()) {
            case OPEN ->
                " was not begun: a person is asked whether it may be. Make it again as it was, and it waits for the answer.";
            case ANSWERED ->
                CallGate.yes(answers.getOrDefault(asked.number(), ""))
                        ? " was not begun, and was approved in the meantime: make it again, once, as it was."
                        : " was not begun, and was refused in the meantime by the person who was asked.";
            case LAPSED -> " was not begun: nobody answered whether it may be.";
            case USED -> " was approved and begun.";
        };
    }

    private <E extends Event> CompletionStage<Optional<E>> find(
            SessionName session, long after, Class<E> type, java.util.function.Predicate<E> wanted) {
        return journal.events(session, after, PAGE).thenCompose(page -> {
            for (StoredEvent stored : page.reversed()) {
                if (stored.event().type().equals(type.getSimpleName())) {
                    var event = type.cast(codec.decode(stored));
                    if (wanted.test(event)) {
                        return CompletableFuture.completedFuture(Optional.of(event));
                    }
                }
            }
            return page.isEmpty()
                    ? CompletableFuture.completedFuture(Optional.<E>empty())
                    : find(session, page.getLast().seq(), type, wanted);
        });
    }

    // ---- telling again --------------------------------------------------------------------------------------------

    /**
     * The turns {@code from} to {@code through} as one text.
     *
     * @param known lines of turn {@code from} that are in the agent's memory already: what they carry is not told again
     */
    CompletionStage<String> retell(SessionName session, long from, long through, List<String> known) {
        var carried = known.isEmpty()
                ? CompletableFuture.<Set<Long>>completedFuture(Set.of())
                : carried(session, 0, from, known, new HashSet<>());
        return reader.index(session, new TranscriptIndex())
                .thenCombine(carried, (index, numbers) -> {
                    var turns = new ArrayDeque<>(index.turns().subSet(from, true, through, true));
                    return retell(session, index, turns, numbers, new Retelling());
                })
                .thenCompose(telling -> telling)
                .thenApply(Retelling::text);
    }

    /** Newest first, so that the bound cuts the oldest. */
    private CompletionStage<Retelling> retell(
            SessionName session, TranscriptIndex index, Deque<Long> turns, Set<Long> known, Retelling telling) {
        if (turns.isEmpty() || telling.full) {
            return CompletableFuture.completedFuture(telling);
        }
        return reader.turn(session, index, turns.removeLast())
                .thenCompose(turn -> retell(session, index, turns, known, telling.add(told(turn, known))));
    }

    /** Numbers of the messages that those lines of turn {@code turn} carry. */
    private CompletionStage<Set<Long>> carried(
            SessionName session, long after, long turn, List<String> lines, Set<Long> found) {
        return journal.events(session, after, PAGE).thenCompose(page -> {
            for (StoredEvent stored : page) {
                if (stored.event().turn().orElse(0) == turn) {
                    carried(codec.decode(stored), lines, found);
                }
            }
            return page.isEmpty()
                    ? CompletableFuture.completedFuture(found)
                    : carried(session, page.getLast().seq(), turn, lines, found);
        });
    }

    private static void carried(Event event, List<String> lines, Set<Long> found) {
        switch (event) {
            case Event.TurnOpened e -> {
                if (lines.contains(e.delivery().toString())) {
                    e.messages().forEach(m -> found.add(m.number()));
                }
            }
            case Event.SteerLanded e -> {
                if (lines.contains(e.delivery().toString())) {
                    found.add(e.message().number());
                }
            }
            default -> {}
        }
    }

    private static String told(TranscriptTurn turn, Set<Long> known) {
        var text = new StringBuilder();
        for (TranscriptEntry entry : turn.entries()) {
            switch (entry.role()) {
                case SENDER -> {
                    if (!known.contains(entry.message()) || entry.message() == 0) {
                        text.append(entry.message() > 0 ? "\nMessage " + entry.message() + ", " : "\nBefore, ");
                        entry.author().ifPresent(a -> text.append(from(a)));
                        entry.at().ifPresent(at -> text.append(", ").append(at));
                        text.append(":\n");
                        quote(text, entry.text());
                    }
                }
                case AGENT -> {
                    text.append("\nYou answered:\n");
                    quote(text, entry.text());
                }
                case HOST -> {}
            }
        }
        if (turn.outcome() != Outcome.ANSWERED) {
            text.append('\n').append(notAnswered(turn.outcome())).append('\n');
        }
        return text.toString();
    }

    /** What stands in the place of an answer. */
    static String notAnswered(Outcome outcome) {
        return "This was not answered (" + outcome.name().toLowerCase(Locale.ROOT)
                + "). Nothing is to be done about it now.";
    }

    /** Quoted line by line, so that what was said cannot pass for what the host says. */
    private static void quote(StringBuilder out, String text) {
        text.lines().forEach(line -> out.append("> ").append(line).append('\n'));
    }

    /** Collects turns from the newest to the oldest until the bound is reached. */
    private static final class Retelling {
        private final Deque<String> turns = new ArrayDeque<>();
        private int length;
        private boolean full;

        Retelling add(String turn) {
            int room = RETELL_CHARACTERS_MAX - length;
            full = turn.length() > room;
            if (!full) {
                turns.addFirst(turn);
            } else if (turns.isEmpty()) {
                turns.addFirst(turn.substring(0, room) + "\n(The rest of this turn is left out here.)\n");
            }
            length += Math.min(turn.length(), room);
            return this;
        }

        String text() {
            var text =
                    new StringBuilder("[holdfast] Part of this conversation is not in your memory. It went like this;"
                            + " take it as said, and answer nothing of it now.\n");
            if (full) {
                text.append("(Older turns are left out here: the bound is ")
                        .append(RETELL_CHARACTERS_MAX)
                        .append(" characters.)\n");
            }
            turns.forEach(text::append);
            if (turns.isEmpty()) {
                text.append("(Nothing: what was said before was thrown away.)\n");
            }
            return text.toString();
        }
    }
}
