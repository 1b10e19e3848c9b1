package dev.holdfast.core;

import dev.holdfast.Outcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Where each arrival is, kept from the events alone and without the core's fold: named once, in one place at a time, ended
 * once (P2, IN-22). An event that moves something from where it is not throws {@link AssertionError}.
 */
final class Ledger {
    /** Where an arrival that some event has named can be. One that none has named waits. */
    enum Place {
        FRONT,
        TURN,
        HAND,
        RELEASED,
        ENDED
    }

    private final Map<Long, Place> places;
    private final Map<Long, Outcome> outcomes;
    private final Set<Long> restored = new HashSet<>();
    /** Told as steers, and not known to have landed. */
    private final Set<Long> steered = new HashSet<>();

    private long turn;
    private long ended;
    private boolean given;
    private boolean finishing;

    private Ledger(Map<Long, Place> places, Map<Long, Outcome> outcomes) {
        this.places = places;
        this.outcomes = outcomes;
    }

    static Ledger empty() {
        return new Ledger(new HashMap<>(), new HashMap<>());
    }

    static Ledger of(List<Event> journal) {
        var ledger = empty();
        journal.forEach(ledger::add);
        return ledger;
    }

    Ledger copy() {
        var copy = new Ledger(new HashMap<>(places), new HashMap<>(outcomes));
        copy.restored.addAll(restored);
        copy.steered.addAll(steered);
        copy.turn = turn;
        copy.ended = ended;
        copy.given = given;
        copy.finishing = finishing;
        return copy;
    }

    boolean named(long number) {
        return places.containsKey(number);
    }

    boolean has(long number, Place place) {
        return places.get(number) == place;
    }

    boolean ended(long number) {
        return outcomes.containsKey(number);
    }

    /** Whether a releaser had it and put it back, perhaps behind later ones. */
    boolean restored(long number) {
        return restored.contains(number);
    }

    /** Numbers in a place, lowest first. */
    List<Long> in(Place place) {
        var all = new TreeSet<Long>();
        places.forEach((number, where) -> {
            if (where == place) {
                all.add(number);
            }
        });
        return new ArrayList<>(all);
    }

    long count(Place place) {
        return places.values().stream().filter(where -> where == place).count();
    }

    /** Messages that a reader or a turn of a live incarnation has, or had when they ended (MB-19). */
    long consumed() {
        return ended + count(Place.HAND) + (given ? 0 : count(Place.TURN));
    }

    void add(Event event) {
        switch (event) {
            case Event.ArrivalDone e -> done(e);
            case Event.FinishAsked e -> {
                if (finishing) {
                    throw new AssertionError("finished twice: " + e);
                }
                finishing = true;
                name(e.number(), Place.ENDED);
            }
            case Event.QuestionAnswered e -> name(e.number(), Place.ENDED);
            case Event.InterruptAsked e -> {
                if (e.number() > 0) {
                    name(e.number(), Place.ENDED);
                }
            }
            case Event.TurnOpened e -> {
                if (e.turn() != ++turn) {
                    throw new AssertionError("turn " + e.turn() + " comes where turn " + turn + " should");
                }
                e.messages().forEach(m -> take(m, Place.TURN));
                given = false;
            }
            case Event.SteerPlanned e -> steered.add(e.message().number());
            case Event.SteerLanded e -> {
                steered.remove(e.message().number());
                take(e.message(), Place.TURN);
            }
            case Event.SteerReturned e -> {
                steered.remove(e.message().number());
                if (has(e.message().number(), Place.TURN)) {
                    places.put(e.message().number(), Place.FRONT);
                }
            }
            case Event.MessagesTaken e ->
                e.messages().forEach(m -> take(m, m.kind().speaks() ? Place.HAND : Place.ENDED));
            case Event.MessagesReturned e -> e.messages().forEach(m -> move(m, Place.HAND, Place.FRONT));
            case Event.TurnCopied e -> {
                name(e.number(), Place.ENDED);
                turn = e.turn();
            }
            case Event.MessagesReleased e -> {
                name(e.number(), Place.ENDED);
                e.messages().forEach(m -> take(m, Place.RELEASED));
            }
            case Event.MessagesRestored e ->
                e.messages().forEach(m -> {
                    move(m, Place.RELEASED, Place.FRONT);
                    restored.add(m.number());
                });
            case Event.MessageEnded e -> {
                boolean read = has(e.message().number(), Place.HAND);
                boolean told = e.outcome() == Outcome.CLOSED
                        && steered.contains(e.message().number());
                ended += read ? 1 : 0;
                if (e.inHand() != (read || told)) {
                    throw new AssertionError("not where it says: " + e + ", but " + places);
                }
                end(e.message(), e.outcome());
            }
            case Event.TurnSettled e -> {
                ended += e.messages().size();
                e.messages().forEach(m -> {
                    move(m, Place.TURN, Place.TURN);
                    end(m, e.outcome());
                });
            }
            case Event.IncarnationEnded ignored -> given = true;
            case Event.IncarnationPlanned ignored -> given = false;
            default -> {}
        }
    }

    /** An arrival without words waits, or was released and given back. */
    private void done(Event.ArrivalDone e) {
        if (!has(e.number(), Place.FRONT)) {
            name(e.number(), Place.ENDED);
        }
        places.put(e.number(), Place.ENDED);
    }

    private void name(long number, Place place) {
        var before = places.put(number, place);
        if (before != null) {
            throw new AssertionError("arrival " + number + " is named again; it is at " + before);
        }
    }

    private void take(Taken m, Place to) {
        if (has(m.number(), Place.FRONT)) {
            places.put(m.number(), to);
        } else {
            name(m.number(), to);
        }
    }

    private void move(Taken m, Place from, Place to) {
        if (!has(m.number(), from)) {
            throw new AssertionError("message " + m.number() + " is at " + places.get(m.number()) + ", not at " + from);
        }
        places.put(m.number(), to);
    }

    private void end(Taken m, Outcome outcome) {
        var before = outcomes.put(m.number(), outcome);
        if (before != null || has(m.number(), Place.ENDED)) {
            throw new AssertionError("message " + m.number() + " has two terminal records: " + before + ", " + outcome);
        }
        places.put(m.number(), Place.ENDED);
    }
}
