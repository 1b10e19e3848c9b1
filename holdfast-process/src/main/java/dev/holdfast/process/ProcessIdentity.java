package dev.holdfast.process;

/**
 * One process, told apart from any later one that gets the same number.
 *
 * @param pid the process id, positive
 * @param start when it was started: clock ticks since boot on Linux, milliseconds since 1970 elsewhere; 0 when it had
 *     already ended as it was first looked at
 */
public record ProcessIdentity(long pid, long start) {

    /** @throws IllegalArgumentException if the pid is not positive or the start negative */
    public ProcessIdentity {
        if (pid <= 0 || start < 0) {
            throw new IllegalArgumentException("process identity " + pid + ":" + start
                    + " is impossible; the pid must be positive, the start not" + " negative");
        }
    }

    @Override
    public String toString() {
        return pid + ":" + start;
    }
}
