package dev.holdfast.claude;

import dev.holdfast.HoldfastException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;

/** The directory of one {@link HeldSessions}, which has it alone while it is open, and counts how often it was opened. */
final class HeldDirectory implements AutoCloseable {
    private final Path path;
    private final long epoch;
    private final FileChannel channel;

    private HeldDirectory(Path path, long epoch, FileChannel channel) {
        this.path = path;
        this.epoch = epoch;
        this.channel = channel;
    }

    /** @throws HoldfastException when another has it, in this JVM or outside, or it cannot be used */
    static HeldDirectory open(Path wanted) {
        try {
            if (!Files.isDirectory(wanted)) {
                Files.createDirectories(wanted);
                if (wanted.getFileSystem().supportedFileAttributeViews().contains("posix")) {
                    Files.setPosixFilePermissions(wanted, PosixFilePermissions.fromString("rwx------"));
                }
            }
            Path path = wanted.toRealPath();
            FileChannel channel =
                    FileChannel.open(path.resolve("held.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            if (!locked(channel)) {
                channel.close();
                throw new HoldfastException(
                        "the directory " + path + " belongs to other held sessions; name another one");
            }
            return new HeldDirectory(path, nextEpoch(path.resolve("epoch")), channel);
        } catch (IOException e) {
            throw new HoldfastException(
                    "the directory " + wanted + " cannot hold sessions (" + e + "); make it writable or name another",
                    e);
        }
    }

    private static boolean locked(FileChannel channel) throws IOException {
        try {
            @Nullable FileLock lock = channel.tryLock();
            return lock != null;
        } catch (OverlappingFileLockException ofThisJvm) {
            return false;
        }
    }

    private static long nextEpoch(Path file) throws IOException {
        long last = 0;
        try {
            last = Long.parseLong(Files.readString(file).strip());
        } catch (NoSuchFileException first) {
            last = 0;
        } catch (NumberFormatException damaged) {
            throw new IOException("the file " + file + " holds no number: " + damaged.getMessage(), damaged);
        }
        Path next = file.resolveSibling("epoch.next");
        Files.writeString(next, Long.toString(last + 1));
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        return last + 1;
    }

    Path path() {
        return path;
    }

    /** Names this directory in markers. */
    String store() {
        return "held:" + path;
    }

    long epoch() {
        return epoch;
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new HoldfastException("the lock of " + path + " could not be given up: " + e.getMessage(), e);
        }
    }
}
