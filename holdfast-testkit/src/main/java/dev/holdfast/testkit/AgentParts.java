package dev.holdfast.testkit;

import java.nio.file.Path;
import java.util.List;

/**
 * What the parts of one agent process share. The memory and the model change during its life, on the turn thread or
 * under a control request; the rest is fixed at the start.
 */
final class AgentParts {
    final AgentMachine machine;
    final AgentProfile profile;
    final AgentFlags flags;
    final Scenario scenario;
    final AgentOutput output;
    final AgentFrames frames;
    final HostChannel host;
    final AgentHooks hooks;
    final AgentInbox inbox;
    final AgentLedger ledger;
    final AgentFaults faults;
    private final Path projects;
    private volatile AgentMemory memory;
    private volatile SessionRecord record;
    private volatile String model;
    private volatile Turn turn = new Turn(0);
    private volatile boolean inTurn;
    private boolean abortNext;
    private volatile List<String> tools = List.of();
    private volatile Json servers = Json.array();

    AgentParts(AgentMachine machine, AgentProfile profile, AgentFlags flags, Scenario scenario, String sessionId) {
        this.machine = machine;
        this.profile = profile;
        this.flags = flags;
        this.scenario = scenario;
        this.output = new AgentOutput(machine);
        this.frames = new AgentFrames(machine, profile, flags);
        this.host = new HostChannel(machine, output, profile);
        this.hooks = new AgentHooks(this);
        this.inbox = new AgentInbox(machine, profile, () -> state("running"), this::idle);
        this.ledger = new AgentLedger(profile);
        this.faults = new AgentFaults(this);
        this.model = flags.value("--model", "claude-sonnet-4-5");
        this.projects = projects(machine);
        this.record = SessionRecord.of(projects, machine.workingDirectory(), sessionId);
        this.memory = freshMemory(sessionId);
    }

    private static Path projects(AgentMachine machine) {
        return configDirectory(machine).resolve("projects");
    }

    static Path configDirectory(AgentMachine machine) {
        String configured = machine.variable("CLAUDE_CONFIG_DIR");
        return configured.isEmpty() ? Path.of(machine.variable("HOME"), ".claude") : Path.of(configured);
    }

    private AgentMemory freshMemory(String sessionId) {
        SessionRecord written = record;
        return new AgentMemory(
                machine, profile, written, sessionId, machine.workingDirectory(), () -> flushLater(written));
    }

    private void flushLater(SessionRecord written) {
        machine.thread("record", () -> {
            machine.pause(profile.recordDelay().toMillis());
            written.flush();
        });
    }

    /** The record of some session of this working directory. */
    SessionRecord recordOf(String sessionId) {
        return SessionRecord.of(projects, machine.workingDirectory(), sessionId);
    }

    AgentMemory memory() {
        return memory;
    }

    SessionRecord record() {
        return record;
    }

    /** Forgets everything and goes on under a new session id. */
    void startOver(String sessionId) {
        record.flush();
        record = recordOf(sessionId);
        memory = freshMemory(sessionId);
    }

    String sessionId() {
        return memory.sessionId();
    }

    String model() {
        return model;
    }

    void model(String name) {
        model = name;
    }

    List<String> tools() {
        return tools;
    }

    Json servers() {
        return servers;
    }

    void tools(List<String> names, Json status) {
        tools = List.copyOf(names);
        servers = status;
    }

    /** The running turn, or the last one. */
    Turn turn() {
        return turn;
    }

    boolean isInTurn() {
        return inTurn;
    }

    synchronized void begin(Turn next) {
        turn = next;
        inTurn = true;
        if (abortNext) {
            abortNext = false;
            next.abort();
        }
    }

    synchronized void end() {
        inTurn = false;
    }

    /** What an interrupt hits: the running turn, in the older version else the next one. */
    synchronized void abort() {
        if (inTurn) {
            turn.abort();
        } else {
            abortNext = has(AgentQuirk.INTERRUPT_HITS_NEXT) && inbox.isBusy();
        }
    }

    private void idle() {
        synchronized (this) {
            abortNext = false;
        }
        state("idle");
    }

    boolean has(AgentQuirk quirk) {
        return profile.has(quirk);
    }

    void state(String state) {
        if (machine.variable("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS").equals("1")) {
            output.frame(frames.state(state, sessionId()));
        }
    }

    void lifecycle(String uuid, String state) {
        if (has(AgentQuirk.LIFECYCLE) && !uuid.isEmpty()) {
            output.frame(frames.lifecycle(uuid, state, sessionId()));
        }
    }

    void replay(String uuid, Json content) {
        if (flags.replays()) {
            output.frame(frames.replay(uuid, content, sessionId()));
        }
    }

    /** The orderly end: the record is written out first. */
    void exit(int code) {
        memory.close(ledger.total());
        machine.end(code);
    }
}
