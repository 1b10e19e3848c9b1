package dev.holdfast.claude;

import dev.holdfast.HoldfastException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The directory of one {@link HeldSessions}, which has it alone while it is open, and counts how often it was opened. One
 * made here is for its user alone; one that others may write to is refused.
 *
 * <p>On POSIX systems closing any descriptor of a file drops all the locks the process holds on it. So {@link #OWNED} keeps
 * a second opener in the same JVM away from the lock file.
 */
final class HeldDirectory implements AutoCloseable {
    private static final Set<Path> OWNED = ConcurrentHashMap.newKeySet();

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
                if (posix(wanted)) {
                    Files.setPosixFilePermissions(wanted, PosixFilePermissions.fromString("rwx------"));
                }
            }
            Path path = wanted.toRealPath();
            refuseIfOthersWrite(path);
            if (!OWNED.add(path)) {
                throw taken(path);
            }
            boolean opened = false;
            try {
                HeldDirectory result = lock(path);
                opened = true;
                return result;
            } finally {
                if (!opened) {
                    OWNED.remove(path);
                }
            }
        } catch (IOException e) {
            throw new HoldfastException(
                    "the directory " + wanted + " cannot hold sessions (" + e + "); make it writable or name another",
                    e);
        }
    }

    private static HeldDirectory lock(Path path) throws IOException {
        FileChannel channel =
                FileChannel.open(path.resolve("held.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        boolean opened = false;
        try {
            if (!locked(channel)) {
                throw taken(path);
            }
            var result = new HeldDirectory(path, nextEpoch(path.resolve("epoch")), channel);
            opened = true;
            return result;
        } finally {
            if (!opened) {
                channel.close();
            }
        }
    }

    private static HoldfastException taken(Path path) {
        return new HoldfastException("the directory " + path + " belongs to other held sessions; name another one");
    }

    private static void refuseIfOthersWrite(Path directory) throws IOException {
        if (!posix(directory)) {
            return;
        }
        Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(directory);
        if (permissions.contains(PosixFilePermission.OTHERS_WRITE)
                || permissions.contains(PosixFilePermission.GROUP_WRITE)) {
            throw new HoldfastException("the directory " + directory + " may be written by others ("
                    + PosixFilePermissions.toString(permissions) + "); run: chmod 700 " + directory);
        }
    }

    private static boolean posix(Path path) {
        return path.getFileSystem().supportedFileAttributeViews().contains("posix");
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
        try (FileChannel out = FileChannel.open(
                next, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            var number = ByteBuffer.wrap(Long.toString(last + 1).getBytes(StandardCharsets.US_ASCII));
            while (number.hasRemaining()) {
                out.write(number);
            }
            out.force(true);
        }
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
    public synchronized void close() {
        if (!channel.isOpen()) {
            return;
        }
        try {
            channel.close();
        } catch (IOException e) {
            throw new HoldfastException("the lock of " + path + " could not be given up: " + e.getMessage(), e);
        } finally {
            OWNED.remove(path);
        }
    }
}
