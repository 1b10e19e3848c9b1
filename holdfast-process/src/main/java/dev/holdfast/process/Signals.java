package dev.holdfast.process;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends signals to processes whose identity was checked just before. TERM and KILL go through the JDK's handle, which
 * needs no new process and leaves the child's pipes alone; the others through the shell's {@code kill}.
 */
final class Signals {

    private static final Logger LOG = LoggerFactory.getLogger(Signals.class);
    private static final String SHELL = "/bin/sh";
    private static final String SCRIPT = "s=$1; shift; for p in \"$@\"; do kill -s \"$s\" \"$p\" 2>/dev/null; done";

    private final ProcessTable table;

    Signals(ProcessTable table) {
        this.table = table;
    }

    /** Sends one signal to each of them that is still alive; a dead one is passed over. */
    void send(ChildSignal signal, Collection<ProcessIdentity> targets) {
        List<ProcessIdentity> alive =
                targets.stream().filter(id -> !table.isDead(id)).toList();
        switch (signal) {
            case TERM -> alive.forEach(id -> ProcessHandle.of(id.pid()).ifPresent(ProcessHandle::destroy));
            case KILL -> alive.forEach(id -> ProcessHandle.of(id.pid()).ifPresent(ProcessHandle::destroyForcibly));
            case CONT, INT -> sendThroughShell(signal, alive);
        }
    }

    private static void sendThroughShell(ChildSignal signal, List<ProcessIdentity> targets) {
        if (targets.isEmpty()) {
            return;
        }
        List<String> command = new ArrayList<>(List.of(SHELL, "-c", SCRIPT, "kill", signal.name()));
        targets.forEach(id -> command.add(Long.toString(id.pid())));
        try {
            ToolRun.succeeds(command);
        } catch (IOException e) {
            LOG.warn("signal {} could not be sent to {}", signal, targets, e);
        }
    }
}
