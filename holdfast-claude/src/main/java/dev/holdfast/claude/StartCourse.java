package dev.holdfast.claude;

import dev.holdfast.Knowledge;
import dev.holdfast.Knowledge.RecordState;
import dev.holdfast.KnowledgeQuestion;
import dev.holdfast.Report;
import dev.holdfast.StartPlan;
import dev.holdfast.StopMode;
import dev.holdfast.TurnMark;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The starts of a session's processes: under which identity, with which memory, and what is told to an agent that has lost
 * some. A part of its {@link HeldSession}, which calls it from within its steps.
 */
final class StartCourse {
    private static final Logger LOG = LoggerFactory.getLogger(StartCourse.class);

    private final HeldSession session;
    private final HeldHost host;
    private final HeldOptions options;
    private HandleBook.@Nullable Entry entry;
    private OptionalLong retellingDue = OptionalLong.empty();

    StartCourse(HeldSession session, HeldHost host) {
        this.session = session;
        this.host = host;
        this.options = host.options();
    }

    /**
     * What the session stands for.
     *
     * @param named null for a spare, which stands for a conversation of its own until it is claimed
     * @throws UncheckedIOException when that was written down and cannot be read
     */
    HandleBook.Entry open(@Nullable SessionHandle named) {
        HandleBook.Entry known = entry;
        if (known == null) {
            known = named == null ? ofSpare() : host.book().read(named);
            entry = known;
        }
        return known;
    }

    /** What is asked before a start (TN-08). */
    static KnowledgeQuestion question(HandleBook.Entry known) {
        List<TurnMark> marks = known.mark().stream().toList();
        return new KnowledgeQuestion(Optional.of(known.nativeSession()), marks, List.of());
    }

    /** The agent has answered a turn: what its record must hold from now on. */
    void answered(TurnMark mark) {
        entry = noted().mark(mark);
    }

    /** The agent goes by this session of its own from now on; true when it is another one than before. */
    boolean ready(Report.Verified verified) {
        String said = verified.nativeSession();
        boolean other = !said.isEmpty() && !said.equals(noted().nativeSession());
        if (other) {
            entry = noted().nativeSession(said);
        }
        return other;
    }

    private HandleBook.Entry ofSpare() {
        String place = host.background().newId().toString();
        return new HandleBook.Entry(place, host.background().newId().toString(), Optional.empty());
    }

    /** What the agent has is known: starts it accordingly, or asks first what it is to be told (HS-05). */
    void known(HeldProcess starting, Knowledge knowledge) {
        retellingDue = OptionalLong.empty();
        HandleBook.Entry known = noted();
        long answered = known.mark().map(TurnMark::turn).orElse(0L);
        boolean lacks = answered > 0 && knowledge.coversTurn() < answered;
        boolean resume = knowledge.record() == RecordState.PRESENT;
        if (knowledge.record() == RecordState.DAMAGED) {
            entry = known.nativeSession(host.background().newId().toString());
            lacks = true;
        }
        String natively = noted().nativeSession();
        if (!lacks) {
            starting.memory = !resume
                    ? HeldEvent.Memory.NEW
                    : answered > 0 ? HeldEvent.Memory.RESUMED : HeldEvent.Memory.RESUMED_UNVERIFIED;
            starting.attachment().start(new StartPlan(natively, resume, Optional.empty()));
            return;
        }
        SessionHandle named = session.named();
        Duration patience = starting.bound().agent().deadlines().start();
        retellingDue = OptionalLong.of(session.now() + patience.toNanos());
        Consumer<Optional<String>> then = text -> session.enter(() -> {
            if (!session.starts(starting) || retellingDue.isEmpty()) {
                return;
            }
            retellingDue = OptionalLong.empty();
            starting.memory = text.isPresent() ? HeldEvent.Memory.RETOLD : HeldEvent.Memory.LOST;
            var catchUp = text.map(words -> new StartPlan.CatchUp(session.newId(), words));
            starting.attachment().start(new StartPlan(natively, resume, catchUp));
        });
        try {
            options.executor().execute(() -> then.accept(retelling(named)));
        } catch (RuntimeException | Error e) {
            then.accept(noRetelling(named, e));
        }
    }

    private Optional<String> retelling(SessionHandle named) {
        try {
            return options.retelling().apply(named);
        } catch (RuntimeException | Error e) {
            return noRetelling(named, e);
        }
    }

    private Optional<String> noRetelling(SessionHandle named, Throwable e) {
        LOG.warn("the retelling for session {} threw; the agent is told nothing", named, e);
        session.enter(() -> session.say(new HeldEvent.Noticed("retelling_failed", String.valueOf(e))));
        return Optional.empty();
    }

    /** When what is being waited for here is over its time. */
    OptionalLong dueNanos() {
        return retellingDue;
    }

    /** A retelling that does not come counts as a start that hangs. */
    void sound(HeldProcess starting, long now) {
        if (Alarm.passed(retellingDue, now)) {
            retellingDue = OptionalLong.empty();
            starting.hungAt = "retelling";
            session.say(new HeldEvent.Breached("start: retelling"));
            starting.attachment().stop(StopMode.BUSY);
        }
    }

    /** Writes down what the handle stands for, where that does not follow from its id. */
    void save(@Nullable SessionHandle named) {
        HandleBook.Entry known = entry;
        if (named == null || known == null || known.equals(HandleBook.unwritten(named))) {
            return;
        }
        try {
            host.book().write(named, known);
        } catch (UncheckedIOException e) {
            LOG.warn("session {} is resumed less surely", named, e);
            session.say(new HeldEvent.Noticed("handle_not_written", String.valueOf(e.getMessage())));
        }
    }

    private HandleBook.Entry noted() {
        HandleBook.Entry known = entry;
        if (known == null) {
            throw new IllegalStateException("session " + session.named() + " was started without a place");
        }
        return known;
    }
}
