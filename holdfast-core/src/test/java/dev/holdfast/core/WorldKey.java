package dev.holdfast.core;

import dev.holdfast.Report;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A 64-bit fingerprint of a world: two worlds with the same one behave alike. Instants count from now, and ids are numbered
 * as they appear, so that worlds which differ only in how often something was tried are the same. With a million worlds
 * two different ones share a fingerprint with a chance of one in thirty million.
 */
final class WorldKey {
    private final Map<Object, Integer> ids = new HashMap<>();
    private final Instant now;
    private long hash = 0x6A09E667F3BCC908L;

    WorldKey(Instant now) {
        this.now = now;
    }

    long value() {
        return hash;
    }

    WorldKey add(long value) {
        hash = (hash ^ value) * 0x9E3779B97F4A7C15L;
        hash ^= hash >>> 29;
        return this;
    }

    WorldKey add(boolean... values) {
        for (boolean value : values) {
            add(value ? 1 : 0);
        }
        return this;
    }

    WorldKey add(Enum<?> value) {
        return add(value.name().hashCode());
    }

    private WorldKey numbers(Collection<Long> values) {
        add(values.size());
        values.forEach(this::add);
        return this;
    }

    private WorldKey messages(Collection<Taken> messages) {
        add(messages.size());
        messages.forEach(m -> add(m.number()));
        return this;
    }

    private WorldKey id(Object id) {
        return add(ids.computeIfAbsent(id.toString(), k -> ids.size()));
    }

    private WorldKey ids(Collection<?> all) {
        add(all.size());
        all.forEach(this::id);
        return this;
    }

    private WorldKey maybe(Optional<?> id) {
        add(id.isPresent());
        id.ifPresent(this::id);
        return this;
    }

    private WorldKey until(Optional<Instant> instant) {
        return add(instant.map(i -> Duration.between(now, i).toMillis()).orElse(Long.MIN_VALUE));
    }

    /** @param wake when an owner must be awake */
    WorldKey add(Durable d, Optional<Instant> wake) {
        until(wake).until(d.drainBy());
        add(d.finishing().map(Finish::number).orElse(0L)).add(d.continueAfter().orElse(-1));
        add(d.continuations())
                .add(d.forgotten())
                .add(d.reading().feed())
                .add(d.reading().open());
        messages(d.reading().inHand()).messages(d.released());
        add(d.phase()).add(d.takenThrough()).numbers(d.ahead()).add(d.lastOrdinary());
        messages(d.front()).add(d.consumed()).add(d.lastTurn()).add(d.up()).add(d.failures());
        until(d.restartAt()).maybe(d.nativeSession());
        add(d.marks().size());
        d.marks()
                .forEach(m -> add(m.turn())
                        .ids(m.asked())
                        .id(m.answered())
                        .add(m.answered().isEmpty()));
        add(d.turn().isPresent());
        d.turn().ifPresent(this::add);
        return this;
    }

    private void add(Turn t) {
        add(t.number()).add(t.stage()).add(t.afterOrdinary()).until(Optional.of(t.deadline()));
        add(t.inFlight(), t.exposed(), t.cancelled());
        add(t.agentDeaths()).add(t.hostDeaths()).add(t.ending().hashCode());
        t.told()
                .forEach(line ->
                        id(line.id()).add(line.kind()).messages(line.messages()).add(line.landed()));
    }

    /** @param lines ids whose landing still matters */
    WorldKey add(Live l, Collection<?> lines) {
        add(l.stage()).add(l.toldThrough()).maybe(l.told()).add(l.interrupt());
        add(
                l.awaitIdle(),
                l.busy(),
                l.leaving(),
                l.freeSlot(),
                l.ofOthers(),
                l.wear().turns() > 0,
                l.wear().memory() > 0,
                l.spoken(),
                l.demand().isPresent());
        add(l.judging().orElse(-1)).add(l.judged().orElse(-1)).add(l.internal().size());
        add(l.stopCause().map(Enum::ordinal).orElse(-1));
        until(l.endBy())
                .until(l.idleSince())
                .add(l.seenThrough())
                .numbers(l.waiting().keySet());
        l.stop().ifPresent(this::add);
        lines.forEach(id -> add(l.landed().contains(id)));
        l.plan().ifPresent(p -> {
            id(p.nativeSession()).add(p.resume()).add(p.covers());
            p.catchUp()
                    .ifPresent(
                            c -> id(c.delivery()).add(c.from()).add(c.through()).ids(c.known()));
        });
        return this;
    }

    WorldKey add(ModelAgent a) {
        id(a.nativeSession()).add(a.up(), a.ownTurn(), a.interrupted()).ids(a.working());
        add(a.context().size());
        a.context().forEach(i -> id(i.id()).add(i.kind()).numbers(i.messages()));
        a.written().forEach(line -> id(line.told().id()).numbers(line.messages()));
        return this;
    }

    WorldKey add(ModelReader r) {
        return add(r.feed()).add(r.open(), r.asks()).numbers(r.holds());
    }

    WorldKey add(Report report) {
        add(report.getClass().getSimpleName().hashCode());
        switch (report) {
            case Report.Landed e -> id(e.id());
            case Report.Result e ->
                add(e.result().ending())
                        .id(e.result().answerId())
                        .add(e.result().answerId().isEmpty());
            default -> {}
        }
        return this;
    }

    WorldKey add(Header h) {
        add(h.wish().message().orElse(-1)).add(h.wish().afterIdle());
        until(h.wish().deadline());
        return add(h.kind()).add(h.boundTurn().orElse(-1)).add(h.boundAfter());
    }

    WorldKey turns(Map<Long, ? extends Collection<Long>> turns) {
        turns.forEach((turn, messages) -> add(turn).numbers(messages));
        return this;
    }
}
