package dev.holdfast.runtime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The files beside a control file that may have been it: those named like it with digits behind ({@code control.jsonl.1},
 * {@code control.jsonl-20260801}), when they may give commands at all. One thread at a time.
 */
final class ControlFileFamily {
    private static final Pattern ROTATED = Pattern.compile("[.-][0-9][0-9TZ._-]*");

    private final Path file;
    private final int lineBytes;
    private final ControlFileGuard guard;
    private final ControlFileAcks acks;

    /** A file as it was when it was looked at. */
    record Member(Path path, ControlFileStat stat) {}

    ControlFileFamily(Path file, int lineBytes, ControlFileGuard guard, ControlFileAcks acks) {
        this.file = file;
        this.lineBytes = lineBytes;
        this.guard = guard;
        this.acks = acks;
    }

    boolean is(ControlFilePart part, ControlFileStat stat) {
        return part.is(stat.inode(), guard.born(stat));
    }

    /** In the order in which they came into being, as far as the file system tells. */
    private List<Member> members() throws IOException {
        var members = new ArrayList<Member>();
        String name = file.getFileName().toString();
        try (var paths = Files.newDirectoryStream(file.resolveSibling("."))) {
            for (Path path : paths) {
                String other = path.getFileName().toString();
                if (other.startsWith(name)
                        && ROTATED.matcher(other.substring(name.length())).matches()) {
                    Path sibling = file.resolveSibling(other);
                    ControlFileStat.of(sibling)
                            .filter(s -> guard.objection(sibling, s).isEmpty())
                            .ifPresent(s -> members.add(new Member(sibling, s)));
                }
            }
        }
        members.sort(
                Comparator.comparing((Member m) -> guard.tellsBirth() ? m.stat().born() : Instant.EPOCH)
                        .thenComparing(m -> m.stat().modified())
                        .thenComparingLong(m -> m.stat().inode()));
        return members;
    }

    /** The control file itself, as it was when it was looked at. */
    Member self(ControlFileStat stat) {
        return new Member(file, stat);
    }

    /** The file of that part, if it is there under the name of a rotated one. */
    Optional<Member> of(ControlFilePart part) throws IOException {
        return members().stream().filter(m -> is(part, m.stat())).findFirst();
    }

    /** Opens the file of that part or else, when it is not there, another that holds everything that was read of it. */
    Optional<ControlFileReader> rotated(ControlFilePart part) throws IOException {
        var member = of(part);
        return member.isPresent() ? Optional.of(open(member.get(), part)) : copied(part);
    }

    /** Opens another file that holds everything that was read of that part. */
    Optional<ControlFileReader> copied(ControlFilePart part) throws IOException {
        for (Member other : members()) {
            var reader = open(other, part);
            if (!is(part, other.stat()) && reader.continues(part)) {
                return Optional.of(reader);
            }
            reader.close();
        }
        return Optional.empty();
    }

    /**
     * Files that got the name after {@code last} had it and lost it again, without being seen under it.
     *
     * @param last the latest file that was seen under the name
     * @param seen what it was then, when that is known
     * @param inode what has the name now, 0 when nothing has
     */
    List<Member> between(Optional<ControlFilePart> last, Optional<ControlFileStat> seen, long inode)
            throws IOException {
        var then = last.isPresent() ? of(last.get()).map(Member::stat).or(() -> seen) : seen;
        if (last.isPresent() && then.isEmpty() && isCopied(last.get())) {
            return List.of(); // the whole directory is a copy, whose files do not tell when they came into being
        }
        var since = last.filter(part -> part.born() > 0)
                .map(part -> Instant.ofEpochMilli(part.born()))
                .or(() -> then.map(ControlFileStat::modified))
                .orElseGet(acks::since);
        var found = new ArrayList<Member>();
        for (Member other : members()) {
            var stat = other.stat();
            boolean later = then.isPresent()
                    && (guard.tellsBirth() ? stat.born() : stat.modified())
                            .isAfter(then.get().modified());
            if (stat.inode() != inode
                    && !acks.knows(stat.inode(), guard.born(stat))
                    && !stat.modified().isBefore(since)
                    && (later || !copiesKnown(other))) {
                found.add(other);
            }
        }
        return found;
    }

    private boolean isCopied(ControlFilePart part) throws IOException {
        var copy = copied(part);
        if (copy.isPresent()) {
            copy.get().close();
        }
        return copy.isPresent();
    }

    /** Whether all its lines are known, each in its place: what a rotation by copying leaves, or somebody's copy. */
    private boolean copiesKnown(Member member) throws IOException {
        var copy = new ControlFilePart("", 0, 0);
        try (var reader = open(member, copy)) {
            while (!reader.next().isEmpty()) {
                // its lines are remembered in the part
            }
        }
        return !copy.unread() && acks.parts().stream().anyMatch(part -> part.sawAllOf(copy));
    }

    /** Opens it for a part that is not begun yet. */
    ControlFileReader open(Member member) throws IOException {
        return open(member, new ControlFilePart("", member.stat().inode(), guard.born(member.stat())));
    }

    /** @throws NoSuchFileException when another file has the name now */
    ControlFileReader open(Member member, ControlFilePart part) throws IOException {
        var reader = ControlFileReader.open(member.path(), lineBytes, part);
        if (ControlFileStat.of(member.path())
                .filter(s -> s.inode() == member.stat().inode())
                .isEmpty()) {
            reader.close();
            throw new NoSuchFileException(member.path().toString(), null, "renamed while it was looked at");
        }
        return reader;
    }

    /** Opens files. */
    interface Opening {
        void into(List<ControlFileReader> readers) throws IOException;
    }

    /** What was opened; after a failure nothing stays open. */
    static List<ControlFileReader> allOrNone(Opening opening) throws IOException {
        var readers = new ArrayList<ControlFileReader>();
        boolean all = false;
        try {
            opening.into(readers);
            all = true;
            return readers;
        } finally {
            if (!all) {
                for (ControlFileReader reader : readers) {
                    reader.close();
                }
            }
        }
    }

    /** Opens them all, for parts that are not begun yet. */
    List<ControlFileReader> open(List<Member> members) throws IOException {
        return allOrNone(readers -> {
            for (Member member : members) {
                readers.add(open(member));
            }
        });
    }
}
