package dev.holdfast.runtime;

import dev.holdfast.Agent;
import dev.holdfast.Guard;
import dev.holdfast.Limits;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.core.Core;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * How a host runs its sessions. Immutable; {@code with}-style methods return changed copies.
 *
 * @param limits deadlines and retry limits of a session
 * @param unread what may lie unread in a session that is opened here for the first time
 * @param processes the cap on live agent processes (HS-04, default {@code max(4, memory / 512 MiB)})
 * @param slotWait how long a session waits for a place before it is told (HS-04, default 60 s)
 * @param toolLimits how long a host tool may run and how much it may answer (TL-06, TL-10)
 * @param door who decides about calls of tools, and what is kept out of the records (TL-03, TL-08)
 * @param stopWait how long {@link Holdfast#close} waits for processes to end (default 15 s)
 * @param snapshotEvents events after which a snapshot of the state is kept, which bounds recovery (default 500)
 * @param home private directory for run files and agents; absent: the journal's directory
 * @param resolver which agent a session is for that has work and was not taken up by name; without an answer it waits. Asked
 *     often, from threads of the host: it must be quick. Sessions that have their agent from it cost no memory while they sleep.
 *     An agent given to {@link Holdfast#session} wins over it (HN-09)
 * @param core the machine; anything but the standard one is for tests
 */
@SuppressWarnings("exports") // the core is shown to the testkit only
public record Options(
        Limits limits,
        SessionLimits unread,
        int processes,
        Duration slotWait,
        ToolLimits toolLimits,
        DoorRules door,
        Duration stopWait,
        int snapshotEvents,
        Optional<Path> home,
        Surroundings surroundings,
        Optional<Function<SessionName, Optional<Agent>>> resolver,
        Core core) {
    private static final long BYTES_PER_PROCESS = 512L << 20;

    public Options {
        if (processes < 1) {
            throw new IllegalArgumentException("the cap on processes must be at least 1; got " + processes);
        }
        if (snapshotEvents < 1) {
            throw new IllegalArgumentException("snapshotEvents must be at least 1; got " + snapshotEvents);
        }
    }

    public static Options standard() {
        var limits = Limits.standard();
        return new Options(
                limits,
                SessionLimits.standard(),
                processesFor(Runtime.getRuntime().maxMemory() * 4),
                Duration.ofSeconds(60),
                ToolLimits.standard(),
                DoorRules.standard(),
                Duration.ofSeconds(15),
                500,
                Optional.empty(),
                Surroundings.system(),
                Optional.empty(),
                Core.standard(limits));
    }

    /** A JVM takes a quarter of the machine's memory by default, so four times its heap is the machine. */
    private static int processesFor(long memoryBytes) {
        return Math.clamp(memoryBytes / BYTES_PER_PROCESS, 4, 10_000);
    }

    public Options limits(Limits limits) {
        return with(draft -> {
            draft.limits = limits;
            draft.core = Core.standard(limits);
        });
    }

    public Options unread(SessionLimits unread) {
        return with(draft -> draft.unread = unread);
    }

    public Options processes(int processes) {
        return with(draft -> draft.processes = processes);
    }

    public Options slotWait(Duration slotWait) {
        return with(draft -> draft.slotWait = slotWait);
    }

    public Options toolLimits(ToolLimits toolLimits) {
        return with(draft -> draft.toolLimits = toolLimits);
    }

    public Options door(DoorRules door) {
        return with(draft -> draft.door = door);
    }

    /** Judges every call of a tool before it runs (TL-03). */
    public Options guard(Guard guard) {
        return door(door.guard(guard));
    }

    /** What never reaches journal, audit, events, logs or errors (TL-08); besides those given before. */
    public Options secrets(String... values) {
        return door(door.secrets(values));
    }

    public Options home(Path home) {
        return with(draft -> draft.home = Optional.of(home));
    }

    public Options surroundings(Surroundings surroundings) {
        return with(draft -> draft.surroundings = surroundings);
    }

    public Options core(Core core) {
        return with(draft -> draft.core = core);
    }

    public Options agents(Function<SessionName, Optional<Agent>> agents) {
        return with(draft -> draft.resolver = Optional.of(agents));
    }

    Function<SessionName, Optional<Agent>> agents() {
        return resolver.orElse(name -> Optional.empty());
    }

    private Options with(Consumer<Draft> change) {
        var draft = new Draft(this);
        change.accept(draft);
        return draft.made();
    }

    /** What a changed copy is made of. */
    private static final class Draft {
        private Limits limits;
        private SessionLimits unread;
        private int processes;
        private Duration slotWait;
        private ToolLimits toolLimits;
        private DoorRules door;
        private Duration stopWait;
        private int snapshotEvents;
        private Optional<Path> home;
        private Surroundings surroundings;
        private Optional<Function<SessionName, Optional<Agent>>> resolver;
        private Core core;

        Draft(Options from) {
            limits = from.limits;
            unread = from.unread;
            processes = from.processes;
            slotWait = from.slotWait;
            toolLimits = from.toolLimits;
            door = from.door;
            stopWait = from.stopWait;
            snapshotEvents = from.snapshotEvents;
            home = from.home;
            surroundings = from.surroundings;
            resolver = from.resolver;
            core = from.core;
        }

        Options made() {
            return new Options(
                    limits,
                    unread,
                    processes,
                    slotWait,
                    toolLimits,
                    door,
                    stopWait,
                    snapshotEvents,
                    home,
                    surroundings,
                    resolver,
                    core);
        }
    }
}
