package dev.holdfast.runtime;

import dev.holdfast.Report;
import dev.holdfast.ReportSink;
import dev.holdfast.TurnHooks;
import dev.holdfast.TurnSettings;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of one turn's workspace that a host's developer wants to see as soon as they are written (HN-08). Blocks on the
 * disk and on his code: never used by an owner's task. Thread-safe.
 */
final class HotPaths {
    private static final Logger LOG = LoggerFactory.getLogger(HotPaths.class);
    private static final AtomicBoolean WARNED = new AtomicBoolean();
    private static final int DEPTH_MAX = 32;

    private final Path workspace;
    private final TurnHooks hooks;
    private final List<PathMatcher> matchers;
    private final ReportSink sink;
    private final TreeSet<Path> landed = new TreeSet<>();
    private SortedMap<Path, Stamp> known = new TreeMap<>();

    private record Stamp(long modified, long size, String key) {}

    private HotPaths(Path workspace, TurnHooks hooks, ReportSink sink) {
        this.workspace = workspace;
        this.hooks = hooks;
        this.sink = sink;
        this.matchers = hooks.hotPaths().stream()
                .map(p -> workspace.getFileSystem().getPathMatcher("glob:" + p))
                .toList();
    }

    /** Those of a turn that begins now; absent without a workspace or hooks, which is said once per process. */
    static Optional<HotPaths> of(TurnSettings settings, ReportSink sink) {
        if (settings.workspace().isPresent() && settings.hooks().isEmpty() && WARNED.compareAndSet(false, true)) {
            LOG.warn("a thinker has a workspace and no hooks: what it writes there is not looked at during its turns");
        }
        return settings.workspace()
                .flatMap(w -> settings.hooks().map(h -> {
                    var hot = new HotPaths(w, h, sink);
                    hot.known = hot.look();
                    return hot;
                }));
    }

    /** Hands over what was written since; what the model is to be told of it, empty when all is well. */
    synchronized String hand() {
        var now = look();
        var failures = new ArrayList<String>();
        now.forEach((path, stamp) -> {
            if (!stamp.equals(known.get(path))) {
                landed.add(path);
                written(path).ifPresent(why -> failures.add("[holdfast] The file " + path + " was not taken: " + why));
            }
        });
        known = now;
        return String.join("\n", failures);
    }

    private Optional<String> written(Path path) {
        try {
            return hooks.onWrite().written(path);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of("it was interrupted");
        } catch (Exception | LinkageError e) {
            LOG.warn("the hook for {} failed", path, e);
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /** What is wrong with what was written; the gate opens when that cannot be told. */
    synchronized Optional<String> findings() {
        if (landed.isEmpty()) {
            return Optional.empty();
        }
        try {
            return hooks.validate().findings(List.copyOf(landed)).filter(f -> !f.isEmpty());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        } catch (Exception | LinkageError e) {
            LOG.warn("the validator failed; what was written is let through", e);
            sink.report(new Report.Noticed("validator_failed", String.valueOf(e.getMessage())));
            return Optional.empty();
        }
    }

    private SortedMap<Path, Stamp> look() {
        var found = new TreeMap<Path, Stamp>();
        try {
            Files.walkFileTree(workspace, Set.of(), DEPTH_MAX, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    var path = workspace.relativize(file);
                    if (attributes.isRegularFile() && matchers.stream().anyMatch(m -> m.matches(path))) {
                        found.put(path, stamp(attributes));
                    }
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path file, IOException why) {
                    return FileVisitResult.CONTINUE; // it went away meanwhile, or is nobody's to read
                }
            });
        } catch (IOException e) {
            LOG.warn("the workspace {} cannot be looked at", workspace, e);
        }
        return found;
    }

    private static Stamp stamp(BasicFileAttributes attributes) {
        return new Stamp(
                attributes.lastModifiedTime().to(TimeUnit.NANOSECONDS),
                attributes.size(),
                String.valueOf(attributes.fileKey()));
    }
}
