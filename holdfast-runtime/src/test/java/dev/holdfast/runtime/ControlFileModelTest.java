package dev.holdfast.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.holdfast.Payload;
import dev.holdfast.Receipt;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;

/**
 * Random writers, rotations, truncations, rewritings, restarts, crashes and full inboxes, against a model that knows in
 * which order each line was written: the session must get each exactly once, in that order. Rerun a seed with
 * {@code -Dholdfast.control.seed=N}; {@code -Dholdfast.control.runs=N} does more.
 */
class ControlFileModelTest {
    private static final int RUNS = Integer.getInteger("holdfast.control.runs", 25);
    private static final int STEPS = 80;

    /** In memory where there is such a place: the model is about order, not about the disk. */
    @TempDir(factory = InMemory.class)
    Path directory;

    static final class InMemory implements TempDirFactory {
        @Override
        public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext context) throws IOException {
            var memory = Path.of("/dev/shm");
            return Files.isWritable(memory)
                    ? Files.createTempDirectory(memory, "control-")
                    : Files.createTempDirectory("control-");
        }
    }

    @Test
    @Tag("CH-07")
    void anyHistoryOfTheFile_losesNothingAndDoesNothingTwice() throws IOException {
        var given = Optional.ofNullable(Long.getLong("holdfast.control.seed"));
        long first = given.orElseGet(System::nanoTime);
        for (int run = 0; run < (given.isPresent() ? 1 : RUNS); run++) {
            long seed = first + run;
            Path place = Files.createDirectory(directory.resolve("run-" + run));
            var history = new History(place, new Random(seed));
            try {
                history.play();
            } catch (AssertionError | RuntimeException | IOException e) {
                fail("seed " + seed + " (again with -Dholdfast.control.seed=" + seed + "): " + history.done, e);
            } finally {
                history.stage.close();
            }
        }
    }

    /** As a kill would come. */
    private static final class Crash extends Error {
        private static final long serialVersionUID = 1;
    }

    private static final class History {
        final ControlFileStage stage;
        final Random random;
        final List<String> expected = new ArrayList<>();
        final List<String> done = new ArrayList<>();
        final Path acks;
        int texts;
        int rotated;
        long durable;

        History(Path place, Random random) {
            this.stage = new ControlFileStage(place);
            this.random = random;
            this.acks = stage.beside("control.ack.jsonl");
            stage.follow();
        }

        void play() throws IOException {
            for (int step = 0; step < STEPS; step++) {
                int what = random.nextInt(20);
                switch (what) {
                    case 0, 1, 2, 3, 4, 5 -> write();
                    case 6, 7, 8, 9 -> looks();
                    case 10 -> restart();
                    case 11, 12 -> crash();
                    case 13, 14 -> rotate();
                    case 15 -> copyAndTruncate();
                    case 16 -> truncate();
                    case 17 -> overwrite();
                    case 18 -> replace();
                    default -> full();
                }
                inOrder();
            }
            catchUp();
            note("restart");
            stage.restart();
            catchUp();
        }

        void note(String what) {
            done.add(what);
        }

        void inOrder() {
            compare(Math.min(stage.session.taken().size(), expected.size()));
        }

        void catchUp() {
            stage.session.answer = payload -> Optional.empty();
            stage.look();
            compare(expected.size());
        }

        void compare(int count) {
            var is = brief(stage.session.texts());
            var should = brief(expected).subList(0, count);
            int same = 0;
            while (same < is.size() && same < should.size() && is.get(same).equals(should.get(same))) {
                same++;
            }
            assertThat(is.subList(same, is.size()))
                    .as("behind the first %d", same)
                    .isEqualTo(should.subList(same, count));
        }

        /** Long ones by their beginning and their hash. */
        static List<String> brief(List<String> texts) {
            return texts.stream()
                    .map(t -> t.length() < 12 ? t : t.substring(0, 8).strip() + "#" + t.hashCode())
                    .toList();
        }

        // ---- the writer ---------------------------------------------------------------------------------------------

        String text() {
            var text = new StringBuilder("text " + texts++ + " ");
            int length = random.nextInt(20) == 0 ? random.nextInt(70_000) : random.nextInt(60);
            while (text.length() < length) {
                text.append(
                        switch (random.nextInt(6)) {
                            case 0 -> "é";
                            case 1 -> "漢";
                            case 2 -> "🦊";
                            default -> "x";
                        });
            }
            return text.toString();
        }

        byte[] lines() {
            var bytes = new ByteArrayOutputStream();
            int count = 1 + random.nextInt(4);
            for (int i = 0; i < count; i++) {
                if (random.nextInt(8) == 0) {
                    bytes.writeBytes(new byte[] {'{', (byte) 0xc3, '\n'});
                }
                var text = text();
                expected.add(text);
                bytes.writeBytes(ControlFileStage.message(text).getBytes(StandardCharsets.UTF_8));
            }
            return bytes.toByteArray();
        }

        /** In pieces that end anywhere, with looks in between. */
        void write() {
            var bytes = lines();
            note("write " + bytes.length);
            for (int at = 0; at < bytes.length; ) {
                int end = Math.min(bytes.length, at + 1 + random.nextInt(bytes.length));
                stage.append(Arrays.copyOfRange(bytes, at, end));
                at = end;
                if (random.nextInt(3) == 0) {
                    stage.look(1);
                }
            }
        }

        void rotate() throws IOException {
            if (!Files.exists(stage.file)) {
                return;
            }
            note("rotate");
            Files.move(stage.file, stage.beside("control.jsonl." + ++rotated));
            if (random.nextBoolean()) {
                stage.append(lines());
            }
        }

        void copyAndTruncate() throws IOException {
            stage.append(lines());
            catchUp();
            note("copy and truncate");
            if (random.nextBoolean()) {
                stage.append(lines());
            }
            Files.copy(stage.file, stage.beside("control.jsonl." + ++rotated));
            stage.rewrite("");
            stage.append(lines());
            maybeRestart();
            catchUp();
        }

        /** To a line's end or into a line, whose rest then is nonsense. */
        void truncate() throws IOException {
            if (!Files.exists(stage.file)) {
                return;
            }
            catchUp();
            var content = Files.readAllBytes(stage.file);
            int to = content.length == 0 ? 0 : random.nextInt(content.length);
            boolean whole = random.nextBoolean();
            while (to > 0 && (whole ? content[to - 1] != '\n' : content[to] == '\n' || content[to - 1] == '\n')) {
                to--;
            }
            note("truncate to " + to);
            try (var channel = FileChannel.open(stage.file, StandardOpenOption.WRITE)) {
                channel.truncate(to);
            }
            maybeLook();
            if (to > 0 && !whole) {
                stage.append("\n");
            }
            stage.append(lines());
            maybeRestart();
        }

        /** One line by another of the same size. */
        void overwrite() throws IOException {
            if (!Files.exists(stage.file)) {
                return;
            }
            catchUp();
            var content = Files.readAllBytes(stage.file);
            if (content.length > ControlFileReader.COMPARED_WHOLE) {
                return; // noticed when the file is quiet, after what was appended meanwhile
            }
            int at = content.length == 0 ? 0 : random.nextInt(content.length);
            while (at > 0 && content[at - 1] != '\n') {
                at--;
            }
            int end = at;
            while (end < content.length && content[end] != '\n') {
                end++;
            }
            var text = new StringBuilder("over " + texts++ + " ");
            int spare = end + 1 - at - ControlFileStage.message(text.toString()).length();
            if (spare < 0) {
                return;
            }
            text.append("o".repeat(spare));
            note("overwrite at " + at);
            expected.add(text.toString());
            try (var channel = FileChannel.open(stage.file, StandardOpenOption.WRITE)) {
                channel.write(
                        ByteBuffer.wrap(
                                ControlFileStage.message(text.toString()).getBytes(StandardCharsets.UTF_8)),
                        at);
            }
            maybeRestart();
        }

        /** By a new version of it with a line more, as programs do that write a file and rename it. */
        void replace() throws IOException {
            catchUp();
            note("replace");
            var content = Files.exists(stage.file) ? Files.readAllBytes(stage.file) : new byte[0];
            var whole = new ByteArrayOutputStream();
            whole.writeBytes(content);
            whole.writeBytes(lines());
            Files.write(stage.beside("next"), whole.toByteArray());
            if (content.length == 0 && Files.exists(stage.file)) {
                Files.delete(stage.file);
            }
            Files.move(stage.beside("next"), stage.file, java.nio.file.StandardCopyOption.ATOMIC_MOVE);
            maybeRestart();
            catchUp();
        }

        // ---- the host -----------------------------------------------------------------------------------------------

        void looks() {
            int times = 1 + random.nextInt(4);
            note("look " + times);
            stage.look(times);
        }

        void maybeLook() {
            if (random.nextBoolean()) {
                looks();
            }
        }

        void maybeRestart() {
            if (random.nextInt(4) == 0) {
                restart();
            }
        }

        void restart() {
            note("restart");
            stage.restart();
        }

        void full() {
            note("full");
            var source = new Random(random.nextLong());
            stage.session.answer = payload -> payload instanceof Payload.Words && source.nextInt(3) == 0
                    ? Optional.of(CompletableFuture.completedFuture(new Receipt.Full(1, 1, "messages")))
                    : Optional.empty();
        }

        /** At some step of some line; what was written and not forced may be gone, in part. */
        void crash() throws IOException {
            stage.append(lines());
            int[] left = {random.nextInt(12)};
            durable = Files.size(acks);
            long[] size = {-1};
            stage.steps = step -> {
                try {
                    if (step == ControlFile.Step.ACKNOWLEDGED) {
                        durable = Files.size(acks);
                    }
                    if (left[0]-- == 0) {
                        size[0] = Files.size(acks);
                        note("crash after " + step);
                        throw new Crash();
                    }
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            };
            try {
                stage.look(3);
                return;
            } catch (Crash e) {
                var bytes = Arrays.copyOf(Files.readAllBytes(acks), (int) size[0]);
                int kept = (int) (durable + (size[0] == durable ? 0 : random.nextInt((int) (size[0] - durable) + 1)));
                stage.follower.close();
                Files.write(acks, Arrays.copyOf(bytes, kept));
            } finally {
                stage.steps = step -> {};
            }
            if (random.nextBoolean()) {
                stage.append(lines());
            }
            stage.follow();
        }
    }
}
