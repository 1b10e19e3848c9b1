package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ArrivalKind;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What must hold after every decision, whatever was decided. Keeps what one owner's runner would have started. */
final class CoreChecks {
    private final Core core;
    private Set<Effect.Key> started = new HashSet<>();

    CoreChecks(Core core) {
        this.core = core;
    }

    /** The runner of the owner before is gone. */
    void newOwner() {
        started = new HashSet<>();
    }

    /** Decides, and sees that deciding is pure: the same again gives the same, and nothing given was changed. */
    Core.Decision decide(Durable durable, Live live, Input input, Instant now) {
        var stateBefore = durable.toString();
        var liveBefore = live.toString();
        var decision = core.decide(durable, live, input, now);
        assertThat(core.decide(durable, live, input, now))
                .as("deciding %s twice", input)
                .isEqualTo(decision);
        assertThat(durable.toString()).as("the state given to decide").isEqualTo(stateBefore);
        assertThat(live.toString()).as("the live state given to decide").isEqualTo(liveBefore);
        return decision;
    }

    /** Folds the decision's events and checks where that leads. */
    Durable commit(Durable durable, Live live, Input input, Core.Decision decision) {
        var state = durable;
        for (Event event : decision.events()) {
            var next = core.apply(state, event);
            assertThat(core.apply(state, event)).as("applying %s twice", event).isEqualTo(next);
            SeenTransitions.applied(state, event, next);
            state = next;
        }
        lasting(durable, state);
        SeenTransitions.decided(live, durable.incarnation(), input, decision.events(), decision.live());
        state(state, decision.live());
        if (!(input instanceof Input.Awake)) { // what is urgent is read right behind it, and comes before any turn
            waits(state, decision.live());
        }
        return state;
    }

    /** What holds of any committed state. */
    private void state(Durable durable, Live live) {
        var effects = core.effects(durable, live);
        assertThat(core.effects(durable, live)).as("effects are a function").isEqualTo(effects);
        assertThat(core.dueAt(durable, live)).as("dueAt is a function").isEqualTo(core.dueAt(durable, live));
        var keys = effects.stream().map(Effect::key).toList();
        assertThat(keys).as("keys of effects").doesNotHaveDuplicates();
        assertThat(keys)
                .as("effects belong to the current incarnation")
                .allMatch(k -> k.epoch() == live.epoch() && k.incarnation() == durable.incarnation());
        assertThat(live.stage() != AgentStage.DOWN)
                .as("an incarnation is up exactly when it has not ended")
                .isEqualTo(durable.up());
        if (live.stage() == AgentStage.DOWN) {
            assertThat(effects).isEmpty();
            assertThat(live.told()).isEmpty();
        }
        lines(durable, live, effects);
        durable.turn().ifPresent(t -> turn(durable, t));
        places(durable, live);
        assertThat(durable.ahead()).as("numbers ahead of the mark").allMatch(n -> n > durable.takenThrough() + 1);
    }

    /** TN-13 and TN-14, as the runner sees them: by what is new in the set of effects. */
    private void lines(Durable durable, Live live, Set<Effect> effects) {
        var fresh = new ArrayList<Effect>();
        effects.stream().filter(e -> !started.contains(e.key())).forEach(fresh::add);
        effects.forEach(e -> started.add(e.key()));
        assertThat(effects.stream().filter(e -> e instanceof Effect.Tell).count())
                .as("lines that are not acknowledged")
                .isLessThanOrEqualTo(1);
        for (Effect effect : fresh) {
            if (effect instanceof Effect.Tell tell) {
                assertThat(live.interrupt())
                        .as("interrupt window when %s is told", tell.told())
                        .isEqualTo(Live.InterruptWindow.CLOSED);
                assertThat(live.awaitIdle())
                        .as("the agent still works when a line is told")
                        .isFalse();
                assertThat(live.landed())
                        .as("lines told again")
                        .doesNotContain(tell.told().id());
            }
        }
        effects.stream().filter(e -> e instanceof Effect.Interrupt).forEach(e -> {
            assertThat(durable.turnStage())
                    .as("stage of the turn that is interrupted")
                    .isEqualTo(TurnStage.ENDING);
            assertThat(live.told())
                    .as("a line unacknowledged beside an interrupt")
                    .isEmpty();
        });
    }

    private static void turn(Durable durable, Turn turn) {
        assertThat(turn.number()).isEqualTo(durable.lastTurn());
        assertThat(turn.ids()).as("delivery ids").doesNotHaveDuplicates();
        assertThat(turn.told().stream()
                        .filter(t -> t.kind() == Told.Kind.STEER && !t.landed())
                        .count())
                .as("steers not acknowledged (TN-13)")
                .isLessThanOrEqualTo(1);
        if (turn.original().kind() == Told.Kind.MESSAGE) {
            assertThat(turn.messages()).as("messages of a turn").isNotEmpty();
        }
        assertThat(turn.messages())
                .as("messages of the turn are not at the front as well")
                .noneMatch(durable.front()::contains);
    }

    /** Nothing is in two places, and what is recorded of phases and of what is being ended fits. */
    private static void places(Durable durable, Live live) {
        var all = new ArrayList<Taken>(durable.front());
        all.addAll(durable.reading().inHand());
        all.addAll(durable.released());
        durable.turn().map(Turn::messages).ifPresent(all::addAll);
        assertThat(all).as("front, reader, releaser and turn").doesNotHaveDuplicates();
        assertThat(all).as("what was taken is named, and waits no more").allMatch(m -> durable.named(m.number()));
        durable.turn()
                .flatMap(Turn::openSteer)
                .ifPresent(s -> assertThat(s.messages())
                        .as("a steer stays queued until it lands")
                        .noneMatch(m -> durable.named(m.number())));
        assertThat(durable.front())
                .as("the front is in order")
                .isSortedAccordingTo(Comparator.comparingLong(Taken::number));
        assertThat(durable.drainBy().isPresent() && durable.phase() != Phase.DRAINING)
                .as("a drain's deadline outside of a drain")
                .isFalse();
        boolean internal = durable.turn()
                .filter(t -> t.original().kind() == Told.Kind.INTERNAL)
                .isPresent();
        boolean stands = live.stage() == AgentStage.READY || live.stage() == AgentStage.STOPPING;
        assertThat((internal || !live.internal().isEmpty()) && !stands)
                .as("a request of the host beyond its incarnation (MB-16)")
                .isFalse();
        if (durable.phase() == Phase.CLOSED) {
            assertThat(durable.turn()).isEmpty();
            assertThat(durable.front()).isEmpty();
            assertThat(durable.questions()).isEmpty();
            assertThat(durable.reading().inHand()).isEmpty();
            assertThat(durable.released()).noneMatch(m -> m.kind().speaks());
            assertThat(durable.continueAfter()).isEmpty();
        }
        live.judging()
                .ifPresent(n -> assertThat(SessionCore.atRest(durable, live))
                        .as("the boundary is asked at rest (MB-12)")
                        .isTrue());
    }

    /** What is so for ever once it is so. */
    private static void lasting(Durable before, Durable after) {
        if (before.finishing().isPresent()) {
            assertThat(after.finishing()).as("the first finish stays (MB-07)").isEqualTo(before.finishing());
        }
        if (before.phase() == Phase.CLOSED) {
            assertThat(after.phase()).as("closed for good").isEqualTo(Phase.CLOSED);
        }
        assertThat(after.takenThrough()).isGreaterThanOrEqualTo(before.takenThrough());
        assertThat(after.reading().feed())
                .as("feeds follow each other")
                .isGreaterThanOrEqualTo(before.reading().feed());
    }

    /** P4: whoever waits is woken by an answer that must come, or by something due; who waits for nothing may go. */
    private void waits(Durable durable, Live live) {
        boolean mail = live.waiting().values().stream()
                .anyMatch(h -> (h.kind().counted() || h.kind() == ArrivalKind.RESET) && !durable.named(h.number()));
        boolean work = durable.turn().isPresent()
                || mail
                || !durable.front().isEmpty()
                || durable.continueAfter().isPresent();
        boolean runs = live.settings().agent() && durable.phase() == Phase.OPEN && !live.leaving();
        var restart = durable.restartAt().orElse(Instant.EPOCH);
        if (!(work && runs)) {
            boolean idle = live.stage() == AgentStage.DOWN
                    && live.notes().isEmpty()
                    && durable.phase() != Phase.DRAINING
                    && !durable.reading().open()
                    && durable.reading().inHand().isEmpty();
            boolean none = live.waiting().keySet().stream().allMatch(durable::named);
            if (idle && (none || !runs)) {
                assertThat(core.sleepable(durable, live, Instant.EPOCH))
                        .as("an owner with nothing to do may go")
                        .isTrue();
            }
            return;
        }
        boolean settles = live.stage() == AgentStage.STOPPING
                || (live.stage() == AgentStage.READY
                        && (live.busy() || live.awaitIdle() || live.judging().isPresent()));
        boolean unread = Math.max(live.seenThrough(), durable.takenThrough())
                < Math.max(
                        durable.continueAfter().orElse(0),
                        live.waiting().isEmpty() ? 0 : live.waiting().lastKey() - 1);
        assertThat(durable.turn().isPresent() || settles || unread)
                .as("a session with mail has a turn, or waits for its process or its mail")
                .isTrue();
        if (durable.turn().isPresent() && (live.stage() == AgentStage.DOWN || live.stage() == AgentStage.READY)) {
            assertThat(core.dueAt(durable, live))
                    .as("something is due with a turn at " + live.stage())
                    .isPresent();
        } // else the slots, the attachment or the store always answers
        assertThat(core.sleepable(durable, live, restart))
                .as("an owner with work may not go")
                .isFalse();
    }

    /** IN-22, P2 and MB-19, from the whole journal. */
    void journal(List<Header> store, List<Event> journal, Durable durable, Durable folded) {
        assertThat(durable).as("state and journal").isEqualTo(folded);
        var ledger = Ledger.of(journal);
        for (Header h : store) {
            assertThat(durable.named(h.number())).as("arrival %s is named", h).isEqualTo(ledger.named(h.number()));
        }
        assertThat(CoreDriver.numbers(durable.front())).as("the front").isEqualTo(ledger.in(Ledger.Place.FRONT));
        assertThat(CoreDriver.numbers(durable.reading().inHand()))
                .as("in a reader's hand")
                .containsExactlyInAnyOrderElementsOf(ledger.in(Ledger.Place.HAND));
        assertThat(CoreDriver.numbers(durable.released()))
                .as("released")
                .containsExactlyInAnyOrderElementsOf(ledger.in(Ledger.Place.RELEASED));
        assertThat(durable.turn().map(t -> CoreDriver.numbers(t.messages())).orElse(List.of()))
                .as("in the turn")
                .containsExactlyInAnyOrderElementsOf(ledger.in(Ledger.Place.TURN));
        var counted = store.stream()
                .filter(h -> h.kind().counted() && ledger.named(h.number()))
                .toList();
        assertThat(durable.ordinaryDone()).as("counted arrivals named (MB-18)").isEqualTo(counted.size());
        assertThat(durable.ordinaryDoneBytes())
                .as("their bytes")
                .isEqualTo(counted.stream().mapToLong(Header::bytes).sum());
        assertThat(durable.consumed()).as("consumed (MB-19)").isEqualTo(ledger.consumed());
    }
}
