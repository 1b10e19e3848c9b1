package dev.holdfast.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Author;
import dev.holdfast.GuardedCall;
import dev.holdfast.SessionName;
import dev.holdfast.ToolEffects;
import dev.holdfast.Verdict;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules for calls, as data (TL-03). */
class GuardPolicyTest {
    private static GuardedCall call(String tool, String input) {
        return call(tool, input, "support-42", Optional.of(new Author("ann", "java")), ToolEffects.WRITE, true);
    }

    private static GuardedCall call(
            String tool,
            String input,
            String session,
            Optional<Author> author,
            ToolEffects effects,
            boolean interactive) {
        return new GuardedCall(new SessionName(session), author, 1, 1, "c1", tool, false, effects, input, interactive);
    }

    @Test
    @Tag("TL-03")
    void firstRuleThatTakesTheCall_decides() {
        var policy = GuardPolicy.parse("""
                {"rules": [
                  {"name": "fine", "tool": "pay_small", "verdict": "allow"},
                  {"name": "no", "tool": "pay_*", "verdict": "deny", "reason": "too much"},
                  {"name": "later", "verdict": "ask", "question": "Well?", "unattended": "allow"}]}
                """);
        assertThat(policy.judge(call("pay_small", "{}"))).isEqualTo(new Verdict.Allow("fine"));
        assertThat(policy.judge(call("pay_big", "{}"))).isEqualTo(new Verdict.Deny("no", "too much"));
        assertThat(policy.judge(call("look", "{\"a\":1}"))).isInstanceOfSatisfying(Verdict.Ask.class, ask -> {
            assertThat(ask.question()).isEqualTo("Well?\nlook {\"a\":1}");
            assertThat(ask.otherwise()).isTrue();
        });
    }

    @Test
    @Tag("TL-03")
    void call_thatNoRuleTakes_getsTheDefault() {
        assertThat(GuardPolicy.of().judge(call("x", "{}"))).isEqualTo(new Verdict.Allow("default"));
        assertThat(GuardPolicy.of().otherwiseDeny().judge(call("x", "{}"))).isInstanceOf(Verdict.Deny.class);
    }

    @Test
    @Tag("TL-03")
    void rule_looksAtSessionAuthorAndEffects() {
        var policy = GuardPolicy.parse("""
                {"rules": [{"name": "r", "session": "prod-*", "author": "c?", "effects": ["destructive"],
                            "verdict": "deny"}]}
                """);
        var ci = Optional.of(new Author("ci", "java"));
        assertThat(policy.judge(call("t", "{}", "prod-1", ci, ToolEffects.DESTRUCTIVE, true)))
                .isInstanceOf(Verdict.Deny.class);
        assertThat(policy.judge(call("t", "{}", "test-1", ci, ToolEffects.DESTRUCTIVE, true)))
                .isInstanceOf(Verdict.Allow.class);
        assertThat(policy.judge(call("t", "{}", "prod-1", ci, ToolEffects.WRITE, true)))
                .isInstanceOf(Verdict.Allow.class);
        assertThat(policy.judge(call("t", "{}", "prod-1", Optional.empty(), ToolEffects.DESTRUCTIVE, true)))
                .isInstanceOf(Verdict.Allow.class);
    }

    @Test
    @Tag("TL-04")
    void unattendedDeny_deniesOnlyWhereNobodyIs() {
        var policy = GuardPolicy.of(GuardRule.of("night", GuardRule.Decision.UNATTENDED_DENY));
        var ann = Optional.of(new Author("ann", "java"));
        assertThat(policy.judge(call("t", "{}", "s", ann, ToolEffects.WRITE, true)))
                .isEqualTo(new Verdict.Allow("night"));
        assertThat(policy.judge(call("t", "{}", "s", Optional.empty(), ToolEffects.WRITE, false)))
                .isInstanceOf(Verdict.Deny.class);
    }

    /** However the model writes it, the rule looks at what the tool will read. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"command\":\"rm -rf /\"}",
                "{\"command\":\"\\u0072m -rf /\"}",
                "{ \"x\": 1,\n \"command\" : \"echo && rm x\"}"
            })
    @Tag("TL-03")
    void inputPattern_isLookedForInTheFieldsText(String input) {
        var policy =
                GuardPolicy.of(GuardRule.of("no-rm", GuardRule.Decision.DENY).input("command", "\\brm\\b"));
        assertThat(policy.judge(call("Bash", input))).isInstanceOf(Verdict.Deny.class);
        assertThat(policy.judge(call("Bash", "{\"other\":\"rm\"}"))).isInstanceOf(Verdict.Allow.class);
    }

    @Test
    void inputPattern_withoutAField_isLookedForInTheWholeInput() {
        var policy = GuardPolicy.of(GuardRule.of("no", GuardRule.Decision.DENY).input("", "\"to\":\"evil\""));
        assertThat(policy.judge(call("send", "{\"to\" : \"evil\"}"))).isInstanceOf(Verdict.Deny.class);
        assertThat(policy.judge(call("send", "{\"a\":{\"to\":\"\\u0065vil\"}}")))
                .isInstanceOf(Verdict.Deny.class);
    }

    @ParameterizedTest
    @CsvSource({
        "*,anything,true",
        "pay_*,pay_big,true",
        "pay_*,repay_big,false",
        "a?c,abc,true",
        "a?c,ac,false",
        "*_*_x,a_b_c_x,true",
        "a*b*c,aXbYcZ,false",
        "exact,exact,true"
    })
    void pattern_matchesWholeNames(String pattern, String name, boolean expected) {
        assertThat(GuardRule.like(pattern, name)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "[]|one JSON object",
                "{}|rules: must be an array",
                "{\"rules\":[],\"defalt\":\"deny\"}|defalt: is not known",
                "{\"rules\":[],\"default\":\"ask\"}|default: use allow or deny",
                "{\"rules\":[{\"verdict\":\"deny\"}]}|rules[0].name: is missing",
                "{\"rules\":[{\"name\":\"a\"}]}|rules[0].verdict: is missing",
                "{\"rules\":[{\"name\":\"a\",\"verdict\":\"never\"}]}|rules[0].verdict: 'never' is none of",
                "{\"rules\":[{\"name\":\"a\",\"verdict\":\"deny\",\"tol\":\"x\"}]}|rules[0].tol: is not known",
                "{\"rules\":[{\"name\":\"a\",\"verdict\":\"deny\",\"tool\":7}]}|rules[0].tool: must be a string",
                "{\"rules\":[{\"name\":\"a\",\"verdict\":\"deny\",\"input\":\"(\"}]}|is no regular expression",
                "{\"rules\":[{\"name\":\"a\",\"verdict\":\"deny\",\"input\":{\"field\":\"x\"}}]}|rules[0].input.matches: is missing",
                "{\"rules\":[{\"name\":\"a\",\"verdict\":\"deny\",\"effects\":[\"all\"]}]}|rules[0].effects: 'all' is none",
                "{\"rules\":[{\"name\":\"a\",\"verdict\":\"deny\",\"unattended\":\"allow\"}]}|rules[0].unattended: goes only",
                "{\"rules\":[{\"name\":\"a\",\"verdict\":\"deny\",\"question\":\"x\"}]}|rules[0].question: does not go",
                "{\"rules\":[{\"name\":\"a\",\"verdict\":\"deny\"},{\"name\":\"a\",\"verdict\":\"deny\"}]}|two rules are named 'a'"
            })
    void file_thatIsWrong_namesTheField(String json, String said) {
        assertThatThrownBy(() -> GuardPolicy.parse(json))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(said);
    }

    @Test
    void file_thatIsNotThere_isNamed(@TempDir Path directory) throws Exception {
        var file = directory.resolve("guard.json");
        assertThatThrownBy(() -> GuardPolicy.read(file)).hasMessageContaining(file.toString());
        Files.writeString(file, "{\"rules\":[]}");
        assertThat(GuardPolicy.read(file).rules()).isEmpty();
    }
}
