package dev.holdfast.runtime;

import dev.holdfast.Attachment;
import dev.holdfast.Author;
import dev.holdfast.Beat;
import dev.holdfast.DeliveryId;
import dev.holdfast.Harness;
import dev.holdfast.KnowledgeQuestion;
import dev.holdfast.Launch;
import dev.holdfast.Report;
import dev.holdfast.ReportSink;
import dev.holdfast.SessionName;
import dev.holdfast.StartPlan;
import dev.holdfast.StopMode;
import dev.holdfast.Tool;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCall;
import dev.holdfast.ToolEffects;
import dev.holdfast.ToolProgress;
import dev.holdfast.TurnHarness;
import dev.holdfast.TurnSettings;
import dev.holdfast.core.Effect;
import dev.holdfast.core.Input;
import dev.holdfast.core.Told;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does what the core says should be running, for one owner: starts what is new in the set, cancels what is gone (keys tell
 * them apart), and gives reports back as inputs. Used only from its owner's serial tasks.
 */
final class EffectRunner {
    private static final Logger LOG = LoggerFactory.getLogger(EffectRunner.class);
    private static final int ANSWER_EXCERPT_MAX = 16_384;
    /** The agent's own record has the whole. */
    private static final int BUILT_IN_EXCERPT_MAX = 2_000;

    private final SessionName session;
    private final Harness harness;
    private final TurnSettings settings;
    private final Map<String, Tool> tools;
    private final Slots slots;
    private final Transcript transcript;
    private final Options options;
    private final String store;
    private final Path home;
    private final Outlet outlet;
    private final Redaction redaction;
    private final CallGate gate;
    private final Map<String, Wanted> wanted = new HashMap<>();
    private final Map<Effect.Key, Effect> running = new HashMap<>();
    /** Answers that could not be given when they came. */
    private final Map<String, ToolAnswer> answers = new HashMap<>();

    private final Map<String, RunningCall> calls = new HashMap<>();
    /** Who sent the message whose turn it is, once it was read. */
    private Optional<Transcript.Sender> sender = Optional.empty();

    private Optional<Attachment> attachment = Optional.empty();
    /** The incarnation that the attachment is for. */
    private long attached;

    /** What the agent wants to use. */
    private record Wanted(ToolEffects effects, String input) {}

    /** Where results go: the owner's serial inbox. */
    interface Outlet {
        void offer(Input input);

        void text(String fragment);

        /** What the agent is doing. */
        void beat(Beat beat);

        /** A running tool says how far it is. */
        void progress(ToolProgress progress);

        /** The words of an internal request (MB-16). */
        String internal(DeliveryId id);

        /** What the session's boundary says of a message (MB-10). */
        boolean rejects(String text);

        /** Whether somebody listens to questions (TL-04). */
        boolean listened();

        /** Whether this host may still act for the session (P3). */
        boolean holds();

        /** Runs a step on the owner, after what is being done now. */
        void later(Runnable step);

        /** Something that must work did not: the session stops here. */
        void failed(String what, Throwable cause);
    }

    EffectRunner(
            SessionName session,
            Harness harness,
            TurnSettings settings,
            Map<String, Tool> tools,
            Slots slots,
            Transcript transcript,
            Options options,
            String store,
            Path home,
            Outlet outlet) {
        this.session = session;
        this.harness = harness;
        this.settings = settings;
        this.tools = tools;
        this.slots = slots;
        this.transcript = transcript;
        this.options = options;
        this.store = store;
        this.home = home;
        this.outlet = outlet;
        this.redaction = new Redaction(options.door());
        this.gate = new CallGate(
                session, options, ToolSwitch.in(home), transcript, redaction, outlet::listened, new CallGate.Work() {
                    @Override
                    public void later(Runnable step) {
                        outlet.later(step);
                    }

                    @Override
                    public void judged(Effect.AdmitCall call, Input.CallJudged judgement) {
                        if (stillWanted(call)) {
                            outlet.offer(judgement);
                        }
                    }

                    @Override
                    public void failed(String what, Throwable cause) {
                        outlet.failed("could not " + what, cause);
                    }
                });
    }

    void reconcile(Set<Effect> effects) {
        var keys = new HashSet<Effect.Key>();
        effects.forEach(e -> keys.add(e.key()));
        for (Effect gone : List.copyOf(running.values())) {
            if (!keys.contains(gone.key())) {
                running.remove(gone.key());
                cancel(gone);
                forget(gone, effects);
            }
        }
        for (Effect effect : effects) {
            if (running.putIfAbsent(effect.key(), effect) == null) {
                start(effect);
            } else if (effect instanceof Effect.Tell e) {
                inProcess().ifPresent(a -> a.opened(e.turn(), e.told()));
            }
        }
    }

    /** Tells the slots whether the process could be ended for another's sake. */
    void idle(boolean idle) {
        slots.idle(this, idle);
    }

    /** Lets go of everything, for an owner that is one no more: the agent is ended, its reports are heard by nobody. */
    void abandon() {
        attachment.ifPresent(a -> a.stop(StopMode.BUSY));
        attachment = Optional.empty();
        calls.values().forEach(RunningCall::cancel);
        calls.clear();
        running.clear();
        slots.release(this);
    }

    private void start(Effect effect) {
        if (!outlet.holds() && !(effect instanceof Effect.StopAgent)) {
            LOG.warn(
                    "session {}: {} is not begun, the ownership is lost",
                    session,
                    effect.key().kind());
            return; // the next append says so, and everything ends
        }
        switch (effect) {
            case Effect.HoldSlot e ->
                slots.request(
                        this,
                        answer -> outlet.offer(
                                new Input.Slot(e.key().epoch(), e.key().incarnation(), answer)));
            case Effect.AskKnowledge e -> ask(e);
            case Effect.RunAgent e -> run(e);
            case Effect.Tell e -> tell(e);
            case Effect.Interrupt e -> attachment.ifPresent(a -> a.interrupt(e.turn()));
            case Effect.AdmitCall e -> admit(e);
            case Effect.RunCall e -> call(e);
            case Effect.PermitCall e -> {
                var refusal = e.refusal().or(gate::stopped);
                attachment.ifPresent(a -> a.permit(e.callId(), refusal));
            }
            case Effect.AnswerCall e -> answer(e);
            case Effect.StopAgent e -> stop(e);
            case Effect.Judge e -> judge(e);
        }
    }

    /** Ends the process; one that was to be stopped before anything was begun has ended. */
    private void stop(Effect.StopAgent e) {
        if (attachment.isPresent() && attached == e.key().incarnation()) {
            attachment.get().stop(e.mode());
        } else {
            outlet.offer(new Input.Reported(
                    e.key().epoch(), e.key().incarnation(), new Report.Ended("stopped before it was begun", "", "")));
        }
    }

    private void cancel(Effect effect) {
        switch (effect) {
            case Effect.HoldSlot ignored -> slots.release(this);
            case Effect.RunCall e ->
                Optional.ofNullable(calls.remove(e.callId())).ifPresent(RunningCall::cancel);
            case Effect.AskKnowledge ignored -> {} // known, or ended
            case Effect.RunAgent ignored -> {} // ended, or being stopped
            case Effect.Tell ignored -> {} // landed, or its incarnation is over
            case Effect.Interrupt ignored -> {} // answered, or over
            case Effect.AdmitCall ignored -> {} // judged, or not wanted any more
            case Effect.AnswerCall ignored -> {} // given
            case Effect.PermitCall ignored -> {} // given
            case Effect.StopAgent ignored -> {} // ended
            case Effect.Judge ignored -> {} // judged, or its incarnation is over
        }
    }

    /** What a call was about is kept as long as it may have to be judged or run again. */
    private void forget(Effect gone, Set<Effect> effects) {
        callOf(gone)
                .filter(id -> !(gone instanceof Effect.AdmitCall)) // a person may be asked about it
                .filter(id -> effects.stream()
                        .noneMatch(e -> callOf(e).filter(id::equals).isPresent()))
                .ifPresent(wanted::remove);
    }

    private static Optional<String> callOf(Effect effect) {
        return switch (effect) {
            case Effect.AdmitCall e -> Optional.of(e.callId());
            case Effect.RunCall e -> Optional.of(e.callId());
            case Effect.AnswerCall e -> Optional.of(e.callId());
            case Effect.PermitCall e -> Optional.of(e.callId());
            default -> Optional.empty();
        };
    }

    private boolean stillWanted(Effect effect) {
        return running.containsKey(effect.key());
    }

    private void ask(Effect.AskKnowledge e) {
        wanted.clear();
        answers.clear();
        calls.clear();
        var specs =
                tools.values().stream().map(t -> t.spec().effects(t.effects())).toList();
        long epoch = e.key().epoch();
        long incarnation = e.key().incarnation();
        var launch = new Launch(store, session, epoch, incarnation, home, specs, true);
        ReportSink sink = report -> outlet.later(() -> take(epoch, incarnation, report));
        var begun = harness instanceof TurnHarness thinker
                ? new TurnAttachment(thinker, settings, launch, transcript.reader(), options.surroundings(), sink)
                : harness.attach(launch, sink);
        attachment = Optional.of(begun);
        attached = incarnation;
        begun.know(new KnowledgeQuestion(e.nativeSession(), e.marks(), e.open()));
    }

    private void take(long epoch, long incarnation, Report report) {
        switch (report) {
            case Report.Text t -> outlet.text(t.fragment());
            case Report.Doing d -> outlet.beat(d.beat());
            case Report.CallRequested c -> {
                var effects = Optional.ofNullable(tools.get(c.tool()))
                        .map(Tool::effects)
                        .orElse(ToolEffects.READ);
                wants(epoch, incarnation, c.callId(), c.tool(), new Wanted(effects, c.input()), false);
            }
            case Report.PermissionAsked p ->
                wants(epoch, incarnation, p.callId(), p.tool(), new Wanted(p.effects(), p.input()), true);
            case Report.ToolUsed u -> {
                wanted.remove(u.callId());
                redaction.look(u.input());
                outlet.offer(new Input.ToolUsed(
                        epoch,
                        incarnation,
                        u.callId(),
                        u.tool(),
                        Digests.sha256(u.input()),
                        u.error(),
                        excerpt(u.answer(), BUILT_IN_EXCERPT_MAX)));
            }
            default -> outlet.offer(new Input.Reported(epoch, incarnation, redaction.report(report)));
        }
    }

    private void run(Effect.RunAgent e) {
        CompletionStage<Optional<StartPlan.CatchUp>> catchUp = e.catchUp()
                .map(c -> transcript
                        .retell(session, c.from(), c.through(), c.known())
                        .thenApply(text -> Optional.of(new StartPlan.CatchUp(c.delivery(), text))))
                .orElseGet(() -> CompletableFuture.completedFuture(Optional.empty()));
        then(
                "tell session " + session + " again",
                e,
                catchUp,
                told -> attachment.ifPresent(a -> a.start(new StartPlan(e.nativeSession(), e.resume(), told))));
    }

    private void tell(Effect.Tell e) {
        then(
                "read the messages of turn " + e.turn(),
                e,
                transcript.line(
                        session, e.turn(), e.told(), inProcess().isPresent() ? 0 : e.retellFrom(), outlet::internal),
                told -> {
                    if (e.told().kind() != Told.Kind.STEER) {
                        sender = told.sender().or(() -> sender);
                    }
                    attachment.ifPresent(a -> {
                        if (a instanceof TurnAttachment thinker) {
                            thinker.tell(e.turn(), e.told(), told);
                        } else {
                            a.tell(told.line());
                        }
                    });
                });
    }

    /** The attachment of a thinker in this process. */
    private Optional<TurnAttachment> inProcess() {
        return attachment.filter(TurnAttachment.class::isInstance).map(TurnAttachment.class::cast);
    }

    /** Asks the session's boundary whether the next message is for this process (MB-10). */
    private void judge(Effect.Judge e) {
        then(
                "read message " + e.number(),
                e,
                transcript.text(session, e.number()),
                text -> outlet.offer(
                        new Input.Judged(e.key().epoch(), e.key().incarnation(), e.number(), outlet.rejects(text))));
    }

    private <T> void then(String what, Effect effect, CompletionStage<T> stage, Consumer<T> step) {
        stage.whenComplete((value, failure) -> outlet.later(() -> {
            if (failure != null) {
                outlet.failed("could not " + what, failure);
            } else if (stillWanted(effect) && outlet.holds()) { // the ownership may have run out while it was read
                step.accept(value);
            }
        }));
    }

    // ---- calls ----------------------------------------------------------------------------------------------------

    private void wants(long epoch, long incarnation, String callId, String tool, Wanted what, boolean builtIn) {
        if (wanted.putIfAbsent(callId, what) == null) {
            redaction.look(what.input());
        }
        outlet.offer(new Input.CallAsked(
                epoch,
                incarnation,
                callId,
                tool,
                Digests.sha256(what.input()),
                what.effects() != ToolEffects.READ,
                builtIn));
    }

    /** Asks the door, once it is known whose turn it is. */
    private void admit(Effect.AdmitCall e) {
        if (e.message() == 0 || author(e.message()).isPresent()) {
            judge(e, author(e.message()));
        } else {
            then("read who sent message " + e.message(), e, transcript.author(session, e.message()), author -> {
                sender = Optional.of(new Transcript.Sender(e.message(), author));
                judge(e, Optional.of(author));
            });
        }
    }

    /** Who sent the message, as far as that was read. */
    private Optional<Author> author(long message) {
        return sender.filter(s -> s.message() == message).map(Transcript.Sender::author);
    }

    private Wanted wanted(String callId) {
        return wanted.getOrDefault(callId, new Wanted(ToolEffects.WRITE, "{}"));
    }

    private void judge(Effect.AdmitCall e, Optional<Author> author) {
        var what = wanted(e.callId());
        gate.judge(new CallGate.Asked(e, author, what.effects(), what.input()));
    }

    private String excerpt(String text, int max) {
        var clean = redaction.text(text);
        return clean.length() > max ? clean.substring(0, max - 1) + "…" : clean;
    }

    private void call(Effect.RunCall e) {
        if (!gate.fresh(e.judgedAt())) {
            outlet.offer(new Input.CallHeldBack(e.key().epoch(), e.key().incarnation(), e.callId(), e.round()));
            return;
        }
        var surroundings = options.surroundings();
        var deadline = Optional.ofNullable(tools.get(e.tool()))
                .flatMap(Tool::deadline)
                .orElse(options.toolLimits().deadline());
        var running = new RunningCall(
                e.callId(), e.tool(), answer -> finish(e, answer), p -> outlet.later(() -> progress(e)));
        calls.put(e.callId(), running);
        running.within(deadline, surroundings);
        var call = new ToolCall(
                session,
                e.turn(),
                e.message(),
                author(e.message()), // read when it was judged
                e.callId(),
                e.idempotencyKey(),
                wanted(e.callId()).input(),
                running::isCancelled,
                running::report);
        options.surroundings()
                .toolExecutor()
                .execute(() -> running.run(() -> ToolDoor.run(tools, e.tool(), call, e.before())));
    }

    private void progress(Effect.RunCall e) {
        var running = calls.get(e.callId());
        var latest = running == null ? null : running.take();
        if (latest != null && stillWanted(e)) {
            attachment.ifPresent(a -> a.progress(latest));
            outlet.progress(latest);
        }
    }

    private void finish(Effect.RunCall e, ToolAnswer given) {
        var answer = given.within(options.toolLimits().answerBytes());
        outlet.later(() -> {
            var told = answer.error() ? ToolAnswer.error(redaction.registered(answer.text())) : answer;
            if (stillWanted(e) && outlet.holds()) {
                // Its row is written with this. Nobody waits for that: without it, the call may have happened.
                attachment.ifPresent(a -> a.answer(e.callId(), told));
            } else {
                answers.put(e.callId(), told);
            }
            outlet.offer(new Input.CallFinished(
                    e.key().epoch(),
                    e.key().incarnation(),
                    e.callId(),
                    answer.error(),
                    excerpt(words(answer), ANSWER_EXCERPT_MAX)));
        });
    }

    /** What the journal keeps of an answer: its words, and which images there were. */
    private static String words(ToolAnswer answer) {
        var all = new StringBuilder(answer.text());
        for (ToolAnswer.Block block : answer.blocks()) {
            if (block instanceof ToolAnswer.Image image && all.length() <= ANSWER_EXCERPT_MAX) {
                all.append(all.isEmpty() ? "" : "\n")
                        .append("(an image: ")
                        .append(image.mimeType())
                        .append(')');
            }
        }
        return all.toString();
    }

    private void answer(Effect.AnswerCall e) {
        if (e.refusal().isPresent()) {
            attachment.ifPresent(
                    a -> a.refuse(e.callId(), e.ruling(), e.refusal().get()));
            return;
        }
        Optional.ofNullable(answers.remove(e.callId()))
                .ifPresent(answer -> attachment.ifPresent(a -> a.answer(e.callId(), answer)));
    }
}
