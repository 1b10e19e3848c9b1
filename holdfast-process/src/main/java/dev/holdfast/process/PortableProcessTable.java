package dev.holdfast.process;

import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;

/**
 * Processes as the JDK shows them anywhere: no environments, no sessions, zombies count as alive. Finds what the run
 * files name and its descendants, not what left them.
 */
final class PortableProcessTable implements ProcessTable {

    @Override
    public Census census(boolean environments) {
        List<Census.Entry> entries = ProcessHandle.allProcesses()
                .map(handle -> new Census.Entry(
                        new ProcessIdentity(handle.pid(), start(handle)),
                        handle.parent().map(ProcessHandle::pid).orElse(0L),
                        0,
                        null))
                .toList();
        return new Census(entries, false);
    }

    @Override
    public boolean showsEnvironments() {
        return false;
    }

    @Override
    public OptionalLong startOf(long pid) {
        return ProcessHandle.of(pid)
                .map(handle -> OptionalLong.of(start(handle)))
                .orElse(OptionalLong.empty());
    }

    @Override
    public boolean isDead(ProcessIdentity id) {
        return ProcessHandle.of(id.pid())
                .map(handle -> !handle.isAlive() || start(handle) != id.start())
                .orElse(true);
    }

    /** Unknown: the start in milliseconds tells boots apart well enough. */
    @Override
    public String boot() {
        return UNKNOWN;
    }

    @Override
    public String pidSpace() {
        return UNKNOWN;
    }

    private static long start(ProcessHandle handle) {
        return handle.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
    }
}
