package dev.holdfast.core;

import dev.holdfast.DeliveryId;
import dev.holdfast.Knowledge;
import dev.holdfast.TurnMark;
import dev.holdfast.TurnResult;
import dev.holdfast.Usage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * A tiny agent: what is in its context, what was written to it and not read yet, and whether it works. Immutable. Its
 * record is its context, less what a death takes away, since a record may be behind.
 *
 * @param nativeSession the session the context belongs to; empty before the first
 * @param up a process is there and was started
 * @param written lines written and not taken, by delivery
 * @param working lines of the turn it works on; empty when it rests
 * @param ownTurn it works without having been asked to
 * @param interrupted an interrupt was written and not read
 */
record ModelAgent(
        String nativeSession,
        List<Item> context,
        boolean up,
        List<Line> written,
        List<DeliveryId> working,
        boolean ownTurn,
        boolean interrupted) {

    /** Something in the context: words told under an id, an answer, or the mark an interrupt leaves. */
    record Item(Kind kind, String id, List<Long> messages) {}

    enum Kind {
        TOLD,
        ANSWER,
        LIMIT,
        INTERRUPTED
    }

    /** A line on its way, with the numbers of the messages whose words it carries. */
    record Line(Told told, List<Long> messages) {}

    static ModelAgent none() {
        return new ModelAgent("", List.of(), false, List.of(), List.of(), false, false);
    }

    boolean works() {
        return ownTurn || !working.isEmpty();
    }

    /** Starts over the given session: its context is kept only when it is resumed. */
    ModelAgent started(String session, boolean resume, Optional<Item> catchUp) {
        if (resume && !session.equals(nativeSession)) {
            throw new AssertionError("resumes " + session + ", but the agent's session is " + nativeSession);
        }
        var items = new ArrayList<Item>(resume ? context : List.of());
        catchUp.ifPresent(items::add);
        return new ModelAgent(session, List.copyOf(items), true, List.of(), List.of(), false, false);
    }

    ModelAgent write(Line line) {
        return new ModelAgent(nativeSession, context, up, plus(written, line), working, ownTurn, interrupted);
    }

    ModelAgent interrupt() {
        return new ModelAgent(nativeSession, context, up, written, working, ownTurn, true);
    }

    /** Takes the written line into its context: begins a turn with it, or folds it into the one it works on. */
    ModelAgent take() {
        var line = written.getFirst();
        var item = new Item(Kind.TOLD, line.told().id().toString(), line.messages());
        return new ModelAgent(
                nativeSession,
                plus(context, item),
                up,
                written.subList(1, written.size()),
                plus(working, line.told().id()),
                ownTurn,
                interrupted);
    }

    ModelAgent beginOwnTurn() {
        return new ModelAgent(nativeSession, context, up, written, working, true, interrupted);
    }

    /** Ends its turn with an answer. */
    ModelAgent finish() {
        return rest(Kind.ANSWER, interrupted);
    }

    /** Works no more, and nothing came of what it did. */
    ModelAgent fallSilent() {
        return new ModelAgent(nativeSession, context, up, written, List.of(), false, interrupted);
    }

    /** Ends its turn because it has used up its steps. */
    ModelAgent stopAtLimit() {
        return rest(Kind.LIMIT, interrupted);
    }

    /** Reads the interrupt, and stops working if it does. */
    ModelAgent obey() {
        return works()
                ? rest(Kind.INTERRUPTED, false)
                : new ModelAgent(nativeSession, context, up, written, working, ownTurn, false);
    }

    private ModelAgent rest(Kind kind, boolean stillInterrupted) {
        var items = ownTurn && working.isEmpty() ? context : plus(context, new Item(kind, answerId(), List.of()));
        return new ModelAgent(nativeSession, items, up, written, List.of(), false, stillInterrupted);
    }

    String answerId() {
        return context.isEmpty() ? "" : "answer to " + context.getLast().id();
    }

    /** Its process is gone, and with it the last {@code lost} entries, which its record does not have. */
    ModelAgent gone(int lost) {
        return new ModelAgent(
                nativeSession, context.subList(0, context.size() - lost), false, List.of(), List.of(), false, false);
    }

    /** How far its record may be behind: nothing, the last entry, or everything since it was last told something. */
    Set<Integer> losses() {
        var losses = new HashSet<Integer>();
        losses.add(0);
        if (up && !context.isEmpty()) {
            losses.add(1);
            int last = 1;
            while (last < context.size() && context.get(context.size() - last).kind() != Kind.TOLD) {
                last++;
            }
            losses.add(last);
        }
        return losses;
    }

    /** What its record says, read after its process is gone, as every harness has to answer (TN-08, TN-16). */
    Knowledge knowledge(Effect.AskKnowledge question) {
        if (context.isEmpty() || !question.nativeSession().equals(Optional.of(nativeSession))) {
            return Knowledge.nothing();
        }
        var ids = new HashSet<String>();
        context.forEach(i -> ids.add(i.id()));
        long covers = 0;
        List<String> askedNext = List.of();
        boolean holed = false;
        boolean missing = false;
        var marks = new TreeMap<Long, List<TurnMark>>();
        question.marks().forEach(m -> marks.merge(m.turn(), List.of(m), ModelAgent::joined));
        for (var turn : marks.entrySet()) {
            boolean there = turn.getValue().stream().anyMatch(m -> whole(m, ids));
            holed |= there && missing;
            if (!there && !missing) {
                missing = true;
                askedNext = turn.getValue().stream()
                        .flatMap(m -> m.asked().stream())
                        .filter(ids::contains)
                        .distinct()
                        .toList();
            }
            if (!missing) {
                covers = turn.getKey();
            }
        }
        var present = question.open().stream()
                .filter(id -> ids.contains(id.toString()))
                .toList();
        return new Knowledge(
                holed ? Knowledge.RecordState.DAMAGED : Knowledge.RecordState.PRESENT,
                covers,
                askedNext,
                present,
                tail(present));
    }

    private static boolean whole(TurnMark mark, Set<String> ids) {
        return ids.containsAll(mark.asked()) && (mark.answered().isEmpty() || ids.contains(mark.answered()));
    }

    private Knowledge.Tail tail(List<DeliveryId> present) {
        if (present.isEmpty()) {
            return new Knowledge.Tail.None();
        }
        var last = context.getLast();
        return switch (last.kind()) {
            case TOLD -> new Knowledge.Tail.Open(List.of(), List.of());
            case ANSWER -> new Knowledge.Tail.Answered(result(TurnResult.Ending.ANSWERED, last.id()));
            case LIMIT -> new Knowledge.Tail.Answered(result(TurnResult.Ending.TURN_LIMIT, last.id()));
            case INTERRUPTED -> new Knowledge.Tail.Answered(result(TurnResult.Ending.INTERRUPTED, last.id()));
        };
    }

    static TurnResult result(TurnResult.Ending ending, String answerId) {
        return new TurnResult(ending, "words", "", Usage.unknown(), List.of(), answerId, "", false);
    }

    private static <T> List<T> plus(List<T> list, T last) {
        return joined(list, List.of(last));
    }

    private static <T> List<T> joined(List<T> first, List<T> second) {
        var all = new ArrayList<T>(first);
        all.addAll(second);
        return List.copyOf(all);
    }
}
