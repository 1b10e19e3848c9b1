package dev.holdfast.process;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Processes as {@code /proc} shows them. A pid may vanish between any two reads; every such case counts as dead. That a
 * file could not be opened proves nothing by itself: a JVM without a free descriptor can look at nobody, and must not
 * take anybody for dead. Files are read through streams that an interrupt of the calling thread does not close.
 */
final class LinuxProcessTable implements ProcessTable {

    private static final String PROC = "/proc/";
    private static final byte[] MARKER_PREFIX = (Marker.VARIABLE + '=').getBytes(StandardCharsets.US_ASCII);

    /** The fields of {@code /proc/PID/stat} that matter here. */
    record Stat(char state, long parent, long session, long threads, long start) {

        /** A zombie whose other threads still run is alive. */
        boolean dead() {
            return state == 'X' || state == 'x' || (state == 'Z' && threads <= 1);
        }
    }

    static boolean isAvailable() {
        return new File(PROC + "self/stat").canRead() && new File(PROC + "self/environ").canRead();
    }

    @Override
    public Census census(boolean environments) {
        List<Census.Entry> entries = new ArrayList<>();
        String[] names = new File(PROC).list();
        if (names == null) {
            throw new UncheckedIOException(new IOException("cannot list " + PROC));
        }
        for (String name : names) {
            if (name.charAt(0) < '0' || name.charAt(0) > '9') {
                continue;
            }
            long pid = Long.parseLong(name);
            Stat stat = stat(pid);
            if (stat != null && !stat.dead()) {
                Marker marker = environments ? markerOf(pid) : null;
                entries.add(new Census.Entry(
                        new ProcessIdentity(pid, stat.start()), stat.parent(), stat.session(), marker));
            }
        }
        return new Census(entries, environments);
    }

    @Override
    public boolean showsEnvironments() {
        return true;
    }

    @Override
    public OptionalLong startOf(long pid) {
        Stat stat = stat(pid);
        return stat == null ? OptionalLong.empty() : OptionalLong.of(stat.start());
    }

    @Override
    public boolean isDead(ProcessIdentity id) {
        try {
            Stat stat = stat(id.pid());
            return stat == null || stat.start() != id.start() || stat.dead();
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    @Override
    public String boot() {
        try {
            return new String(read(PROC + "sys/kernel/random/boot_id"), StandardCharsets.US_ASCII).strip();
        } catch (IOException e) {
            return UNKNOWN;
        }
    }

    @Override
    public String pidSpace() {
        try {
            return Files.readSymbolicLink(Path.of(PROC + "self/ns/pid")).toString();
        } catch (IOException | UnsupportedOperationException e) {
            return UNKNOWN;
        }
    }

    private static @Nullable Stat stat(long pid) {
        try {
            return parse(new String(read(PROC + pid + "/stat"), StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            if (new File(PROC + pid).exists()) {
                throw new UncheckedIOException("cannot look at process " + pid, e);
            }
            return null;
        }
    }

    /** Fields are counted after the last ')', since the program name may hold blanks and brackets. */
    static @Nullable Stat parse(String line) {
        int nameEnd = line.lastIndexOf(')');
        if (nameEnd < 0) {
            return null;
        }
        String[] fields = line.substring(nameEnd + 1).strip().split(" ", -1);
        if (fields.length < 20) {
            return null;
        }
        return new Stat(
                fields[0].charAt(0),
                Long.parseLong(fields[1]),
                Long.parseLong(fields[3]),
                Long.parseLong(fields[17]),
                Long.parseLong(fields[19]));
    }

    private static @Nullable Marker markerOf(long pid) {
        byte[] environment = environment(pid);
        int start = 0;
        while (start < environment.length) {
            int end = start;
            while (end < environment.length && environment[end] != 0) {
                end++;
            }
            if (startsWithMarker(environment, start, end)) {
                int from = start + MARKER_PREFIX.length;
                return Marker.parse(new String(environment, from, end - from, StandardCharsets.US_ASCII))
                        .orElse(null);
            }
            start = end + 1;
        }
        return null;
    }

    private static boolean startsWithMarker(byte[] bytes, int from, int to) {
        return to - from >= MARKER_PREFIX.length
                && Arrays.equals(bytes, from, from + MARKER_PREFIX.length, MARKER_PREFIX, 0, MARKER_PREFIX.length);
    }

    /** Empty for a process that has ended or belongs to another user. */
    private static byte[] environment(long pid) {
        String path = PROC + pid + "/environ";
        try {
            return read(path);
        } catch (IOException e) {
            if (new File(path).canRead() && !canOpenAnything()) {
                throw new UncheckedIOException("cannot look at the environment of process " + pid, e);
            }
            return new byte[0];
        }
    }

    private static boolean canOpenAnything() {
        try {
            return read(PROC + "self/stat").length > 0;
        } catch (IOException e) {
            return false;
        }
    }

    private static byte[] read(String path) throws IOException {
        try (FileInputStream in = new FileInputStream(path)) {
            return in.readAllBytes();
        }
    }
}
