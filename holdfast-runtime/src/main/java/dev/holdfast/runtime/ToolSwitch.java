package dev.holdfast.runtime;

import dev.holdfast.HoldfastException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;

/**
 * Stops all tools of all sessions of one home directory, at once: a private file that is looked at whenever a call is judged
 * or dispatched (TL-04). While it is there every call is denied, with its text as the reason. Thread-safe; several programs
 * may use it.
 */
public final class ToolSwitch {
    private static final String NAME = "tools.stopped";
    private static final int REASON_MAX = 500;

    private final Path file;

    private ToolSwitch(Path home) {
        file = home.resolve(NAME);
    }

    /** @param home of the host, as in {@link Options#home}; else its journal's directory */
    public static ToolSwitch in(Path home) {
        return new ToolSwitch(home);
    }

    /**
     * Stops the tools until {@link #go}. What runs is not ended.
     *
     * @param reason for the models whose calls are denied, at most 500 characters
     */
    public void stop(String reason) {
        if (reason.length() > REASON_MAX) {
            throw new IllegalArgumentException(
                    "the reason has " + reason.length() + " characters; use at most " + REASON_MAX);
        }
        try {
            var before = Files.createTempFile(
                    file.toAbsolutePath().getParent(),
                    NAME,
                    ".new",
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            Files.writeString(before, reason);
            Files.move(before, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new HoldfastException("the tools cannot be stopped: " + file + " cannot be written: " + e, e);
        }
    }

    /** Lets tools run again. */
    public void go() {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new HoldfastException("the tools stay stopped: " + file + " cannot be removed: " + e, e);
        }
    }

    /** Why they are stopped; absent when they are not. A file that cannot be read stops them. */
    public Optional<String> stopped() {
        if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            return Optional.empty();
        }
        try {
            var bytes = Files.readAllBytes(file);
            var reason = new String(bytes, 0, Math.min(bytes.length, 4 * REASON_MAX), StandardCharsets.UTF_8).strip();
            return Optional.of(reason.isEmpty() ? "no reason was given" : reason);
        } catch (IOException e) {
            return Files.exists(file, LinkOption.NOFOLLOW_LINKS)
                    ? Optional.of("its file cannot be read")
                    : Optional.empty(); // removed in between
        }
    }
}
