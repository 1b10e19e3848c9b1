package dev.holdfast.testkit;

import dev.holdfast.ArrivalKind;
import dev.holdfast.CallOutcome;
import dev.holdfast.CallRuling;
import dev.holdfast.Knowledge;
import dev.holdfast.Outcome;
import dev.holdfast.Report;
import dev.holdfast.core.Core;
import dev.holdfast.core.Durable;
import dev.holdfast.core.Effect;
import dev.holdfast.core.Event;
import dev.holdfast.core.Header;
import dev.holdfast.core.Input;
import dev.holdfast.core.Live;
import dev.holdfast.core.Phase;
import dev.holdfast.core.Ruling;
import dev.holdfast.core.Settings;
import dev.holdfast.core.Taken;
import dev.holdfast.core.Told;
import java.lang.reflect.RecordComponent;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** The core with one mistake in it: in what it decides, or in what it makes of an event. For one session. */
final class SlippingCore implements Core {
    private final Core sound;
    private final SeededBug bug;
    private final List<Header> heldBack = new ArrayList<>();

    SlippingCore(Core sound, SeededBug bug) {
        this.sound = sound;
        this.bug = bug;
    }

    @Override
    public Set<Effect> effects(Durable durable, Live live) {
        return sound.effects(durable, live);
    }

    @Override
    public Optional<Instant> dueAt(Durable durable, Live live) {
        return sound.dueAt(durable, live);
    }

    @Override
    public Optional<Instant> wakeAt(Durable durable, Live live) {
        return sound.wakeAt(durable, live);
    }

    @Override
    public boolean idle(Durable durable, Live live) {
        return sound.idle(durable, live);
    }

    @Override
    public boolean waits(Durable durable, Live live) {
        return sound.waits(durable, live);
    }

    @Override
    public boolean sleepable(Durable durable, Live live, Instant now) {
        return sound.sleepable(durable, live, now);
    }

    // ---- what is decided ------------------------------------------------------------------------------------------

    @Override
    public Decision decide(Durable durable, Live live, Input input, Instant now) {
        return switch (bug) {
            case RESEND_WITHOUT_ASKING, NO_CATCH_UP -> sound.decide(durable, live, misread(durable, input), now);
            case LINE_INSIDE_INTERRUPT_WINDOW -> sound.decide(durable, windowOpen(durable, live), input, now);
            case IN_FLIGHT_FORGOTTEN ->
                sound.decide(
                        input instanceof Input.Awake && durable.up()
                                ? with(durable, "turn", Optional.empty())
                                : durable,
                        live,
                        input,
                        now);
            case RECLAIM_TO_TAIL -> {
                boolean others =
                        !live.waiting().tailMap(durable.takenThrough(), false).isEmpty();
                yield sound.decide(
                        others && !durable.front().isEmpty() ? with(durable, "front", List.of()) : durable,
                        live,
                        input,
                        now);
            }
            case CANCEL_BEHIND_QUEUE -> sound.decide(durable, live, cancelsBehind(durable, live, input), now);
            case CLOSE_REASON_OVERWRITTEN ->
                sound.decide(
                        arrived(input, ArrivalKind.CLOSE) ? with(durable, "finishing", Optional.empty()) : durable,
                        live,
                        input,
                        now);
            case TAKEN_WHILE_PAUSED ->
                sound.decide(
                        durable.phase() == Phase.PAUSED ? with(durable, "phase", Phase.OPEN) : durable,
                        live,
                        input,
                        now);
            case OFFERED_AFTER_CLOSE -> offeredAfterClose(durable, live, input, now);
            case DRAINED_TOO_EARLY -> drainedEarly(durable, sound.decide(durable, live, input, now));
            case STALE_CONSUMER_TAKES -> staleTake(durable, live, input, now);
            case FEED_KEEPS_ITS_MESSAGES ->
                input instanceof Input.FeedWanted
                        ? without(sound.decide(durable, live, input, now), e -> e instanceof Event.MessagesReturned)
                        : sound.decide(durable, live, input, now);
            case WITHDRAWN_AND_TOLD ->
                without(
                        sound.decide(durable, live, input, now),
                        e -> e instanceof Event.MessageEnded m && m.outcome() == Outcome.WITHDRAWN);
            case COMBINED_OVER_AUTHORITIES ->
                sound.decide(durable, live, headers(input, SlippingCore::noAuthority), now);
            case REPLACE_WAITS ->
                sound.decide(
                        durable,
                        live,
                        headers(input, h -> h.kind() == ArrivalKind.REPLACE ? with(h, "kind", ArrivalKind.MESSAGE) : h),
                        now);
            case CUT_NOT_RECORDED ->
                without(sound.decide(durable, live, input, now), e -> e instanceof Event.TranscriptCut);
            case STEER_TAKEN_FOR_LANDED -> steersLanded(sound.decide(durable, live, input, now));
            case FORMER_TIMEOUT_OBEYED ->
                sound.decide(
                        durable,
                        live,
                        headers(input, h -> with(h, "wish", with(h.wish(), "epoch", OptionalLong.of(live.epoch())))),
                        now);
            case CONTINUATION_FORGOTTEN ->
                without(sound.decide(durable, live, input, now), e -> e instanceof Event.ContinuationQueued);
            case INTERNAL_INHERITED -> {
                var decision = sound.decide(durable, live, input, now);
                boolean over = decision.events().stream().anyMatch(e -> e instanceof Event.IncarnationEnded);
                yield over
                        ? new Decision(decision.events(), with(decision.live(), "internal", live.internal()))
                        : decision;
            }
            case DENIED_CALL_RUNS ->
                sound.decide(durable, live, admitted(input, CallRuling.DENIED, CallRuling.ALLOWED), now);
            case SILENCE_TAKEN_FOR_YES ->
                sound.decide(durable, live, admitted(input, CallRuling.LAPSED, CallRuling.APPROVED), now);
            case LOST_CALL_WITHOUT_ROW ->
                without(
                        sound.decide(durable, live, input, now),
                        e -> e instanceof Event.CallEnded c && c.outcome() == CallOutcome.LOST);
            case BOUNDARY_IGNORED -> {
                var s = live.settings();
                yield sound.decide(
                        durable,
                        with(live, "settings", new Settings(s.stayOpen(), s.combine(), false, s.taker())),
                        input,
                        now);
            }
            default -> sound.decide(durable, live, input, now);
        };
    }

    /** What was refused so is let through, as if it had been allowed so. */
    private static Input admitted(Input input, CallRuling refusedAs, CallRuling as) {
        return input instanceof Input.CallJudged j
                        && j.ruling() instanceof Ruling.Refused refused
                        && refused.as() == refusedAs
                ? with(j, "ruling", new Ruling.Admitted(refused.rule(), as))
                : input;
    }

    private Input misread(Durable durable, Input input) {
        if (!(input instanceof Input.Reported r && r.report() instanceof Report.Known known)) {
            return input;
        }
        var k = known.knowledge();
        if (bug == SeededBug.RESEND_WITHOUT_ASKING) {
            k = new Knowledge(k.record(), k.coversTurn(), k.askedNext(), List.of(), new Knowledge.Tail.None());
        } else if (k.record() == Knowledge.RecordState.PRESENT) {
            k = new Knowledge(k.record(), durable.lastSettled(), List.of(), k.present(), k.tail());
        }
        return new Input.Reported(r.epoch(), r.incarnation(), new Report.Known(k));
    }

    private static Live windowOpen(Durable durable, Live live) {
        boolean inWindow = live.interrupt() == Live.InterruptWindow.WRITTEN
                && durable.turn().filter(t -> t.ending().isEmpty()).isPresent();
        return inWindow ? with(with(live, "interrupt", Live.InterruptWindow.CLOSED), "awaitIdle", false) : live;
    }

    /** Gives a cancel to the core only once every message before it was named. */
    private Input cancelsBehind(Durable durable, Live live, Input input) {
        if (!(input instanceof Input.Arrived a)) {
            return input;
        }
        heldBack.addAll(
                a.headers().stream().filter(h -> h.kind() == ArrivalKind.CANCEL).toList());
        var given = new ArrayList<>(a.headers());
        given.removeAll(heldBack);
        heldBack.removeIf(c -> durable.named(c.number()));
        for (Header cancel : List.copyOf(heldBack)) {
            boolean waits =
                    live.waiting().headMap(cancel.number()).keySet().stream().anyMatch(n -> !durable.named(n))
                            || durable.turn().isPresent();
            if (!waits) {
                given.add(cancel);
                heldBack.remove(cancel);
            }
        }
        return new Input.Arrived(given, a.through());
    }

    private static boolean arrived(Input input, ArrivalKind kind) {
        return input instanceof Input.Arrived a && a.headers().stream().anyMatch(h -> h.kind() == kind);
    }

    private Decision offeredAfterClose(Durable durable, Live live, Input input, Instant now) {
        if (durable.phase() == Phase.CLOSED && sound.waits(durable, live)) {
            return sound.decide(with(durable, "phase", Phase.OPEN), live, input, now);
        }
        return without(
                sound.decide(durable, live, input, now),
                e -> e instanceof Event.MessageEnded m && m.outcome() == Outcome.CLOSED && !m.inHand());
    }

    private static Decision drainedEarly(Durable durable, Decision decision) {
        boolean flying =
                durable.turn().isPresent() || !durable.reading().inHand().isEmpty();
        boolean changes = decision.events().stream().anyMatch(e -> e instanceof Event.PhaseChanged);
        if (durable.phase() != Phase.DRAINING || !flying || changes) {
            return decision;
        }
        var events = new ArrayList<>(decision.events());
        events.add(0, new Event.PhaseChanged(Phase.Trigger.DRAINED, "drained", Optional.empty()));
        return new Decision(events, decision.live());
    }

    /** What an older feed waited for is served when the newer one is opened. */
    private Decision staleTake(Durable durable, Live live, Input input, Instant now) {
        var opened = sound.decide(durable, live, input, now);
        if (!(input instanceof Input.FeedWanted)) {
            return opened;
        }
        var waits = new Live.Demand(1, true, 0);
        var state = durable;
        for (Event e : opened.events()) {
            state = sound.apply(state, e);
        }
        var taken = sound.decide(
                state, with(opened.live(), "demand", Optional.of(live.demand().orElse(waits))), new Input.Tick(), now);
        var events = new ArrayList<>(opened.events());
        events.addAll(taken.events());
        return new Decision(events, taken.live());
    }

    private static Decision without(Decision decision, Predicate<Event> left) {
        return new Decision(decision.events().stream().filter(left.negate()).toList(), decision.live());
    }

    private static Decision steersLanded(Decision decision) {
        var events = new ArrayList<Event>();
        for (Event event : decision.events()) {
            events.add(event);
            if (event instanceof Event.SteerPlanned p) {
                events.add(new Event.SteerLanded(p.turn(), p.message(), p.delivery()));
            }
        }
        return new Decision(events, decision.live());
    }

    private static Input headers(Input input, UnaryOperator<Header> change) {
        return input instanceof Input.Arrived a
                ? new Input.Arrived(a.headers().stream().map(change).toList(), a.through())
                : input;
    }

    private static Header noAuthority(Header h) {
        var name = h.wish().sender().split("/", 2)[0];
        return with(h, "wish", with(h.wish(), "sender", name));
    }

    // ---- what is made of an event ---------------------------------------------------------------------------------

    @Override
    public Durable apply(Durable before, Event event) {
        var after = sound.apply(before, event);
        return switch (bug) {
            case IN_FLIGHT_FORGOTTEN ->
                event instanceof Event.IncarnationEnded e && e.cause() == Event.EndCause.HOST_LOST
                        ? with(after, "turn", Optional.empty())
                        : after;
            case RECLAIM_TO_TAIL -> event instanceof Event.IncarnationPlanned ? toTail(before, after) : after;
            case REDELIVERY_AFTER_SETTLE -> redelivered(after, event);
            case RESTORED_IN_WRONG_ORDER ->
                event instanceof Event.MessagesRestored
                        ? with(after, "front", after.front().reversed())
                        : after;
            case SPIN_UNGUARDED -> with(after, "continuations", 0);
            case RESET_KEEPS_MEMORY ->
                event instanceof Event.MemoryDropped
                        ? with(with(after, "nativeSession", before.nativeSession()), "marks", before.marks())
                        : after;
            case CUT_KEEPS_MEMORY ->
                event instanceof Event.TranscriptCut
                        ? with(with(after, "nativeSession", before.nativeSession()), "marks", before.marks())
                        : after;
            case POISON_RUNS_FOR_EVER ->
                event instanceof Event.IncarnationEnded
                        ? with(after, "turn", after.turn().map(t -> with(t, "agentDeaths", 0)))
                        : after;
            default -> after;
        };
    }

    private static Durable toTail(Durable before, Durable after) {
        if (before.turn().filter(t -> !t.inFlight()).isEmpty()) {
            return after;
        }
        var front = new ArrayList<>(after.front());
        front.addAll(before.turn().orElseThrow().original().messages());
        return with(with(after, "turn", Optional.empty()), "front", front);
    }

    private static Durable redelivered(Durable after, Event event) {
        List<Taken> again = switch (event) {
            case Event.TurnSettled e when e.turn() % 5 == 0 && e.kind() == Told.Kind.MESSAGE -> e.messages();
            case Event.MessageEnded e when e.inHand() -> List.of(e.message());
            default -> List.of();
        };
        return again.isEmpty() ? after : with(after, "front", again);
    }

    @SuppressWarnings("unchecked") // a copy has the type of its original
    private static <R extends Record> R with(R original, String component, Object value) {
        try {
            var components = original.getClass().getRecordComponents();
            var types = Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
            var values = new Object[components.length];
            for (int i = 0; i < components.length; i++) {
                values[i] = components[i].getName().equals(component)
                        ? value
                        : components[i].getAccessor().invoke(original);
            }
            return (R) original.getClass().getDeclaredConstructor(types).newInstance(values);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("cannot copy " + original.getClass() + " with another " + component, e);
        }
    }
}
