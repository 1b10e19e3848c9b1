package dev.holdfast.runtime;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Which files hold the lines of a control file, and what happened to them since the last look.
 *
 * <p><b>What counts as the same line.</b> A line that stands in its file where it stood, byte for byte, is the same line
 * and is given out once: what an editor or a truncation leaves alone is old, all else is new. Another inode under the name
 * is another file, all of whose lines are new, unless it holds
 * everything that was read of the one before, which is not to be found beside it: then it is its copy (editors, and
 * programs that write a file anew and rename it over the old one, do that).
 *
 * <p><b>When it is decided.</b> Lines that are appended are given out at once. A change of what was read is decided on
 * only when the file held still between two looks (one second at most), so that a file is not judged while it is being
 * written.
 *
 * <p><b>Rotation.</b> The rest of a file that was renamed is read first; it is then read for a while longer, because
 * writers may have it open. Files named like the control file with digits behind it ({@code control.jsonl.1},
 * {@code control.jsonl-20260801}) are looked through for what was rotated away between two looks, or while no host ran,
 * and for the copy that a rotation by copying and truncating leaves. One thread at a time.
 */
final class ControlFileTail implements Closeable {
    private static final int STILL_LOOKS_MAX = 10;
    private static final int SECOND_RECHECK = 20;

    private final Path file;
    private final ControlFileOptions options;
    private final ControlFileGuard guard;
    private final ControlFileAcks acks;
    private final Consumer<ControlFileNotice> notices;
    private final ControlFileFamily family;

    private Optional<Current> current = Optional.empty();
    private final Deque<Old> olds = new ArrayDeque<>();
    private Optional<Successor> successor = Optional.empty();
    /** Whether what was rotated away before the restart was taken up. */
    private boolean recovered;
    /** Whether a file had the name since the restart. */
    private boolean begun;

    /** The directory when it was looked through while nothing had the name. */
    private Optional<ControlFileStat> surroundings = Optional.empty();

    private int scans;

    private String hindrance = "";
    private boolean fullTold;

    /** The file under the name. */
    private static final class Current {
        final ControlFileReader reader;
        ControlFileStat seen;
        /** Looks since it was seen to change. */
        int quiet;
        /** What was read may not stand there any more. */
        boolean suspect;
        /** Looks at which a suspect file was still being changed. */
        int moving;
        /** It must not be read as it is. */
        boolean barred;
        /** Nothing had the name at some look. */
        boolean missed;
        /** Holds the rest of what was read and is cut off now. */
        Optional<Old> copy = Optional.empty();

        Current(ControlFileReader reader, ControlFileStat seen, boolean suspect) {
            this.reader = reader;
            this.seen = seen;
            this.suspect = suspect;
        }
    }

    /** A file that lost the name: read to its end, and for a while longer. */
    private static final class Old {
        final ControlFileReader reader;
        final Instant until;
        /** Whether its end was reached once, or is not to be. */
        boolean drained;

        Old(ControlFileReader reader, Instant until) {
            this.reader = reader;
            this.until = until;
        }
    }

    /** Another inode under the name, which is not decided on yet. */
    private record Successor(ControlFileStat stat, int looks, boolean still) {}

    ControlFileTail(
            Path file,
            ControlFileOptions options,
            ControlFileGuard guard,
            ControlFileAcks acks,
            Consumer<ControlFileNotice> notices) {
        this.file = file;
        this.options = options;
        this.guard = guard;
        this.acks = acks;
        this.notices = notices;
        this.family = new ControlFileFamily(file, options.lineBytes(), guard, acks);
    }

    // ---- looking --------------------------------------------------------------------------------------------------

    /** Looks at the name once; what is found is given out by {@link #next}. */
    void look() throws IOException {
        expire();
        var found = ControlFileStat.of(file);
        if (found.isEmpty()) {
            successor = Optional.empty(); // gone, or not there yet: one that is open is read on
            missing();
            return;
        }
        var stat = found.get();
        boolean same = current.isPresent() && family.is(current.get().reader.part(), stat);
        var objection = guard.objection(file, stat);
        if (objection.isPresent()) {
            hinder(objection.get());
            successor = Optional.empty();
            if (same) {
                current.get().barred = true;
            }
            return;
        }
        hindrance = "";
        if (current.isEmpty()) {
            successor = Optional.empty();
            begin(stat);
        } else if (same) {
            successor = Optional.empty();
            current.get().barred = false;
            current.get().missed = false;
            check(current.get(), stat);
        } else {
            successor = Optional.of(succeed(stat));
            suspectUnless(current.get(), current.get().reader.stands(true));
        }
    }

    /** Nothing has the name: what had it and lost it is read all the same. */
    private void missing() throws IOException {
        if (current.isPresent() && !current.get().missed) {
            current.get().missed = true;
            suspectUnless(current.get(), current.get().reader.stands(true));
        }
        if (!recovered) {
            recover(Optional.empty(), 0);
            return;
        }
        var around = ControlFileStat.of(file.resolveSibling("."));
        if (!around.equals(surroundings)) {
            surroundings = around;
            scans = 2; // once more, for what came right behind the look and left no trace in the time of the directory
        }
        if (scans > 0 && current.filter(c -> c.suspect).isEmpty()) {
            var between = family.between(acks.last(), current.map(c -> c.seen), 0);
            if (!between.isEmpty()) {
                rotate(between);
            }
            scans--;
        }
    }

    private Successor succeed(ControlFileStat stat) {
        return successor
                .filter(s -> s.stat().inode() == stat.inode())
                .map(s -> new Successor(stat, s.looks() + 1, stat.untouchedSince(s.stat())))
                .orElseGet(() -> new Successor(stat, 0, false));
    }

    private void check(Current now, ControlFileStat stat) throws IOException {
        boolean still = stat.untouchedSince(now.seen);
        now.quiet = still ? now.quiet + 1 : 0;
        now.seen = stat;
        if (now.suspect) {
            if (still || ++now.moving >= STILL_LOOKS_MAX) {
                settle(now);
            }
            return;
        }
        // Some file systems keep time so coarsely that a change right after a look leaves no trace: hence the rechecks.
        boolean recheck = now.quiet == 1 || now.quiet == SECOND_RECHECK;
        if (recheck) {
            now.reader.searchAgain();
        }
        if (!still || recheck) {
            suspectUnless(now, now.reader.stands(recheck));
        }
    }

    private static void suspectUnless(Current now, boolean stands) {
        if (!stands && !now.suspect) {
            now.suspect = true;
            now.moving = 0;
        }
    }

    /** What was read does not stand there any more: finds what does, after the rest of it that a copy may hold. */
    private void settle(Current now) throws IOException {
        var part = now.reader.part();
        var lost = part.lost(now.reader.standing(part));
        if (!lost.isEmpty() && now.copy.isEmpty()) {
            now.copy = copyOf(part);
            now.copy.ifPresent(olds::addFirst);
        }
        if (now.copy.isPresent()) {
            if (!now.copy.get().drained) {
                return; // read by next(), and come back to then
            }
            olds.remove(now.copy.get());
            now.copy.get().reader.close();
            now.copy = Optional.empty();
        }
        cut(part, lost);
        now.reader.rescan();
        now.suspect = false;
        now.quiet = 0;
    }

    private void cut(ControlFilePart part, List<ControlFilePart.Range> lost) {
        if (lost.isEmpty()) {
            return;
        }
        long from = lost.getFirst().from();
        notices.accept(new ControlFileNotice(
                ControlFileNotice.Kind.REWRITTEN,
                file,
                from,
                "lines from byte " + from + " on were cut off or written over: what stands there now is new"));
        lost.forEach(range -> {
            part.cut(range);
            acks.cut(part, range);
        });
    }

    private Optional<Old> copyOf(ControlFilePart part) throws IOException {
        return family.copied(part).map(reader -> new Old(reader, Instant.MAX));
    }

    // ---- reading --------------------------------------------------------------------------------------------------

    /** The next lines to act on, in order; empty when there are none now. */
    List<ControlFileReader.Raw> next() throws IOException {
        while (true) {
            for (Old old : olds) {
                var lines = old.reader.next();
                if (!lines.isEmpty()) {
                    return lines;
                }
                old.drained = true;
            }
            if (current.isEmpty()) {
                return List.of();
            }
            var now = current.get();
            if (now.suspect && (now.missed || successor.isPresent())) {
                settle(now); // nobody writes it anew any more
                continue;
            }
            if (!now.suspect && !now.barred) {
                var lines = now.reader.next();
                if (!lines.isEmpty()) {
                    return lines;
                }
                tellWhenFull(now.reader);
            }
            if (successor.isEmpty() || !decide(now, successor.get())) {
                return List.of();
            }
        }
    }

    private void tellWhenFull(ControlFileReader reader) {
        if (reader.full() && !fullTold) {
            notices.accept(unusable("it is too long to be read on: rename it, and begin a new one"));
        }
        fullTold = reader.full();
    }

    /** Whether the successor took the place of the current file, which was read to its end. */
    private boolean decide(Current now, Successor next) throws IOException {
        var part = now.reader.part();
        var reader = family.open(family.self(next.stat()), part);
        boolean used = false;
        try {
            boolean other =
                    now.missed || part.unread() || (reader.standing(part).isEmpty() && reader.hasLine());
            if (!other && !next.still() && next.looks() < STILL_LOOKS_MAX) {
                return false;
            }
            if (!other && reader.continues(part) && family.of(part).isEmpty()) {
                part.moved(next.stat().inode(), guard.born(next.stat()));
                acks.moved(part);
                now.reader.close();
                reader.rescan();
            } else {
                rotate(family.between(
                        acks.last(), Optional.of(now.seen), next.stat().inode()));
                reader.adopt(acks.begin(next.stat().inode(), guard.born(next.stat())));
            }
            successor = Optional.empty();
            current = Optional.of(new Current(reader, next.stat(), false));
            used = true;
            return true;
        } finally {
            if (!used) {
                reader.close();
            }
        }
    }

    /** The current file lost the name, and so did those: they are read to their ends, in that order. */
    private void rotate(List<ControlFileFamily.Member> between) throws IOException {
        var readers = family.open(between);
        if (current.isPresent()) {
            var now = current.get();
            notices.accept(new ControlFileNotice(
                    ControlFileNotice.Kind.ROTATED,
                    file,
                    now.reader.reach(),
                    "another file has the name now, or had it since; all its lines count as new"));
            if (now.barred) {
                acks.closed(now.reader.part());
                now.reader.close();
            } else {
                olds.add(old(now.reader));
            }
            current = Optional.empty();
        }
        readers.forEach(this::beginOld);
    }

    private void beginOld(ControlFileReader reader) {
        reader.adopt(acks.begin(reader.part().inode(), reader.part().born()));
        olds.add(old(reader));
    }

    // ---- beginning ------------------------------------------------------------------------------------------------

    private void begin(ControlFileStat stat) throws IOException {
        for (Old old : olds) {
            if (family.is(old.reader.part(), stat)) { // it has its name again
                olds.remove(old);
                current = Optional.of(new Current(old.reader, stat, false));
                return;
            }
        }
        var reader = family.open(family.self(stat));
        boolean used = false;
        try {
            var known = begun ? Optional.<ControlFilePart>empty() : known(reader, stat);
            if (begun) {
                rotate(family.between(acks.last(), Optional.empty(), stat.inode()));
            } else {
                recover(known, stat.inode()).forEach(acks::closed);
                begun = true;
            }
            boolean suspect = false;
            if (known.isPresent()) {
                var part = known.get();
                reader.adopt(part);
                suspect = reader.standing(part).cardinality() < part.marks().size();
                if (!family.is(part, stat)) {
                    part.moved(stat.inode(), guard.born(stat));
                    acks.moved(part);
                }
            } else {
                reader.adopt(acks.begin(stat.inode(), guard.born(stat)));
            }
            current = Optional.of(new Current(reader, stat, suspect));
            used = true;
        } finally {
            if (!used) {
                reader.close();
            }
        }
    }

    /** What this file was before the restart; absent when it is a new one. */
    private Optional<ControlFilePart> known(ControlFileReader reader, ControlFileStat stat) throws IOException {
        var parts = unheld().reversed();
        for (ControlFilePart part : parts) {
            if (family.is(part, stat)) {
                return Optional.of(part);
            }
        }
        for (ControlFilePart part : parts) {
            if (reader.continues(part) && family.of(part).isEmpty()) {
                return Optional.of(part);
            }
        }
        return Optional.empty();
    }

    /** Parts no file is read for yet. */
    private List<ControlFilePart> unheld() {
        var parts = new ArrayList<>(acks.parts());
        olds.forEach(old -> parts.remove(old.reader.part()));
        return parts;
    }

    /**
     * Takes up the files that had lost the name before the restart, and those that lost it while no host ran.
     *
     * @param known what the file is that has the name now, when it is known
     * @param inode what has the name now
     * @return the parts whose files are not to be found
     */
    private List<ControlFilePart> recover(Optional<ControlFilePart> known, long inode) throws IOException {
        var parts = unheld();
        known.ifPresent(parts::remove);
        var between = known.isPresent()
                ? List.<ControlFileFamily.Member>of()
                : family.between(acks.last(), Optional.empty(), inode);
        var lost = new ArrayList<>(parts);
        var readers = ControlFileFamily.allOrNone(opened -> {
            for (ControlFilePart part : parts) {
                family.rotated(part).ifPresent(reader -> {
                    opened.add(reader);
                    lost.remove(part);
                });
            }
            opened.addAll(family.open(between));
        });
        int old = parts.size() - lost.size();
        for (ControlFileReader reader : readers.subList(0, old)) {
            cut(reader.part(), reader.part().lost(reader.standing(reader.part())));
            olds.add(old(reader));
        }
        readers.subList(old, readers.size()).forEach(this::beginOld);
        recovered = true;
        return lost;
    }

    // ---- the rest ---------------------------------------------------------------------------------------------------

    private Old old(ControlFileReader reader) {
        return new Old(reader, options.surroundings().now().plus(options.linger()));
    }

    private void expire() throws IOException {
        var now = options.surroundings().now();
        for (var each = olds.iterator(); each.hasNext(); ) {
            var old = each.next();
            if (old.drained && now.isAfter(old.until)) {
                if (old.reader.unfinished()) {
                    notices.accept(new ControlFileNotice(
                            ControlFileNotice.Kind.SKIPPED,
                            old.reader.path(),
                            old.reader.reach(),
                            "the last line of a file that was rotated away has no newline: write it again"));
                }
                acks.closed(old.reader.part());
                old.reader.close();
                each.remove();
            }
        }
    }

    private void hinder(String what) {
        if (!what.equals(hindrance)) {
            hindrance = what;
            notices.accept(unusable(what));
        }
    }

    private ControlFileNotice unusable(String what) {
        return new ControlFileNotice(
                ControlFileNotice.Kind.UNUSABLE,
                file,
                current.map(c -> c.reader.reach()).orElse(0L),
                ControlFileLine.printable(what));
    }

    @Override
    public void close() throws IOException {
        for (Old old : olds) {
            old.reader.close();
        }
        olds.clear();
        if (current.isPresent()) {
            current.get().reader.close();
        }
        current = Optional.empty();
    }
}
