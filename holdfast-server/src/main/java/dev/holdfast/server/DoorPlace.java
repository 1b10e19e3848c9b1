package dev.holdfast.server;

import dev.holdfast.HoldfastException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the socket of a host lies: {@code run/door.sock} in its data directory. When that path is longer than a socket
 * address may be, it lies in a private temporary directory instead, and {@code run/door.path} says where.
 *
 * <p>A lock on {@code run/door.lock} is held as long as the place is: whoever has it knows that a socket which is there
 * belongs to a host that is dead, and removes it. No link is followed below the data directory, and every directory a
 * socket lies in is this user's and nobody else may enter it.
 */
final class DoorPlace implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DoorPlace.class);
    private static final Set<Path> OWNED = ConcurrentHashMap.newKeySet();
    private static final Set<PosixFilePermission> DIRECTORY = PosixFilePermissions.fromString("rwx------");
    private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");
    private static final String ELSEWHERE = "holdfast-door-";
    private static final int NOTE_MAX = 4096;

    /** A socket address has 108 bytes on Linux and 104 elsewhere, and Java leaves the last two of them alone. */
    static final int PATH_BYTES_MAX =
            System.getProperty("os.name", "").toLowerCase(Locale.ROOT).contains("linux") ? 106 : 102;

    private final Path run;
    private final FileChannel lock;
    private final UserPrincipal user;
    private final Path socket;

    private DoorPlace(Path run, FileChannel lock, UserPrincipal user, Path socket) {
        this.run = run;
        this.lock = lock;
        this.user = user;
        this.socket = socket;
    }

    private static Path note(Path run) {
        return run.resolve("door.path");
    }

    private static Path usual(Path run) {
        return run.resolve("door.sock");
    }

    /** Where a socket may be bound; nothing is there now. */
    Path socket() {
        return socket;
    }

    /** Whose host this is. */
    UserPrincipal user() {
        return user;
    }

    /**
     * Takes the place in this data directory, which exists, and removes what a dead host left.
     *
     * @param temporary where a private directory is made when the usual path is too long
     * @throws HoldfastException when another host has it, or when it is not safe
     */
    static DoorPlace take(Path data, Path temporary) {
        try {
            Path run = data.toRealPath().resolve("run");
            if (!Files.exists(run, LinkOption.NOFOLLOW_LINKS)) {
                Files.createDirectory(run, PosixFilePermissions.asFileAttribute(DIRECTORY));
            }
            var user = me(run);
            demandPrivate(run, user);
            if (!OWNED.add(run)) {
                throw taken(run, ProcessHandle.current().pid() + ", which is this one");
            }
            boolean done = false;
            try {
                var lock = lock(run);
                done = true;
                return settled(run, lock, user, temporary);
            } finally {
                if (!done) {
                    OWNED.remove(run);
                }
            }
        } catch (IOException | UnsupportedOperationException e) {
            throw new HoldfastException("no door can be made in " + data + ": " + e, e);
        }
    }

    private static DoorPlace settled(Path run, FileChannel lock, UserPrincipal user, Path temporary)
            throws IOException {
        boolean done = false;
        try {
            removeLeft(run, user);
            Path socket = usual(run);
            if (bytes(socket) > PATH_BYTES_MAX) {
                socket = elsewhere(run, temporary);
            }
            done = true;
            return new DoorPlace(run, lock, user, socket);
        } finally {
            if (!done) {
                lock.close();
                OWNED.remove(run);
            }
        }
    }

    /** Who this process is, as files show it. */
    private static UserPrincipal me(Path run) throws IOException {
        try {
            Path probe = Files.createTempFile(run, "door", ".user", PosixFilePermissions.asFileAttribute(FILE));
            try {
                return Files.getOwner(probe, LinkOption.NOFOLLOW_LINKS);
            } finally {
                Files.delete(probe);
            }
        } catch (IOException e) {
            throw new IOException("nothing can be written in " + run + " (" + e + ")", e);
        }
    }

    private static void demandPrivate(Path directory, UserPrincipal user) throws IOException {
        if (!isPrivate(directory, user)) {
            throw new HoldfastException(
                    "no door is made in " + directory + ": it must be a directory, no link, of user " + user.getName()
                            + " and of mode 700; run: chmod 700 " + directory);
        }
    }

    private static boolean isPrivate(Path directory, UserPrincipal user) throws IOException {
        var attributes = Files.readAttributes(directory, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        var others = EnumSet.copyOf(DIRECTORY);
        others.addAll(attributes.permissions());
        return attributes.isDirectory() && attributes.owner().equals(user) && others.equals(DIRECTORY);
    }

    private static FileChannel lock(Path run) throws IOException {
        Path file = run.resolve("door.lock");
        var options = Set.of(
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE,
                LinkOption.NOFOLLOW_LINKS);
        var channel =
                FileChannel.open(file, options, new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(FILE)});
        boolean held = false;
        try {
            var lock = channel.tryLock();
            if (lock == null) {
                throw taken(run, read(channel).orElse("of an unknown number"));
            }
            channel.truncate(0);
            channel.write(
                    StandardCharsets.US_ASCII.encode(ProcessHandle.current().pid() + "\n"), 0);
            held = true;
            return channel;
        } finally {
            if (!held) {
                channel.close();
            }
        }
    }

    private static Optional<String> read(FileChannel channel) throws IOException {
        var buffer = ByteBuffer.allocate(NOTE_MAX);
        channel.read(buffer, 0);
        String text = new String(buffer.array(), 0, buffer.position(), StandardCharsets.UTF_8).strip();
        return text.isEmpty() ? Optional.empty() : Optional.of(text);
    }

    private static HoldfastException taken(Path run, String pid) {
        return new HoldfastException("the door in " + run + " is that of process " + pid
                + ": give this host a data directory of its own, or stop that one first");
    }

    private static void removeLeft(Path run, UserPrincipal user) throws IOException {
        removeSocket(usual(run));
        var noted = noted(run);
        if (noted.isPresent()) {
            Path left = noted.get();
            Path directory = left.getParent();
            if (directory != null
                    && isOurs(directory)
                    && Files.exists(directory, LinkOption.NOFOLLOW_LINKS)
                    && isPrivate(directory, user)) {
                removeSocket(left);
                Files.delete(directory);
            }
        }
        Files.deleteIfExists(note(run));
    }

    private static boolean isOurs(Path directory) {
        Path name = directory.getFileName();
        return name != null && name.toString().startsWith(ELSEWHERE);
    }

    /** A link in its place goes as a link; what is no socket was put there by somebody and stays. */
    private static void removeSocket(Path path) throws IOException {
        try {
            var attributes = Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            if (attributes.isRegularFile() || attributes.isDirectory()) {
                throw new HoldfastException(
                        "no door is made: " + path + " is no socket; move it away, nothing of Holdfast is in it");
            }
            Files.delete(path);
        } catch (NoSuchFileException e) {
            // nothing was left
        }
    }

    private static Path elsewhere(Path run, Path temporary) throws IOException {
        Path directory = Files.createTempDirectory(
                temporary.toRealPath(), ELSEWHERE, PosixFilePermissions.asFileAttribute(DIRECTORY));
        Path socket = usual(directory);
        if (bytes(socket) > PATH_BYTES_MAX) {
            Files.delete(directory);
            throw new HoldfastException("no door is made: the path of a socket has at most " + PATH_BYTES_MAX
                    + " bytes, and both " + usual(run) + " and " + socket
                    + " are longer; use a shorter data directory, or set TMPDIR to a short one");
        }
        Path draft = Files.createTempFile(run, "door", ".path", PosixFilePermissions.asFileAttribute(FILE));
        Files.writeString(draft, socket + "\n", StandardCharsets.UTF_8);
        Files.move(draft, note(run), StandardCopyOption.ATOMIC_MOVE);
        return socket;
    }

    private static int bytes(Path path) {
        return path.toString().getBytes(StandardCharsets.UTF_8).length;
    }

    /** The path in the note, when there is a note that says one. */
    private static Optional<Path> noted(Path run) throws IOException {
        try (var channel = FileChannel.open(note(run), Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS))) {
            return read(channel).map(Path::of).filter(path -> path.isAbsolute() && path.getNameCount() > 1);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }

    /** Seals the socket, which is bound now, for this user. */
    void bound() throws IOException {
        Files.setPosixFilePermissions(socket, FILE);
    }

    /**
     * The socket of a data directory, when one is there that can be trusted; somebody may or may not listen.
     *
     * @throws HoldfastException when one is there and cannot be trusted
     */
    static Optional<Path> find(Path data) {
        try {
            Path run = data.toRealPath().resolve("run");
            if (!Files.isDirectory(run, LinkOption.NOFOLLOW_LINKS)) {
                return Optional.empty();
            }
            var user = Files.getOwner(run, LinkOption.NOFOLLOW_LINKS);
            Path socket = noted(run).orElse(usual(run));
            if (!Files.exists(socket, LinkOption.NOFOLLOW_LINKS)) {
                return Optional.empty();
            }
            Path directory = socket.getParent();
            var attributes = Files.readAttributes(socket, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            if (directory == null
                    || !isPrivate(directory, user)
                    || !attributes.isOther()
                    || !attributes.owner().equals(user)) {
                throw new HoldfastException(
                        "the door at " + socket + " is not used: it must be a socket, no link, of user "
                                + user.getName() + " in a directory of mode 700; look who made it");
            }
            return Optional.of(socket);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException | UnsupportedOperationException e) {
            throw new HoldfastException("the door of " + data + " cannot be looked for: " + e, e);
        }
    }

    /** Removes the socket and gives the place back. */
    @Override
    public void close() {
        try {
            removeLeft(run, user);
            lock.truncate(0);
        } catch (IOException | HoldfastException e) {
            LOG.warn("the door in {} was not taken down cleanly", run, e);
        } finally {
            try {
                lock.close();
            } catch (IOException e) {
                LOG.warn("the lock of the door in {} was not released cleanly", run, e);
            }
            OWNED.remove(run);
        }
    }
}
