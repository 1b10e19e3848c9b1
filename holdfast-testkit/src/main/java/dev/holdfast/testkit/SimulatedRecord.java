package dev.holdfast.testkit;

import dev.holdfast.DeliveryId;
import dev.holdfast.Knowledge;
import dev.holdfast.KnowledgeQuestion;
import dev.holdfast.TurnMark;
import dev.holdfast.TurnResult;
import dev.holdfast.Usage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.TreeMap;

/** A simulated agent's own record of one native session, on its machine's disk. */
final class SimulatedRecord {
    final List<Entry> entries = new ArrayList<>();

    /**
     * One entry of it, and of the agent's context.
     *
     * @param texts what was said; of an assistant its answer
     * @param complete whether an assistant's entry ends a turn
     */
    record Entry(Kind kind, String id, List<String> texts, boolean complete) {
        enum Kind {
            USER,
            STEER,
            ASSISTANT
        }
    }

    /** What it tells of the lines and turns that are asked for. */
    Knowledge read(KnowledgeQuestion question) {
        var ids = new HashSet<String>();
        entries.forEach(e -> ids.add(e.id()));
        long covers = 0;
        List<String> askedNext = List.of();
        var turns = new TreeMap<Long, Boolean>();
        long retold = 0;
        for (TurnMark m : question.marks()) {
            boolean there = ids.containsAll(m.asked()) && (m.answered().isEmpty() || ids.contains(m.answered()));
            if (there && turns.containsKey(m.turn())) {
                retold = m.turn(); // a catch-up, which told every turn that was missing then
            }
            turns.merge(m.turn(), there, Boolean::logicalOr);
        }
        boolean gap = false;
        boolean hole = false;
        for (var turn : turns.entrySet()) {
            if (turn.getValue() || turn.getKey() <= retold) {
                hole |= gap;
                covers = turn.getKey();
            } else {
                if (!gap) {
                    askedNext = question.marks().stream()
                            .filter(m -> m.turn() == turn.getKey())
                            .flatMap(m -> m.asked().stream())
                            .filter(ids::contains)
                            .toList();
                }
                gap = true;
            }
        }
        if (hole) {
            return new Knowledge(Knowledge.RecordState.DAMAGED, 0, List.of(), List.of(), new Knowledge.Tail.None());
        }
        var present =
                question.open().stream().filter(d -> ids.contains(d.toString())).toList();
        return new Knowledge(Knowledge.RecordState.PRESENT, covers, askedNext, present, tail(present));
    }

    private Knowledge.Tail tail(List<DeliveryId> present) {
        if (present.isEmpty()) {
            return new Knowledge.Tail.None();
        }
        int last = -1;
        for (int i = 0; i < entries.size(); i++) {
            if (entries.get(i).id().equals(present.getLast().toString())) {
                last = i;
            }
        }
        for (int i = last + 1; i < entries.size(); i++) {
            var e = entries.get(i);
            if (e.kind() == Entry.Kind.ASSISTANT && e.complete()) {
                return new Knowledge.Tail.Answered(new TurnResult(
                        TurnResult.Ending.ANSWERED,
                        e.texts().getFirst(),
                        "",
                        Usage.unknown(),
                        List.of(),
                        e.id(),
                        "",
                        false));
            }
        }
        return new Knowledge.Tail.Open(List.of(), List.of());
    }
}
