package dev.holdfast.claude;

import dev.holdfast.Report;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What the agent asks the user's own code: hooks, and whether it may use a tool. Fails closed: where a guard or the one who
 * is to be asked gives no valid answer, the tool does not run (HS-18). Not thread-safe: its owner calls it under its lock.
 */
final class UserDesk {
    /** Who decides about tools, and how long that may take. */
    record Asker(PermissionAsk ask, SessionHandle handle, Duration deadline) {}

    /** Who hears of it, and knows who is to be asked. */
    record Hearing(
            Supplier<Optional<Asker>> askers,
            Consumer<HeldEvent> events,
            Consumer<Report> reports,
            BiConsumer<String, String> keptBack) {
        Optional<Asker> asker() {
            return askers.get();
        }

        void event(HeldEvent event) {
            events.accept(event);
        }

        void report(Report report) {
            reports.accept(report);
        }

        /** A prompt is kept from the model, for this reason. */
        void keepsBack(String prompt, String why) {
            keptBack.accept(prompt, why);
        }
    }

    private final StreamJson codec;
    private final UserAnswers answers;
    private final Hearing hearing;
    private final Consumer<String> urgentWriter;
    private HookBook hooks;
    private boolean open;

    UserDesk(
            StreamJson codec,
            HookBook hooks,
            UserAnswers.Threads threads,
            Vigil vigil,
            Hearing hearing,
            Consumer<String> urgentWriter) {
        this.codec = codec;
        this.hooks = hooks;
        this.hearing = hearing;
        this.urgentWriter = urgentWriter;
        this.answers = new UserAnswers(
                threads, (request, answer) -> urgentWriter.accept(codec.controlSuccess(request, answer)), vigil);
    }

    UserAnswers answers() {
        return answers;
    }

    /** From now on messages are those of the user; before it, the host's own are told. */
    void open() {
        open = true;
    }

    /** Goes over to other code under the same rules. */
    void hooks(HookBook same) {
        hooks = same;
    }

    // ---- hooks

    void hook(Frame.ControlRequest request) {
        JsonNode input = request.request().path("input");
        Optional<HookEvent> event = HookEvent.named(StreamJson.text(input, "hook_event_name"));
        var called = hooks.called(StreamJson.text(request.request(), "callback_id"))
                .filter(each -> event.isEmpty() || event.get() == each.rule().event());
        if (called.isEmpty()) {
            unknown(request, event);
            return;
        }
        HookRule rule = called.get().rule();
        if (rule.event() == HookEvent.USER_PROMPT_SUBMIT && !open) {
            urgentWriter.accept(codec.controlSuccess(request.id(), StreamJson.NODES.objectNode()));
            return;
        }
        String useId = StreamJson.text(request.request(), "tool_use_id");
        JsonNode toolInput = input.path("tool_input");
        var call = new HookCall(
                rule.event(),
                StreamJson.text(input, "session_id"),
                said(StreamJson.text(input, "tool_name")),
                toolInput.isObject() ? codec.write(toolInput) : "{}",
                said(useId.isEmpty() ? StreamJson.text(input, "tool_use_id") : useId),
                new RawJson(input));
        answers.begin(
                request.id(),
                rule.deadline(),
                new Hook(called.get(), call, hearing.asker().isPresent()));
    }

    private static Optional<String> said(String text) {
        return text.isEmpty() ? Optional.empty() : Optional.of(text);
    }

    /** Nobody registered it: a tool it might have kept back is kept back. */
    private void unknown(Frame.ControlRequest request, Optional<HookEvent> event) {
        String why = "this host has no such hook";
        if (event.isPresent() && event.get() == HookEvent.PRE_TOOL_USE) {
            urgentWriter.accept(codec.controlSuccess(request.id(), HookShapes.denied(why)));
        } else {
            urgentWriter.accept(codec.controlError(request.id(), why));
        }
        hearing.report(new Report.Noticed("request_refused", "hook_callback: " + why));
    }

    private final class Hook implements UserAnswers.Question {
        private final HookBook.Hooked hooked;
        private final HookCall call;
        private final boolean canAsk;
        private volatile HookAnswer given = HookAnswer.goOn();

        Hook(HookBook.Hooked hooked, HookCall call, boolean canAsk) {
            this.hooked = hooked;
            this.call = call;
            this.canAsk = canAsk;
        }

        @Override
        public ObjectNode ask() throws Exception {
            HookAnswer answer = hooked.hook().on(call);
            ObjectNode shape = HookShapes.of(codec, call.event(), answer, canAsk);
            given = answer;
            return shape;
        }

        @Override
        public ObjectNode otherwise() {
            if (!hooked.rule().guards()) {
                return StreamJson.NODES.objectNode();
            }
            String why = "A guard of this host gave no answer, so this is refused.";
            return call.event() == HookEvent.PRE_TOOL_USE ? HookShapes.denied(why) : HookShapes.blocked(why);
        }

        @Override
        public void over(String failed) {
            String tool = call.tool().orElse("");
            String id = call.callId().orElse("");
            boolean keepsBack = failed.isEmpty()
                    ? given instanceof HookAnswer.Block
                    : hooked.rule().guards();
            if (call.event() == HookEvent.USER_PROMPT_SUBMIT && keepsBack) {
                String why = given instanceof HookAnswer.Block block ? block.reason() : failed;
                hearing.keepsBack(call.raw().at("prompt").orElse(""), "a hook kept the message from the model: " + why);
            }
            if (failed.isEmpty()) {
                hearing.event(new HeldEvent.HookRan(call.event(), tool, id, given));
                return;
            }
            boolean denied = hooked.rule().guards();
            hearing.event(new HeldEvent.HookFailed(call.event(), tool, id, failed, denied));
            hearing.report(new Report.Noticed(
                    "hook_failed",
                    call.event().wireName() + (tool.isEmpty() ? "" : " of " + tool) + ": "
                            + Connection.shortened(failed) + (denied ? "; denied" : "; passed over")));
        }

        @Override
        public void withdrawn() {
            hearing.event(new HeldEvent.HookFailed(
                    call.event(), call.tool().orElse(""), call.callId().orElse(""), "the agent withdrew it", false));
        }
    }

    // ---- permissions

    /** Whether somebody is asked; false where nobody is there to be. */
    boolean permission(Frame.ControlRequest request) {
        Optional<Asker> asker = hearing.asker();
        if (asker.isEmpty()) {
            return false;
        }
        JsonNode input = request.request().path("input");
        var asked = new PermissionQuestion(
                StreamJson.text(request.request(), "tool_use_id"),
                StreamJson.text(request.request(), "tool_name"),
                input.isObject() ? codec.write(input) : "{}",
                new RawJson(request.request()));
        hearing.event(new HeldEvent.PermissionAsked(asked));
        answers.begin(request.id(), asker.get().deadline(), new Permission(asker.get(), asked, input));
        return true;
    }

    private final class Permission implements UserAnswers.Question {
        private final Asker asker;
        private final PermissionQuestion question;
        private final JsonNode input;
        private volatile Optional<PermissionAnswer> given = Optional.empty();

        Permission(Asker asker, PermissionQuestion question, JsonNode input) {
            this.asker = asker;
            this.question = question;
            this.input = input;
        }

        @Override
        public ObjectNode ask() throws Exception {
            PermissionAnswer answer = asker.ask().decide(asker.handle(), question);
            ObjectNode shape = HookShapes.of(codec, answer, input);
            given = Optional.of(answer);
            return shape;
        }

        @Override
        public ObjectNode otherwise() {
            return HookShapes.refused("Nobody answered whether this is allowed, so it is refused.", false);
        }

        @Override
        public void over(String failed) {
            var answer = failed.isEmpty() ? given : Optional.<PermissionAnswer>empty();
            hearing.event(new HeldEvent.PermissionAnswered(question, answer, failed));
            if (!failed.isEmpty()) {
                hearing.report(new Report.Noticed(
                        "permission_unanswered", question.tool() + ": " + Connection.shortened(failed) + "; denied"));
            }
        }

        @Override
        public void withdrawn() {
            hearing.event(new HeldEvent.PermissionAnswered(question, Optional.empty(), "the agent withdrew it"));
        }
    }
}
