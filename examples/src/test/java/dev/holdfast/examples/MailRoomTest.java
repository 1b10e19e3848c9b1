package dev.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the README's inbox does when it is run, and run again. */
final class MailRoomTest {
    @Test
    @Tag("IN-12")
    void mailRoom_runTwice_booksOnce(@TempDir Path data) {
        assertThat(MailRoom.bookOne(data)).isEqualTo("1 booked");
        assertThat(MailRoom.bookOne(data)).isEqualTo("nothing new");
    }
}
