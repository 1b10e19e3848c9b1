package dev.holdfast.process;

import java.util.OptionalLong;

/** What the operating system tells about processes. Safe for use by several threads. */
sealed interface ProcessTable permits LinuxProcessTable, PortableProcessTable {

    /** The table of this machine. */
    static ProcessTable ofThisMachine() {
        return LinuxProcessTable.isAvailable() ? new LinuxProcessTable() : new PortableProcessTable();
    }

    /**
     * Everything alive now. Reading environments can block on a process that is stuck in the kernel.
     *
     * @param environments whether to look for markers, where that is possible
     * @throws java.io.UncheckedIOException if the processes cannot be looked at, for want of descriptors
     */
    Census census(boolean environments);

    /** Whether environments can be looked at here at all. */
    boolean showsEnvironments();

    /**
     * The start of a process, zombie or not; empty if there is none of this pid.
     *
     * @throws java.io.UncheckedIOException if it cannot be looked at, for want of descriptors
     */
    OptionalLong startOf(long pid);

    /**
     * Whether this very process was seen dead: gone, a zombie, or its pid belongs to a later one. False as well when it
     * cannot be looked at.
     */
    boolean isDead(ProcessIdentity id);

    /** What {@link #boot} and {@link #pidSpace} say where they cannot tell. */
    String UNKNOWN = "unknown";

    /** Names this boot of the machine; the same text as long as it does not restart. */
    String boot();

    /** Names the set of pids that can be seen; two containers on one machine have different ones. */
    String pidSpace();

    /** Who this JVM is. */
    default ProcessIdentity self() {
        long pid = ProcessHandle.current().pid();
        return new ProcessIdentity(pid, startOf(pid).orElse(0));
    }
}
