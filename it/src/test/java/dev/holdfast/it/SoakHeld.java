package dev.holdfast.it;

import dev.holdfast.Tool;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCall;
import dev.holdfast.ToolSpec;
import dev.holdfast.claude.ClaudeCodeAgent;
import dev.holdfast.claude.HeldFailure;
import dev.holdfast.claude.HeldOptions;
import dev.holdfast.claude.HeldResult;
import dev.holdfast.claude.HeldSessions;
import dev.holdfast.claude.SessionHandle;
import dev.holdfast.claude.TurnRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;

/**
 * The half of a {@link Soak} that holds its agents without a journal. Its handles live over all rounds; a round opens a
 * {@link HeldSessions} of its own on the same directory. Nothing is told again here: a turn that is cut says so.
 */
final class SoakHeld {
    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final Pattern WORDS = Pattern.compile("held-\\d+-\\d+ of held-\\d+\\.");

    /** A process is replaced so often that many are in a short soak too (HS-14). */
    private static final int TURNS_OF_A_PROCESS = 25;

    /** What both halves write into. */
    interface Books {
        void count(String what);

        void breach(String what);

        boolean over();
    }

    private final int places;
    private final Path directory;
    private final ClaudeCodeAgent agent;
    private final Books books;
    private final List<Desk> desks;

    /** @param agent as in the other half; its tools are replaced */
    SoakHeld(int places, Path directory, ClaudeCodeAgent agent, Books books, long seed) {
        this.places = places;
        this.directory = directory;
        this.agent = agent.tools(new Step());
        this.books = books;
        this.desks = IntStream.range(0, places + places / 4 + 1)
                .mapToObj(i -> new Desk("held-" + i, new Random(seed - i)))
                .toList();
    }

    HeldSessions open() {
        return HeldSessions.open(HeldOptions.in(directory)
                .processes(places)
                .idle(Duration.ofMinutes(5))
                .waiting(PATIENCE)
                .recycling(Duration.ofHours(1), 1L << 40, TURNS_OF_A_PROCESS));
    }

    List<Thread> work(HeldSessions sessions) {
        return desks.stream()
                .map(desk -> Thread.ofVirtual().name(desk.name).start(() -> desk.work(sessions)))
                .toList();
    }

    boolean working() {
        return desks.stream().anyMatch(desk -> desk.working);
    }

    /** Every place is taken by a process that was started for a plain question and has answered it. */
    void warm(HeldSessions sessions) {
        desks.forEach(desk -> desk.close(sessions));
        Awaitility.await("all closed").atMost(PATIENCE).until(() -> sessions.processes() == 0);
        desks.forEach(desk -> desk.turn(sessions, SoakFault.PLAIN));
        Awaitility.await("every held place is taken").atMost(PATIENCE).until(() -> sessions.processes() == places);
    }

    /** The tool that agents call. */
    private static final class Step implements Tool {
        @Override
        public ToolSpec spec() {
            return new ToolSpec("step", "Does a step", "{\"type\":\"object\"}");
        }

        @Override
        public ToolAnswer call(ToolCall call) {
            return ToolAnswer.text("did a step");
        }
    }

    /** One caller with a handle of its own. */
    private final class Desk {
        private final String name;
        private final SessionHandle handle;
        private final Random random;
        private long asked;
        private volatile boolean working;

        Desk(String name, Random random) {
            this.name = name;
            this.handle = new SessionHandle(name);
            this.random = random;
        }

        void work(HeldSessions sessions) {
            working = true;
            try {
                while (!books.over()) {
                    if (random.nextInt(12) == 0) {
                        close(sessions);
                        books.count("held: closed");
                    }
                    turn(sessions, SoakFault.any(random));
                }
            } catch (RuntimeException | Error e) {
                if (!books.over()) {
                    books.breach(name + ": " + e);
                }
            } finally {
                working = false;
            }
        }

        void close(HeldSessions sessions) {
            try {
                sessions.close(handle).toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            } catch (TimeoutException | ExecutionException e) {
                throw new AssertionError(name + " was not closed", e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted", e);
            }
        }

        void turn(HeldSessions sessions, SoakFault fault) {
            long number = asked++;
            var turn = sessions.start(handle, agent, TurnRequest.of(fault.word() + " " + words(number)));
            if (fault == SoakFault.SLOW) {
                turn.cancel();
            }
            try {
                var result = turn.result().toCompletableFuture().get(3 * PATIENCE.toSeconds(), TimeUnit.SECONDS);
                ended(fault, number, result);
            } catch (ExecutionException e) {
                failed(sessions, fault, e.getCause());
            } catch (TimeoutException e) {
                books.breach(name + ": no end of " + fault);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted", e);
            }
        }

        private void ended(SoakFault fault, long number, HeldResult result) {
            books.count("held: " + result.ending());
            boolean right = result.ending() == HeldResult.Ending.ANSWERED
                    || (result.ending() == HeldResult.Ending.CANCELLED && fault == SoakFault.SLOW);
            if (!right) {
                books.breach(name + ": " + fault + " ended as " + result);
            }
            if (result.ending() == HeldResult.Ending.ANSWERED && !mine(number, result.text())) {
                books.breach(name + ": turn " + number + " has the answer of another: " + result);
            }
        }

        /** Killed processes cut their turns, also while they start, and again and again park. */
        private void failed(HeldSessions sessions, SoakFault fault, Throwable why) {
            books.count("held: " + why.getClass().getSimpleName());
            boolean right = switch (why) {
                case HeldFailure.DiedInTurn died -> true;
                case HeldFailure.StartFailed failed -> true;
                case HeldFailure.Parked parked -> true;
                case HeldFailure.TimedOut late -> fault == SoakFault.HANGS || fault == SoakFault.STOPS;
                case HeldFailure.Cancelled cancelled -> fault == SoakFault.SLOW;
                default -> false;
            };
            if (!right && !books.over()) {
                books.breach(name + ": " + fault + " failed: " + why);
            }
            if (why instanceof HeldFailure.Parked) {
                sessions.unpark(handle);
            }
        }

        /** The agent repeats the words it was asked. */
        private boolean mine(long number, String text) {
            var found =
                    WORDS.matcher(text).results().map(match -> match.group()).toList();
            return !found.isEmpty() && found.stream().allMatch(words(number)::equals);
        }

        private String words(long number) {
            return name + "-" + number + " of " + name + ".";
        }
    }
}
