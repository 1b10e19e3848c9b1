package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ScriptedModelTest {
    private static ScriptedModel.Plan plan(String messages) {
        return ScriptedModel.next(Conversation.of("{\"messages\":[" + messages + "]}"), List.of());
    }

    private static String user(String... texts) {
        StringBuilder blocks = new StringBuilder();
        for (String text : texts) {
            blocks.append(blocks.isEmpty() ? "" : ",")
                    .append(AgentMemory.text(text).write());
        }
        return "{\"role\":\"user\",\"content\":[" + blocks + "]}";
    }

    private static final String CALLED = ",{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t\","
            + "\"name\":\"n\",\"input\":{}}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
            + "\"tool_use_id\":\"t\",\"content\":\"out\"}]}";

    @Test
    void next_withoutDirectives_echoesWithoutTheHostsBlock() {
        assertThat(plan(user("hello", "(host)")).answer()).isEqualTo("echo: hello");
    }

    @Test
    void next_withATool_endsTheCallThere() {
        ScriptedModel.Plan plan = plan(user("x [[sleep 5]] [[tool n {\"a\":{\"b\":\"]]\"}}]] [[say done]]"));
        assertThat(plan.steps())
                .containsExactly(new Directive("sleep", "5"), new Directive("tool", "n {\"a\":{\"b\":\"]]\"}}"));
        assertThat(plan.callsTools()).isTrue();
        assertThat(plan.answer()).isEmpty();
    }

    @Test
    void next_afterATool_goesOnBehindIt() {
        String said = user("x [[tool n {}]] [[tool+ m {}]] [[say done]]");
        assertThat(plan(said).steps()).hasSize(2);
        assertThat(plan(said + CALLED).steps()).containsExactly(new Directive("say", "done"));
    }

    @Test
    void next_afterAToolWithoutMore_echoesItsResult() {
        assertThat(plan(user("x [[tool n {}]]") + CALLED).answer()).isEqualTo("echo: x (out)");
    }

    @Test
    void next_withUnansweredMessagesBefore_obeysTheLast() {
        assertThat(plan(user("x [[error 400]]\n", "y [[say ok]]")).steps()).containsExactly(new Directive("say", "ok"));
    }

    @Test
    void next_withAFold_appendsItsDirectives() {
        String folded = "<system-reminder>\nThe user sent a new message while you were working:\nsteer [[say aye]]\n\n"
                + "IMPORTANT: go on.\n</system-reminder>";
        String shown = user("x [[tool n {}]]")
                + CALLED.replace(
                        "\"content\":\"out\"}]",
                        "\"content\":\"out\"}," + AgentMemory.text(folded).write() + "]");
        assertThat(plan(shown).steps()).containsExactly(new Directive("say", "aye"));
    }

    @Test
    void textWithout_directives_keepsTheWords() {
        assertThat(Directive.textWithout("a [[say b]] c [[")).isEqualTo("a  c [[");
    }
}
