package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** As many agents as a host must hold at once, each a process of its own, all answering. */
@Tag("slow")
class ManyScriptedAgentsTest {
    private static final int AGENTS = 300;

    @TempDir
    private Path home;

    @Test
    void scriptedAgents_threeHundredAtOnce_allAnswer() throws IOException, InterruptedException {
        List<Process> agents = new ArrayList<>();
        List<String> command = ScriptedAgent.of(AgentProfile.v197()).command();
        command.addAll(List.of("-p", "--input-format=stream-json", "--output-format=stream-json", "--tools="));
        try {
            for (int i = 0; i < AGENTS; i++) {
                ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
                builder.redirectOutput(home.resolve("out" + i).toFile());
                builder.environment().clear();
                builder.environment().put("HOME", home.toString());
                Process agent = builder.start();
                agents.add(agent);
                Json message = Json.object().with("role", "user").with("content", "hello " + i);
                Json line = Json.object().with("type", "user").with("message", message);
                agent.outputWriter().append(line.write()).append("\n").flush();
            }
            long largest = 0;
            for (Process agent : agents) {
                largest = Math.max(largest, residentKilobytes(agent.pid()));
            }
            for (int i = 0; i < AGENTS; i++) {
                agents.get(i).getOutputStream().close();
                assertThat(agents.get(i).waitFor(2, TimeUnit.MINUTES)).isTrue();
                assertThat(Files.readString(home.resolve("out" + i))).contains("\"result\":\"echo: hello " + i + "\"");
            }
            assertThat(largest).as("resident kilobytes of the largest").isBetween(1L, 70_000L);
        } finally {
            agents.forEach(Process::destroyForcibly);
        }
    }

    private static long residentKilobytes(long pid) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc", Long.toString(pid), "status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        return 0;
    }
}
