package dev.holdfast.testkit;

import java.io.IOException;
import java.util.List;

/**
 * The process that {@link ScriptedAgent} starts: reads the command line, opens or resumes the session, then reads on
 * this thread while turns run on another. Needs nothing but the JDK's base module on its class path.
 */
public final class ScriptedAgentMain {
    private ScriptedAgentMain() {}

    /**
     * Plays the agent until its input ends or it is killed; never returns.
     *
     * @param arguments the flags of the real command line
     * @throws IOException when the standard input cannot be read
     */
    public static void main(String[] arguments) throws IOException {
        AgentMachine machine = new AgentMachine();
        AgentProfile profile = AgentProfile.parse(machine.setting("PROFILE"));
        AgentFlags flags;
        try {
            flags = AgentFlags.of(List.of(arguments));
        } catch (AgentFlags.Refused refused) {
            refuse(machine, String.valueOf(refused.getMessage()));
            return;
        }
        if (flags.wantsVersion()) {
            String line = profile.version() + " (Claude Code)\n";
            new AgentOutput(machine).raw(line.getBytes(java.nio.charset.StandardCharsets.UTF_8));
            machine.end(0);
        }
        AgentParts parts = open(machine, profile, flags);
        for (Directive step : parts.scenario.atStart()) {
            parts.faults.perform(step, new Turn(0));
        }
        machine.onTerm(() -> parts.exit(143));
        machine.thread("turns", () -> new AgentTurns(parts).run());
        new AgentReader(parts).run();
        machine.pause(Long.MAX_VALUE / 2_000_000);
    }

    private static AgentParts open(AgentMachine machine, AgentProfile profile, AgentFlags flags) {
        Scenario scenario = Scenario.at(machine.setting("SCENARIO"));
        String resumed = flags.value("--resume", "");
        boolean forks = flags.forks() || profile.has(AgentQuirk.NEW_ID_ON_RESUME);
        boolean fresh = resumed.isEmpty() || forks;
        String id = fresh ? flags.value("--session-id", machine.uuid()) : resumed;
        if (!isUuid(id)) {
            refuse(machine, "Error: Invalid session ID. Must be a valid UUID.");
        }
        AgentParts parts = new AgentParts(machine, profile, flags, scenario, id);
        if (fresh && parts.record().exists()) {
            refuse(machine, "Error: Session ID " + id + " is already in use.");
        }
        if (!resumed.isEmpty()) {
            SessionRecord old = parts.recordOf(resumed);
            List<Json> lines = old.exists() ? old.read() : List.of();
            if (!holdsAMessage(lines)) {
                unknown(parts, resumed);
            }
            parts.memory().resume(lines, forks);
            parts.ledger.carry(parts.memory().costBefore());
        }
        return parts;
    }

    private static boolean holdsAMessage(List<Json> lines) {
        for (Json line : lines) {
            if (line.text("type", "").equals("user")) {
                return true;
            }
        }
        return false;
    }

    private static boolean isUuid(String id) {
        if (id.length() != 36) {
            return false;
        }
        for (int at = 0; at < id.length(); at++) {
            boolean dash = at == 8 || at == 13 || at == 18 || at == 23;
            if (dash ? id.charAt(at) != '-' : Character.digit(id.charAt(at), 16) < 0) {
                return false;
            }
        }
        return true;
    }

    private static void unknown(AgentParts parts, String id) {
        String why = "No conversation found with session ID: " + id;
        parts.output.frame(Json.object()
                .with("type", "result")
                .with("subtype", "error_during_execution")
                .with("is_error", true)
                .with("duration_ms", 0)
                .with("num_turns", 0)
                .with("stop_reason", Json.Nil.NIL)
                .with("session_id", parts.machine.uuid())
                .with("total_cost_usd", 0)
                .with("permission_denials", Json.array())
                .with("errors", Json.texts(List.of(why)))
                .with("uuid", parts.machine.uuid()));
        refuse(parts.machine, why);
    }

    private static void refuse(AgentMachine machine, String why) {
        machine.complain(why);
        machine.end(1);
    }
}
