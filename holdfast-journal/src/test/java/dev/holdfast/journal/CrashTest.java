package dev.holdfast.journal;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.testkit.JournalFixture;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Another process owns the store, and is killed. */
class CrashTest {
    private static final int ROUNDS = 3;
    private static final int ACKNOWLEDGEMENTS = 300;

    @TempDir
    Path temp;

    private static Set<Long> acknowledgements(BufferedReader lines, int most) throws IOException {
        Set<Long> numbers = new HashSet<>();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (!line.equals("OPEN")) {
                numbers.add(Long.valueOf(line));
            }
            if (numbers.size() == most) {
                break;
            }
        }
        return numbers;
    }

    private static BufferedReader lines(Process process) {
        return new BufferedReader(new InputStreamReader(process.getInputStream(), US_ASCII));
    }

    @Test
    @Tag("P1")
    @Tag("LV-07")
    void kill_whileAccepting_losesNothingAcknowledged() throws IOException {
        Path directory = temp.resolve("data");
        Set<Long> acknowledged = new HashSet<>();
        for (int round = 0; round < ROUNDS; round++) {
            Process child = StoreFiles.java(AcceptingChild.class, directory.toString());
            try (BufferedReader lines = lines(child)) {
                acknowledged.addAll(acknowledgements(lines, ACKNOWLEDGEMENTS));
                assertThatThrownBy(() -> SqliteJournal.at(directory))
                        .isInstanceOfSatisfying(
                                JournalException.class,
                                e -> assertThat(e.problem()).isEqualTo(Problem.IN_USE))
                        .hasMessageContaining("process " + child.pid());
                try (SqliteReader beside = SqliteJournal.readOnly(directory)) {
                    assertThat(StoreFiles.numbers(beside)).containsAll(acknowledged);
                }
                StoreFiles.kill(child);
                acknowledged.addAll(acknowledgements(lines, Integer.MAX_VALUE));
            }
            try (SqliteReader afterwards = SqliteJournal.readOnly(directory)) {
                assertThat(StoreFiles.numbers(afterwards)).containsAll(acknowledged);
            }
            try (SqliteJournal reopened = SqliteJournal.at(directory)) {
                List<Long> kept = StoreFiles.numbers(reopened);
                assertThat(kept).containsAll(acknowledged).isSorted();
                assertThat(kept.getLast()).isEqualTo(kept.size());
                assertThat(JournalFixture.outcome(reopened.verify()).problems()).isEmpty();
            }
        }
        assertThat(acknowledged).hasSizeGreaterThanOrEqualTo(ROUNDS * ACKNOWLEDGEMENTS);
        try (Stream<Path> left = Files.list(directory.resolve("run"))) {
            assertThat(left.map(Path::getFileName).map(Path::toString))
                    .as("native libraries of killed processes are swept")
                    .hasSizeLessThanOrEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource(Step.Point.class)
    @Tag("P1")
    void end_atEachStepOfACommit_losesNothingAcknowledged(Step.Point point) throws IOException {
        Path directory = temp.resolve("data");
        Process child = StoreFiles.java(AcceptingChild.class, directory.toString(), point.name());
        Set<Long> acknowledged;
        try (BufferedReader lines = lines(child)) {
            acknowledged = acknowledgements(lines, Integer.MAX_VALUE);
        }
        assertThat(acknowledged).hasSizeGreaterThanOrEqualTo(20);
        try (SqliteJournal reopened = SqliteJournal.at(directory)) {
            List<Long> kept = new ArrayList<>(StoreFiles.numbers(reopened));
            assertThat(kept).containsAll(acknowledged);
            if (point == Step.Point.BEFORE_COMMIT) {
                assertThat(kept).as("what was not committed is gone").hasSameSizeAs(acknowledged);
            } else {
                assertThat(kept).as("what was committed is there").hasSizeGreaterThan(acknowledged.size());
            }
        }
    }
}
