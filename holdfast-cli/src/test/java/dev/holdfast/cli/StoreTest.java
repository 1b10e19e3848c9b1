package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code --store}: the same commands on a database, here a real server. */
final class StoreTest {
    private static EmbeddedPostgres server;

    @TempDir
    static Path shared;

    @TempDir
    Path data;

    @BeforeAll
    static void start() throws Exception {
        server = EmbeddedPostgres.builder()
                .setOverrideWorkingDirectory(shared.toFile())
                .start();
    }

    @AfterAll
    static void stop() throws Exception {
        server.close();
    }

    private static String url() {
        return "postgresql://postgres:postgres@localhost:" + server.getPort() + "/postgres";
    }

    private Ran run(String... arguments) {
        var all = new ArrayList<>(List.of(arguments));
        all.addAll(1, List.of("--store", url()));
        return Ran.command(data, all.toArray(String[]::new));
    }

    @Test
    void commands_workOnADatabase_andKeepOnlyTheHostsOwnInTheDirectory() {
        var ran = run("run", "--session", "a", "--agent", "scripted", "hello");
        assertThat(ran).isEqualTo(new Ran(Exit.OK, "echo: hello\n", ""));
        assertThat(data.resolve("journal.db")).doesNotExist();
        assertThat(data.resolve("holdfast.log")).exists();
        var sent = run("send", "a", "later");
        assertThat(sent.exit()).as(sent.err()).isZero();
        assertThat(sent.out()).contains("Accepted as message 2 of session a.");
        assertThat(run("ps").out()).contains("a        waiting");
        assertThat(run("show", "a").out()).contains("agent  echo: hello", "you    later");
        assertThat(run("events", "a").out()).contains("TurnSettled");

        Path file = data.resolve("a.session");
        assertThat(run("export", "a", file.toString()).exit()).isZero();
        Path local = data.resolve("local");
        assertThat(Ran.command(local, "import", file.toString()).exit()).isZero();
        assertThat(Ran.command(local, "show", "a").out()).contains("agent  echo: hello");
        assertThat(run("import", file.toString(), "--as", "back").exit()).isZero();
    }

    @Test
    void databaseWithoutAStore_isReadAsNone_andNothingIsMadeInIt() {
        String empty = url().replaceFirst("postgres$", "template1");
        for (int i = 0; i < 2; i++) {
            var listed = Ran.command(data, "ps", "--store", empty);
            assertThat(listed.exit()).as(listed.out() + listed.err()).isEqualTo(Exit.STORE);
            var sent = Ran.command(data, "send", "--store", empty, "a", "hello");
            assertThat(sent.exit()).as(sent.out() + sent.err()).isEqualTo(Exit.STORE);
        }
    }

    @Test
    void unreachableDatabase_exitsThreeWithoutItsPassword() {
        var ran = Ran.command(data, "ps", "--store", "postgresql://me:sesame@localhost:1/nowhere");
        assertThat(ran.exit()).as(ran.err()).isEqualTo(Exit.STORE);
        assertThat(ran.err()).doesNotContain("sesame", "\tat ");
    }

    @Test
    void name_hasNoSecrets() {
        for (String address : List.of(
                "postgresql://me:sesame@db.example/holdfast?password=sesame",
                "jdbc:postgresql://db.example/holdfast?user=me&password=sesame",
                "postgres://me@db.example/holdfast")) {
            var store = Store.of(Optional.of(address), data);
            assertThat(store.name()).isEqualTo("postgresql://db.example/holdfast");
            assertThat(store.toString()).doesNotContain("sesame");
        }
        assertThat(Store.of(Optional.empty(), data).name()).isEqualTo("sqlite");
    }
}
