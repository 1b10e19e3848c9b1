package dev.holdfast.claude;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("HS-20")
class StartGateTest {
    private static final Optional<Path> SHARED = Optional.of(Path.of("/login"));

    private final StartGate gate = new StartGate();
    private final List<String> went = new ArrayList<>();

    private StartGate.Place enter(Optional<Path> path, String who) {
        return gate.enter(path, () -> went.add(who));
    }

    @Test
    void entrants_ofOneDirectory_goOneAfterAnother() {
        var a = enter(SHARED, "a");
        var b = enter(SHARED, "b");
        var c = enter(SHARED, "c");
        assertThat(went).containsExactly("a");
        a.leave();
        a.leave();
        assertThat(went).containsExactly("a", "b");
        c.leave();
        b.leave();
        enter(SHARED, "d");
        assertThat(went).containsExactly("a", "b", "d");
    }

    @Test
    void entrants_ofDirectoriesOfTheirOwn_goAtOnce() {
        enter(SHARED, "a");
        enter(Optional.of(Path.of("/other")), "b");
        enter(Optional.empty(), "c");
        enter(Optional.empty(), "d");
        assertThat(went).containsExactly("a", "b", "c", "d");
    }
}
