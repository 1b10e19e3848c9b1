package dev.holdfast.process;

import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file of one child in the run directory (HS-21). It is created, complete with its marker, before the spawn; a last
 * line with the child's identity is appended after it; it is removed when the child's tree was seen dead. Both writes
 * are single and small, and a line counts only with its line end, so a host killed between or in them leaves a file
 * that says exactly how far it came. No fsync: after a restart of the machine the boot id differs and all is dead.
 *
 * <p>The file name holds only the host's identity and a random number, never text from outside.
 */
final class RunFile {

    private static final Logger LOG = LoggerFactory.getLogger(RunFile.class);
    private static final String SUFFIX = ".child";
    private static final Pattern NAME = Pattern.compile("(\\d{1,18})-(\\d{1,18})-[0-9a-f-]{36}\\.child");
    private static final String FIRST_LINE = "holdfast-child 1";

    /**
     * What a run file says.
     *
     * @param host the JVM that wrote it
     * @param marker absent when the host died while creating the file, before any spawn
     * @param child absent before the spawn, and when the host died between it and the second write
     */
    record Content(
            Path path,
            ProcessIdentity host,
            Optional<Marker> marker,
            String boot,
            String pidSpace,
            Optional<ProcessIdentity> child) {}

    private final Path path;

    private RunFile(Path path) {
        this.path = path;
    }

    static void createDirectory(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            Path parent = directory.toAbsolutePath().getParent();
            if (parent != null) {
                Files.createDirectories(parent);
            }
            if (directory.getFileSystem().supportedFileAttributeViews().contains("posix")) {
                Files.createDirectories(
                        directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            } else {
                Files.createDirectories(directory);
            }
        }
    }

    /** @param unique a name no other run file has */
    static RunFile place(Path directory, String unique, Marker marker, ProcessIdentity host, ProcessTable table)
            throws IOException {
        Path path = directory.resolve(host.pid() + "-" + host.start() + "-" + unique + SUFFIX);
        String text = FIRST_LINE + "\nmarker=" + marker.encoded() + "\nboot=" + table.boot() + "\npidspace="
                + table.pidSpace() + "\n";
        Files.createFile(path);
        try {
            append(path, text);
        } catch (IOException e) {
            remove(path);
            throw e;
        }
        return new RunFile(path);
    }

    void complete(ProcessIdentity child) throws IOException {
        append(path, "child=" + child + "\n");
    }

    void remove() {
        remove(path);
    }

    static void remove(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            LOG.warn("run file {} could not be removed", path, e);
        }
    }

    private static void append(Path path, String text) throws IOException {
        try (FileOutputStream out = new FileOutputStream(path.toFile(), true)) {
            out.write(text.getBytes(StandardCharsets.US_ASCII));
        }
    }

    /** Every run file of the directory that can be read; none when there is no such directory. */
    static List<Content> readAll(Path directory) throws IOException {
        List<Content> found = new ArrayList<>();
        if (!Files.isDirectory(directory)) {
            return found;
        }
        try (DirectoryStream<Path> paths = Files.newDirectoryStream(directory, "*" + SUFFIX)) {
            for (Path path : paths) {
                Matcher name = NAME.matcher(path.getFileName().toString());
                if (name.matches()) {
                    ProcessIdentity host =
                            new ProcessIdentity(Long.parseLong(name.group(1)), Long.parseLong(name.group(2)));
                    read(path, host).ifPresent(found::add);
                }
            }
        }
        return found;
    }

    private static Optional<Content> read(Path path, ProcessIdentity host) throws IOException {
        String text;
        try {
            text = Files.readString(path, StandardCharsets.ISO_8859_1);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
        return Optional.of(new Content(
                path,
                host,
                Optional.ofNullable(value(text, "marker")).flatMap(Marker::parse),
                orUnknown(value(text, "boot")),
                orUnknown(value(text, "pidspace")),
                Optional.ofNullable(value(text, "child")).flatMap(RunFile::identity)));
    }

    private static String orUnknown(@Nullable String text) {
        return text == null ? ProcessTable.UNKNOWN : text;
    }

    /** The value of a line that has its line end. */
    private static @Nullable String value(String text, String key) {
        int from = text.indexOf("\n" + key + "=");
        if (from < 0) {
            return null;
        }
        int start = from + key.length() + 2;
        int end = text.indexOf('\n', start);
        return end < 0 ? null : text.substring(start, end);
    }

    private static Optional<ProcessIdentity> identity(String text) {
        int colon = text.indexOf(':');
        try {
            return Optional.of(new ProcessIdentity(
                    Long.parseLong(text.substring(0, Math.max(colon, 0))), Long.parseLong(text.substring(colon + 1))));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
