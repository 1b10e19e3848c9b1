package dev.holdfast.claude;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What the sessions of one {@link HeldSessions} share.
 *
 * @param store names the directory in markers (HS-21)
 * @param epoch which opening of the directory this is
 */
record HeldHost(
        HeldOptions options,
        String store,
        long epoch,
        AtomicLong incarnations,
        AgentProcess.Source source,
        Background background,
        MemoryGauge gauge,
        StartGate gate,
        StreamJson codec,
        HeldPool pool,
        HandleBook book,
        Sessions sessions) {
    /** What a session asks of the whole. */
    interface Sessions {
        /**
         * Forgets a session that holds nothing but, perhaps, trouble; a later use of its handle makes a new one, which takes
         * over the trouble.
         */
        void retire(SessionHandle handle, HeldSession session, Restarts trouble);

        /** What an earlier session of this handle left behind. */
        Restarts trouble(SessionHandle handle);

        /** A turn came to a session that is retired. */
        void again(HeldTurn turn, SessionHandle handle, HeldSession retired);

        /** A spare's process is gone, or never came to be. */
        void spareLost(HeldSession spare, Spares.Lost how);
    }
}
