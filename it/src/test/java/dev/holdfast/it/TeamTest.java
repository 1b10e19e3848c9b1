package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Agent;
import dev.holdfast.Author;
import dev.holdfast.Message;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCall;
import dev.holdfast.TranscriptEntry;
import dev.holdfast.TurnMessage;
import dev.holdfast.claude.ClaudeCode;
import dev.holdfast.runtime.Role;
import dev.holdfast.runtime.RoleMail;
import dev.holdfast.runtime.Team;
import dev.holdfast.runtime.TeamPlan;
import dev.holdfast.testkit.ScriptedAgent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Roles that write to each other, with scripted agents in real processes. */
@Tag("LV-05")
final class TeamTest {
    private static final TeamPlan PRESS = new TeamPlan(
            "press",
            List.of(
                    new Role("editor", Optional.empty(), "You decide what is printed."),
                    new Role("writer", Optional.of("editor"), "You write."),
                    new Role("checker", Optional.of("editor"), "You check facts.")));

    private final Map<String, String> scenarios = new HashMap<>();
    private final Map<String, RoleMail> mails = new HashMap<>();

    @TempDir
    Path directory;

    private static String mail(String to, String text) {
        return "[[tool mcp__host__send_mail {\"to\":\"" + to + "\",\"text\":\"" + text + "\"}]]";
    }

    /** A team whose agents do what {@link #scenarios} say. */
    private Team up(Station station, TeamPlan plan) {
        return Team.up(station.host(), plan, directory.resolve("mail"), this::cast);
    }

    private Agent cast(Role role, String briefing, RoleMail mail) {
        mails.put(role.name(), mail);
        try {
            var place = Files.createDirectories(directory.resolve("agents").resolve(role.name()));
            var scenario = Files.writeString(
                    place.resolve("scenario"), scenarios.getOrDefault(role.name(), "any: [[say ok]]") + "\n");
            return ClaudeCode.agent()
                    .binary(ScriptedAgent.worst().scenario(scenario).writeExecutable(place.resolve("agent")))
                    .configDirectory(place.resolve("config"))
                    .inference("http://127.0.0.1:9", "sk-fake")
                    .systemPrompt(briefing)
                    .tools(mail);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<TranscriptEntry> said(Team team, String role) {
        return Station.now(team.session(role).orElseThrow().transcript(0, 50)).stream()
                .flatMap(turn -> turn.entries().stream())
                .toList();
    }

    /** What the role was told, as {@code author: words}. */
    private static List<String> told(Team team, String role) {
        return said(team, role).stream()
                .filter(entry -> entry.role() == TurnMessage.Role.SENDER)
                .map(entry -> entry.author().map(Author::name).orElse("?") + ": " + entry.text())
                .toList();
    }

    private static void awaitTold(Team team, String role, String... words) {
        Awaitility.await(role + " is told")
                .atMost(Station.PATIENCE.multipliedBy(3))
                .untilAsserted(() -> assertThat(told(team, role)).containsExactly(words));
    }

    @Test
    void roles_thatWriteToEachOther_finishAJob() {
        scenarios.put(
                "editor",
                "contains job: " + mail("writer", "Write about tides.") + " [[say asked]]\n"
                        + "contains confirmed: [[say Printed.]]");
        scenarios.put("writer", "contains tides: " + mail("checker", "The moon makes tides.") + " [[say written]]");
        scenarios.put("checker", "contains moon: " + mail("editor", "It is confirmed.") + " [[say checked]]");
        try (var station = new Station(directory.resolve("data"))) {
            var team = up(station, PRESS);
            team.session("editor")
                    .orElseThrow()
                    .send(Message.of("A job for you").key("start"));
            awaitTold(team, "editor", "host: A job for you", "checker: It is confirmed.");
            Awaitility.await().until(team::rests);
            assertThat(said(team, "editor").getLast().text()).isEqualTo("Printed.");
            assertThat(told(team, "writer")).containsExactly("editor: Write about tides.");
            assertThat(told(team, "checker")).containsExactly("writer: The moon makes tides.");
        }
    }

    @Test
    void mail_toATeamThatIsDown_waitsAndIsToldOnce() {
        scenarios.put("editor", "contains job: " + mail("writer", "Write.") + " [[say asked]]");
        try (var station = new Station(directory.resolve("data"))) {
            var unused = up(station, PRESS);
            station.restart(); // nobody has taken the roles up on this host
            var editor = station.host().mail(PRESS.session(PRESS.role("editor").orElseThrow()));
            Station.stored(editor.send(Message.of("A job").key("start")));
            Station.stored(editor.send(Message.of("A job").key("start")));
            station.restart();
            var team = up(station, PRESS);
            awaitTold(team, "writer", "editor: Write.");
            awaitTold(team, "editor", "host: A job"); // its turn may end after the writer's
        }
    }

    @Test
    void mail_ofTheSameCall_isStoredOnce() {
        try (var station = new Station(directory.resolve("data"))) {
            var team = up(station, PRESS);
            var first = send("writer", "checker", "Is it so?", "a".repeat(64));
            assertThat(send("writer", "checker", "Is it so?", "a".repeat(64))).isEqualTo(first);
            assertThat(first.error()).isFalse();
            awaitTold(team, "checker", "writer: Is it so?");
        }
    }

    @Test
    void mail_beyondTheLimit_isSpilledToAFileWithADigest() throws IOException {
        try (var station = new Station(directory.resolve("data"))) {
            var team = up(station, PRESS);
            var inline = "x".repeat(RoleMail.INLINE_MAX);
            var spilled = "é".repeat(RoleMail.DIGEST - 1) + "😀" + "z".repeat(RoleMail.INLINE_MAX);
            send("writer", "checker", inline, "b".repeat(64));
            send("writer", "checker", spilled, "c".repeat(64));
            Awaitility.await()
                    .atMost(Station.PATIENCE)
                    .until(() -> told(team, "checker").size() == 2);
            assertThat(told(team, "checker").getFirst()).isEqualTo("writer: " + inline);
            var digest = told(team, "checker").getLast();
            var file =
                    directory.resolve("mail").resolve("c".repeat(64) + ".txt").toAbsolutePath();
            assertThat(digest)
                    .startsWith("writer: " + "é".repeat(RoleMail.DIGEST - 1) + "\n") // no half of a character
                    .contains("All " + spilled.length() + " characters are in the file " + file)
                    .hasSizeLessThan(2 * RoleMail.DIGEST);
            assertThat(Files.readString(file)).isEqualTo(spilled);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("rw-------");
            assertThat(file.getParent()).isDirectoryNotContaining("glob:**.draft");
        }
    }

    @Test
    void mail_thatCannotBeSent_isAnErrorForTheModel() {
        try (var station = new Station(directory.resolve("data"))) {
            var team = up(station, PRESS);
            assertThat(send("writer", "boss", "hello", "d".repeat(64)))
                    .matches(ToolAnswer::error)
                    .asString()
                    .contains("no role 'boss'", "editor", "checker");
            assertThat(send("writer", "writer", "hello", "e".repeat(64))).matches(ToolAnswer::error);
            assertThat(send("writer", "checker", " ", "f".repeat(64))).matches(ToolAnswer::error);
            var checker = team.session("checker").orElseThrow();
            checker.close("done");
            Awaitility.await().until(() -> checker.status().phase().equals("CLOSED"));
            assertThat(send("writer", "checker", "hello", "0".repeat(64)))
                    .matches(ToolAnswer::error)
                    .asString()
                    .contains("Nothing was sent");
        }
    }

    private ToolAnswer send(String from, String to, String text, String key) {
        var call = new ToolCall(
                PRESS.session(PRESS.role(from).orElseThrow()),
                1,
                1,
                Optional.empty(),
                "call",
                key,
                "{}",
                () -> false,
                ToolCall.ProgressSink.NONE);
        return mails.get(from).send(to, text, call);
    }

    @Test
    void plans_thatCannotBe_areRefused() {
        var lead = new Role("lead", Optional.empty(), "Lead.");
        assertThat(new TeamPlan("t", List.of(lead)).briefing(lead)).contains("Lead.", "lead (you), leads", "send_mail");
        assertThatThrownBy(() -> new TeamPlan("t", List.of())).hasMessageContaining("1 to 64 roles");
        assertThatThrownBy(() -> new TeamPlan("t", List.of(lead, lead))).hasMessageContaining("two roles 'lead'");
        assertThatThrownBy(() -> new TeamPlan("t", List.of(new Role("a", Optional.of("b"), "x"))))
                .hasMessageContaining("reports to 'b', which is no role");
        assertThatThrownBy(() -> new TeamPlan(
                        "t", List.of(lead, new Role("a", Optional.of("b"), "x"), new Role("b", Optional.of("a"), "x"))))
                .hasMessageContaining("reports to itself");
        assertThatThrownBy(() -> new Role("../etc", Optional.empty(), "x")).hasMessageContaining("not allowed");
        assertThatThrownBy(() -> new Role("a", Optional.empty(), " ")).hasMessageContaining("needs a duty");
    }
}
