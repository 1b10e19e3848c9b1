package dev.holdfast.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EnvironmentAllowListTest {

    @Test
    @Tag("HS-09")
    void from_parentWithSecrets_passesOnlyTheList() {
        Map<String, String> parent = new HashMap<>();
        for (String name : new String[] {
            "HOME",
            "PATH",
            "LANG",
            "LC_ALL",
            "LC_TIME",
            "TERM",
            "TMPDIR",
            "HTTPS_PROXY",
            "no_proxy",
            "CLAUDE_CONFIG_DIR"
        }) {
            parent.put(name, "kept");
        }
        Map<String, String> kept = Map.copyOf(parent);
        for (String name : new String[] {
            "ANTHROPIC_API_KEY",
            "AWS_SECRET_ACCESS_KEY",
            "CLAUDECODE",
            "NODE_OPTIONS",
            "LD_PRELOAD",
            "HOLDFAST_MARKER",
            "BASH_ENV",
            "BASH_FUNC_ls%%",
            "JAVA_TOOL_OPTIONS",
            "HOMER",
            "XLC_ALL"
        }) {
            parent.put(name, "canary");
        }
        assertThat(EnvironmentAllowList.standard().from(parent)).isEqualTo(kept);
    }

    @Test
    @Tag("HS-09")
    void with_names_passThemAndNothingTheyOnlyResemble() {
        EnvironmentAllowList list =
                EnvironmentAllowList.standard().with("ANTHROPIC_BASE_URL", "CLAUDE*", "NODE_*", "L*");
        assertThat(list.allows("ANTHROPIC_BASE_URL")).isTrue();
        assertThat(list.allows("ANTHROPIC_BASE_URL_2")).isFalse();
        assertThat(list.allows("CLAUDE_THING")).isTrue();
        assertThat(list.allows("CLAUDECODE")).isFalse();
        assertThat(list.allows("NODE_OPTIONS")).isFalse();
        assertThat(list.allows("NODE_ENV")).isTrue();
        assertThat(list.allows("LD_PRELOAD")).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"NODE_OPTIONS", "CLAUDECODE", "LD_LIBRARY_PATH", "HOLDFAST_MARKER", "*", "", "A*B", "**"})
    @Tag("HS-09")
    void with_whatNeverPassesOrIsNoName_isRefused(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> EnvironmentAllowList.standard().with(name));
    }
}
