package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.testkit.AgentProfile;
import dev.holdfast.testkit.ScriptedAgent;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** {@code holdfast doctor} on sound and on broken places; agents are real child processes. */
final class DoctorTest {
    private static final String CANARY = "sk-canary-7f3d";

    @TempDir
    Path place;

    private Path data;

    @BeforeEach
    void data() throws Exception {
        data = Files.createDirectory(place.resolve("data"));
        rights("rwx------");
    }

    private void rights(String rights) throws Exception {
        Files.setPosixFilePermissions(data, PosixFilePermissions.fromString(rights));
    }

    private Ran doctor(String... more) {
        return doctor(Map.of(), more);
    }

    private Ran doctor(Map<String, String> environment, String... more) {
        var all = new ArrayList<>(List.of("doctor"));
        all.addAll(List.of(more));
        return Ran.with(environment, data, "", false, all.toArray(String[]::new));
    }

    private Path agent(ScriptedAgent agent) {
        return agent.writeExecutable(place.resolve("claude"));
    }

    private Path scenario(String text) throws Exception {
        return Files.writeString(place.resolve("scenario"), text);
    }

    private static JsonNode check(Ran ran, String check) {
        return ran.objects().stream()
                .filter(found -> found.path("check").asString("").equals(check))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no " + check + " in " + ran.out()));
    }

    private void store() throws Exception {
        try (var journal = SqliteJournal.at(data)) {
            journal.open(new SessionName("a"), SessionLimits.standard())
                    .toCompletableFuture()
                    .get();
        }
    }

    private List<String> files() throws Exception {
        try (Stream<Path> all = Files.walk(data)) {
            return all.map(Path::toString).sorted().toList();
        }
    }

    @Test
    void everythingThere_isTold_andNothingIsChanged() throws Exception {
        store();
        var before = files();
        var ran = doctor("--agent", "scripted");
        assertThat(ran.err()).isEmpty();
        assertThat(ran.exit()).as(ran.out()).isZero();
        assertThat(ran.out())
                .contains("ok      Java            25")
                .contains("ok      data directory  " + data + ", yours alone")
                .contains("ok      host            none runs")
                .contains("sqlite: sessions 1, messages 0, events 0; every row is as it was written")
                .contains("ok      login           the scripted agent needs none")
                .contains("ok      start           version 2.1.197 starts")
                .endsWith("\nSessions can run here.\n");
        assertThat(files()).isEqualTo(before);
    }

    @Test
    void json_isOneObjectACheck_andTheVerdict() {
        var objects = doctor("--json", "--agent", "scripted").objects();
        assertThat(objects)
                .extracting(found -> found.path("check").asString(""))
                .containsExactly(
                        "Java",
                        "processes",
                        "sandbox",
                        "data directory",
                        "host",
                        "store",
                        "agent",
                        "login",
                        "start",
                        "");
        assertThat(objects.getLast().path("works").asBoolean()).isTrue();
        assertThat(objects.get(5).path("finding").asString()).isEqualTo("none yet");
    }

    @Test
    void agentMissing_failsSayingWhatToDo() {
        var ran = doctor(Map.of("PATH", place.toString()), "--json");
        assertThat(ran.exit()).isEqualTo(Exit.AGENT_UNAVAILABLE);
        assertThat(check(ran, "agent").path("state").asString()).isEqualTo("failed");
        assertThat(check(ran, "agent").path("finding").asString()).contains("no 'claude' on the PATH", "--claude PATH");
        assertThat(ran.objects().getLast().path("works").asBoolean()).isFalse();
    }

    @Test
    void agentThatIsNoAgent_fails() throws Exception {
        Path program = Files.writeString(place.resolve("claude"), "#!/bin/sh\necho not me >&2\nexit 3\n");
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
        var ran = doctor("--json", "--claude", program.toString());
        assertThat(ran.exit()).isEqualTo(Exit.AGENT_UNAVAILABLE);
        assertThat(check(ran, "agent").path("finding").asString()).contains("not me");
    }

    @Test
    void agentThatRefusesToStart_failsWithItsReason() throws Exception {
        var script = ScriptedAgent.worst().scenario(scenario("initialize: [[refuse out of order]]"));
        var ran = doctor("--json", "--claude", agent(script).toString());
        assertThat(ran.exit()).isEqualTo(Exit.AGENT_UNAVAILABLE);
        assertThat(check(ran, "start").path("finding").asString()).contains("out of order");
    }

    @Test
    void agentOfAnotherVersion_isNoted() {
        var newer = AgentProfile.v332();
        var profile = new AgentProfile(
                "3.0.0",
                newer.quirks(),
                newer.recordDelay(),
                newer.pickUpDelay(),
                newer.extraTools(),
                newer.hiddenTools());
        var ran = doctor("--json", "--claude", agent(ScriptedAgent.of(profile)).toString());
        assertThat(check(ran, "agent").path("state").asString()).isEqualTo("note");
        assertThat(check(ran, "agent").path("advice").asString()).contains("Newer than what is tried");
        assertThat(ran.exit()).isZero();
    }

    @Test
    @Tag("TL-01")
    void agentWithAToolThatNobodyGave_fails() {
        var profile = AgentProfile.v197().extraTools("Bash");
        var ran = doctor("--json", "--claude", agent(ScriptedAgent.of(profile)).toString());
        assertThat(ran.exit()).isEqualTo(Exit.AGENT_UNAVAILABLE);
        assertThat(check(ran, "start").path("finding").asString()).contains("Bash");
    }

    @Test
    void key_isNeverReadNorPrinted() throws Exception {
        Path log = place.resolve("seen");
        Path program = agent(ScriptedAgent.worst());
        Path wrapper = Files.writeString(
                place.resolve("wrapper"), "#!/bin/sh\nenv >> " + log + "\nexec " + program + " \"$@\"\n");
        Files.setPosixFilePermissions(wrapper, PosixFilePermissions.fromString("rwx------"));
        Path file = Files.writeString(place.resolve("key"), CANARY);
        String url = "http://127.0.0.1:9";
        var byFile = doctor("--claude", wrapper.toString(), "--inference-url", url, "--inference-key-file", "" + file);
        var byVariable = doctor(
                Map.of("HOLDFAST_INFERENCE_URL", url, "HOLDFAST_INFERENCE_KEY", CANARY),
                "--claude",
                wrapper.toString());
        for (Ran ran : List.of(byFile, byVariable)) {
            assertThat(ran.exit()).as(ran.out()).isZero();
            assertThat(ran.out()).contains("note    login", "not tried").doesNotContain(CANARY);
            assertThat(ran.err()).isEmpty();
        }
        assertThat(Files.readString(log)).contains("ANTHROPIC_BASE_URL=" + url).doesNotContain(CANARY);
        var half = doctor("--claude", wrapper.toString(), "--inference-url", url);
        assertThat(half.exit()).isEqualTo(Exit.AGENT_UNAVAILABLE);
        assertThat(half.out()).contains("FAILED  agent", "no key");
    }

    @Test
    void directory_thatOthersMayUse_isToldWithTheRemedy() throws Exception {
        rights("rwxr-xr-x");
        var readable = doctor("--json", "--agent", "scripted");
        assertThat(readable.exit()).isZero();
        assertThat(check(readable, "data directory").path("state").asString()).isEqualTo("note");
        rights("rwxrwx---");
        var writable = doctor("--json", "--agent", "scripted");
        assertThat(writable.exit()).isEqualTo(Exit.STORE);
        assertThat(check(writable, "data directory").path("advice").asString()).contains("chmod 700 " + data);
        assertThat(check(writable, "start").path("state").asString())
                .as("the agent is looked at all the same")
                .isEqualTo("ok");
    }

    @Test
    void directory_thatIsAFileOrCannotBeMade_fails() throws Exception {
        Path file = Files.writeString(place.resolve("file"), "x");
        assertThat(Ran.command(file, "doctor", "--agent", "scripted").exit()).isEqualTo(Exit.STORE);
        var below = Ran.command(file.resolve("below"), "doctor", "--agent", "scripted");
        assertThat(below.exit()).isEqualTo(Exit.STORE);
        assertThat(below.out()).contains("cannot be made");
        var fresh = Ran.command(place.resolve("not/yet/there"), "doctor", "--agent", "scripted");
        assertThat(fresh.exit()).as(fresh.out()).isZero();
        assertThat(place.resolve("not")).doesNotExist();
    }

    @Test
    @Tag("LV-09")
    void store_damaged_fails() throws Exception {
        store();
        assertThat(Ran.command(data, "send", "a", "precious words").exit()).isZero();
        Path database = data.resolve("journal.db");
        String bytes = Files.readString(database, StandardCharsets.ISO_8859_1);
        assertThat(bytes).contains("precious");
        Files.writeString(database, bytes.replace("precious", "worthless".substring(1)), StandardCharsets.ISO_8859_1);
        var ran = doctor("--json", "--agent", "scripted");
        assertThat(ran.exit()).as(ran.out()).isEqualTo(Exit.STORE);
        assertThat(check(ran, "store").path("finding").asString()).contains("damaged");
    }

    @Test
    void store_ownedByAnother_isNotedAndVerifiedBesideIt() throws Exception {
        try (var journal = SqliteJournal.at(data)) {
            journal.open(new SessionName("a"), SessionLimits.standard())
                    .toCompletableFuture()
                    .get();
            var ran = doctor("--json", "--agent", "scripted");
            assertThat(ran.exit()).as(ran.out()).isZero();
            assertThat(check(ran, "host").path("finding").asString())
                    .contains("Process " + ProcessHandle.current().pid() + " has the store open");
            assertThat(check(ran, "store").path("state").asString()).isEqualTo("ok");
        }
    }
}
