package dev.holdfast.cli;

import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.runtime.Holdfast;
import dev.holdfast.server.Api;
import dev.holdfast.server.Door;
import dev.holdfast.server.DoorLimits;
import dev.holdfast.server.HostFacts;
import dev.holdfast.testkit.ScriptedAgent;
import java.nio.file.Path;
import java.util.List;

/** A host that is a program of its own: sessions of these names on scripted agents, until its input ends. */
final class ManySessions {
    private ManySessions() {}

    public static void main(String[] arguments) throws Exception {
        Path data = Path.of(arguments[0]);
        var journal = SqliteJournal.at(data);
        journal.open(new SessionName("idle"), SessionLimits.standard())
                .toCompletableFuture()
                .get();
        var host = Holdfast.open(journal);
        var facts = new HostFacts(ProcessHandle.current().pid(), "sqlite", "test");
        try (var door = Door.open(Api.of(host, journal, facts), data, DoorLimits.standard())) {
            for (String name : List.of(arguments).subList(1, arguments.length)) {
                var session = new SessionName(name);
                host.session(session, AgentOptions.scripted(ScriptedAgent.worst(), data, session));
            }
            System.out.println("ready at " + door.socket());
            while (System.in.read() >= 0) {
                // until the test lets go
            }
        }
        host.close();
    }
}
