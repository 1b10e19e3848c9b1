package dev.holdfast.cli;

import dev.holdfast.AgentTool;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.runtime.GuardPolicy;
import dev.holdfast.runtime.GuardRule;
import dev.holdfast.runtime.Holdfast;
import dev.holdfast.runtime.Options;
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

    /** A tool that a person is asked about. */
    public static final class Work {
        @AgentTool("Works")
        public String work(String text) {
            return "worked on " + text;
        }
    }

    public static void main(String[] arguments) throws Exception {
        Path data = Path.of(arguments[0]);
        var journal = SqliteJournal.at(data);
        journal.open(new SessionName("idle"), SessionLimits.standard())
                .toCompletableFuture()
                .get();
        var asks = GuardPolicy.of(GuardRule.of("person", GuardRule.Decision.ASK).text("May it work?"));
        var host = Holdfast.open(journal, Options.standard().guard(asks));
        var facts = new HostFacts(ProcessHandle.current().pid(), "sqlite", "test");
        try (var door = Door.open(Api.of(host, journal, facts), data, DoorLimits.standard())) {
            for (String name : List.of(arguments).subList(1, arguments.length)) {
                var session = new SessionName(name);
                host.session(
                        session,
                        AgentOptions.scripted(ScriptedAgent.worst(), data, session)
                                .tools(new Work()));
            }
            System.out.println("ready at " + door.socket());
            while (System.in.read() >= 0) {
                // until the test lets go
            }
        }
        host.close();
    }
}
