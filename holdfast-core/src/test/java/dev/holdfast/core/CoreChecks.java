package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.MessageId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

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
        SeenTransitions.decided(live, durable.incarnation(), input, decision.events(), decision.live());
        state(state, decision.live());
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
        waits(durable, live);
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

    /** P4: whoever waits is woken by an answer that must come, or by something due. */
    private void waits(Durable durable, Live live) {
        boolean mail = live.waiting().values().stream().anyMatch(h -> !h.kind().urgent() && !durable.named(h.number()));
        boolean work = durable.turn().isPresent() || mail || !durable.front().isEmpty();
        if (!work || durable.phase() != Phase.OPEN || live.leaving()) {
            return;
        }
        assertThat(durable.turn()).as("a session with mail has a turn").isPresent();
        switch (live.stage()) {
            case DOWN, READY ->
                assertThat(core.dueAt(durable, live))
                        .as("something is due with a turn at " + live.stage())
                        .isPresent();
            case PLANNED, ASKING, STARTING, STOPPING -> {} // the slots and the attachment always answer
        }
        assertThat(core.sleepable(durable, live, Instant.MAX.minusSeconds(3_600)))
                .as("an owner with work may not go")
                .isFalse();
    }

    /** IN-22, P2 and MB-19, from the whole journal. */
    void journal(List<Header> store, List<Event> journal, Durable durable, Durable folded) {
        assertThat(durable).as("state and journal").isEqualTo(folded);
        var named = new TreeSet<Long>();
        var ended = new HashSet<MessageId>();
        long turns = 0;
        for (Event event : journal) {
            switch (event) {
                case Event.ArrivalDone e -> name(named, e.number());
                case Event.InterruptAsked e when e.number() > 0 -> name(named, e.number());
                case Event.TurnOpened e -> {
                    assertThat(e.turn()).as("turns follow each other").isEqualTo(++turns);
                    e.messages().forEach(m -> named.add(m.number()));
                }
                case Event.SteerLanded e -> named.add(e.message().number());
                case Event.TurnSettled e -> e.messages().forEach(m -> end(ended, m));
                case Event.MessageEnded e -> {
                    named.add(e.message().number());
                    end(ended, e.message());
                }
                default -> {}
            }
        }
        for (Header h : store) {
            assertThat(durable.named(h.number())).as("arrival %s is named", h).isEqualTo(named.contains(h.number()));
        }
        var ordinary = store.stream()
                .filter(h -> !h.kind().urgent() && named.contains(h.number()))
                .toList();
        assertThat(durable.ordinaryDone()).as("ordinary messages named").isEqualTo(ordinary.size());
        assertThat(durable.ordinaryDoneBytes())
                .as("their bytes")
                .isEqualTo(ordinary.stream().mapToLong(Header::bytes).sum());
        long inTurns = consumed(journal);
        assertThat(durable.consumed()).as("consumed (MB-19)").isEqualTo(inTurns);
    }

    private static void name(Set<Long> named, long number) {
        assertThat(named.add(number)).as("arrival %s is named once", number).isTrue();
    }

    private static void end(Set<MessageId> ended, Taken message) {
        assertThat(ended.add(message.id()))
                .as("%s has one terminal record", message)
                .isTrue();
    }

    /** Messages that are in a turn of a live incarnation, or were when it settled; those given back are not. */
    private static long consumed(List<Event> journal) {
        long settled = 0;
        var open = new HashSet<MessageId>();
        boolean given = false;
        for (Event event : journal) {
            switch (event) {
                case Event.TurnOpened e -> {
                    e.messages().forEach(m -> open.add(m.id()));
                    given = false;
                }
                case Event.SteerLanded e -> open.add(e.message().id());
                case Event.SteerReturned e -> open.remove(e.message().id());
                case Event.IncarnationEnded ignored -> given = true;
                case Event.IncarnationPlanned ignored -> given = false;
                case Event.TurnSettled e -> {
                    settled += e.messages().size();
                    open.clear();
                }
                default -> {}
            }
        }
        return settled + (given ? 0 : open.size());
    }
}
