package dev.holdfast.journal;

import java.util.concurrent.ThreadFactory;

/**
 * Makes the threads of this module: platform threads, since calls into SQLite pin a virtual one and a few that block
 * on a server are cheaper than many, and daemons, since a process that forgets to close its journal loses nothing by
 * ending.
 */
final class JournalThreads {
    private JournalThreads() {}

    /** The one thread that writes; not started yet. */
    static Thread committer(Runnable body) {
        return Thread.ofPlatform().name("holdfast-committer").daemon().unstarted(body);
    }

    /** A thread that writes to sessions whose rows somebody else holds; not started yet. */
    static Thread straggler(Runnable body) {
        return Thread.ofPlatform().name("holdfast-straggler").daemon().unstarted(body);
    }

    /** The thread that keeps the leases of this process; not started yet. */
    static Thread leases(Runnable body) {
        return Thread.ofPlatform().name("holdfast-leases").daemon().unstarted(body);
    }

    /** Threads on which a pool opens and closes its connections. */
    static ThreadFactory connections() {
        return Thread.ofPlatform().name("holdfast-connections-", 1).daemon().factory();
    }

    /** Threads that read. */
    static ThreadFactory readers() {
        return Thread.ofPlatform().name("holdfast-reader-", 1).daemon().factory();
    }
}
