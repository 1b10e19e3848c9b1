package dev.holdfast.runtime;

import dev.holdfast.HoldfastException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Optional;

/**
 * Which files may give commands: regular files of the user this process runs as, to which others may not write. A
 * symbolic link is no regular file. What it knows it learned from a file of its own that it made and deleted.
 *
 * @param user number of the user this process runs as
 * @param tellsBirth whether this file system tells when an inode came into being
 */
record ControlFileGuard(int user, boolean tellsBirth) {
    /** @throws HoldfastException when the directory is missing, or anybody may rename files in it */
    static ControlFileGuard of(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            throw new HoldfastException("the directory " + directory
                    + " of the control file does not exist: make it first; the file itself is waited for");
        }
        if (!Files.getFileStore(directory).supportsFileAttributeView("posix")) {
            throw new HoldfastException("the file system of " + directory
                    + " keeps no owners and permissions, which a control file needs: use another directory");
        }
        var place = ControlFileStat.of(directory.toRealPath());
        if (place.filter(p -> p.othersMayWrite() && !p.sticky()).isPresent()) {
            throw new HoldfastException("others may write to the directory " + directory
                    + ", so they could put a control file of their own there; run: chmod o-w " + directory);
        }
        Path probe = Files.createTempFile(
                directory,
                ".control-",
                ".probe",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        try {
            Files.setLastModifiedTime(probe, FileTime.from(Instant.EPOCH));
            var stat = ControlFileStat.of(probe)
                    .orElseThrow(() -> new IOException(probe + " vanished as soon as it was made"));
            return new ControlFileGuard(stat.user(), !stat.born().equals(stat.modified()));
        } finally {
            Files.deleteIfExists(probe);
        }
    }

    /** Milliseconds since 1970 at which the inode came into being, 0 when the file system does not tell. */
    long born(ControlFileStat stat) {
        return tellsBirth ? stat.born().toEpochMilli() : 0;
    }

    /** What is wrong with the file, and what to do; absent when nothing is. */
    Optional<String> objection(Path file, ControlFileStat stat) {
        if (!stat.regular()) {
            return Optional.of("the control file " + file
                    + " must be a regular file, and no symbolic link: put a file in its place");
        }
        if (stat.user() != user) {
            return Optional.of("the control file " + file + " belongs to user " + stat.user() + ", and this is user "
                    + user + ": only its own user's file may command a session; run: chown " + user + " " + file);
        }
        if (stat.othersMayWrite()) {
            return Optional.of("others may write to the control file " + file + "; run: chmod o-w " + file);
        }
        return Optional.empty();
    }
}
