package dev.holdfast.testkit;

import dev.holdfast.ArrivalKind;
import dev.holdfast.Received;
import dev.holdfast.Session;
import dev.holdfast.Subscription;
import dev.holdfast.testkit.MessageLedger.Entry;
import dev.holdfast.testkit.MessageLedger.Place;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Observes the deliveries of a session: first those unread, then the later ones, none left out and none twice (IN-07). */
final class SimulatedObserver {
    private static final Set<ArrivalKind> SHOWN = EnumSet.of(
            ArrivalKind.MESSAGE,
            ArrivalKind.STEER,
            ArrivalKind.REPLACE,
            ArrivalKind.CANCEL,
            ArrivalKind.RESET,
            ArrivalKind.CLEAR,
            ArrivalKind.CUT,
            ArrivalKind.COMPACT,
            ArrivalKind.SESSION_TIMEOUT,
            ArrivalKind.AUTHORIZATION,
            ArrivalKind.TOOL_RUN,
            ArrivalKind.ANSWER);

    private final Simulation world;
    private final SimulatedHost host;
    private final Session session;
    private final long lastBefore;
    private final Subscription subscription;
    private final List<Long> seen = new ArrayList<>();
    private List<Long> unread;
    private long last;
    private boolean closed;

    SimulatedObserver(Simulation world, SimulatedHost host, Session session) {
        this.world = world;
        this.host = host;
        this.session = session;
        world.checker.afterStep();
        lastBefore = world.checker.ledger().arrivals();
        unread = waiting();
        subscription = session.onDelivery(this::delivered);
        world.machine.after(Duration.ofSeconds(1), () -> unread.retainAll(waiting())); // those were unread for certain
        if (world.random.nextBoolean()) {
            world.machine.after(Duration.ofMillis(world.random.nextInt(20_000)), this::close);
        }
    }

    private List<Long> waiting() {
        var all = new ArrayList<Long>();
        for (Entry e : world.checker.ledger().takeable()) {
            if (e.place == Place.WAITING && SHOWN.contains(e.kind())) {
                all.add(e.number());
            }
        }
        return all;
    }

    private void delivered(Received received) {
        if (closed) {
            world.checker.violation("IN-07: arrival " + received.number() + " is told to an observer that has left");
        }
        long number = received.number();
        if (seen.contains(number)) {
            world.checker.violation("IN-07: arrival " + number + " is told twice");
        }
        if (!world.checker.ledger().of(number).returned) { // what was given back is told first, whatever its number
            if (number < last) {
                world.checker.violation("IN-07: arrival " + number + " is told after " + last);
            }
            last = number;
        }
        seen.add(number);
    }

    private void close() {
        closed = true;
        subscription.close();
        subscription.close();
    }

    void atTheEnd() {
        boolean overtakenUnawares = !world.kind.leased()
                && world.store.contents(Simulation.SESSION).overtaken.contains(host.group);
        if (closed || overtakenUnawares || !host.knows() || !host.has(session)) {
            return;
        }
        for (long number : unread) {
            check(number, "was unread");
        }
        for (long number = lastBefore + 1; number <= world.checker.ledger().arrivals(); number++) {
            if (SHOWN.contains(world.checker.ledger().of(number).kind())) {
                check(number, "was accepted later");
            }
        }
    }

    private void check(long number, String why) {
        if (!seen.contains(number)) {
            world.checker.violation("IN-07: arrival " + number + " " + why
                    + " and was not told to an observer who began" + " after " + lastBefore);
        }
    }
}
