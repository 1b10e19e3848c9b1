package dev.holdfast.claude;

import dev.holdfast.ToolAnswer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * How {@link HeldSessions} holds its processes. Immutable and thread-safe; every method that takes a value returns a
 * changed copy.
 */
public final class HeldOptions {
    private static final long BYTES_PER_PROCESS = 512L << 20;

    /** Processes that are started before anybody needs them. */
    record Spare(ClaudeCodeAgent agent, int count) {}

    private static final class Draft {
        private final Path directory;
        private int processes = processesFor(Runtime.getRuntime().maxMemory() * 4);
        private Duration idle = Duration.ofMinutes(5);
        private Duration wait = Duration.ofSeconds(60);
        private Duration turn = Duration.ofMinutes(10);
        private Duration maxAge = Duration.ofHours(24);
        private long maxMemory = 4L << 30;
        private int maxTurns = 500;
        private List<Spare> spares = List.of();
        private Executor executor = SystemBackground.USERS;
        private Optional<HeldListener> listener = Optional.empty();
        private Function<SessionHandle, Optional<String>> retelling = handle -> Optional.empty();
        private Map<String, String> environment = System.getenv();
        private Optional<PermissionAsk> permissions = Optional.empty();
        private Duration permissionDeadline = Duration.ofMinutes(5);
        private Duration toolDeadline = Duration.ofMinutes(5);
        private long answerBytes = ToolAnswer.BYTES_MAX;

        Draft(Path directory) {
            this.directory = directory;
        }

        Draft copy() {
            var copy = new Draft(directory);
            copy.processes = processes;
            copy.idle = idle;
            copy.wait = wait;
            copy.turn = turn;
            copy.maxAge = maxAge;
            copy.maxMemory = maxMemory;
            copy.maxTurns = maxTurns;
            copy.spares = spares;
            copy.executor = executor;
            copy.listener = listener;
            copy.retelling = retelling;
            copy.environment = environment;
            copy.permissions = permissions;
            copy.permissionDeadline = permissionDeadline;
            copy.toolDeadline = toolDeadline;
            copy.answerBytes = answerBytes;
            return copy;
        }
    }

    private final Draft settings;

    private HeldOptions(Draft settings) {
        this.settings = settings;
    }

    /**
     * The standard options over a directory of their own, made private to this user when it is created: it holds the
     * markers of running processes, the agents' private configuration, and what handles stand for. One
     * {@link HeldSessions} at a time has it.
     */
    public static HeldOptions in(Path directory) {
        return new HeldOptions(new Draft(directory.toAbsolutePath().normalize()));
    }

    /** A JVM takes a quarter of the machine's memory by default, so four times its heap is the machine. */
    private static int processesFor(long memoryBytes) {
        return Math.clamp(memoryBytes / BYTES_PER_PROCESS, 4, 10_000);
    }

    private HeldOptions with(Consumer<Draft> change) {
        Draft copy = settings.copy();
        change.accept(copy);
        return new HeldOptions(copy);
    }

    /** The cap on live processes, spares included; {@code max(4, memory / 512 MiB)} unless changed (HS-04). */
    public HeldOptions processes(int cap) {
        atLeastOne("processes", cap);
        return with(draft -> draft.processes = cap);
    }

    /** How long a process may be unused between turns; 5 min unless changed (HS-04). */
    public HeldOptions idle(Duration idle) {
        positive("idle", idle);
        return with(draft -> draft.idle = idle);
    }

    /** How long a turn waits for a place when every process is in a turn; 60 s unless changed (HS-04). */
    public HeldOptions waiting(Duration wait) {
        positive("waiting", wait);
        return with(draft -> draft.wait = wait);
    }

    /** How long a whole turn may take; 10 min unless changed (TN-04). {@link TurnRequest#deadline} changes it for one. */
    public HeldOptions turn(Duration deadline) {
        positive("turn", deadline);
        return with(draft -> draft.turn = deadline);
    }

    /**
     * When a process is replaced between turns (HS-14): 24 h, 4 GiB and 500 turns unless changed.
     *
     * @param memoryBytes of the process itself, where the system tells
     */
    public HeldOptions recycling(Duration age, long memoryBytes, int turns) {
        positive("recycling age", age);
        atLeastOne("recycling memory in bytes", memoryBytes);
        atLeastOne("recycling turns", turns);
        return with(draft -> {
            draft.maxAge = age;
            draft.maxMemory = memoryBytes;
            draft.maxTurns = turns;
        });
    }

    /**
     * Keeps processes of this binding ready for handles that were never used (HS-19). They count against the cap, are
     * started only while places are free, and give way first.
     */
    public HeldOptions spares(ClaudeCodeAgent agent, int count) {
        atLeastOne("spares", count);
        var more = new ArrayList<>(settings.spares);
        more.add(new Spare(agent, count));
        return with(draft -> draft.spares = List.copyOf(more));
    }

    /**
     * Where tools, listeners and completions run; a new virtual thread each unless changed. What it refuses runs on a thread
     * of ours; what it accepts it must run.
     */
    public HeldOptions executor(Executor executor) {
        Objects.requireNonNull(executor, "executor");
        return with(draft -> draft.executor = new SureExecutor(executor));
    }

    /** Hears the events of every session. */
    public HeldOptions listener(HeldListener listener) {
        return with(draft -> draft.listener = Optional.of(listener));
    }

    /**
     * What an agent is told that has lost turns, such as the conversation so far (HS-05); the caller's own transcript is
     * the truth. Asked on the executor.
     */
    public HeldOptions retelling(Function<SessionHandle, Optional<String>> retelling) {
        Objects.requireNonNull(retelling, "retelling");
        return with(draft -> draft.retelling = retelling);
    }

    /**
     * Decides where the agent asks before it uses a bound tool. Without it, and without {@link TurnRequest#permissions}, it
     * may use every bound tool. Tools that are not bound are refused and nobody is asked.
     */
    public HeldOptions permissions(PermissionAsk ask) {
        return with(draft -> draft.permissions = Optional.of(ask));
    }

    /** How long such a question may be open, after which it is refused; 5 min unless changed. The turn's clocks stand still. */
    public HeldOptions permissionDeadline(Duration deadline) {
        positive("permissionDeadline", deadline);
        return with(draft -> draft.permissionDeadline = deadline);
    }

    /** How long a call may take of a tool that names no deadline of its own, from when the agent asked; 5 min unless changed (TL-06). */
    public HeldOptions toolDeadline(Duration deadline) {
        positive("toolDeadline", deadline);
        return with(draft -> draft.toolDeadline = deadline);
    }

    /**
     * The most that a tool may answer, as {@link ToolAnswer#bytes} counts; 16 MiB unless changed. A larger answer reaches the
     * agent as an error that says so (TL-10).
     */
    public HeldOptions answerBytes(long bytes) {
        atLeastOne("answerBytes", bytes);
        return with(draft -> draft.answerBytes = bytes);
    }

    /** The environment out of which HS-09 lets some variables pass; this JVM's own unless changed. */
    public HeldOptions environment(Map<String, String> environment) {
        Map<String, String> copy = Map.copyOf(environment);
        return with(draft -> draft.environment = copy);
    }

    private static void positive(String what, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException(what + " is " + value + "; it must be longer than zero");
        }
    }

    private static void atLeastOne(String what, long value) {
        if (value < 1) {
            throw new IllegalArgumentException(what + " is " + value + "; it must be at least 1");
        }
    }

    Path directory() {
        return settings.directory;
    }

    int processes() {
        return settings.processes;
    }

    Duration idle() {
        return settings.idle;
    }

    Duration waiting() {
        return settings.wait;
    }

    Duration turn() {
        return settings.turn;
    }

    Duration maxAge() {
        return settings.maxAge;
    }

    long maxMemory() {
        return settings.maxMemory;
    }

    int maxTurns() {
        return settings.maxTurns;
    }

    List<Spare> spares() {
        return settings.spares;
    }

    Executor executor() {
        return settings.executor;
    }

    Optional<HeldListener> listener() {
        return settings.listener;
    }

    Function<SessionHandle, Optional<String>> retelling() {
        return settings.retelling;
    }

    Optional<PermissionAsk> permissions() {
        return settings.permissions;
    }

    Duration permissionDeadline() {
        return settings.permissionDeadline;
    }

    Duration toolDeadline() {
        return settings.toolDeadline;
    }

    long answerBytes() {
        return settings.answerBytes;
    }

    Map<String, String> environment() {
        return settings.environment;
    }
}
