package dev.holdfast.it;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * SIGKILL after the agent has compacted its context by itself: entries before it are gone from its memory and stand in a
 * summary. With the scripted agent alone: our lines never reach a parser that takes {@code /compact}, and no control
 * request asks for one.
 */
final class CompactionIT {
    @TempDir
    Path directory;

    @Tag("P2")
    @Tag("TN-16")
    @ParameterizedTest
    @EnumSource(KillIT.Victim.class)
    void kill_afterACompaction_losesAndDoublesNothing(KillIT.Victim victim) throws Exception {
        try (var world = new World(Contender.SCRIPTED, directory, new ModelScript().on("M1", "[[full]]"))) {
            world.ask("M1 good morning");
            world.ask("M2 and now");
            world.ask("M3 once more"); // the notice is committed with the next event
            world.host().awaitEvent("Noticed", "\"compacted\"");
            KillIT.kill(world, victim);
            world.finish();
        }
    }

    @Tag("P2")
    @Tag("TN-08")
    @ParameterizedTest
    @EnumSource(KillIT.Victim.class)
    void kill_inATurnThatBeganWithACompaction_losesAndDoublesNothing(KillIT.Victim victim) throws Exception {
        killInM2(victim, new ModelScript().on("M1", "[[full]]").on("M2", "[[say part]] [[gate hit]]"));
    }

    @Tag("P2")
    @Tag("TN-08")
    @ParameterizedTest
    @EnumSource(KillIT.Victim.class)
    void kill_afterACompactionInsideTheTurn_losesAndDoublesNothing(KillIT.Victim victim) throws Exception {
        killInM2(victim, new ModelScript().on("M2", "[[say part]] [[compact]] [[gate hit]]"));
    }

    private void killInM2(KillIT.Victim victim, ModelScript script) throws Exception {
        try (var world = new World(Contender.SCRIPTED, directory, script)) {
            world.ask("M1 good morning");
            world.send("M2 and now");
            world.awaitGate("hit");
            KillIT.kill(world, victim);
            world.openGates();
            world.awaitEnds();
            world.finish();
        }
    }
}
