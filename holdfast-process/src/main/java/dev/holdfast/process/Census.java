package dev.holdfast.process;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The processes of the machine at about one moment. Zombies are not in it: they are dead. Immutable. */
final class Census {

    /**
     * One living process.
     *
     * @param id which
     * @param parent its parent's pid, 0 for none
     * @param session its session id, 0 where unknown
     * @param marker the marker in its environment, if one could be read there
     */
    record Entry(
            ProcessIdentity id,
            long parent,
            long session,
            @Nullable Marker marker) {}

    private final Map<Long, Entry> byPid;
    private final boolean environmentsSeen;

    Census(Collection<Entry> entries, boolean environmentsSeen) {
        Map<Long, Entry> map = new HashMap<>();
        entries.forEach(entry -> map.put(entry.id().pid(), entry));
        this.byPid = Map.copyOf(map);
        this.environmentsSeen = environmentsSeen;
    }

    boolean environmentsSeen() {
        return environmentsSeen;
    }

    boolean isAlive(ProcessIdentity id) {
        Entry entry = byPid.get(id.pid());
        return entry != null && entry.id().equals(id);
    }

    Set<ProcessIdentity> matching(Predicate<Entry> which) {
        Set<ProcessIdentity> found = new LinkedHashSet<>();
        for (Entry entry : byPid.values()) {
            if (which.test(entry)) {
                found.add(entry.id());
            }
        }
        return found;
    }

    /** This process and all its ancestors: what no sweep may touch or look behind. */
    Set<Long> selfAndAncestors() {
        Set<Long> line = new HashSet<>();
        long pid = ProcessHandle.current().pid();
        while (pid > 0 && line.add(pid)) {
            Entry entry = byPid.get(pid);
            pid = entry == null ? 0 : entry.parent();
        }
        return line;
    }

    /** The roots that are alive and everything below them, nothing that is or is below a spared pid. */
    Set<ProcessIdentity> withDescendants(Collection<ProcessIdentity> roots, Set<Long> spared) {
        Map<Long, List<Entry>> children = new HashMap<>();
        for (Entry entry : byPid.values()) {
            children.computeIfAbsent(entry.parent(), _ -> new ArrayList<>()).add(entry);
        }
        Set<ProcessIdentity> found = new LinkedHashSet<>();
        Deque<ProcessIdentity> open = new ArrayDeque<>(roots);
        while (!open.isEmpty()) {
            ProcessIdentity id = open.poll();
            if (spared.contains(id.pid()) || !isAlive(id) || !found.add(id)) {
                continue;
            }
            for (Entry child : children.getOrDefault(id.pid(), List.of())) {
                open.add(child.id());
            }
        }
        return found;
    }
}
