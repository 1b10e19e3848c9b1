package dev.holdfast.cli;

import dev.holdfast.JournalException;
import dev.holdfast.runtime.Holdfast;
import dev.holdfast.runtime.Options;
import dev.holdfast.server.Answer;
import dev.holdfast.server.Api;
import dev.holdfast.server.Call;
import dev.holdfast.server.Door;
import dev.holdfast.server.HostFacts;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * How a command reaches the sessions: through the door of the host that runs on the data directory, or, when none runs,
 * with the store open in this process. Both answer the same calls in the same words.
 */
sealed interface Reach extends AutoCloseable {
    Duration PATIENCE = Duration.ofSeconds(45);

    /** @param wait how long nothing at all may come back */
    Answer ask(Call call, Duration wait);

    /** The process that runs the host; absent when none runs. */
    Optional<Long> host();

    @Override
    void close();

    /** Whether a store that is missing is made. */
    enum Missing {
        IS_MADE,
        IS_REFUSED
    }

    /** Reaches the host that runs, else the store itself. */
    static Reach of(GlobalOptions globals, Missing missing) {
        for (int attempt = 0; ; attempt++) {
            var door = door(globals);
            if (door.isPresent()) {
                return door.get();
            }
            try {
                return embedded(globals, missing);
            } catch (JournalException e) {
                if (e.problem() != JournalException.Problem.IN_USE) {
                    throw e;
                }
                if (attempt == 50) {
                    throw new CommandFailed(
                            Exit.STORE,
                            "in_use",
                            Hosted.inUse(e) + ", which has no door: ps, show and events work beside it;\nfor the"
                                    + " others wait until it ends, or stop it.");
                }
                pause(); // another command has it for a moment, or a host is about to open its door
            }
        }
    }

    /** The host that runs on the data directory, with the store that is meant. */
    static Optional<Reach> door(GlobalOptions globals) {
        GlobalOptions.logNowhere();
        var client = Door.find(globals.data()).flatMap(DoorClient::connect);
        if (client.isEmpty()) {
            return Optional.empty();
        }
        var reach = new Through(client.get());
        boolean meant = false;
        try {
            meant = reach.has(globals);
        } finally {
            if (!meant) {
                reach.close();
            }
        }
        return meant ? Optional.of(reach) : Optional.empty();
    }

    private static Reach embedded(GlobalOptions globals, Missing missing) {
        var store = globals.store();
        if (missing == Missing.IS_REFUSED) {
            store.read().close();
        }
        var journal = store.open();
        try {
            globals.logInto(globals.data());
            var options = journal.directory().isPresent()
                    ? Options.standard()
                    : Options.standard().home(GlobalOptions.makePrivate(globals.data()));
            var host = Holdfast.open(journal, options);
            var facts = new HostFacts(ProcessHandle.current().pid(), store.name(), Main.version());
            return new Embedded(host, Api.of(host, journal, facts));
        } catch (RuntimeException e) {
            journal.close();
            throw e;
        }
    }

    /** A tenth of a second. */
    static void pause() {
        try {
            var unused = new CountDownLatch(1).await(100, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailed(Exit.INTERRUPTED, "interrupted", "interrupted; nothing was done");
        }
    }

    /** A host of another process. */
    final class Through implements Reach {
        private static final JsonMapper JSON = JsonMapper.builder().build();
        private final DoorClient client;
        private long pid;

        Through(DoorClient client) {
            this.client = client;
        }

        /** Whether it is on that store; without one named it is meant by its directory alone. */
        private boolean has(GlobalOptions globals) {
            var answer = ask(Call.get("host"), Duration.ofSeconds(10));
            JsonNode facts = JSON.readTree(answer.body());
            pid = facts.path("pid").asLong();
            return globals.namedStore().isEmpty()
                    || facts.path("store").asString().equals(globals.store().name());
        }

        @Override
        public Answer ask(Call call, Duration wait) {
            try {
                return client.ask(call, wait);
            } catch (DoorClient.NoAnswer e) {
                throw new CommandFailed(Exit.STORE, "no_answer", String.valueOf(e.getMessage()));
            }
        }

        @Override
        public Optional<Long> host() {
            return Optional.of(pid);
        }

        @Override
        public void close() {
            client.close();
        }
    }

    /** A host of this process that runs no session. */
    final class Embedded implements Reach {
        private final Holdfast host;
        private final Api api;

        Embedded(Holdfast host, Api api) {
            this.host = host;
            this.api = api;
        }

        @Override
        public Answer ask(Call call, Duration wait) {
            return api.answer(call);
        }

        @Override
        public Optional<Long> host() {
            return Optional.empty();
        }

        @Override
        public void close() {
            api.close();
            host.close();
        }
    }
}
