package dev.holdfast.core;

import dev.holdfast.Limits;
import dev.holdfast.StopMode;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** The core in use: {@link Fold} applies, {@link Step} decides, and what should be running is derived here. */
final class SessionCore implements Core {
    private static final Duration SLEEP_HORIZON = Duration.ofMinutes(1);

    private final Limits limits;
    private final Fold fold;

    SessionCore(Limits limits) {
        this.limits = limits;
        this.fold = new Fold(limits);
    }

    @Override
    public Durable apply(Durable durable, Event event) {
        return fold.apply(durable, event);
    }

    @Override
    public Decision decide(Durable durable, Live live, Input input, Instant now) {
        var step = new Step(limits, fold, durable, live, now);
        step.take(input);
        step.advance();
        return step.decision();
    }

    @Override
    public Set<Effect> effects(Durable durable, Live live) {
        var effects = new LinkedHashSet<Effect>();
        if (live.stage() == AgentStage.DOWN) {
            return effects;
        }
        effects.add(new Effect.HoldSlot(key(durable, live, Effect.Kind.HOLD_SLOT, "")));
        switch (live.stage()) {
            case ASKING ->
                effects.add(new Effect.AskKnowledge(
                        key(durable, live, Effect.Kind.ASK_KNOWLEDGE, ""),
                        durable.nativeSession(),
                        durable.marks(),
                        durable.turn().map(Turn::ids).orElse(List.of())));
            case STARTING -> addRun(effects, durable, live);
            case READY -> {
                addRun(effects, durable, live);
                addTurn(effects, durable, live);
                addCalls(effects, durable, live);
                live.judging()
                        .ifPresent(n -> effects.add(
                                new Effect.Judge(key(durable, live, Effect.Kind.JUDGE, Long.toString(n)), n)));
            }
            case STOPPING ->
                effects.add(new Effect.StopAgent(
                        key(durable, live, Effect.Kind.STOP_AGENT, ""),
                        live.stop().orElse(StopMode.BUSY)));
            case PLANNED, DOWN -> {}
        }
        return effects;
    }

    private static void addRun(Set<Effect> effects, Durable durable, Live live) {
        var plan = live.plan().orElseThrow();
        effects.add(new Effect.RunAgent(
                key(durable, live, Effect.Kind.RUN_AGENT, ""), plan.nativeSession(), plan.resume(), plan.catchUp()));
    }

    private static void addTurn(Set<Effect> effects, Durable durable, Live live) {
        if (durable.turn().isEmpty()) {
            return;
        }
        var turn = durable.turn().get();
        live.told()
                .flatMap(id ->
                        turn.told().stream().filter(t -> t.id().equals(id)).findFirst())
                .ifPresent(t -> effects.add(new Effect.Tell(
                        key(durable, live, Effect.Kind.TELL, t.id().toString()),
                        turn.number(),
                        t,
                        retellFrom(turn, live))));
        if (live.interrupt() == Live.InterruptWindow.WRITTEN && turn.stage() == TurnStage.ENDING) {
            effects.add(new Effect.Interrupt(
                    key(durable, live, Effect.Kind.INTERRUPT, Long.toString(turn.number())), turn.number()));
        }
    }

    private static long retellFrom(Turn turn, Live live) {
        return live.toldThrough() < turn.number() - 1 ? live.toldThrough() + 1 : 0;
    }

    private static void addCalls(Set<Effect> effects, Durable durable, Live live) {
        boolean ending = durable.turnStage() == TurnStage.ENDING;
        live.calls().forEach((id, call) -> {
            switch (call.stage()) {
                case ASKED -> {
                    if (!ending) {
                        effects.add(admit(durable, live, id, call));
                    }
                }
                case QUESTIONED -> {} // until the question is over
                case RUNNING -> {
                    if (call.builtIn()) {
                        effects.add(new Effect.PermitCall(
                                key(durable, live, Effect.Kind.PERMIT_CALL, id), id, Optional.empty()));
                    } else if (!ending) {
                        effects.add(run(durable, live, id, call));
                    }
                }
                case ANSWERED ->
                    effects.add(
                            call.builtIn()
                                    ? new Effect.PermitCall(
                                            key(durable, live, Effect.Kind.PERMIT_CALL, id), id, call.refusal())
                                    : new Effect.AnswerCall(
                                            key(durable, live, Effect.Kind.ANSWER_CALL, id),
                                            id,
                                            call.facts().ruling(),
                                            call.refusal()));
            }
        });
    }

    private static Effect admit(Durable durable, Live live, String id, Call call) {
        var turn = durable.turn();
        var decided = durable.approval(call.key()).filter(a -> switch (a.state()) {
            case OPEN -> false;
            case ANSWERED, LAPSED -> true;
            case USED -> call.started(); // and was held back
        });
        return new Effect.AdmitCall(
                key(durable, live, Effect.Kind.ADMIT_CALL, id + "#" + call.round()),
                turn.map(Turn::number).orElse(0L),
                message(turn),
                id,
                call.tool(),
                call.builtIn(),
                call.round(),
                turn.filter(t -> t.original().kind() != Told.Kind.INTERNAL).isPresent(),
                decided);
    }

    private static Effect run(Durable durable, Live live, String id, Call call) {
        return new Effect.RunCall(
                key(durable, live, Effect.Kind.RUN_CALL, id + "#" + call.round()),
                durable.turn().map(Turn::number).orElse(0L),
                message(durable.turn()),
                id,
                call.tool(),
                call.key(),
                call.round(),
                call.judgedAt(),
                call.sideEffects() ? forgotten(durable, call.key()) : Optional.empty());
    }

    /** The message whose turn it is; 0 for none. */
    static long message(Optional<Turn> turn) {
        return turn.flatMap(t -> t.original().messages().stream().findFirst())
                .map(Taken::number)
                .orElse(0L);
    }

    private static Optional<OpenCall> forgotten(Durable durable, String idempotencyKey) {
        return durable.turn().stream()
                .flatMap(t -> t.calls().stream())
                .filter(c -> c.forgotten() && c.key().equals(idempotencyKey))
                .findFirst();
    }

    private static Effect.Key key(Durable durable, Live live, Effect.Kind kind, String ordinal) {
        return new Effect.Key(live.epoch(), durable.incarnation(), kind, ordinal);
    }

    @Override
    public Optional<Instant> dueAt(Durable durable, Live live) {
        boolean runs = live.stage() == AgentStage.STARTING || live.stage() == AgentStage.READY;
        var turnBy = durable.turn()
                .filter(t -> runs && durable.questions().isEmpty() && t.stage() != TurnStage.ENDING)
                .map(Turn::deadline);
        var evictAt = live.idleSince()
                .filter(s -> !live.settings().stayOpen() && atRest(durable, live))
                .map(s -> s.plus(limits.idle()));
        var outworn = live.wear()
                .since()
                .filter(s -> atRest(durable, live) && live.internal().isEmpty())
                .map(s -> s.plus(limits.recycling().age()));
        return Stream.of(
                        turnBy,
                        wakeAt(durable, live),
                        evictAt,
                        outworn,
                        live.stage() == AgentStage.STOPPING ? Optional.<Instant>empty() : live.endBy())
                .flatMap(Optional::stream)
                .min(Instant::compareTo);
    }

    @Override
    public Optional<Instant> wakeAt(Durable durable, Live live) {
        if (durable.phase() == Phase.CLOSED || durable.seed().isEmpty()) {
            return Optional.empty();
        }
        boolean restarts = live.stage() == AgentStage.DOWN
                && durable.turn().isPresent()
                && mayStart(durable)
                && live.settings().agent();
        boolean unused = durable.turn().isEmpty() && durable.reading().inHand().isEmpty() && nothingLeft(durable, live);
        return Stream.of(
                        restarts ? durable.restartAt() : Optional.<Instant>empty(),
                        durable.drainBy(),
                        durable.questions().stream().map(Question::deadline).min(Instant::compareTo),
                        unused ? Optional.of(unusedAt(limits, durable, live.awakeAt())) : Optional.<Instant>empty())
                .flatMap(Optional::stream)
                .min(Instant::compareTo);
    }

    /** When a session that lies unused is closed: not before an owner has had the time to read what it was woken by. */
    static Instant unusedAt(Limits limits, Durable durable, Instant awakeAt) {
        var due = durable.usedAt().plus(limits.unused());
        var read = awakeAt.plus(SLEEP_HORIZON);
        return due.isAfter(read) ? due : read;
    }

    /** Whether a process may be started for an open turn: while draining as well, never while paused. */
    static boolean mayStart(Durable durable) {
        return durable.phase() == Phase.OPEN || durable.phase() == Phase.DRAINING;
    }

    @Override
    public boolean waits(Durable durable, Live live) {
        return somethingWaits(durable, live);
    }

    @Override
    public boolean idle(Durable durable, Live live) {
        return atRest(durable, live);
    }

    static boolean somethingWaits(Durable durable, Live live) {
        return !durable.front().isEmpty()
                || live.waiting().tailMap(durable.takenThrough(), false).keySet().stream()
                        .anyMatch(n -> !durable.named(n));
    }

    /** Nothing waits, and nothing before what was read ahead is unread. */
    static boolean nothingLeft(Durable durable, Live live) {
        return durable.ahead().isEmpty() && !somethingWaits(durable, live);
    }

    static boolean atRest(Durable durable, Live live) {
        return live.stage() == AgentStage.READY && durable.turn().isEmpty() && !live.busy() && !live.awaitIdle();
    }

    @Override
    public boolean sleepable(Durable durable, Live live, Instant now) {
        boolean nothingRuns = live.stage() == AgentStage.DOWN
                && live.notes().isEmpty()
                && !durable.reading().open()
                && durable.reading().inHand().isEmpty(); // its reader is here, and may settle it
        var horizon = now.plus(SLEEP_HORIZON);
        boolean held = !mayStart(durable) || live.leaving() || !live.settings().agent();
        boolean nothingNext = held
                || (!somethingWaits(durable, live) && durable.continueAfter().isEmpty());
        boolean nothingToRun = held
                || durable.turn().isEmpty()
                || durable.restartAt().filter(at -> at.isAfter(horizon)).isPresent();
        boolean nothingDue = live.leaving()
                || wakeAt(durable, live).filter(at -> !at.isAfter(horizon)).isEmpty();
        return nothingRuns && nothingNext && nothingToRun && nothingDue;
    }
}
