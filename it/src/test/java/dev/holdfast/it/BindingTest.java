package dev.holdfast.it;

import static dev.holdfast.it.Station.stored;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Agent;
import dev.holdfast.Binding;
import dev.holdfast.BindingMismatch;
import dev.holdfast.Message;
import dev.holdfast.Session;
import dev.holdfast.SessionName;
import dev.holdfast.SessionPolicy;
import dev.holdfast.Tool;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCall;
import dev.holdfast.ToolSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One session and two agents for it: which binding is in force, and who is told when another is asked for. */
@Tag("HS-03")
final class BindingTest {
    private static final SessionName NAME = new SessionName("bound");
    private static final Binding PLAIN = Binding.none()
            .shown("model", "fast")
            .shown("effort", Optional.empty())
            .words("system prompt", Optional.of("Be kind."))
            .secret("key", Optional.of("sk-1"));
    private static final Tool ECHO = tool("echo", "says it again", "{\"type\":\"object\",\"title\":\"e\"}");

    private final VirtualHosts hosts = new VirtualHosts(1);
    private final VirtualHosts.Host host = hosts.host();

    private static Tool tool(String name, String description, String schema) {
        return new Tool() {
            @Override
            public ToolSpec spec() {
                return new ToolSpec(name, description, schema);
            }

            @Override
            public ToolAnswer call(ToolCall call) {
                return ToolAnswer.text("ok");
            }
        };
    }

    private Agent agent(VirtualHosts.Host on, Binding binding, Object... tools) {
        return new InstantAgent(on.executor(), binding, List.of(tools));
    }

    private String ask(Session session, String text) {
        long number = stored(hosts.run(session.sendAsync(Message.of(text)))).number();
        return hosts.run(session.reply(number)).text();
    }

    private BindingMismatch mismatch(Agent agent, SessionPolicy policy) {
        var failure = hosts.failure(host.holdfast().sessionAsync(NAME, agent, policy));
        assertThat(failure).isInstanceOf(BindingMismatch.class).hasMessageContaining("release it first");
        return (BindingMismatch) failure;
    }

    private List<String> changes(Function<String, Boolean> event) {
        var seen = new ArrayList<String>();
        var session = host.holdfast().open(NAME).orElseThrow();
        session.events(0, e -> {
            if (event.apply(e.type())) {
                seen.add(e.body());
            }
        });
        hosts.pass(Duration.ofSeconds(1));
        return seen;
    }

    @Test
    void session_openedAgainWithAnEqualBinding_isTheSameSession() {
        var first = hosts.run(host.holdfast().sessionAsync(NAME, agent(host, PLAIN, ECHO)));
        var spaced = tool("echo", "says it again", "{ \"title\": \"e\", \"type\": \"object\" }");
        var second = hosts.run(host.holdfast().sessionAsync(NAME, agent(host, PLAIN, spaced)));
        assertThat(second).isSameAs(first);
    }

    @Test
    void session_openedAgainWithAnotherBinding_isRefusedNamingEveryDifference() {
        var first = hosts.run(host.holdfast().sessionAsync(NAME, agent(host, PLAIN, ECHO, tool("old", "goes", "{}"))));
        var other = Binding.none()
                .shown("model", "slow")
                .shown("effort", "high")
                .words("system prompt", Optional.of("Be harsh."))
                .secret("key", Optional.of("sk-2"));
        var refused = mismatch(
                agent(host, other, tool("echo", "repeats", "{\"type\":\"object\"}"), tool("new", "comes", "{}")),
                SessionPolicy.standard().stay(SessionPolicy.Stay.STAY_OPEN));
        assertThat(refused.differences())
                .containsExactlyInAnyOrder(
                        "model: 'fast' is now 'slow'",
                        "effort: the default is now 'high'",
                        "system prompt: another text",
                        "key: another value",
                        "tool 'old' is gone",
                        "tool 'new' is new",
                        "description of tool 'echo': another text",
                        "input schema of tool 'echo': another text",
                        "policy: stay: 'END_WHEN_IDLE' is now 'STAY_OPEN'");
        assertThat(refused).hasMessageNotContaining("sk-").hasMessageNotContaining("harsh");
        assertThat(ask(first, "still there?")).isEqualTo("done");
        assertThat(hosts.run(host.holdfast().sessionAsync(NAME, agent(host, PLAIN, ECHO, tool("old", "goes", "{}")))))
                .isSameAs(first);
    }

    /** Open means taken up here, with a process or without. */
    @Test
    void session_asleep_refusesAnotherBindingAsWell() {
        var first = hosts.run(host.holdfast().sessionAsync(NAME, agent(host, PLAIN)));
        ask(first, "work");
        hosts.pass(Duration.ofMinutes(10));
        assertThat(host.holdfast().processes()).isZero();
        assertThat(mismatch(agent(host, PLAIN.shown("model", "slow")), SessionPolicy.standard())
                        .differences())
                .containsExactly("model: 'fast' is now 'slow'");
    }

    @Test
    void session_released_takesTheNewBindingAndAnEventSaysSo() {
        var first = hosts.run(host.holdfast().sessionAsync(NAME, agent(host, PLAIN, ECHO)));
        ask(first, "as before");
        hosts.run(host.holdfast().release(NAME, Duration.ofSeconds(10)));
        var other = PLAIN.shown("model", "slow")
                .words("system prompt", Optional.of("Be harsh."))
                .secret("key", Optional.of("sk-2"));
        var second = hosts.run(host.holdfast().sessionAsync(NAME, agent(host, other)));
        assertThat(ask(second, "as it is now")).isEqualTo("done");
        var bound = changes("AgentBound"::equals);
        assertThat(bound).hasSize(2);
        assertThat(bound.getFirst()).contains("\"differences\":[]").contains("fast");
        assertThat(bound.getLast())
                .contains("model: 'fast' is now 'slow'")
                .contains("system prompt: another text")
                .contains("tool 'echo' is gone");
        assertThat(String.join("", bound)).doesNotContain("sk-").doesNotContain("harsh");
    }

    @Test
    void session_onTheNextHost_takesTheNewBindingAndAnEventSaysSo() {
        var first = hosts.run(host.holdfast().sessionAsync(NAME, agent(host, PLAIN)));
        ask(first, "as before");
        host.kill();
        var next = hosts.host();
        var second = hosts.run(next.holdfast().sessionAsync(NAME, agent(next, PLAIN.shown("model", "slow"))));
        assertThat(ask(second, "as it is now")).isEqualTo("done");
        var seen = new ArrayList<String>();
        second.events(0, e -> {
            if (e.type().equals("AgentBound")) {
                seen.add(e.body());
            }
        });
        hosts.pass(Duration.ofSeconds(1));
        assertThat(seen).hasSize(2);
        assertThat(seen.getLast()).contains("model: 'fast' is now 'slow'");
    }

    @Test
    void binding_recorded_keepsNoSecretAndNoWords() {
        var recorded = PLAIN.recorded();
        assertThat(recorded)
                .containsEntry("model", "fast")
                .containsEntry("effort", "")
                .containsEntry("key", "set");
        assertThat(recorded.get("system prompt")).startsWith("sha256:").doesNotContain("kind");
        assertThat(PLAIN.toString()).doesNotContain("sk-").doesNotContain("kind");
        var again = PLAIN.secret("key", Optional.of("sk-2"));
        assertThat(Binding.changes(recorded, again.recorded())).isEmpty();
        assertThat(again.differences(PLAIN)).containsExactly("key: another value");
        assertThat(PLAIN.differences(PLAIN)).isEmpty();
    }
}
