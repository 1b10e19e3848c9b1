package dev.holdfast.runtime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * What the file system says of a name now. A symbolic link is not followed.
 *
 * @param born when the inode came into being; what some file systems give here is the time of the last change
 * @param changed when its content or its attributes changed last; nobody can set it back
 * @param user number of its owner
 * @param mode type and permissions, as stat(2) gives them
 */
record ControlFileStat(
        long inode, Instant born, Instant changed, Instant modified, long size, int user, int mode, boolean regular) {
    static final int OTHERS_WRITE = 0_002;
    static final int STICKY = 0_1000;

    /** Absent when there is nothing of that name. */
    static Optional<ControlFileStat> of(Path path) throws IOException {
        Map<String, Object> a;
        try {
            a = Files.readAttributes(
                    path,
                    "unix:ino,creationTime,ctime,lastModifiedTime,size,uid,mode,isRegularFile",
                    LinkOption.NOFOLLOW_LINKS);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
        return Optional.of(new ControlFileStat(
                value(a, "ino", Long.class),
                value(a, "creationTime", FileTime.class).toInstant(),
                value(a, "ctime", FileTime.class).toInstant(),
                value(a, "lastModifiedTime", FileTime.class).toInstant(),
                value(a, "size", Long.class),
                value(a, "uid", Integer.class),
                value(a, "mode", Integer.class),
                value(a, "isRegularFile", Boolean.class)));
    }

    private static <T> T value(Map<String, Object> attributes, String name, Class<T> type) throws IOException {
        if (!type.isInstance(attributes.get(name))) {
            throw new IOException("the file system does not tell " + name);
        }
        return type.cast(attributes.get(name));
    }

    /** Whether nothing was done to the file between the two looks. */
    boolean untouchedSince(ControlFileStat earlier) {
        return inode == earlier.inode && size == earlier.size && changed.equals(earlier.changed);
    }

    boolean othersMayWrite() {
        return (mode & OTHERS_WRITE) != 0;
    }

    boolean sticky() {
        return (mode & STICKY) != 0;
    }
}
