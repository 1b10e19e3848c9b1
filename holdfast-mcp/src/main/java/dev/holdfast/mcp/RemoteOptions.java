package dev.holdfast.mcp;

import java.time.Duration;
import java.util.Optional;

/**
 * How the tools of a remote server are taken over. Immutable; methods that take a value return a changed copy.
 *
 * @param prefix put before each tool's name, so that servers do not collide; may be empty
 * @param connecting how long one attempt to reach the server may take; there are up to five, over at most 8 s besides
 * @param deadline how long a call may run (TL-06); absent: as long as the host lets its tools run
 * @param messageBytes the longest message taken from the server
 * @param hintsTrusted whether the server is believed when it says that a tool changes nothing, destroys nothing, or may be
 *     called twice; if not, every tool counts as destructive
 */
public record RemoteOptions(
        String prefix, Duration connecting, Optional<Duration> deadline, int messageBytes, boolean hintsTrusted) {
    public RemoteOptions {
        if (!prefix.matches("[A-Za-z0-9_-]{0,32}")) {
            throw new IllegalArgumentException(
                    "the prefix '" + prefix + "' is not allowed: use at most 32 letters, digits, '_' or '-'");
        }
        if (!connecting.isPositive()
                || deadline.filter(time -> !time.isPositive()).isPresent()) {
            throw new IllegalArgumentException(
                    "connecting and deadline must be longer than zero; got " + connecting + ", " + deadline);
        }
        if (messageBytes < 1_024) {
            throw new IllegalArgumentException("messageBytes must be at least 1,024; got " + messageBytes);
        }
    }

    /** No prefix, 10 s, the host's deadline, 32 MiB, hints not trusted: every tool counts as destructive. */
    public static RemoteOptions standard() {
        return new RemoteOptions("", Duration.ofSeconds(10), Optional.empty(), 32 << 20, false);
    }

    public RemoteOptions prefix(String prefix) {
        return new RemoteOptions(prefix, connecting, deadline, messageBytes, hintsTrusted);
    }

    public RemoteOptions connecting(Duration connecting) {
        return new RemoteOptions(prefix, connecting, deadline, messageBytes, hintsTrusted);
    }

    public RemoteOptions deadline(Duration deadline) {
        return new RemoteOptions(prefix, connecting, Optional.of(deadline), messageBytes, hintsTrusted);
    }

    public RemoteOptions messageBytes(int messageBytes) {
        return new RemoteOptions(prefix, connecting, deadline, messageBytes, hintsTrusted);
    }

    public RemoteOptions hintsTrusted(boolean hintsTrusted) {
        return new RemoteOptions(prefix, connecting, deadline, messageBytes, hintsTrusted);
    }
}
