package dev.holdfast.runtime;

import static dev.holdfast.runtime.ControlFileStage.message;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Control files that are cut, written over and rotated, while they are followed and while no host runs. */
class ControlFileChangesTest {
    @TempDir
    Path directory;

    private ControlFileStage stage;

    @BeforeEach
    void begin() {
        stage = new ControlFileStage(directory);
        stage.follow();
    }

    @AfterEach
    void end() {
        stage.close();
    }

    private void truncate(long size) throws IOException {
        try (var channel = FileChannel.open(stage.file, StandardOpenOption.WRITE)) {
            channel.truncate(size);
        }
    }

    private void overwrite(long at, String text) throws IOException {
        try (var channel = FileChannel.open(stage.file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)), at);
        }
    }

    private void rotate(String name) throws IOException {
        Files.move(stage.file, stage.beside(name), StandardCopyOption.REPLACE_EXISTING);
    }

    private void replace(String content) throws IOException {
        Files.writeString(stage.beside("new"), content);
        Files.move(stage.beside("new"), stage.file, StandardCopyOption.ATOMIC_MOVE);
    }

    /** While it is followed, or while it is not. */
    private void doing(boolean down, Change change) throws IOException {
        if (down) {
            stage.follower.close();
        }
        change.run();
        if (down) {
            stage.follow();
        }
        stage.look();
    }

    private interface Change {
        void run() throws IOException;
    }

    // ---- truncation -----------------------------------------------------------------------------------------------

    @ParameterizedTest
    @Tag("CH-07")
    @ValueSource(booleans = {false, true})
    void truncationToNothing_makesWhatComesNew(boolean down) throws IOException {
        stage.append(message("a") + message("b")).look();
        doing(down, () -> truncate(0));
        assertThat(stage.kinds()).containsExactly(ControlFileNotice.Kind.REWRITTEN);
        stage.append(message("a")).look().append(message("c")).look();
        assertThat(stage.session.texts()).containsExactly("a", "b", "a", "c");
        assertThat(stage.restart().look().session.submitted()).isEqualTo(4);
    }

    @ParameterizedTest
    @Tag("CH-07")
    @ValueSource(booleans = {false, true})
    void truncationBehindALine_leavesThatLineDone(boolean down) throws IOException {
        stage.append(message("a") + message("b") + message("c")).look();
        doing(down, () -> truncate(message("a").length()));
        stage.append(message("d")).look();
        assertThat(stage.session.texts()).containsExactly("a", "b", "c", "d");
        assertThat(stage.restart().look().session.submitted()).isEqualTo(4);
    }

    @ParameterizedTest
    @Tag("CH-07")
    @ValueSource(booleans = {false, true})
    void truncateAndRegrow_betweenTwoLooks_isNoticed(boolean down) throws IOException {
        stage.append(message("a") + message("b")).look();
        doing(down, () -> stage.rewrite(message("something longer") + message("than both were before") + message("c")));
        assertThat(stage.session.texts()).containsExactly("a", "b", "something longer", "than both were before", "c");
        assertThat(stage.kinds()).containsExactly(ControlFileNotice.Kind.REWRITTEN);
        stage.append(message("d")).look();
        assertThat(stage.session.texts()).hasSize(6).endsWith("d");
    }

    @Test
    @Tag("CH-07")
    void sameLineAgainAfterATruncationThatWasSeen_isANewLine_eachTime() throws IOException {
        for (int i = 1; i <= 4; i++) {
            stage.append("{\"kind\":\"cancel\"}\n").look();
            assertThat(stage.session.taken()).hasSize(i);
            if (i % 2 == 0) {
                stage.restart().look();
            }
            truncate(0);
            stage.look();
        }
        assertThat(stage.session.submitted()).isEqualTo(4);
    }

    // ---- writing over ---------------------------------------------------------------------------------------------

    @ParameterizedTest
    @Tag("CH-07")
    @ValueSource(booleans = {false, true})
    void sameSizeRewrite_doesTheChangedLineOnly(boolean down) throws IOException {
        stage.append(message("aaa") + message("bbb") + message("ccc")).look();
        doing(down, () -> overwrite(message("aaa").length(), message("xxx")));
        assertThat(stage.session.texts()).containsExactly("aaa", "bbb", "ccc", "xxx");
        assertThat(stage.kinds()).containsExactly(ControlFileNotice.Kind.REWRITTEN);
        stage.append(message("ddd")).look();
        assertThat(stage.session.texts()).endsWith("xxx", "ddd").hasSize(5);
        assertThat(stage.restart().look().session.submitted()).isEqualTo(5);
    }

    @Test
    @Tag("CH-07")
    void sameSizeRewrite_withItsTimeSetBack_isNoticed() throws IOException {
        stage.append(message("aaa") + message("bbb")).look();
        FileTime before = Files.getLastModifiedTime(stage.file);
        stage.rewrite(message("aaa") + message("xxx"));
        Files.setLastModifiedTime(stage.file, before);
        stage.look();
        assertThat(stage.session.texts()).containsExactly("aaa", "bbb", "xxx");
    }

    @Test
    @Tag("CH-07")
    void rewriteInTheMiddleOfALongFile_isNoticed() throws IOException {
        var all = new StringBuilder();
        for (int i = 0; i < 12_000; i++) {
            all.append(message("message " + (100_000 + i)));
        }
        stage.append(all.toString()).look();
        assertThat(all.length()).isGreaterThan(ControlFileReader.COMPARED_WHOLE);
        long line = message("message 100000").length();
        overwrite(line * 6_000, message("message xxxxxx"));
        stage.append(message("last")).look();
        assertThat(stage.session.texts()).hasSize(12_002).endsWith("last", "message xxxxxx");
    }

    @Test
    @Tag("CH-07")
    void editorThatWritesAllAnewWithALineMore_doesThatLineOnly() {
        stage.append(message("a") + message("b")).look();
        stage.rewrite(message("a") + message("b") + message("c")).look();
        assertThat(stage.session.texts()).containsExactly("a", "b", "c");
        assertThat(stage.notices).isEmpty();
    }

    @Test
    @Tag("CH-07")
    void fileSeenInTheMiddleOfItsRewriting_isNotJudgedYet() {
        stage.append(message("a") + message("b")).look();
        stage.rewrite("").look(1);
        stage.append(message("a")).look(1);
        stage.append(message("b") + message("c")).look();
        assertThat(stage.session.texts()).containsExactly("a", "b", "c");
        assertThat(stage.notices).isEmpty();
    }

    @Test
    @Tag("CH-07")
    void touchedFile_doesNothing() throws IOException {
        stage.append(message("a")).look();
        Files.setLastModifiedTime(stage.file, FileTime.fromMillis(0));
        stage.look();
        Files.setLastModifiedTime(stage.file, FileTime.fromMillis(Long.MAX_VALUE / 1_000_000));
        assertThat(stage.look().session.submitted()).isEqualTo(1);
        assertThat(stage.notices).isEmpty();
    }

    // ---- rotation -------------------------------------------------------------------------------------------------

    @ParameterizedTest
    @Tag("CH-07")
    @ValueSource(booleans = {false, true})
    void rotation_readsTheRestOfTheOldFirst(boolean down) throws IOException {
        stage.append(message("a")).look();
        doing(down, () -> {
            stage.append(message("b"));
            rotate("control.jsonl.1");
            stage.append(message("a") + message("c"));
        });
        assertThat(stage.session.texts()).containsExactly("a", "b", "a", "c");
        stage.append(message("d")).look();
        assertThat(stage.restart().look().session.texts()).containsExactly("a", "b", "a", "c", "d");
        assertThat(stage.session.submitted()).isEqualTo(5);
    }

    @Test
    @Tag("CH-07")
    void rotationToAnotherDirectory_readsTheRestOfTheOldFirst() throws IOException {
        stage.append(message("a")).look().append(message("b"));
        Files.createDirectory(directory.resolve("archive"));
        rotate("archive/old");
        stage.append(message("c")).look();
        assertThat(stage.session.texts()).containsExactly("a", "b", "c");
        assertThat(stage.kinds()).containsExactly(ControlFileNotice.Kind.ROTATED);
    }

    @Test
    @Tag("CH-07")
    void rotationToANameOfDigits_ofAFileOfTheSameLines_doesThemAgain() throws IOException {
        stage.append(message("a")).look();
        rotate("control.jsonl-20260801");
        stage.append(message("a")).look();
        assertThat(stage.session.texts()).containsExactly("a", "a");
    }

    @Test
    @Tag("CH-07")
    void writerThatHasTheOldFileOpen_isReadForAWhile() throws IOException {
        stage.append(message("a")).look();
        try (var writer = FileChannel.open(stage.file, StandardOpenOption.APPEND)) {
            rotate("control.jsonl.1");
            stage.append(message("c")).look();
            writer.write(ByteBuffer.wrap(message("b").getBytes(StandardCharsets.UTF_8)));
            stage.look();
            assertThat(stage.session.texts()).containsExactly("a", "c", "b");
            writer.write(ByteBuffer.wrap("{\"kind\":\"stop\"".getBytes(StandardCharsets.UTF_8)));
            stage.clock.pass(Duration.ofSeconds(6));
            stage.look();
            assertThat(stage.kinds()).containsExactly(ControlFileNotice.Kind.ROTATED, ControlFileNotice.Kind.SKIPPED);
        }
        assertThat(stage.restart().look().session.submitted()).isEqualTo(3);
    }

    @ParameterizedTest
    @Tag("CH-07")
    @ValueSource(booleans = {false, true})
    void severalRotationsUnseen_loseNothing(boolean down) throws IOException {
        stage.append(message("a")).look();
        doing(down, () -> {
            stage.append(message("b"));
            rotate("control.jsonl.1");
            stage.append(message("c"));
            Files.move(stage.beside("control.jsonl.1"), stage.beside("control.jsonl.2"));
            rotate("control.jsonl.1");
            stage.append(message("d"));
            Files.move(stage.beside("control.jsonl.2"), stage.beside("control.jsonl.3"));
            Files.move(stage.beside("control.jsonl.1"), stage.beside("control.jsonl.2"));
            rotate("control.jsonl.1");
            stage.append(message("e"));
        });
        assertThat(stage.session.texts()).containsExactly("a", "b", "c", "d", "e");
        assertThat(stage.restart().look().session.submitted()).isEqualTo(5);
    }

    @Test
    @Tag("CH-07")
    void archivesFromBefore_areNotRead() throws IOException {
        Files.writeString(stage.beside("control.jsonl.7"), message("ancient"));
        Files.setLastModifiedTime(stage.beside("control.jsonl.7"), FileTime.fromMillis(0));
        stage.append(message("a")).look();
        rotate("control.jsonl.1");
        stage.append(message("b")).look().restart().look();
        assertThat(stage.session.texts()).containsExactly("a", "b");
    }

    @Test
    @Tag("CH-07")
    void rotationWhileAnotherIsLingering_isGoneOnWithAfterARestart() throws IOException {
        stage.append(message("a")).look();
        rotate("control.jsonl.1");
        stage.append(message("b")).look();
        stage.follower.close();
        Files.writeString(stage.beside("control.jsonl.1"), message("late"), StandardOpenOption.APPEND);
        stage.append(message("c")).follow().look();
        assertThat(stage.session.texts()).containsExactly("a", "b", "late", "c");
    }

    @ParameterizedTest
    @Tag("CH-07")
    @ValueSource(booleans = {false, true})
    void copyAndTruncate_readsTheRestFromTheCopy(boolean down) throws IOException {
        stage.append(message("a")).look();
        doing(down, () -> {
            stage.append(message("b"));
            Files.copy(stage.file, stage.beside("control.jsonl.1"));
            truncate(0);
            stage.append(message("c"));
        });
        assertThat(stage.session.texts()).containsExactly("a", "b", "c");
        assertThat(stage.restart().look().session.submitted()).isEqualTo(3);
    }

    @ParameterizedTest
    @Tag("CH-07")
    @ValueSource(booleans = {false, true})
    void programThatRenamesANewVersionOverTheFile_doesNothingTwice(boolean down) throws IOException {
        stage.append(message("a") + message("b")).look();
        doing(down, () -> replace(message("a") + message("b") + message("c")));
        doing(down, () -> replace(message("a") + message("b") + message("c") + message("d")));
        stage.append(message("e")).look();
        assertThat(stage.session.texts()).containsExactly("a", "b", "c", "d", "e");
        assertThat(stage.restart().look().session.submitted()).isEqualTo(5);
    }

    @Test
    @Tag("CH-07")
    void programThatRenamesOneLineAfterTheOtherOverTheFile_isHeardEachTime() throws IOException {
        stage.append(message("a")).look();
        replace(message("b"));
        stage.look();
        replace(message("c"));
        stage.look();
        assertThat(stage.session.texts()).containsExactly("a", "b", "c");
    }

    @ParameterizedTest
    @Tag("CH-07")
    @ValueSource(booleans = {false, true})
    void fileDeletedAndMadeAgain_isAnotherFile(boolean down) throws IOException {
        stage.append(message("a") + message("b")).look();
        doing(down, () -> {
            Files.delete(stage.file); // the file system gives the same inode again, as a rule
            stage.append(message("a"));
        });
        assertThat(stage.session.texts()).containsExactly("a", "b", "a");
        assertThat(stage.restart().look().session.submitted()).isEqualTo(3);
    }

    @Test
    @Tag("CH-07")
    void fileSeenMissing_isAnotherFileWhenItComesBack() throws IOException {
        stage.append(message("a")).look();
        Files.delete(stage.file);
        stage.look().append(message("a")).look();
        assertThat(stage.session.texts()).containsExactly("a", "a");
    }

    @Test
    @Tag("CH-07")
    void directoryMovedWithItsAcknowledgements_doesNothingTwice() throws IOException {
        stage.append(message("a") + message("b")).look();
        stage.close();
        Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
        for (String name : new String[] {"control.jsonl", "control.ack.jsonl"}) {
            Files.copy(stage.beside(name), elsewhere.resolve(name));
        }
        try (var moved = new ControlFileStage(elsewhere, stage.session)) {
            moved.append(message("c")).follow().look();
            assertThat(moved.session.texts()).containsExactly("a", "b", "c");
            assertThat(moved.restart().look().session.submitted()).isEqualTo(3);
        }
    }

    @Test
    @Tag("CH-07")
    void rewriteRightBeforeARotation_isReadBeforeTheNewFile() throws IOException {
        stage.append(message("a") + message("b")).look();
        stage.rewrite(message("x") + message("y"));
        rotate("control.jsonl.1");
        stage.append(message("z")).look();
        assertThat(stage.session.texts()).containsExactly("a", "b", "x", "y", "z");
    }
}
