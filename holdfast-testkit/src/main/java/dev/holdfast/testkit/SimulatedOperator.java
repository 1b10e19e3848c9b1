package dev.holdfast.testkit;

import dev.holdfast.AddressTerms;
import dev.holdfast.Arrival;
import dev.holdfast.Author;
import dev.holdfast.CloseReason;
import dev.holdfast.DeliveryPolicy;
import dev.holdfast.Outcome;
import dev.holdfast.Payload;
import dev.holdfast.Received;
import dev.holdfast.Session;
import dev.holdfast.SessionLimits;
import dev.holdfast.Withdrawal;
import dev.holdfast.core.Phase;
import dev.holdfast.testkit.MessageLedger.Entry;
import dev.holdfast.testkit.MessageLedger.Place;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A person who does to a session everything that can be done to one, and in the end puts it right. Not thread-safe. */
final class SimulatedOperator {
    /** An address of the session, now and then. */
    static final String ADDRESS = "desk";

    /** An address that takes one callback. */
    static final String CALLBACK = "callback";

    private static final String TAKEN = "elsewhere";

    private final Simulation world;
    private final List<SimulatedObserver> observers = new ArrayList<>();
    private int count;
    private boolean ended;

    SimulatedOperator(Simulation world) {
        this.world = world;
    }

    private int below(int bound) {
        return world.random.nextInt(bound);
    }

    private Duration soon(int millis) {
        return Duration.ofMillis(below(millis));
    }

    void act() {
        if (!world.faulty()) {
            return;
        }
        world.machine.after(soon(3_000), this::act);
        world.anyHost().ifPresent(host -> {
            var session = host.session().orElseThrow();
            if (world.kind.ends() && !ended && below(12) == 0) {
                ended = true;
                end(host, session);
            } else {
                act(host, session);
            }
            if (below(2) == 0) {
                decide(host, session);
            }
        });
    }

    /** Answers what is asked about calls of tools. */
    private void decide(SimulatedHost host, Session session) {
        world.promised(host, "questions", session.questions())
                .thenAccept(open -> open.stream()
                        .filter(q -> q.tool().isPresent())
                        .forEach(q -> world.promised(
                                host, "decide " + q.id(), session.answer(q.id(), below(3) == 0 ? "no" : "yes"))));
    }

    private void act(SimulatedHost host, Session session) {
        switch (below(20)) {
            case 0, 1 -> cancel(host, session);
            case 2, 3 -> withdraw(host, session);
            case 4 -> pause(host, session);
            case 5 -> drain(host, session);
            case 6 -> world.promised(host, "reset", session.reset());
            case 7 -> world.promised(host, "drop of what was said", forget(session));
            case 8 -> timeOut(host, session);
            case 9, 10 -> ask(host, session);
            case 11, 12, 13 -> internal(host, session);
            case 14 -> claim(host, session);
            case 15 -> release(host, session);
            case 16 -> observers.add(new SimulatedObserver(world, host, session));
            case 17 -> resend(host, session);
            case 18 -> world.promised(host, "resume", session.resume());
            default -> claimElsewhere(host, session);
        }
    }

    private java.util.concurrent.CompletionStage<?> forget(Session session) {
        if (below(2) == 0) {
            long turn = Math.max(1, world.checker.newestTurn() + 1 - below(4)); // the next one is not there yet
            return session.submit(new Payload.Cut(turn), Author.host(), Optional.empty());
        }
        return below(3) == 0 ? session.submit(new Payload.Compact(), Author.host(), Optional.empty()) : session.clear();
    }

    // ---- messages -------------------------------------------------------------------------------------------------

    private Optional<Entry> recent() {
        long last = world.checker.ledger().arrivals();
        return last == 0 ? Optional.empty() : world.checker.ledger().find(Math.max(1, last - below(6)));
    }

    private void cancel(SimulatedHost host, Session session) {
        long turn = world.checker.openTurn();
        var what = below(2) == 0 && turn > 0
                ? Payload.Cancel.turn(Math.max(1, turn - below(2)))
                : recent().map(e -> Payload.Cancel.message(e.number())).orElse(Payload.Cancel.any());
        world.promised(host, "cancel " + what, session.cancel(what));
    }

    private void withdraw(SimulatedHost host, Session session) {
        recent().ifPresent(e -> world.promised(host, "withdraw " + e, session.withdraw(e.number()))
                .thenAccept(answer -> {
                    world.checker.afterStep();
                    boolean withdrawn =
                            e.outcome.filter(o -> o == Outcome.WITHDRAWN).isPresent();
                    if (answer instanceof Withdrawal.Withdrawn && !withdrawn) {
                        world.checker.violation("MB-21: " + e + " is said to be withdrawn and is at " + e.place);
                    }
                    if (answer instanceof Withdrawal.Unknown && e.kind().speaks()) {
                        world.checker.violation("MB-21: " + e + " is said to be unknown");
                    }
                }));
    }

    private void resend(SimulatedHost host, Session session) {
        var dead = world.checker.ledger().ended().stream()
                .filter(e -> e.outcome.filter(o -> o == Outcome.DEAD_LETTER).isPresent())
                .findFirst();
        world.promised(host, "dead letters", session.deadLetters(10))
                .thenAccept(letters -> dead.ifPresent(e -> {
                    if (letters.stream().noneMatch(r -> r.number() == e.number())) {
                        world.checker.violation("MB-20: " + e + " is no dead letter of those listed: " + letters);
                    }
                }));
    }

    // ---- phases ---------------------------------------------------------------------------------------------------

    private void pause(SimulatedHost host, Session session) {
        world.promised(
                host, "pause", below(2) == 0 ? session.pause("budget") : session.closeAsync(CloseReason.TOKEN_BUDGET));
        resumeLater();
    }

    private void drain(SimulatedHost host, Session session) {
        world.promised(host, "drain", session.drain(soon(8_000)));
        resumeLater();
    }

    private void resumeLater() {
        world.machine.after(
                soon(9_000),
                () -> world.anyHost()
                        .ifPresent(h -> world.promised(
                                h, "resume", h.session().orElseThrow().resume())));
    }

    private void end(SimulatedHost host, Session session) {
        count++;
        if (world.kind.taker() == Simulation.Taker.CHAT && host.reader().isPresent() && below(2) == 0) {
            host.reader().get().close("over " + count);
        } else if (below(3) == 0) {
            world.promised(host, "close", session.closeAsync("over " + count));
        } else {
            world.promised(host, "finish", session.finish("over " + count));
        }
        if (below(3) == 0) { // somebody ends it again, for another reason
            world.machine.after(
                    soon(5_000),
                    () -> world.anyHost().ifPresent(h -> end(h, h.session().orElseThrow())));
        }
    }

    private void timeOut(SimulatedHost host, Session session) {
        long epoch = world.checker.epoch();
        if (epoch > 1 && (below(10) > 0 || !world.kind.ends())) {
            epoch = 1L + below((int) epoch - 1); // a former owner's
        } else if (!world.kind.ends()) {
            return;
        }
        var timeOut = new Payload.SessionTimeout(epoch);
        world.promised(host, "time out " + epoch, session.submit(timeOut, Author.host(), Optional.empty()));
    }

    // ---- questions and requests -----------------------------------------------------------------------------------

    private void ask(SimulatedHost host, Session session) {
        var id = "question-" + ++count;
        var right = "right answer to " + id;
        if (below(2) == 0) { // somebody who guesses
            world.promised(host, "answer before " + id, session.answer(id, "too early"));
        }
        world.machine.after(soon(20), () -> ask(host, session, id, right));
        if (below(3) > 0) {
            world.machine.after(
                    Duration.ofSeconds(1).plus(soon(9_000)),
                    () -> world.anyHost()
                            .ifPresent(h -> world.promised(
                                    h, "answer " + id, h.session().orElseThrow().answer(id, right))));
        }
    }

    private void ask(SimulatedHost host, Session session, String id, String right) {
        if (!host.runs()) {
            return;
        }
        world.promised(host, "ask " + id, session.question(id, "Well?", soon(30_000)))
                .thenAccept(answer -> {
                    if (answer.filter(a -> !a.equals(right)).isPresent()) {
                        world.checker.violation("IN-14: question " + id + " is answered: " + answer.get());
                    }
                });
    }

    private void internal(SimulatedHost host, Session session) {
        if (world.kind.read()) {
            return;
        }
        var marker = InvariantChecker.INTERNAL + ++count + "}}";
        world.checker.internalAsked(marker);
        CompletableFuture<Optional<String>> answer = session.internal("Please say where you are " + marker);
        world.promised(
                host,
                "internal " + marker,
                answer.thenApply(words -> {
                            if (words.filter(w -> !w.contains(marker)).isPresent()) {
                                world.checker.violation("MB-16: " + marker + " is answered: " + words.get());
                            }
                            return words;
                        })
                        .exceptionally(cancelled -> Optional.empty()));
        if (below(3) == 0) {
            world.machine.after(soon(3_000), () -> answer.cancel(false));
        }
    }

    // ---- addresses ------------------------------------------------------------------------------------------------

    private void claim(SimulatedHost host, Session session) {
        var addresses = session.addresses();
        world.promised(host, "claim " + CALLBACK, addresses.claim(CALLBACK, AddressTerms.toolRun()));
        world.promised(host, "claim " + ADDRESS, addresses.claim(ADDRESS))
                .handle((claimed, failure) -> addresses.claimed())
                .thenCompose(all -> all)
                .thenAccept(world.checker::claimed);
    }

    /** What a neighbour has cannot be had, and nothing is left of the attempt (IN-08, IN-09). */
    private void claimElsewhere(SimulatedHost host, Session session) {
        var here = host.holdfast().orElseThrow();
        var claimedElsewhere = host.journal()
                .open(Simulation.NEIGHBOUR, SessionLimits.standard())
                .thenCompose(opened -> here.mailAsync(Simulation.NEIGHBOUR))
                .thenCompose(neighbour -> neighbour.addresses().claim(TAKEN));
        world.promised(
                        host,
                        "claim all",
                        claimedElsewhere
                                .thenCompose(taken -> session.addresses().claimAll(List.of(ADDRESS, TAKEN, ADDRESS)))
                                .handle((claimed, failure) ->
                                        session.addresses().claimed())
                                .thenCompose(all -> all))
                .thenAccept(world.checker::claimed);
    }

    private void release(SimulatedHost host, Session session) {
        if (below(4) == 0) {
            world.promised(host, "dispose", session.addresses().dispose());
            return;
        }
        world.promised(host, "release addresses", session.addresses().release()).thenAccept(unread -> {
            world.checker.releasedTo(unread);
            if (!unread.isEmpty() && below(3) > 0) {
                world.machine.after(soon(5_000), () -> restore(unread));
            }
        });
    }

    private void restore(List<Received> unread) {
        world.anyHost().ifPresent(h -> {
            var addresses = h.session().orElseThrow().addresses();
            world.promised(h, "restore", addresses.claim(ADDRESS).thenCompose(a -> addresses.restore(unread)));
        });
    }

    // ---- the end --------------------------------------------------------------------------------------------------

    /** Once nothing goes wrong any more, a person looks after the session. */
    void putRight() {
        world.anyHost().ifPresent(host -> {
            var session = host.session().orElseThrow();
            var phase = world.checker.phase();
            if (phase == Phase.PARKED || phase == Phase.PAUSED) {
                world.promised(host, "resume", session.resume());
            }
            var held = world.checker.ledger().at(Place.RELEASED);
            if (!held.isEmpty() && phase != Phase.CLOSED) {
                var all = held.stream().map(e -> received(e.arrival)).toList();
                world.promised(host, "restore what is held", session.addresses().restore(all));
            }
        });
    }

    private static Received received(Arrival arrival) {
        var words = new Payload.Words("restored", DeliveryPolicy.NEXT);
        return new Received(
                arrival.number(), arrival.id(), arrival.acceptedAt(), Author.host(), Optional.empty(), words);
    }

    boolean done() {
        return true;
    }

    void atTheEnd() {
        observers.forEach(SimulatedObserver::atTheEnd);
    }
}
