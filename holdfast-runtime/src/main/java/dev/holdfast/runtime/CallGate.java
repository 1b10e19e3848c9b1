package dev.holdfast.runtime;

import dev.holdfast.Author;
import dev.holdfast.CallRuling;
import dev.holdfast.Guard;
import dev.holdfast.GuardedCall;
import dev.holdfast.SessionName;
import dev.holdfast.ToolEffects;
import dev.holdfast.Verdict;
import dev.holdfast.core.Approval;
import dev.holdfast.core.Effect;
import dev.holdfast.core.Input;
import dev.holdfast.core.Ruling;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Judges calls of one session's agent: kill switch, guard, and what a person answered (TL-03, TL-04). What fails, fails
 * closed. Used from the owner's serial tasks; a guard runs on a thread of its own.
 */
final class CallGate {
    private static final Logger LOG = LoggerFactory.getLogger(CallGate.class);
    private static final Set<String> YES = Set.of("yes", "y", "allow", "approve", "ok");
    private static final String NO_RULE = "default";
    private static final String GUARD = "guard";
    private static final String SWITCH = "tools-stopped";

    private final SessionName session;
    private final Options options;
    private final ToolSwitch stopSwitch;
    private final Transcript transcript;
    private final Redaction redaction;
    private final BooleanSupplier listened;
    private final Work work;

    /** How it comes back to the owner. */
    interface Work {
        void later(Runnable step);

        void judged(Effect.AdmitCall call, Input.CallJudged judgement);

        /** An answer that is recorded cannot be read: the session stops. */
        void failed(String what, Throwable cause);
    }

    /**
     * @param listened whether somebody listens to questions
     */
    CallGate(
            SessionName session,
            Options options,
            ToolSwitch stopSwitch,
            Transcript transcript,
            Redaction redaction,
            BooleanSupplier listened,
            Work work) {
        this.session = session;
        this.options = options;
        this.stopSwitch = stopSwitch;
        this.transcript = transcript;
        this.redaction = redaction;
        this.listened = listened;
        this.work = work;
    }

    /** Whether a call may still be dispatched by a verdict of then. */
    boolean fresh(Instant judgedAt) {
        return !options.surroundings().now().isAfter(judgedAt.plusSeconds(5))
                && stopSwitch.stopped().isEmpty();
    }

    /** Why no tool at all may be used now; looked up anew at each dispatch (TL-04). */
    Optional<String> stopped() {
        return stopSwitch.stopped().map(why -> "All tools are stopped: " + why);
    }

    /** What a call is about. */
    record Asked(Effect.AdmitCall call, Optional<Author> author, ToolEffects effects, String input) {
        String who() {
            return author.map(Author::name).orElse("");
        }
    }

    void judge(Asked asked) {
        var stopped = stopped();
        if (stopped.isPresent()) {
            give(asked, new Ruling.Refused(SWITCH, CallRuling.STOPPED, stopped.get()));
            return;
        }
        var guard = options.door().guard();
        if (guard.isEmpty()) {
            give(asked, new Ruling.Admitted(NO_RULE, CallRuling.ALLOWED));
            return;
        }
        boolean interactive = asked.call().attended() || listened.getAsBoolean();
        var e = asked.call();
        var call = new GuardedCall(
                session,
                asked.author(),
                e.turn(),
                e.message(),
                e.callId(),
                e.tool(),
                e.builtIn(),
                asked.effects(),
                asked.input(),
                interactive);
        if (guard.get() instanceof GuardPolicy policy && policy.quick()) {
            ruled(asked, interactive, verdict(policy, call));
        } else {
            apart(guard.get(), call, verdict -> ruled(asked, interactive, verdict));
        }
    }

    /** On a thread of its own, within its time. */
    private void apart(Guard guard, GuardedCall call, Consumer<Verdict> then) {
        var done = new AtomicBoolean();
        var worker = new AtomicReference<@Nullable Thread>();
        var surroundings = options.surroundings();
        var alarm = surroundings.at(surroundings.now().plus(options.door().guardTime()), () -> {
            if (done.compareAndSet(false, true)) {
                synchronized (worker) {
                    var late = worker.get();
                    if (late != null) {
                        late.interrupt();
                    }
                }
                LOG.warn("the guard did not judge a call of {} in session {} in time", call.tool(), session);
                work.later(() -> then.accept(new Verdict.Deny(GUARD, "the guard of this host did not answer in time")));
            }
        });
        surroundings.toolExecutor().execute(() -> {
            worker.set(Thread.currentThread());
            var verdict = verdict(guard, call);
            synchronized (worker) {
                worker.set(null);
                var unused = Thread.interrupted(); // it was meant for the guard
            }
            if (done.compareAndSet(false, true)) {
                alarm.cancel();
                work.later(() -> then.accept(verdict));
            }
        });
    }

    private Verdict verdict(Guard guard, GuardedCall call) {
        try {
            @Nullable Verdict verdict = guard.judge(call); // code of others may return null all the same
            return verdict == null ? new Verdict.Deny(GUARD, "the guard of this host gave no verdict") : verdict;
        } catch (Throwable e) { // whatever it is, the call does not run; its message may name what is secret
            LOG.warn("the guard failed on a call of {} in session {}: {}", call.tool(), session, e.getClass());
            return new Verdict.Deny(GUARD, "the guard of this host failed");
        }
    }

    private void ruled(Asked asked, boolean interactive, Verdict verdict) {
        switch (verdict) {
            case Verdict.Allow v -> {
                if (asked.call().decided().isPresent()) {
                    decided(asked, v.rule(), asked.call().decided().get()); // who was asked is not overruled
                } else {
                    give(asked, new Ruling.Admitted(v.rule(), CallRuling.ALLOWED));
                }
            }
            case Verdict.Deny v ->
                give(asked, new Ruling.Refused(v.rule(), CallRuling.DENIED, redaction.text(v.reason())));
            case Verdict.Connect v ->
                give(asked, new Ruling.Refused(v.rule(), CallRuling.UNCONNECTED, redaction.text(v.what())));
            case Verdict.Ask v -> asks(asked, interactive, v);
        }
    }

    private void asks(Asked asked, boolean interactive, Verdict.Ask ask) {
        var decided = asked.call().decided();
        if (decided.isPresent()) {
            decided(asked, ask.rule(), decided.get());
        } else if (interactive) {
            give(
                    asked,
                    new Ruling.Questioned(
                            ask.rule(),
                            redaction.text(ask.question()),
                            options.door().askTime()));
        } else if (ask.otherwise()) {
            give(asked, new Ruling.Admitted(ask.rule(), CallRuling.UNATTENDED));
        } else {
            give(asked, new Ruling.Refused(ask.rule(), CallRuling.UNATTENDED, "nobody is here who could allow it"));
        }
    }

    /** Goes by what became of the question about the call. */
    private void decided(Asked asked, String rule, Approval decided) {
        if (decided.state() == Approval.State.LAPSED) {
            give(asked, new Ruling.Refused(rule, CallRuling.LAPSED, "nobody answered whether it may be done"));
            return;
        }
        transcript
                .text(session, decided.number())
                .whenComplete((answer, failure) -> work.later(() -> {
                    if (failure != null) {
                        work.failed("read the answer to question " + decided.question(), failure);
                    } else {
                        give(asked, answered(rule, answer));
                    }
                }));
    }

    /** Only a plain yes is one. */
    static boolean yes(String answer) {
        return YES.contains(answer.strip().toLowerCase(Locale.ROOT));
    }

    private static Ruling answered(String rule, String answer) {
        return yes(answer)
                ? new Ruling.Admitted(rule, CallRuling.APPROVED)
                : new Ruling.Refused(rule, CallRuling.REFUSED, "a person was asked, and refused it");
    }

    private void give(Asked asked, Ruling ruling) {
        var e = asked.call();
        work.judged(
                e,
                new Input.CallJudged(
                        e.key().epoch(),
                        e.key().incarnation(),
                        e.callId(),
                        e.round(),
                        ruling,
                        asked.who(),
                        options.surroundings().now()));
    }
}
