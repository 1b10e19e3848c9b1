package dev.holdfast.runtime;

import static dev.holdfast.runtime.ControlFileStage.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.DeliveryPolicy;
import dev.holdfast.HoldfastException;
import dev.holdfast.Payload;
import dev.holdfast.Receipt;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Lines of a control file: what they mean, which are passed over, what is acknowledged. */
class ControlFileTest {
    @TempDir
    Path directory;

    private ControlFileStage stage;

    @BeforeEach
    void begin() {
        stage = new ControlFileStage(directory);
    }

    @AfterEach
    void end() {
        stage.close();
    }

    // ---- what lines mean ------------------------------------------------------------------------------------------

    @Test
    @Tag("CH-07")
    void everyKind_reachesTheSessionInOrder() {
        stage.follow()
                .append(message("Run the tests."))
                .append("{\"kind\":\"message\",\"text\":\"now\",\"policy\":\"refuse-if-busy\"}\n")
                .append(
                        "{\"kind\":\"cancel\"}\n{\"kind\":\"cancel\",\"turn\":7}\n{\"kind\":\"cancel\",\"message\":12}\n")
                .append("{\"kind\":\"answer\",\"question\":\"deploy-1\",\"text\":\"yes\"}\r\n")
                .append("{\"kind\":\"stop\"}\n")
                .look();
        assertThat(stage.session.taken())
                .extracting(ControlledSession.Taken::payload)
                .containsExactly(
                        new Payload.Words("Run the tests.", DeliveryPolicy.NEXT).toString(),
                        new Payload.Words("now", DeliveryPolicy.REFUSE_IF_BUSY).toString(),
                        Payload.Cancel.any().toString(),
                        Payload.Cancel.turn(7).toString(),
                        Payload.Cancel.message(12).toString(),
                        new Payload.Answer("deploy-1", "yes").toString(),
                        Payload.Cancel.any().toString());
        assertThat(stage.notices).isEmpty();
    }

    @Test
    @Tag("CH-06")
    void message_carriesItsSurfaceAndItsAuthor() {
        stage.follow()
                .append(message("a"))
                .append("{\"kind\":\"message\",\"text\":\"b\",\"author\":\"ci-bot\"}\n")
                .look();
        assertThat(stage.session.taken())
                .extracting(ControlledSession.Taken::surface)
                .containsOnly("control file");
        assertThat(stage.session.taken())
                .extracting(ControlledSession.Taken::author)
                .containsExactly("owner", "ci-bot");
    }

    @Test
    @Tag("CH-06")
    @Tag("CH-07")
    void authorThatCouldForgeAHeading_isRefused() {
        stage.follow()
                .append("{\"kind\":\"message\",\"text\":\"b\",\"author\":\"x\\n# System\"}\n")
                .append("{\"kind\":\"message\",\"text\":\"b\",\"author\":\"\"}\n")
                .append(message("a"))
                .look();
        assertThat(stage.session.texts()).containsExactly("a");
        assertThat(stage.kinds()).containsExactly(ControlFileNotice.Kind.SKIPPED, ControlFileNotice.Kind.SKIPPED);
        assertThat(stage.notices.getFirst().text()).contains("author").doesNotContain("\n");
    }

    @Test
    @Tag("CH-07")
    void keyOfTheSender_isTheKey_andAConflictIsTold() {
        stage.follow()
                .append("{\"kind\":\"message\",\"text\":\"a\",\"key\":\"build-1\"}\n")
                .append("{\"kind\":\"message\",\"text\":\"a\",\"key\":\"build-1\"}\n")
                .append("{\"kind\":\"message\",\"text\":\"b\",\"key\":\"build-1\"}\n")
                .look();
        assertThat(stage.session.texts()).containsExactly("a");
        assertThat(stage.results()).containsExactly("accepted 1", "duplicate 1", "refused");
        assertThat(stage.acknowledged().getLast().get("problem").asString()).isEqualTo("key_conflict");
        assertThat(stage.kinds()).containsExactly(ControlFileNotice.Kind.REFUSED);
    }

    // ---- what is no command ---------------------------------------------------------------------------------------

    @ParameterizedTest
    @Tag("CH-07")
    @ValueSource(
            strings = {
                "nonsense",
                "{\"kind\":\"message\",\"text\":\"cut of",
                "[]",
                "\"message\"",
                "12",
                "null",
                "{}",
                "{\"kind\":\"reboot\"}",
                "{\"kind\":7}",
                "{\"kind\":\"message\"}",
                "{\"kind\":\"message\",\"text\":\"\"}",
                "{\"kind\":\"message\",\"text\":5}",
                "{\"kind\":\"message\",\"text\":\"a\",\"polcy\":\"steer\"}",
                "{\"kind\":\"message\",\"text\":\"a\",\"policy\":\"soon\"}",
                "{\"kind\":\"message\",\"text\":\"a\",\"key\":\"\"}",
                "{\"kind\":\"message\",\"text\":\"a\",\"text\":\"b\"}",
                "{\"kind\":\"message\",\"text\":\"\\ud800\"}",
                "{\"kind\":\"cancel\",\"turn\":0}",
                "{\"kind\":\"cancel\",\"turn\":1.5}",
                "{\"kind\":\"cancel\",\"turn\":\"1\"}",
                "{\"kind\":\"cancel\",\"turn\":99999999999999999999}",
                "{\"kind\":\"cancel\",\"turn\":1,\"message\":2}",
                "{\"kind\":\"cancel\",\"tunr\":1}",
                "{\"kind\":\"stop\",\"turn\":1}",
                "{\"kind\":\"answer\",\"text\":\"yes\"}",
                "{\"kind\":\"answer\",\"question\":\" \",\"text\":\"yes\"}",
                "{\"kind\":\"stop\"}{\"kind\":\"stop\"}",
                "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
            })
    void lineThatIsNoCommand_isSkippedWithANotice(String line) {
        stage.follow().append(message("a") + line + "\n" + message("b")).look();
        assertThat(stage.session.texts()).containsExactly("a", "b");
        assertThat(stage.kinds()).containsExactly(ControlFileNotice.Kind.SKIPPED);
        assertThat(stage.notices.getFirst().offset()).isEqualTo(message("a").length());
        assertThat(stage.notices.getFirst().text()).isNotBlank();
        assertThat(stage.results()).containsExactly("accepted 1", "skipped", "accepted 2");
        stage.restart().look();
        assertThat(stage.session.submitted()).isEqualTo(2);
        assertThat(stage.notices).hasSize(1);
    }

    @Test
    @Tag("CH-07")
    void invalidUtf8_isAMalformedLine() {
        var bad = message("xx").getBytes(StandardCharsets.UTF_8);
        bad[bad.length - 5] = (byte) 0xff;
        stage.follow().append(bad).append(message("a")).look();
        assertThat(stage.session.texts()).containsExactly("a");
        assertThat(stage.kinds()).containsExactly(ControlFileNotice.Kind.SKIPPED);
        assertThat(stage.notices.getFirst().text()).contains("UTF-8");
    }

    @Test
    @Tag("CH-07")
    void blankLine_isPassedOverInSilence() {
        stage.follow().append("\n  \r\n" + message("a")).look();
        assertThat(stage.session.texts()).containsExactly("a");
        assertThat(stage.notices).isEmpty();
    }

    @ParameterizedTest
    @Tag("CH-07")
    @ValueSource(ints = {1, 3_000, 70_000, 200_000})
    void lineLongerThanTheLimit_isSkipped_alsoWhileItIsWritten(int step) {
        stage.options = stage.options.lineBytes(1_000);
        stage.follow().append(message("a"));
        var most = message("y".repeat(1_000 - message("").length() + 1));
        var tooLong = message("x".repeat(step == 1 ? 1_000 - message("").length() + 2 : 200_000));
        for (int at = 0; at < tooLong.length(); at += Math.max(step, 500)) {
            stage.append(tooLong.substring(at, Math.min(tooLong.length(), at + Math.max(step, 500))))
                    .look(1);
        }
        stage.append(most).append(message("b")).look();
        assertThat(stage.session.texts()).hasSize(3).first().isEqualTo("a");
        assertThat(stage.session.texts().getLast()).isEqualTo("b");
        assertThat(stage.kinds()).containsExactly(ControlFileNotice.Kind.SKIPPED);
        assertThat(stage.restart().look().session.submitted()).isEqualTo(3);
    }

    // ---- how lines come in ----------------------------------------------------------------------------------------

    @Test
    @Tag("CH-07")
    void lineInPieces_waitsForItsNewline_andIsDecodedWhole() {
        stage.follow();
        var line = message("Füße 漢字 🦊 ok").getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < line.length; i++) {
            assertThat(stage.session.taken()).isEmpty();
            stage.append(Arrays.copyOfRange(line, i, i + 1)).look(1);
        }
        stage.look();
        assertThat(stage.session.texts()).containsExactly("Füße 漢字 🦊 ok");
        assertThat(stage.notices).isEmpty();
    }

    @Test
    @Tag("CH-07")
    void lineLongerThanABlock_isReadWhole() {
        var text = "é漢🦊".repeat(50_000);
        stage.follow().append(message("a") + message(text) + message("b")).look();
        assertThat(stage.session.texts()).containsExactly("a", text, "b");
    }

    @Test
    @Tag("CH-07")
    void unfinishedLineWrittenOver_isReadAsItStands() {
        stage.options = stage.options.lineBytes(100);
        stage.follow().append("x".repeat(500)).look(1);
        stage.rewrite(message("a") + "y".repeat(500)).look();
        assertThat(stage.session.texts()).containsExactly("a");
        stage.rewrite(message("a") + "z".repeat(100) + "\n" + "z".repeat(399)).look();
        assertThat(stage.kinds()).containsExactly(ControlFileNotice.Kind.SKIPPED);
    }

    @Test
    @Tag("CH-07")
    void fileThatIsNotThereYet_isWaitedFor() {
        stage.follow().look();
        assertThat(stage.notices).isEmpty();
        stage.append(message("a")).look();
        assertThat(stage.session.texts()).containsExactly("a");
    }

    @Test
    @Tag("CH-07")
    void linesWrittenBeforeItIsFollowed_areActedOn() {
        stage.append(message("a")).follow().look();
        assertThat(stage.session.texts()).containsExactly("a");
    }

    @Test
    @Tag("CH-07")
    void manyLines_areAllDoneInOrder() {
        var all = new StringBuilder();
        var texts = new ArrayList<String>();
        for (int i = 0; i < 5_000; i++) {
            texts.add("message " + i);
            all.append(message("message " + i));
        }
        stage.follow().append(all.toString()).look(1);
        assertThat(stage.session.texts()).isEqualTo(texts);
        stage.restart().look();
        assertThat(stage.session.submitted()).isEqualTo(5_000);
    }

    // ---- acknowledgements -----------------------------------------------------------------------------------------

    @Test
    @Tag("CH-07")
    void everyLineActedOn_isAcknowledgedByOffset() {
        stage.follow().append(message("a") + "nonsense\n" + message("b")).look();
        var acknowledged = stage.acknowledged();
        long at = 0;
        for (var line : acknowledged) {
            assertThat(line.get("start").asLong()).isEqualTo(at);
            at = line.get("end").asLong();
        }
        assertThat(at).isEqualTo(stage.file.toFile().length());
        assertThat(stage.results()).containsExactly("accepted 1", "skipped", "accepted 2");
        assertThat(acknowledged.get(1).get("why").asString()).contains("JSON");
    }

    @Test
    @Tag("CH-07")
    void restart_losesNothingAndDoesNothingTwice() {
        stage.follow()
                .append(message("a") + "{\"kind\":\"stop\"}\n" + message("b").substring(0, 9))
                .look();
        stage.follower.close();
        stage.append(message("b").substring(9) + message("c"));
        stage.follow().look();
        assertThat(stage.session.texts())
                .containsExactly("a", Payload.Cancel.any().toString(), "b", "c");
        assertThat(stage.session.submitted()).isEqualTo(4);
    }

    @Test
    @Tag("CH-07")
    void acknowledgementsLost_costNothingButDuplicates() throws IOException {
        stage.follow()
                .append(message("a") + message("a") + "{\"kind\":\"cancel\"}\n")
                .look();
        stage.follower.close();
        Files.delete(stage.follower.acknowledgements());
        stage.append(message("b")).follow().look();
        assertThat(stage.session.taken()).hasSize(4);
        assertThat(stage.results()).containsExactly("duplicate 1", "duplicate 2", "duplicate 3", "accepted 4");
    }

    @ParameterizedTest
    @Tag("CH-07")
    @ValueSource(ints = {0, 1, 20, 100, 200, 300, 400, 500})
    void acknowledgementsTorn_areGoneOnFromTheirLastWholeLine(int cut) throws IOException {
        stage.follow().append(message("a") + message("b")).look();
        stage.follower.close();
        var acks = stage.follower.acknowledgements();
        var bytes = Files.readAllBytes(acks);
        Files.write(acks, Arrays.copyOf(bytes, Math.min(cut, bytes.length)));
        stage.append(message("c")).follow().look();
        assertThat(stage.session.texts()).containsExactly("a", "b", "c");
        assertThat(stage.acknowledged()).isNotEmpty(); // every line of it is whole
    }

    @Test
    @Tag("CH-07")
    void acknowledgementsDamaged_areToldAndSurvived() throws IOException {
        stage.follow().append(message("a") + message("b")).look();
        stage.follower.close();
        var acks = stage.follower.acknowledgements();
        Files.writeString(acks, Files.readString(acks).replaceFirst("\"digest\":\"..", "\"digest\":\"zz"));
        stage.follow().look();
        assertThat(stage.session.texts()).containsExactly("a", "b");
        assertThat(stage.kinds()).containsExactly(ControlFileNotice.Kind.UNUSABLE);
    }

    @Test
    @Tag("CH-07")
    void acknowledgementsGrownLong_areBegunAnew_knowingWhatTheyKnew() throws IOException {
        stage.follow().append(message("a") + message("b")).look();
        stage.rewrite(message("a")).look().append(message("b")).look();
        assertThat(stage.session.texts()).containsExactly("a", "b", "b");
        stage.follower.close();
        var acks = stage.follower.acknowledgements();
        var whole = Files.readString(acks);
        var padding = "{\"file\":\"none\",\"cut\":0}".repeat(1_000) + "\n"; // damaged lines are passed over
        Files.writeString(acks, padding.repeat((17 << 20) / padding.length()), StandardOpenOption.APPEND);
        stage.follow().look();
        assertThat(Files.size(acks)).isLessThan(whole.length());
        assertThat(stage.beside("control.ack.jsonl.last")).exists();
        stage.append(message("c")).look().restart().look();
        assertThat(stage.session.texts()).containsExactly("a", "b", "b", "c");
        assertThat(stage.session.submitted()).isEqualTo(4);
        stage.rewrite(message("a")).look().append(message("b")).look();
        assertThat(stage.session.texts()).containsExactly("a", "b", "b", "c", "b");
    }

    // ---- receipts -------------------------------------------------------------------------------------------------

    @Test
    @Tag("CH-07")
    void fullInbox_keepsMessagesWaitingInOrder_andLetsACancelPass() {
        var full = new Receipt.Full(10, 10, "messages");
        stage.session.answer = payload -> payload instanceof Payload.Words
                ? Optional.of(CompletableFuture.completedFuture(full))
                : Optional.empty();
        stage.follow()
                .append(message("a") + "{\"kind\":\"cancel\"}\n" + message("b"))
                .look();
        assertThat(stage.session.texts()).containsExactly(Payload.Cancel.any().toString());
        assertThat(stage.kinds()).containsExactly(ControlFileNotice.Kind.WAITING);
        stage.restart().look();
        stage.session.answer = payload -> Optional.empty();
        stage.look();
        assertThat(stage.session.texts()).containsExactly(Payload.Cancel.any().toString(), "a", "b");
        assertThat(stage.restart().look().session.submitted()).isEqualTo(3);
    }

    @Test
    @Tag("CH-07")
    void fullInbox_holdsNoMoreThanItsBound() {
        var full = new Receipt.Full(10, 10, "messages");
        stage.session.answer = payload -> Optional.of(CompletableFuture.completedFuture(full));
        stage.follow();
        var text = "x".repeat(100_000);
        for (int i = 0; i < 200; i++) {
            stage.append(message(i + text));
        }
        stage.look();
        stage.session.answer = payload -> Optional.empty();
        stage.look();
        assertThat(stage.session.taken()).hasSize(200);
        assertThat(stage.session.texts().get(199)).startsWith("199x");
    }

    @Test
    @Tag("CH-07")
    void refusal_isAcknowledgedAndTold() {
        stage.session.answer =
                payload -> Optional.of(CompletableFuture.completedFuture(new Receipt.Refused("the session is closed")));
        stage.follow().append(message("a")).look();
        assertThat(stage.results()).containsExactly("refused");
        assertThat(stage.notices.getFirst().text()).isEqualTo("the session is closed");
        stage.session.answer = payload -> Optional.empty();
        stage.restart().look();
        assertThat(stage.session.taken()).isEmpty();
    }

    @Test
    @Tag("CH-07")
    void failingSession_isToldOnce_andTriedAgainUnderTheSameKey() {
        stage.session.answer =
                payload -> Optional.of(CompletableFuture.failedFuture(new HoldfastException("the disk is full")));
        stage.follow().append(message("a") + message("b")).look(6);
        assertThat(stage.session.taken()).isEmpty();
        assertThat(stage.kinds()).containsExactly(ControlFileNotice.Kind.WAITING);
        assertThat(stage.notices.getFirst().text()).contains("the disk is full");
        stage.session.answer = payload -> {
            throw new IllegalStateException("also this way");
        };
        stage.look(3);
        stage.session.answer = payload -> Optional.empty();
        stage.look(1);
        assertThat(stage.session.texts()).containsExactly("a", "b");
    }

    @Test
    @Tag("CH-07")
    void throwingListener_losesAndDoublesNothing() {
        stage.options = stage.options.notices(notice -> {
            throw new IllegalStateException("a listener of a test that throws");
        });
        stage.follow().append("nonsense\n" + message("a")).look();
        assertThat(stage.session.texts()).containsExactly("a");
        assertThat(stage.results()).containsExactly("skipped", "accepted 1");
    }

    // ---- which file -----------------------------------------------------------------------------------------------

    @Test
    @Tag("CH-07")
    void symbolicLink_isRefused() throws IOException {
        var other = Files.writeString(directory.resolve("other"), message("a"));
        Files.createSymbolicLink(stage.file, other);
        assertThatThrownBy(stage::follow).isInstanceOf(HoldfastException.class).hasMessageContaining("symbolic link");
    }

    @Test
    @Tag("CH-07")
    void directoryInItsPlace_isRefused() throws IOException {
        Files.createDirectory(stage.file);
        assertThatThrownBy(stage::follow).isInstanceOf(HoldfastException.class).hasMessageContaining("regular file");
    }

    @Test
    @Tag("CH-07")
    void fileOthersMayWriteTo_isRefused() throws IOException {
        stage.append(message("a"));
        Files.setPosixFilePermissions(stage.file, PosixFilePermissions.fromString("rw-rw-rw-"));
        assertThatThrownBy(stage::follow).isInstanceOf(HoldfastException.class).hasMessageContaining("chmod o-w");
    }

    @Test
    @Tag("CH-07")
    void fileOfAnotherUser_isObjectedTo() throws IOException {
        stage.append(message("a"));
        var stat = ControlFileStat.of(stage.file).orElseThrow();
        assertThat(new ControlFileGuard(stat.user(), true).objection(stage.file, stat))
                .isEmpty();
        assertThat(new ControlFileGuard(stat.user() + 1, true).objection(stage.file, stat))
                .hasValueSatisfying(objection -> assertThat(objection).contains("chown"));
    }

    @Test
    @Tag("CH-07")
    void directoryOthersMayRenameIn_isRefused() throws IOException {
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThatThrownBy(stage::follow).isInstanceOf(HoldfastException.class).hasMessageContaining("chmod o-w");
    }

    @Test
    @Tag("CH-07")
    void missingDirectory_isRefused() {
        var missing = directory.resolve("missing/control.jsonl");
        assertThatThrownBy(() -> ControlFile.follow(stage.session.session(), missing))
                .isInstanceOf(HoldfastException.class)
                .hasMessageContaining("does not exist");
    }

    @Test
    @Tag("CH-07")
    void fileThatBecomesUnfit_isToldAndNotReadUntilMended() throws IOException {
        stage.follow().append(message("a")).look();
        Files.setPosixFilePermissions(stage.file, PosixFilePermissions.fromString("rw-rw-rw-"));
        stage.append(message("b")).look();
        assertThat(stage.session.texts()).containsExactly("a");
        assertThat(stage.kinds()).containsExactly(ControlFileNotice.Kind.UNUSABLE);
        Files.setPosixFilePermissions(stage.file, PosixFilePermissions.fromString("rw-------"));
        stage.look();
        assertThat(stage.session.texts()).containsExactly("a", "b");

        var other = Files.move(stage.file, directory.resolve("other"));
        Files.createSymbolicLink(stage.file, other);
        stage.look();
        Files.writeString(other, message("c"), StandardOpenOption.APPEND);
        stage.look();
        assertThat(stage.kinds()).hasSize(2).last().isEqualTo(ControlFileNotice.Kind.UNUSABLE);
    }

    @Test
    @Tag("CH-07")
    void oneControlFile_hasOneFollowerAndOneSession() {
        stage.follow().append(message("a")).look();
        assertThatThrownBy(() -> ControlFile.follow(stage.session.session(), stage.file))
                .isInstanceOf(HoldfastException.class)
                .hasMessageContaining("followed already");
        stage.follower.close();
        assertThatThrownBy(() -> ControlFile.follow(new ControlledSession("other").session(), stage.file))
                .isInstanceOf(HoldfastException.class)
                .hasMessageContaining("support-42");
        stage.follow();
    }

    @ParameterizedTest
    @CsvSource({"control.jsonl,control.ack.jsonl", "a.b.jsonl,a.b.ack.jsonl", "plain,plain.ack", ".hidden,.hidden.ack"})
    void acknowledgements_lieBesideTheFile(String name, String acknowledgements) {
        try (var follower = ControlFile.follow(stage.session.session(), directory.resolve(name))) {
            assertThat(follower.acknowledgements().getFileName()).hasToString(acknowledgements);
            assertThat(follower.acknowledgements()).exists();
        }
    }

    // ---- following by itself --------------------------------------------------------------------------------------

    @Test
    @Tag("CH-07")
    void appendedLine_isSeenByItself() {
        try (var follower = ControlFile.follow(stage.session.session(), stage.file)) {
            for (int i = 1; i <= 3; i++) {
                stage.append(message("message " + i));
                int count = i;
                await().atMost(Duration.ofSeconds(5))
                        .untilAsserted(() -> assertThat(stage.session.taken()).hasSize(count));
            }
            assertThat(follower.file()).hasFileName("control.jsonl");
        }
    }

    @Test
    @Tag("CH-07")
    void close_endsTheFollowing_atOnceAndAsOftenAsOneLikes() {
        var hung = new CompletableFuture<Receipt>();
        var asked = new AtomicInteger();
        stage.session.answer = payload -> {
            asked.incrementAndGet();
            return Optional.of(hung);
        };
        var follower = ControlFile.follow(stage.session.session(), stage.file);
        stage.append(message("a") + message("b"));
        await().atMost(Duration.ofSeconds(5)).until(() -> asked.get() == 1);
        follower.close();
        follower.close();
        stage.session.answer = payload -> Optional.empty();
        stage.append(message("c"));
        hung.complete(new Receipt.Refused("too late"));
        assertThat(stage.session.submitted()).isZero();
        assertThat(asked).hasValue(1);

        stage.follow().look();
        assertThat(stage.session.texts()).containsExactly("a", "b", "c");
    }

    @Test
    @Tag("CH-07")
    void closeFromTheListener_actsOnNoFurtherLine() {
        var follower = new ArrayList<ControlFile>();
        stage.options = stage.options.notices(notice -> follower.getFirst().close());
        stage.append(message("a") + "nonsense\n" + message("b")).follow();
        follower.add(stage.follower);
        stage.look();
        assertThat(stage.session.texts()).containsExactly("a");
        stage.options = stage.options.notices(stage.notices::add);
        stage.follow().look();
        assertThat(stage.session.texts()).containsExactly("a", "b");
        assertThat(stage.notices).isEmpty();
    }

    @Test
    void options_refuseWhatIsOutOfBounds() {
        var standard = ControlFileOptions.standard();
        assertThatThrownBy(() -> standard.lineBytes(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> standard.poll(Duration.ofMillis(1))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> standard.linger(Duration.ofSeconds(-1))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> standard.author("a\nb")).isInstanceOf(IllegalArgumentException.class);
        assertThat(List.of(standard.lineBytes(), standard.poll().toMillis())).isEqualTo(List.of(1 << 20, 100L));
    }
}
