package dev.holdfast.claude;

import dev.holdfast.Attachment;
import dev.holdfast.Harness;
import dev.holdfast.Launch;
import dev.holdfast.ReportSink;
import dev.holdfast.process.ChildSpec;
import java.nio.file.Path;

/** Makes attachments of one agent description. Thread-safe. Closing ends every process it started. */
final class ClaudeHarness implements Harness, AutoCloseable {
    private final ClaudeCodeAgent agent;
    private final SpawnedAgents source = new SpawnedAgents();
    private final Background background = new SystemBackground();
    private final StartGate gate = new StartGate();
    private final MemoryGauge memory = MemoryGauge.ofThisMachine();
    private final StreamJson codec = new StreamJson(ChildSpec.DEFAULT_LINE_LIMIT);

    ClaudeHarness(ClaudeCodeAgent agent) {
        this.agent = agent;
    }

    @Override
    public String name() {
        return agent.harnessName();
    }

    @Override
    public Attachment attach(Launch launch, ReportSink sink) {
        var place = new AgentPlace(agent, launch, System.getenv(), codec);
        return new ClaudeAttachment(agent, launch, place, source, gate, background, codec, sink, memory);
    }

    @Override
    public void release(Path home) {
        source.release(home);
    }

    @Override
    public void close() {
        source.close();
    }
}
