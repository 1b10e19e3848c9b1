package dev.holdfast.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MarkerTest {

    @ParameterizedTest
    @ValueSource(strings = {"plain", "a/b", "ä 漢 😀", "%2F", "line\nend", "a=b\0c", "../../etc"})
    @Tag("HS-21")
    void encoded_anyNames_isPlainAsciiAndParsesBack(String name) {
        Marker marker = new Marker(name, "s" + name, 3, Long.MAX_VALUE);
        assertThat(marker.encoded()).matches("[A-Za-z0-9._~%/-]+");
        assertThat(Marker.parse(marker.encoded())).contains(marker);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "a/b/1", "a/b/1/2/3", "a/b/x/2", "a/b/-1/2", "/b/1/2", "a%/b/1/2", "a%4/b/1/2", "a%GG/b/1/2"
            })
    void parse_anythingElse_isNothing(String text) {
        assertThat(Marker.parse(text)).isEmpty();
    }

    @Test
    @Tag("HS-21")
    void isOlderThan_comparesEpochThenIncarnationWithinTheSession() {
        Marker marker = new Marker("store", "s", 2, 5);
        assertThat(new Marker("store", "s", 2, 4).isOlderThan(marker)).isTrue();
        assertThat(new Marker("store", "s", 1, 9).isOlderThan(marker)).isTrue();
        assertThat(marker.isOlderThan(marker)).isFalse();
        assertThat(new Marker("store", "s", 3, 0).isOlderThan(marker)).isFalse();
        assertThat(new Marker("store", "t", 1, 1).isOlderThan(marker)).isFalse();
        assertThat(new Marker("other", "s", 1, 1).isOlderThan(marker)).isFalse();
    }

    @Test
    void new_blankNameOrNegativeNumber_isRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> new Marker(" ", "s", 0, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> new Marker("a", "s".repeat(1025), 0, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> new Marker("a", "s", -1, 0));
    }
}
