package dev.holdfast.cli;

import dev.holdfast.SessionName;
import dev.holdfast.server.Call;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/** Which host works on the sessions of a store now, as far as this machine can tell. */
sealed interface HostSeen {
    /** Whether somebody may be working on that session. */
    boolean works(SessionName session);

    /** The process; absent when none runs, or none that can be seen from here. */
    Optional<Long> pid();

    /** In words, with what to do; empty when all is said by the states. */
    String words();

    /** Nobody works on any of them. */
    record None() implements HostSeen {
        @Override
        public boolean works(SessionName session) {
            return false;
        }

        @Override
        public Optional<Long> pid() {
            return Optional.empty();
        }

        @Override
        public String words() {
            return "No host runs: nothing here is worked on now. 'holdfast chat NAME' takes a session up; 'holdfast send'"
                    + " works without one.";
        }
    }

    /** A host whose door was asked. */
    record Asked(long process, Set<String> held) implements HostSeen {
        public Asked {
            held = Set.copyOf(held);
        }

        @Override
        public boolean works(SessionName session) {
            return held.contains(session.value());
        }

        @Override
        public Optional<Long> pid() {
            return Optional.of(process);
        }

        @Override
        public String words() {
            return "Process " + process + " runs " + (held.size() == 1 ? "1 session" : held.size() + " sessions") + ".";
        }
    }

    /** A process that has the store and no door. */
    record Silent(long process) implements HostSeen {
        @Override
        public boolean works(SessionName session) {
            return true;
        }

        @Override
        public Optional<Long> pid() {
            return Optional.of(process);
        }

        @Override
        public String words() {
            return "Process " + process + " has the store open; it has no door to ask what it runs.";
        }
    }

    /** A database that hosts of other machines may use as well. */
    record Elsewhere() implements HostSeen {
        @Override
        public boolean works(SessionName session) {
            return true;
        }

        @Override
        public Optional<Long> pid() {
            return Optional.empty();
        }

        @Override
        public String words() {
            return "";
        }
    }

    static HostSeen of(GlobalOptions globals) {
        try (var reach = Reach.door(globals).orElse(null)) {
            if (reach != null) {
                return new Asked(reach.host().orElse(0L), held(reach));
            }
        } catch (CommandFailed noAnswer) {
            // a host that is about to stop, or to start; what the lock says is told
        }
        if (!(globals.store() instanceof Store.InDirectory)) {
            return new Elsewhere();
        }
        return owner(globals.data()).<HostSeen>map(Silent::new).orElse(new None());
    }

    private static Set<String> held(Reach reach) {
        var held = new HashSet<String>();
        var call = Call.get("sessions");
        while (true) {
            JsonNode page = SessionCommand.ask(reach, call);
            for (JsonNode session : page.path("sessions")) {
                if (session.path("held").asBoolean()) {
                    held.add(session.path("session").asString());
                }
            }
            if (!page.has("next")) {
                return held;
            }
            call = Call.get("sessions").asking("after", page.path("next").asString());
        }
    }

    /** The living process that the lock of the embedded store names; a store closed as it should be names none. */
    private static Optional<Long> owner(Path data) {
        try {
            String pid = Files.readString(data.resolve("lock"), StandardCharsets.US_ASCII)
                    .strip();
            return Optional.of(pid)
                    .filter(p -> p.matches("[0-9]{1,10}"))
                    .map(Long::valueOf)
                    .filter(p -> ProcessHandle.of(p).isPresent());
        } catch (IOException noLock) {
            return Optional.empty();
        }
    }
}
