package dev.holdfast.claude;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.ToolAnswer;
import dev.holdfast.claude.HeldResult.Ending;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What hooks and permission questions of held sessions do, whatever agent there is. Subclasses name the agents. */
@Tag("slow")
@Timeout(120)
abstract class HookConformance {
    @TempDir
    Path home;

    private final List<HeldEvent> events = new CopyOnWriteArrayList<>();
    private final List<String> askedTools = new CopyOnWriteArrayList<>();
    private HeldSessions sessions;
    private SessionHandle handle;
    private ClaudeCodeAgent agent;

    /** The agent of this version, which may use Bash and the tool {@code echo}. */
    abstract ClaudeCodeAgent agent(String version);

    /** Everything the model was shown last. */
    abstract String shown();

    private void open(String version) {
        open(version, options -> options);
    }

    private void open(String version, UnaryOperator<HeldOptions> change) {
        agent = agent(version).tools(HeldRig.ECHO).builtinTools("Bash");
        sessions = HeldSessions.open(change.apply(HeldOptions.in(home.resolve("held"))
                .environment(Map.of("HOME", home.toString(), "PATH", "/usr/bin:/bin"))
                .listener((session, event) -> events.add(event))));
        handle = sessions.handle();
    }

    @AfterEach
    void close() {
        if (sessions != null) {
            sessions.close();
        }
    }

    private static TurnRequest say(String text) {
        return TurnRequest.of(text)
                .executor((tool, call) -> ToolAnswer.text("echo of " + call.input()))
                .deadline(Duration.ofSeconds(60));
    }

    private String touch(String name) {
        return "[[tool Bash {\"command\":\"touch " + home.resolve(name) + "\",\"description\":\"d\"}]] [[say done]]";
    }

    private boolean made(String name) {
        return Files.exists(home.resolve(name));
    }

    private <T extends HeldEvent> List<T> seen(Class<T> type) {
        return events.stream().filter(type::isInstance).map(type::cast).toList();
    }

    private static HookAnswer onlyFor(HookCall call, HookAnswer answer) {
        return call.tool().orElse("").equals("Bash") ? answer : HookAnswer.goOn();
    }

    // ---- hooks

    @ParameterizedTest
    @MethodSource("versions")
    @Tag("HS-18")
    void guard_denying_keepsTheToolFromRunning(String version) throws Exception {
        open(version);
        var calls = new CopyOnWriteArrayList<HookCall>();
        var guarded = agent.hook(HookEvent.PRE_TOOL_USE, "Bash", call -> {
            calls.add(call);
            return HookAnswer.deny("NOT-ON-MY-WATCH");
        });
        HeldResult result = sessions.run(handle, guarded, say(touch("denied")));
        assertThat(result.ending()).isEqualTo(Ending.ANSWERED);
        assertThat(made("denied")).isFalse();
        assertThat(shown()).contains("NOT-ON-MY-WATCH");
        assertThat(result.denials())
                .singleElement()
                .satisfies(denial -> assertThat(denial.tool()).contains("Bash"));
        assertThat(calls).singleElement().satisfies(call -> {
            assertThat(call.event()).isEqualTo(HookEvent.PRE_TOOL_USE);
            assertThat(call.tool()).contains("Bash");
            assertThat(call.input()).contains("touch ");
            assertThat(call.agentSession()).isEqualTo(result.agentSession());
            assertThat(call.callId()).contains(result.toolUses().getFirst().callId());
            assertThat(call.raw().at("hook_event_name")).contains("PreToolUse");
        });
        assertThat(seen(HeldEvent.HookRan.class))
                .singleElement()
                .satisfies(ran -> assertThat(ran.answer()).isEqualTo(HookAnswer.deny("NOT-ON-MY-WATCH")));
    }

    @ParameterizedTest
    @MethodSource("versions")
    @Tag("HS-18")
    @Tag("HS-12")
    void guard_failingInEveryWay_denies(String version) throws Exception {
        open(version);
        var interrupted = new CountDownLatch(1);
        AgentHook[] failing = {
            call -> {
                throw new IllegalStateException("broken guard");
            },
            call -> null,
            call -> HookAnswer.block("no answer of this event"),
            call -> HookAnswer.allowWith("[1]"),
            call -> HookAnswer.ask("nobody is there to be asked"),
            call -> {
                throw new StackOverflowError("deep");
            },
            call -> {
                try {
                    return new CountDownLatch(1).await(30, TimeUnit.SECONDS) ? HookAnswer.allow() : HookAnswer.goOn();
                } catch (InterruptedException e) {
                    interrupted.countDown();
                    throw e;
                }
            }
        };
        var rule = HookRule.on(HookEvent.PRE_TOOL_USE).matcher("Bash").deadline(Duration.ofMillis(1_500));
        for (AgentHook hook : failing) {
            HeldResult result = sessions.run(handle, agent.hook(rule, hook), say(touch("never")));
            assertThat(result.ending()).isEqualTo(Ending.ANSWERED);
            assertThat(result.text()).isEqualTo("done");
            assertThat(made("never")).isFalse();
        }
        assertThat(interrupted.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(seen(HeldEvent.HookFailed.class))
                .hasSize(failing.length)
                .allMatch(HeldEvent.HookFailed::denied)
                .extracting(HeldEvent.HookFailed::why)
                .satisfiesExactly(
                        why -> assertThat(why).contains("broken guard"),
                        why -> assertThat(why).contains("null"),
                        why -> assertThat(why).contains("Block"),
                        why -> assertThat(why).contains("no JSON object"),
                        why -> assertThat(why).contains("PermissionAsk"),
                        why -> assertThat(why).contains("StackOverflowError"),
                        why -> assertThat(why).contains("in time"));
        assertThat(seen(HeldEvent.Started.class)).hasSize(1);
        HeldResult free = sessions.run(handle, agent.hook(rule, call -> HookAnswer.goOn()), say(touch("made")));
        assertThat(free.denials()).isEmpty();
        assertThat(made("made")).isTrue();
    }

    @ParameterizedTest
    @MethodSource("versions")
    void observer_failing_harmsNothing(String version) throws Exception {
        open(version);
        var watched = agent.hook(HookRule.on(HookEvent.PRE_TOOL_USE).observing(), call -> {
                    throw new IllegalStateException("broken observer");
                })
                .hook(HookEvent.POST_TOOL_USE, call -> null)
                .hook(HookEvent.STOP, call -> HookAnswer.deny("no answer of this event"));
        HeldResult result = sessions.run(handle, watched, say(touch("made")));
        assertThat(result.text()).isEqualTo("done");
        assertThat(result.denials()).isEmpty();
        assertThat(made("made")).isTrue();
        assertThat(seen(HeldEvent.HookFailed.class))
                .noneMatch(HeldEvent.HookFailed::denied)
                .extracting(HeldEvent.HookFailed::event)
                .containsExactly(HookEvent.PRE_TOOL_USE, HookEvent.POST_TOOL_USE, HookEvent.STOP);
    }

    @ParameterizedTest
    @MethodSource("versions")
    void hooks_changingInputAndAddingContext_areHeard(String version) throws Exception {
        open(version);
        var prompts = new CopyOnWriteArrayList<String>();
        var results = new CopyOnWriteArrayList<String>();
        var stops = new AtomicInteger();
        var helped = agent.hook(
                        HookEvent.PRE_TOOL_USE,
                        call -> onlyFor(
                                call,
                                HookAnswer.allowWith(
                                        "{\"command\":\"touch " + home.resolve("other") + "\",\"description\":\"d\"}")))
                .hook(HookEvent.POST_TOOL_USE, "Bash", call -> {
                    results.add(call.raw().json());
                    return HookAnswer.goOnWith("AFTER-THE-TOOL");
                })
                .hook(HookEvent.USER_PROMPT_SUBMIT, call -> {
                    prompts.add(call.raw().at("prompt").orElse(""));
                    return HookAnswer.goOnWith("BEFORE-THE-WORDS");
                })
                .hook(
                        HookEvent.STOP,
                        call -> stops.incrementAndGet() == 1
                                ? HookAnswer.block("ONE-MORE-THING [[say more]]")
                                : HookAnswer.goOn());
        HeldResult result = sessions.run(handle, helped, say("MY-WORDS " + touch("one")));
        assertThat(result.ending()).isEqualTo(Ending.ANSWERED);
        assertThat(made("one")).isFalse();
        assertThat(made("other")).isTrue();
        assertThat(prompts)
                .singleElement()
                .satisfies(prompt -> assertThat(prompt).contains("MY-WORDS"));
        assertThat(results).singleElement().satisfies(raw -> assertThat(raw).contains("tool_response"));
        assertThat(shown()).contains("AFTER-THE-TOOL").contains("ONE-MORE-THING");
        assertThat(stops).hasValue(2);
        HeldResult host = sessions.run(handle, helped, say("[[tool mcp__host__echo {\"x\":1}]] [[say echoed]]"));
        assertThat(host.text()).isEqualTo("echoed");
    }

    @ParameterizedTest
    @MethodSource("versions")
    void prompt_blocked_neverReachesTheModelAndEndsItsTurn(String version) throws Exception {
        open(version);
        var strict = agent.hook(
                HookRule.on(HookEvent.USER_PROMPT_SUBMIT).guarding(),
                call -> call.raw().at("prompt").orElse("").contains("SECRET")
                        ? HookAnswer.block("that must not be said")
                        : HookAnswer.goOn());
        HeldResult blocked = sessions.run(handle, strict, say("a SECRET [[say told]]"));
        assertThat(blocked.ending()).isEqualTo(Ending.FAILED);
        assertThat(blocked.failure()).contains("that must not be said");
        HeldResult broken = sessions.run(
                handle,
                agent.hook(HookRule.on(HookEvent.USER_PROMPT_SUBMIT).guarding(), call -> null),
                say("SECRET too [[say told]]"));
        assertThat(broken.ending()).isEqualTo(Ending.FAILED);
        assertThat(broken.failure()).contains("null");
        HeldResult next = sessions.run(handle, strict, say("plain words [[say fine]]"));
        assertThat(next.text()).isEqualTo("fine");
        assertThat(shown()).doesNotContain("SECRET");
        assertThat(seen(HeldEvent.Started.class)).hasSize(1);
    }

    @ParameterizedTest
    @MethodSource("versions")
    @Tag("HS-18")
    @Tag("HS-12")
    void hook_ofAnInterruptedTurn_isStoppedAndAnswersNothing(String version) throws Exception {
        open(version);
        var asked = new CountDownLatch(1);
        var stopped = new CountDownLatch(1);
        var guarded = agent.hook(HookEvent.PRE_TOOL_USE, call -> {
            asked.countDown();
            try {
                return new CountDownLatch(1).await(30, TimeUnit.SECONDS) ? HookAnswer.allow() : HookAnswer.goOn();
            } catch (InterruptedException e) {
                stopped.countDown();
                return HookAnswer.allow();
            }
        });
        HeldTurn turn = sessions.start(handle, guarded, say(touch("late")));
        assertThat(asked.await(30, TimeUnit.SECONDS)).isTrue();
        turn.interrupt().toCompletableFuture().get(10, TimeUnit.SECONDS);
        assertThat(stopped.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(turn.await().ending()).isEqualTo(Ending.CANCELLED);
        assertThat(made("late")).isFalse();
        assertThat(seen(HeldEvent.HookRan.class)).isEmpty();
        assertThat(sessions.run(
                                handle,
                                agent.hook(HookEvent.PRE_TOOL_USE, call -> HookAnswer.goOn()),
                                say("[[say on]]"))
                        .text())
                .isEqualTo("on");
        assertThat(seen(HeldEvent.Started.class)).hasSize(1);
    }

    @ParameterizedTest
    @MethodSource("versions")
    @Tag("HS-18")
    void guard_ofASessionThatIsClosed_denies(String version) throws Exception {
        open(version);
        var asked = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        var guarded = agent.hook(HookEvent.PRE_TOOL_USE, call -> {
            asked.countDown();
            boolean uninterrupted;
            try {
                uninterrupted = go.await(30, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                uninterrupted = false;
            }
            return uninterrupted ? HookAnswer.allow() : HookAnswer.goOn();
        });
        HeldTurn turn = sessions.start(handle, guarded, say(touch("late")));
        assertThat(asked.await(30, TimeUnit.SECONDS)).isTrue();
        var closed = sessions.close(handle).toCompletableFuture();
        go.countDown();
        assertThatThrownBy(turn::await).isInstanceOf(HeldFailure.Closed.class);
        closed.get(30, TimeUnit.SECONDS);
        assertThat(made("late")).isFalse();
        assertThat(seen(HeldEvent.HookFailed.class))
                .singleElement()
                .satisfies(failed -> assertThat(failed.denied()).isTrue());
    }

    @ParameterizedTest
    @MethodSource("versions")
    void halt_keepsTheToolFromRunning(String version) throws Exception {
        open(version);
        HeldResult result = sessions.run(
                handle,
                agent.hook(HookEvent.PRE_TOOL_USE, "Bash", call -> HookAnswer.halt("ENOUGH")),
                say(touch("halted")));
        assertThat(result.ending()).isEqualTo(Ending.ANSWERED);
        assertThat(made("halted")).isFalse();
    }

    @ParameterizedTest
    @MethodSource("versions")
    void everyEvent_canBeListenedTo(String version) throws Exception {
        open(version);
        var told = new CopyOnWriteArrayList<HookEvent>();
        ClaudeCodeAgent listening = agent;
        for (HookEvent event : HookEvent.values()) {
            listening = listening.hook(HookRule.on(event).observing(), call -> {
                told.add(call.event());
                return HookAnswer.goOn();
            });
        }
        assertThat(sessions.run(handle, listening, say(touch("made"))).text()).isEqualTo("done");
        assertThat(told)
                .contains(
                        HookEvent.USER_PROMPT_SUBMIT, HookEvent.PRE_TOOL_USE, HookEvent.POST_TOOL_USE, HookEvent.STOP);
        assertThat(seen(HeldEvent.HookFailed.class)).isEmpty();
    }

    // ---- permissions

    private PermissionAsk answering(PermissionAnswer answer) {
        return (session, question) -> {
            assertThat(session).isEqualTo(handle);
            askedTools.add(question.tool());
            assertThat(question.input()).contains("touch ");
            return answer;
        };
    }

    @ParameterizedTest
    @MethodSource("versions")
    @Tag("HS-18")
    void permission_isDecidedByWhoIsAsked(String version) throws Exception {
        open(version, options -> options.permissions(answering(PermissionAnswer.deny("BY-THE-OPTIONS"))));
        HeldResult denied = sessions.run(handle, agent, say(touch("denied")));
        assertThat(denied.text()).isEqualTo("done");
        assertThat(denied.denials()).hasSize(1);
        assertThat(shown()).contains("BY-THE-OPTIONS");
        assertThat(made("denied")).isFalse();

        HeldResult allowed =
                sessions.run(handle, agent, say(touch("allowed")).permissions(answering(PermissionAnswer.allow())));
        assertThat(allowed.denials()).isEmpty();
        assertThat(made("allowed")).isTrue();

        var other = PermissionAnswer.allowWith("{\"command\":\"touch " + home.resolve("other") + "\"}");
        sessions.run(handle, agent, say(touch("wanted")).permissions(answering(other)));
        assertThat(made("wanted")).isFalse();
        assertThat(made("other")).isTrue();

        HeldResult ended = sessions.run(
                handle, agent, say(touch("ended")).permissions(answering(PermissionAnswer.denyAndEndTurn("STOP"))));
        assertThat(ended.text()).doesNotContain("done");
        assertThat(made("ended")).isFalse();
        assertThat(askedTools).containsExactly("Bash", "Bash", "Bash", "Bash");
        assertThat(seen(HeldEvent.PermissionAsked.class)).hasSize(4);
        assertThat(seen(HeldEvent.PermissionAnswered.class))
                .hasSize(4)
                .allMatch(each -> each.answer().isPresent());
        assertThat(seen(HeldEvent.Started.class)).hasSize(1);
    }

    @ParameterizedTest
    @MethodSource("versions")
    @Tag("HS-18")
    @Tag("HS-12")
    void permission_notAnswered_isDenied(String version) throws Exception {
        open(version, options -> options.permissionDeadline(Duration.ofSeconds(1)));
        List<PermissionAsk> failing = List.of(
                (session, question) -> {
                    throw new IllegalStateException("nobody home");
                },
                (session, question) -> null,
                (session, question) ->
                        new CountDownLatch(1).await(30, TimeUnit.SECONDS) ? PermissionAnswer.allow() : null);
        for (PermissionAsk ask : failing) {
            HeldResult result = sessions.run(handle, agent, say(touch("never")).permissions(ask));
            assertThat(result.text()).isEqualTo("done");
            assertThat(result.denials()).hasSize(1);
            assertThat(made("never")).isFalse();
        }
        assertThat(seen(HeldEvent.PermissionAnswered.class))
                .hasSize(3)
                .allMatch(each -> each.answer().isEmpty())
                .extracting(HeldEvent.PermissionAnswered::why)
                .satisfiesExactly(
                        why -> assertThat(why).contains("nobody home"),
                        why -> assertThat(why).contains("null"),
                        why -> assertThat(why).contains("in time"));
    }

    @ParameterizedTest
    @MethodSource("versions")
    void permission_withNobodyToAsk_isWhatTheBindingSays(String version) throws Exception {
        open(version);
        assertThat(sessions.run(handle, agent, say(touch("bound"))).denials()).isEmpty();
        assertThat(made("bound")).isTrue();
        assertThat(seen(HeldEvent.PermissionAsked.class)).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("versions")
    void ask_ofAHook_goesToTheOneWhoDecides(String version) throws Exception {
        open(
                version,
                options -> options.permissions((session, question) -> {
                    askedTools.add(question.tool());
                    return PermissionAnswer.deny("NOT-THE-HOST-TOOL");
                }));
        var asking = agent.hook(HookEvent.PRE_TOOL_USE, call -> HookAnswer.ask("look at it"));
        HeldResult result = sessions.run(handle, asking, say("[[tool mcp__host__echo {\"x\":1}]] [[say done]]"));
        assertThat(result.text()).isEqualTo("done");
        assertThat(result.denials()).hasSize(1);
        assertThat(askedTools).containsExactly("mcp__host__echo");
        assertThat(seen(HeldEvent.ToolCalled.class)).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("versions")
    @Tag("TN-04")
    @Tag("HS-18")
    void greetingAnew_withAnOpenQuestion_asksItOnceAndKeepsTheHooks(String version) throws Exception {
        open(version);
        var asked = new CountDownLatch(1);
        var decide = new CountDownLatch(1);
        var hooks = new AtomicInteger();
        var hooked = agent.hook(HookEvent.PRE_TOOL_USE, call -> {
            hooks.incrementAndGet();
            return HookAnswer.goOn();
        });
        var clockStands = say(touch("made")).deadline(Duration.ofSeconds(4)).permissions((session, question) -> {
            askedTools.add(question.tool());
            asked.countDown();
            return decide.await(30, TimeUnit.SECONDS) ? PermissionAnswer.allow() : PermissionAnswer.deny("late");
        });
        sessions.run(handle, hooked, say("[[say warm]]"));
        HeldTurn turn = sessions.start(handle, hooked, clockStands);
        assertThat(asked.await(30, TimeUnit.SECONDS)).isTrue();
        long since = System.nanoTime();
        RawJson greeting =
                sessions.control(handle).reinitialize().toCompletableFuture().get(20, TimeUnit.SECONDS);
        assertThat(greeting.at("commands")).isPresent();
        Awaitility.await()
                .atMost(Duration.ofSeconds(10))
                .until(() -> System.nanoTime() - since > TimeUnit.MILLISECONDS.toNanos(4_500));
        decide.countDown();
        assertThat(turn.await().ending()).isEqualTo(Ending.ANSWERED);
        assertThat(made("made")).isTrue();
        assertThat(askedTools).containsExactly("Bash");
        assertThat(seen(HeldEvent.PermissionAsked.class)).hasSize(1);
        sessions.run(handle, hooked, say("[[tool mcp__host__echo {}]] [[say done]]"));
        assertThat(hooks).hasValue(2);
    }

    @ParameterizedTest
    @MethodSource("versions")
    @Tag("HS-18")
    void question_ofAnInterruptedTurn_isWithdrawn(String version) throws Exception {
        open(version);
        var asked = new CountDownLatch(1);
        var stopped = new CountDownLatch(1);
        HeldTurn turn = sessions.start(handle, agent, say(touch("late")).permissions((session, question) -> {
            asked.countDown();
            try {
                return new CountDownLatch(1).await(30, TimeUnit.SECONDS) ? PermissionAnswer.allow() : null;
            } catch (InterruptedException e) {
                stopped.countDown();
                return PermissionAnswer.allow();
            }
        }));
        assertThat(asked.await(30, TimeUnit.SECONDS)).isTrue();
        turn.interrupt().toCompletableFuture().get(10, TimeUnit.SECONDS);
        assertThat(stopped.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(turn.await().ending()).isEqualTo(Ending.CANCELLED);
        assertThat(made("late")).isFalse();
        assertThat(seen(HeldEvent.PermissionAnswered.class))
                .singleElement()
                .satisfies(each -> assertThat(each.why()).contains("withdrew"));
        assertThat(sessions.run(handle, agent, say("[[say on]]")).text()).isEqualTo("on");
    }
}
