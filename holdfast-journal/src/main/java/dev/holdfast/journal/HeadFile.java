package dev.holdfast.journal;

import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.OptionalLong;

/**
 * The number of the last commit, 8 bytes kept beside the database (LV-09). It is written after each commit and without
 * fsync: a crash of the machine may leave it behind the database, never ahead of it. A database that is behind it has
 * lost commits, which SQLite does not notice by itself: a bit flipped in the middle of its write-ahead log, or the
 * database moved without that log, reads as a shorter history without an error.
 *
 * <p>Eight zero bytes claim nothing. Writing them by hand is how an operator accepts a loss that cannot be repaired.
 */
final class HeadFile implements AutoCloseable {
    private final FileChannel channel;
    private final ByteBuffer eight = ByteBuffer.allocate(Long.BYTES);

    private HeadFile(FileChannel channel) {
        this.channel = channel;
    }

    static HeadFile open(Path file) throws IOException {
        return new HeadFile(FileChannel.open(file, StandardOpenOption.WRITE));
    }

    /** Absent when there is no such file. */
    static OptionalLong read(Path file) throws IOException {
        byte[] bytes;
        try {
            bytes = Files.readAllBytes(file);
        } catch (NoSuchFileException absent) {
            return OptionalLong.empty();
        }
        long number = bytes.length == Long.BYTES ? ByteBuffer.wrap(bytes).getLong() : -1;
        if (number < 0) {
            throw new JournalException(
                    Problem.DAMAGED,
                    file + " should hold the number of the last commit in 8 bytes and does not (" + bytes.length
                            + " bytes); restore it together with the database. " + acceptance(file));
        }
        return OptionalLong.of(number);
    }

    static String acceptance(Path file) {
        return "To go on with what the database holds, run: head -c 8 /dev/zero > " + file;
    }

    /** Only the committer's thread calls this. */
    void write(long commit) throws IOException {
        eight.clear().putLong(commit).flip();
        while (eight.hasRemaining()) {
            channel.write(eight, eight.position());
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
