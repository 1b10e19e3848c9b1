package dev.holdfast.runtime;

import dev.holdfast.HoldfastException;
import dev.holdfast.SessionName;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * The file of acknowledgements beside a control file: JSON lines, appended only, forced to disk. Whoever wrote a command
 * finds there what became of it; this host finds there, after a restart, what it has seen. Losing its end, or all of it,
 * costs nothing but a second look at lines whose keys the session knows.
 *
 * <p>Locked while it is open, so that one control file has one follower. One thread at a time.
 *
 * <pre>
 * {"control":1,"session":NAME}                                       the first line
 * {"file":ID,"inode":N,"born":MS}                                    a file is read; again when it moved to another inode
 * {"file":ID,"start":N,"end":N,"digest":HEX,"kind":…,"result":…,…}   a line was seen, and what became of it
 * {"file":ID,"lost":N,"to":N}                                        the lines between stand there no more
 * {"file":ID,"closed":true}                                          a file that was rotated away was read to its end
 * </pre>
 */
final class ControlFileAcks implements Closeable {
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final Set<Path> OPEN = ConcurrentHashMap.newKeySet();
    private static final int LINE_MAX = 64 << 10;
    private static final long ROLL_BYTES = 16L << 20;
    private static final int CLOSED_KEPT = 100;

    private final Path path;
    private FileChannel channel;
    /** Everything before it is whole and on disk. */
    private long length;

    private final ByteArrayOutputStream unwritten = new ByteArrayOutputStream();
    private final Map<String, ControlFilePart> parts = new LinkedHashMap<>();
    private final Map<String, ControlFilePart> closed = new LinkedHashMap<>();
    private Optional<ControlFilePart> last = Optional.empty();
    private Instant since = Instant.MAX;
    private int damaged;

    private ControlFileAcks(Path path, FileChannel channel) {
        this.path = path;
        this.channel = channel;
    }

    /**
     * Opens it, or makes it for this user alone.
     *
     * @param path absolute, in a directory without symbolic links
     * @throws HoldfastException when it is followed by another already, belongs to another session, or is nobody's business
     */
    static ControlFileAcks open(Path path, SessionName session, ControlFileGuard guard) throws IOException {
        if (!OPEN.add(path)) {
            throw followed(path);
        }
        boolean opened = false;
        Optional<FileChannel> channel = Optional.empty();
        try {
            var before = ControlFileStat.of(path);
            if (before.isEmpty()) {
                create(path);
                force(path.resolveSibling("."));
            } else if (!before.get().regular()
                    || before.get().user() != guard.user()
                    || before.get().othersMayWrite()) {
                throw new HoldfastException("the file of acknowledgements " + path
                        + " must be a regular file of this user that others may not write to: delete it, or mend it");
            }
            var now = ControlFileStat.of(path).orElseThrow(() -> new NoSuchFileException(path.toString()));
            channel = Optional.of(openChannel(path));
            lock(channel.get(), path);
            if (ControlFileStat.of(path).filter(s -> s.inode() == now.inode()).isEmpty()) {
                throw followed(path); // it was begun anew between the opening and the lock
            }
            var acks = new ControlFileAcks(path, channel.get());
            acks.since = guard.tellsBirth() ? now.born() : now.modified();
            acks.load(session);
            opened = true;
            return acks;
        } finally {
            if (!opened) {
                if (channel.isPresent()) {
                    channel.get().close();
                }
                OPEN.remove(path);
            }
        }
    }

    private static FileChannel openChannel(Path path) throws IOException {
        return FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
    }

    private static void create(Path path) throws IOException {
        Files.createFile(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    }

    /** Makes the names in a directory durable. */
    private static void force(Path directory) throws IOException {
        try (var channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    private static void lock(FileChannel channel, Path path) throws IOException {
        try {
            if (channel.tryLock() == null) {
                throw followed(path);
            }
        } catch (OverlappingFileLockException e) {
            throw followed(path);
        }
    }

    private static HoldfastException followed(Path path) {
        return new HoldfastException("the control file of " + path
                + " is followed already: close the other follower first, or use another control file");
    }

    // ---- what is known --------------------------------------------------------------------------------------------

    /** Files that were being read when it was written last, oldest first. */
    List<ControlFilePart> parts() {
        return List.copyOf(parts.values());
    }

    /** The file that was begun last, also when it is closed. */
    Optional<ControlFilePart> last() {
        return last;
    }

    Path path() {
        return path;
    }

    /** When it was made or, where the file system does not tell, when it was written last before it was opened. */
    Instant since() {
        return since;
    }

    /** Lines in the middle of it that could not be read. */
    int damaged() {
        return damaged;
    }

    /** Whether that inode is, or was, read as a control file. */
    boolean knows(long inode, long born) {
        return parts.values().stream().anyMatch(p -> p.is(inode, born))
                || closed.values().stream().anyMatch(p -> p.is(inode, born));
    }

    private void load(SessionName session) throws IOException {
        var line = new ByteArrayOutputStream();
        var block = ByteBuffer.allocate(64 << 10);
        boolean first = true;
        long at = 0;
        while (channel.read(block.clear(), at) > 0) {
            block.flip();
            at += block.limit();
            while (block.hasRemaining()) {
                byte b = block.get();
                if (b != '\n') {
                    line.write(b);
                    continue;
                }
                length = at - block.remaining();
                read(line, session, first);
                first = false;
                line.reset();
            }
        }
        if (at > length) {
            channel.truncate(length); // the torn end of a write that was never promised
        }
        if (first) {
            header(session);
            flush();
        } else if (length > ROLL_BYTES) {
            roll(session);
        }
    }

    private void read(ByteArrayOutputStream bytes, SessionName session, boolean first) {
        try {
            if (bytes.size() > LINE_MAX) {
                throw new IllegalArgumentException("too long");
            }
            var line = JSON.readTree(bytes.toByteArray());
            if (line.has("control")) {
                check(line, session, first);
            } else {
                apply(line);
            }
        } catch (JacksonException | IllegalArgumentException e) {
            damaged++; // what it told is learned again from the session, line by line
        }
    }

    private void check(JsonNode line, SessionName session, boolean first) {
        var name = line.path("session").asString("");
        if (first && !name.equals(session.toString())) {
            throw new HoldfastException("the control file of " + path + " belongs to session '"
                    + ControlFileLine.printable(name) + "', not to '" + session
                    + "': use another control file, or delete the file of acknowledgements");
        }
        if (first && line.path("control").asInt(0) != 1) {
            throw new HoldfastException(
                    "the file of acknowledgements " + path + " was written by a newer version: use that one");
        }
    }

    private void apply(JsonNode line) {
        String id = needed(line, "file");
        if (line.has("inode")) {
            long inode = line.get("inode").longValue();
            long born = line.path("born").asLong(0);
            var part = parts.computeIfAbsent(id, i -> new ControlFilePart(i, inode, born));
            part.moved(inode, born);
            last = Optional.of(part);
            return;
        }
        var part = parts.get(id);
        if (part == null) {
            throw new IllegalArgumentException("no file " + id);
        }
        if (line.has("closed")) {
            parts.remove(id);
            remember(part);
        } else if (line.has("lost")) {
            part.cut(new ControlFilePart.Range(
                    line.get("lost").longValue(), line.path("to").asLong()));
        } else {
            var mark = ControlFilePart.Mark.of(
                    line.path("start").asLong(), line.path("end").asLong(), needed(line, "digest"));
            if (line.has("gone")) {
                part.gone(mark, line.get("gone").intValue());
            } else {
                part.add(mark);
            }
        }
    }

    private static String needed(JsonNode line, String name) {
        var value = line.get(name);
        if (value == null || !value.isString()) {
            throw new IllegalArgumentException("no " + name);
        }
        return value.stringValue();
    }

    private void remember(ControlFilePart part) {
        closed.put(part.id(), new ControlFilePart(part.id(), part.inode(), part.born()));
        if (closed.size() > CLOSED_KEPT) {
            closed.remove(closed.keySet().iterator().next());
        }
    }

    // ---- what is written ------------------------------------------------------------------------------------------

    /** Begins a file. Its id is made of what the file system says, so that losing this file changes no key. */
    ControlFilePart begin(long inode, long born) {
        String plain = Long.toHexString(inode) + "-" + Long.toHexString(born);
        String id = plain;
        for (int n = 2; parts.containsKey(id) || closed.containsKey(id); n++) {
            id = plain + "-" + n;
        }
        var part = new ControlFilePart(id, inode, born);
        parts.put(id, part);
        last = Optional.of(part);
        append(opening(part));
        return part;
    }

    /** The file lives on in the inode it has now. */
    void moved(ControlFilePart part) {
        append(opening(part));
    }

    void cut(ControlFilePart part, ControlFilePart.Range range) {
        append(JSON.createObjectNode()
                .put("file", part.id())
                .put("lost", range.from())
                .put("to", range.to()));
    }

    void closed(ControlFilePart part) {
        parts.remove(part.id());
        remember(part);
        append(JSON.createObjectNode().put("file", part.id()).put("closed", true));
    }

    /** A line; the caller adds to it what became of it, and then calls {@link #append}. */
    ObjectNode seen(ControlFilePart part, ControlFilePart.Mark mark) {
        return JSON.createObjectNode()
                .put("file", part.id())
                .put("start", mark.start())
                .put("end", mark.end())
                .put("digest", mark.digest());
    }

    void append(ObjectNode line) {
        unwritten.writeBytes(JSON.writeValueAsBytes(line));
        unwritten.write('\n');
    }

    boolean hasUnwritten() {
        return unwritten.size() > 0;
    }

    /** Writes what was appended, without promising anything yet. What cannot be written is kept for another try. */
    void write() throws IOException {
        if (channel.size() > length) {
            channel.truncate(length);
        }
        var bytes = ByteBuffer.wrap(unwritten.toByteArray());
        while (bytes.hasRemaining()) {
            channel.write(bytes, length + bytes.position());
        }
    }

    /** Makes what was written durable. */
    void force() throws IOException {
        channel.force(false);
        length += unwritten.size();
        unwritten.reset();
    }

    private void flush() throws IOException {
        write();
        force();
    }

    private void header(SessionName session) {
        append(JSON.createObjectNode().put("control", 1).put("session", session.toString()));
    }

    private static ObjectNode opening(ControlFilePart part) {
        return JSON.createObjectNode()
                .put("file", part.id())
                .put("inode", part.inode())
                .put("born", part.born());
    }

    /** Begins the file anew with what is still needed; what it was is kept beside it until the next time. */
    private void roll(SessionName session) throws IOException {
        Path next = path.resolveSibling(path.getFileName() + ".next");
        Path last = path.resolveSibling(path.getFileName() + ".last");
        Files.deleteIfExists(next);
        create(next);
        var whole = channel;
        channel = openChannel(next);
        lock(channel, path);
        length = 0;
        header(session);
        for (ControlFilePart part : closed.values()) {
            append(opening(part));
            append(JSON.createObjectNode().put("file", part.id()).put("closed", true));
        }
        for (ControlFilePart part : parts.values()) {
            state(part);
        }
        flush();
        Files.deleteIfExists(last);
        Files.createLink(last, path);
        Files.move(next, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        force(path.resolveSibling("."));
        whole.close();
    }

    private void state(ControlFilePart part) {
        append(opening(part));
        part.gone().forEach((mark, times) -> append(seen(part, mark).put("gone", times)));
        part.marks().forEach(mark -> append(seen(part, mark)));
    }

    @Override
    public void close() throws IOException {
        try {
            if (hasUnwritten()) {
                flush();
            }
        } finally {
            try {
                channel.close();
            } finally {
                OPEN.remove(path);
            }
        }
    }
}
