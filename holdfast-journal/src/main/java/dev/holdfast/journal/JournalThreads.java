package dev.holdfast.journal;

import java.util.concurrent.ThreadFactory;

/**
 * Makes the threads of this module: platform threads, since calls into SQLite pin a virtual one, and daemons, since a
 * process that forgets to close its journal loses nothing by ending.
 */
final class JournalThreads {
    private JournalThreads() {}

    /** The one thread that writes; not started yet. */
    static Thread committer(Runnable body) {
        return Thread.ofPlatform().name("holdfast-committer").daemon().unstarted(body);
    }

    /** Threads that read. */
    static ThreadFactory readers() {
        return Thread.ofPlatform().name("holdfast-reader-", 1).daemon().factory();
    }
}
