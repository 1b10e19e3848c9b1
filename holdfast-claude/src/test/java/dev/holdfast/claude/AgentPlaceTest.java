package dev.holdfast.claude;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Knowledge;
import dev.holdfast.Knowledge.RecordState;
import dev.holdfast.KnowledgeQuestion;
import dev.holdfast.Launch;
import dev.holdfast.SessionName;
import dev.holdfast.claude.AgentProcess.CannotStart;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AgentPlaceTest {
    private static final String NATIVE = "11111111-1111-4111-8111-111111111111";

    @TempDir
    Path home;

    private final Map<String, String> host = new HashMap<>(Map.of("PATH", "/usr/bin:/bin"));

    private AgentPlace place(ClaudeCodeAgent agent, String session) {
        host.putIfAbsent("HOME", home.toString());
        var launch = new Launch("store", new SessionName(session), 1, 1, home, List.of());
        return new AgentPlace(agent, launch, host, Recorded.CODEC);
    }

    private static ClaudeCodeAgent shell() {
        return ClaudeCode.agent().binary(Path.of("/bin/sh"));
    }

    private static Knowledge ask(AgentPlace place) {
        return place.knowledge(new KnowledgeQuestion(Optional.of(NATIVE), List.of(), List.of()));
    }

    private static Path writeRecord(Path config, String folder) throws IOException {
        Path directory = Files.createDirectories(config.resolve("projects").resolve(folder));
        return Files.write(directory.resolve(NATIVE + ".jsonl"), Recorded.record("plain", "2.1.197"));
    }

    // ---- the program

    @Test
    void binary_namedByTheHostsVariable_isTaken() {
        host.put("HOLDFAST_CLAUDE", "/bin/sh");
        assertThat(place(ClaudeCode.agent(), "s")
                        .command(NATIVE, false, Optional.empty())
                        .words())
                .startsWith("/bin/sh");
    }

    @Test
    void binary_onThePath_isFound() throws IOException {
        Path program = Files.createFile(
                home.resolve("claude"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        host.put("PATH", "/nowhere::" + home);
        assertThat(place(ClaudeCode.agent(), "s")
                        .command(NATIVE, false, Optional.empty())
                        .words())
                .startsWith(program.toString());
    }

    @Test
    @Tag("HN-12")
    void binary_nowhere_isNotFoundWithWhatToDo() {
        assertThatThrownBy(() -> place(ClaudeCode.agent(), "s").command(NATIVE, false, Optional.empty()))
                .isInstanceOfSatisfying(
                        CannotStart.class, e -> assertThat(e.fatal()).isEqualTo("not_found"))
                .hasMessageContaining("install Claude Code");
        assertThatThrownBy(() -> place(ClaudeCode.agent().binary(home.resolve("no")), "s")
                        .command(NATIVE, false, Optional.empty()))
                .hasMessageContaining(home.resolve("no").toString());
    }

    // ---- the environment

    @Test
    @Tag("HS-09")
    @Tag("BX-03")
    void environment_onlyTheAllowedAndTheNamed_goesOn() {
        host.putAll(Map.of(
                "ANTHROPIC_API_KEY", "stray", "CLAUDECODE", "1", "NODE_OPTIONS", "-r x", "SECRET", "s", "LC_ALL", "C"));
        var environment = place(shell().environment("NAMED", "yes"), "s")
                .command(NATIVE, false, Optional.empty())
                .environment();
        assertThat(environment)
                .containsEntry("NAMED", "yes")
                .containsEntry("LC_ALL", "C")
                .containsEntry("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1")
                .doesNotContainKeys("ANTHROPIC_API_KEY", "CLAUDECODE", "NODE_OPTIONS", "SECRET", "CLAUDE_CONFIG_DIR");
        assertThatThrownBy(() -> shell().environment("NODE_OPTIONS", "x")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> shell().environment("A=B", "x")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @Tag("BX-03")
    void inference_isAPair() {
        var environment = place(shell().inference("http://127.0.0.1:1", "key"), "s")
                .command(NATIVE, false, Optional.empty())
                .environment();
        assertThat(environment)
                .containsEntry("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
                .containsEntry("ANTHROPIC_API_KEY", "key");
        assertThatThrownBy(() -> shell().inference("http://x", " ")).isInstanceOf(IllegalArgumentException.class);
        assertThat(new ClaudeCodeAgent.Inference("http://x", "geheim").toString())
                .doesNotContain("geheim");
    }

    // ---- directories

    @Test
    @Tag("HS-20")
    void configuration_withCredentialsOfOurs_isPrivateToTheSession() throws IOException {
        var agent = shell().inference("http://x", "key");
        var command = place(agent, "Ab").command(NATIVE, false, Optional.empty());
        Path config = Path.of(command.environment().get("CLAUDE_CONFIG_DIR"));
        assertThat(config)
                .startsWith(home)
                .isNotEqualTo(Path.of(place(agent, "ab")
                        .command(NATIVE, false, Optional.empty())
                        .environment()
                        .get("CLAUDE_CONFIG_DIR")));
        assertThat(Files.getPosixFilePermissions(config)).hasSize(3);
        assertThat(place(agent, "Ab").sharedConfigDirectory()).isEmpty();
        assertThat(command.workingDirectory()).isDirectory();
    }

    @Test
    @Tag("HS-20")
    void configuration_ofTheAgentsOwnLogin_isShared() {
        assertThat(place(shell(), "s").sharedConfigDirectory()).contains(home.resolve(".claude"));
        host.put("CLAUDE_CONFIG_DIR", "/elsewhere");
        assertThat(place(shell(), "s").sharedConfigDirectory()).contains(Path.of("/elsewhere"));
        assertThat(place(shell().configDirectory(home.resolve("c")), "s").sharedConfigDirectory())
                .contains(home.resolve("c"));
    }

    @Test
    void workingDirectory_missing_isNamed() {
        assertThatThrownBy(() -> place(shell().workingDirectory(home.resolve("no")), "s")
                        .command(NATIVE, false, Optional.empty()))
                .isInstanceOf(CannotStart.class)
                .hasMessageContaining(home.resolve("no").toString());
    }

    // ---- the record

    @Test
    void record_missing_isSaidSo() {
        assertThat(ask(place(shell(), "s"))).isEqualTo(Knowledge.nothing());
        assertThat(place(shell(), "s").knowledge(new KnowledgeQuestion(Optional.empty(), List.of(), List.of())))
                .isEqualTo(Knowledge.nothing());
    }

    @Test
    void record_underTheFolderOfTheWorkingDirectory_isRead() throws IOException {
        Path work = Files.createDirectories(home.resolve("a.b_c ünï😀"));
        var place = place(shell().workingDirectory(work), "s");
        String folder = home.toRealPath().toString().replaceAll("[/.]", "-").replace('_', '-') + "-a-b-c--n---";
        writeRecord(home.resolve(".claude"), folder);
        assertThat(AgentPlace.folderName(work.toRealPath())).isEqualTo(folder);
        assertThat(ask(place).record()).isEqualTo(RecordState.PRESENT);
    }

    @Test
    void record_ofAVeryLongPath_isFoundByItsBeginning() throws IOException {
        Path work = Files.createDirectories(home.resolve("x".repeat(120)).resolve("y".repeat(120)));
        var place = place(shell().workingDirectory(work), "s");
        assertThat(ask(place).record()).isEqualTo(RecordState.MISSING);
        writeRecord(
                home.resolve(".claude"),
                AgentPlace.folderName(work.toRealPath()).substring(0, 200) + "-exb0ef");
        assertThat(ask(place).record()).isEqualTo(RecordState.PRESENT);
    }

    @Test
    void record_behindALinkedWorkingDirectory_isThatOfTheTarget() throws IOException {
        Path work = Files.createDirectories(home.resolve("real"));
        Path link = Files.createSymbolicLink(home.resolve("link"), work);
        writeRecord(home.resolve(".claude"), AgentPlace.folderName(work.toRealPath()));
        assertThat(ask(place(shell().workingDirectory(link), "s")).record()).isEqualTo(RecordState.PRESENT);
    }

    @Test
    void record_unreadable_isDamage() throws IOException {
        Path work = Files.createDirectories(home.resolve("w"));
        Path file = writeRecord(home.resolve(".claude"), AgentPlace.folderName(work.toRealPath()));
        Files.delete(file);
        Files.createFile(file);
        assertThat(ask(place(shell().workingDirectory(work), "s")).record()).isEqualTo(RecordState.DAMAGED);
    }

    @Test
    void record_bytesThatAreNoText_spoilTheirLineOnly() throws IOException {
        Path work = Files.createDirectories(home.resolve("w"));
        Path file = writeRecord(home.resolve(".claude"), AgentPlace.folderName(work.toRealPath()));
        Files.write(
                file,
                new byte[] {(byte) 0xC3, 0x28, '\n', 0, 1, 2, (byte) 0xFF},
                java.nio.file.StandardOpenOption.APPEND);
        assertThat(ask(place(shell().workingDirectory(work), "s")).record()).isEqualTo(RecordState.PRESENT);
    }

    @Test
    void fileName_keepsSessionsApartWhereCaseIsLost() {
        assertThat(AgentPlace.fileName("Ab.c-1_x")).isEqualTo("=ab.c-1_x");
        assertThat(AgentPlace.fileName("ab")).isNotEqualToIgnoringCase(AgentPlace.fileName("AB"));
    }

    @Test
    void recordLines_overTheLimit_comeOutEmptyAndLaterOnesWhole() {
        var lines = new RecordLines(new java.io.StringReader("abc\n" + "x".repeat(50_000) + "\nde\n\nlast"), 10);
        assertThat(lines).containsExactly("abc", "", "de", "", "last");
    }
}
