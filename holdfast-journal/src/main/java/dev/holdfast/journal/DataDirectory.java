package dev.holdfast.journal;

import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory of one store and the lock on it (LV-07). A directory made here is for its user alone; one that others
 * may write to is refused. The lock file holds its owner's pid.
 *
 * <p>On POSIX systems closing any descriptor of a file drops all the locks the process holds on it. So {@link #OWNED}
 * keeps a second opener in the same JVM away from the lock file, and no class of this package opens the database file
 * itself while SQLite has it open.
 */
final class DataDirectory {
    private static final Logger LOG = LoggerFactory.getLogger(DataDirectory.class);
    private static final Set<Path> OWNED = ConcurrentHashMap.newKeySet();
    private static final String DATABASE = "journal.db";

    private final Path path;
    private final FileChannel lockChannel;
    private final boolean killed;

    private DataDirectory(Path path, FileChannel lockChannel, boolean killed) {
        this.path = path;
        this.lockChannel = lockChannel;
        this.killed = killed;
    }

    static Path database(Path directory) {
        return directory.resolve(DATABASE);
    }

    static Path wal(Path directory) {
        return directory.resolve(DATABASE + "-wal");
    }

    static Path shm(Path directory) {
        return directory.resolve(DATABASE + "-shm");
    }

    static Path head(Path directory) {
        return directory.resolve("head");
    }

    Path path() {
        return path;
    }

    /** Whether the last owner did not end by closing the store: its pid was still in the lock file. */
    boolean killed() {
        return killed;
    }

    /** Where SQLite's native library is unpacked. */
    Path run() {
        return path.resolve("run");
    }

    /** Makes the directory when it is missing and takes its lock. */
    static DataDirectory own(Path directory) {
        try {
            Files.createDirectories(directory, privately(directory, "rwx------"));
            Path real = directory.toRealPath();
            refuseIfOthersWrite(real);
            if (!OWNED.add(real)) {
                throw inUse(real, Long.toString(ProcessHandle.current().pid()) + ", which is this one");
            }
            boolean owned = false;
            try {
                DataDirectory result = lock(real);
                Files.createDirectories(result.run(), privately(real, "rwx------"));
                owned = true;
                return result;
            } finally {
                if (!owned) {
                    OWNED.remove(real);
                }
            }
        } catch (IOException e) {
            throw Problems.of(e, "taking the data directory", directory);
        }
    }

    private static DataDirectory lock(Path directory) throws IOException {
        Path file = directory.resolve("lock");
        createPrivately(file);
        FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
        boolean held = false;
        try {
            @Nullable FileLock lock = channel.tryLock();
            if (lock == null) {
                String pid = Files.readString(file, StandardCharsets.US_ASCII).strip();
                throw inUse(directory, pid.isEmpty() ? "unknown" : pid);
            }
            boolean killed = channel.size() > 0;
            channel.truncate(0);
            byte[] pid = (ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.US_ASCII);
            channel.write(ByteBuffer.wrap(pid), 0);
            held = true;
            return new DataDirectory(directory, channel, killed);
        } finally {
            if (!held) {
                channel.close();
            }
        }
    }

    private static JournalException inUse(Path directory, String pid) {
        return new JournalException(
                Problem.IN_USE,
                "the data directory " + directory + " is in use by process " + pid
                        + "; stop it first, or open the store for reading only");
    }

    private static void refuseIfOthersWrite(Path directory) throws IOException {
        if (!posix(directory)) {
            return;
        }
        Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(directory);
        if (permissions.contains(PosixFilePermission.OTHERS_WRITE)
                || permissions.contains(PosixFilePermission.GROUP_WRITE)) {
            throw new JournalException(
                    Problem.FAILED,
                    "the data directory " + directory + " may be written by others ("
                            + PosixFilePermissions.toString(permissions) + "); run: chmod 700 " + directory);
        }
    }

    /** Makes an empty file that only its user may read; SQLite gives its companions the same permissions. */
    static void createPrivately(Path file) throws IOException {
        try {
            Files.createFile(file, privately(file.toAbsolutePath().getParent(), "rw-------"));
        } catch (FileAlreadyExistsException present) {
            // The permissions of a file that is there were somebody's decision.
        }
    }

    private static FileAttribute<?>[] privately(@Nullable Path near, String permissions) {
        if (near == null || !posix(near)) {
            return new FileAttribute<?>[0];
        }
        return new FileAttribute<?>[] {
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
        };
    }

    private static boolean posix(Path path) {
        return path.getFileSystem().supportedFileAttributeViews().contains("posix");
    }

    /** Makes the directory's entries durable. */
    void force() throws IOException {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            channel.force(true);
        } catch (IOException e) {
            if (posix(path)) {
                throw e;
            }
        }
    }

    /** Deletes native libraries that killed processes left behind: sqlite-jdbc unpacks one at each start. */
    void sweep() throws IOException {
        try (DirectoryStream<Path> left = Files.newDirectoryStream(run(), "sqlite-*")) {
            for (Path file : left) {
                try {
                    Files.deleteIfExists(file);
                } catch (IOException e) {
                    LOG.warn("left over file {} cannot be deleted: {}", file, e.toString());
                }
            }
        }
    }

    /**
     * Gives the directory back.
     *
     * @param clean whether the store was closed as it should be; else the pid stays, and the next owner sees it
     */
    void release(boolean clean) {
        try {
            if (clean) {
                lockChannel.truncate(0);
            }
            lockChannel.close();
        } catch (IOException e) {
            LOG.warn("the lock of {} was not released cleanly: {}", path, e.toString());
        } finally {
            OWNED.remove(path);
        }
    }
}
