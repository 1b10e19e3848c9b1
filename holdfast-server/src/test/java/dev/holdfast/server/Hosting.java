package dev.holdfast.server;

import dev.holdfast.Session;
import dev.holdfast.SessionName;
import dev.holdfast.claude.ClaudeCode;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.runtime.Holdfast;
import dev.holdfast.runtime.Options;
import dev.holdfast.testkit.ScriptedAgent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A host on SQLite in a directory of its own, with its door open. */
final class Hosting implements AutoCloseable {
    final Path data;
    final SqliteJournal journal;
    final Holdfast host;
    final Api api;
    final Door door;

    Hosting(Path data) {
        this(data, DoorLimits.standard());
    }

    Hosting(Path data, DoorLimits limits) {
        this(data, limits, Options.standard());
    }

    Hosting(Path data, DoorLimits limits, Options options) {
        this.data = data;
        journal = SqliteJournal.at(data);
        host = Holdfast.open(journal, options);
        api = Api.of(host, journal, new HostFacts(ProcessHandle.current().pid(), "sqlite", "test"));
        door = Door.open(api, data, limits);
    }

    Caller caller() throws IOException {
        return new Caller(door.socket());
    }

    /** A session on a scripted agent, a child process that echoes. */
    Session session(String name) throws IOException {
        return session(name, ScriptedAgent.worst());
    }

    Session session(String name, ScriptedAgent script) throws IOException {
        Path place = Files.createDirectories(data.resolve("scripted").resolve(name));
        return host.session(
                new SessionName(name),
                ClaudeCode.agent()
                        .harnessName("scripted")
                        .binary(script.writeExecutable(place.resolve("agent")))
                        .configDirectory(place.resolve("config")));
    }

    @Override
    public void close() {
        door.close();
        host.close();
    }
}
