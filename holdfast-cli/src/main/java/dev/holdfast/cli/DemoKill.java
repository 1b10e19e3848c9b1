package dev.holdfast.cli;

/** The accident of the demo: {@code kill -9} of the agent's process from outside. Part of the demo alone. */
final class DemoKill {
    private DemoKill() {}

    /** Sends SIGKILL. */
    static void kill(long pid) {
        ProcessHandle.of(pid)
                .orElseThrow(() -> new IllegalStateException("the agent's process " + pid + " is gone already"))
                .destroyForcibly();
    }

    static boolean lives(long pid) {
        return ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isPresent();
    }
}
