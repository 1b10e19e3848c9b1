package dev.holdfast.testkit;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The command line of the scripted agent, in the words of the real one. Built once, then only read. */
final class AgentFlags {
    private static final String VALUED = " --input-format --output-format --session-id --resume --tools --mcp-config"
            + " --allowedTools --allowed-tools --disallowedTools --disallowed-tools --permission-prompt-tool"
            + " --permission-mode --system-prompt --system-prompt-file --append-system-prompt"
            + " --append-system-prompt-file --model --fallback-model --setting-sources --settings --max-turns"
            + " --max-budget-usd --add-dir --effort --agents --betas --debug-file --plugin-dir --json-schema ";
    private static final String BARE = " -p --print --verbose --replay-user-messages --include-partial-messages"
            + " --strict-mcp-config --fork-session --version -v --include-hook-events --debug"
            + " --disable-slash-commands --no-session-persistence --dangerously-skip-permissions ";

    /** A command line that the agent refuses; the message is what it prints. */
    static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Refused(String message) {
            super(message);
        }
    }

    private final Map<String, List<String>> values = new HashMap<>();

    private AgentFlags() {}

    static AgentFlags of(List<String> arguments) {
        AgentFlags flags = new AgentFlags();
        for (int at = 0; at < arguments.size(); at++) {
            String argument = arguments.get(at);
            int equals = argument.startsWith("--") ? argument.indexOf('=') : -1;
            String name = equals < 0 ? argument : argument.substring(0, equals);
            if (VALUED.contains(" " + name + " ")) {
                if (equals < 0 && at + 1 >= arguments.size()) {
                    throw new Refused("error: option '" + name + "' argument missing");
                }
                flags.add(name, equals < 0 ? arguments.get(++at) : argument.substring(equals + 1));
            } else if (BARE.contains(" " + name + " ")) {
                flags.add(name, "");
            } else {
                throw new Refused("error: unknown option '" + name + "'");
            }
        }
        return flags;
    }

    private void add(String name, String value) {
        values.computeIfAbsent(name, unseen -> new ArrayList<>()).add(value);
    }

    boolean has(String name) {
        return values.containsKey(name);
    }

    String value(String name, String otherwise) {
        List<String> all = values.get(name);
        return all == null ? otherwise : all.getLast();
    }

    /** The comma separated names of a flag that may be given more than once; empty names left out. */
    List<String> names(String name) {
        List<String> names = new ArrayList<>();
        for (String value : values.getOrDefault(name, List.of())) {
            for (String one : AgentProfile.split(value, ',')) {
                if (!one.isBlank()) {
                    names.add(one.strip());
                }
            }
        }
        return names;
    }

    boolean wantsVersion() {
        return has("--version") || has("-v");
    }

    boolean replays() {
        return has("--replay-user-messages");
    }

    boolean streams() {
        return has("--include-partial-messages");
    }

    boolean asksTheHost() {
        return value("--permission-prompt-tool", "").equals("stdio");
    }

    boolean forks() {
        return has("--fork-session");
    }

    /** Zero when there is no limit. */
    long maxTurns() {
        return Long.parseLong(value("--max-turns", "0"));
    }

    /** A negative number when there is no limit. */
    double maxBudget() {
        return Double.parseDouble(value("--max-budget-usd", "-1"));
    }

    /** Whether the name is in {@code --allowedTools}; a rule for a whole server allows its tools. */
    boolean allows(String tool) {
        List<String> rules = names("--allowedTools");
        rules.addAll(names("--allowed-tools"));
        for (String rule : rules) {
            if (rule.equals(tool) || rule.equals("*") || tool.startsWith(rule + "__")) {
                return true;
            }
            if (rule.endsWith("*") && tool.startsWith(rule.substring(0, rule.length() - 1))) {
                return true;
            }
        }
        return has("--dangerously-skip-permissions")
                || value("--permission-mode", "").equals("bypassPermissions");
    }

    List<String> disallowed() {
        List<String> names = names("--disallowedTools");
        names.addAll(names("--disallowed-tools"));
        return names;
    }

    /** The configuration itself, or what the file of this name holds. */
    private static String content(String config) {
        if (config.strip().startsWith("{")) {
            return config;
        }
        try {
            return Files.readString(Path.of(config), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new Refused("Error: MCP config file not found: " + config);
        }
    }

    /** The names of the servers that the host serves over the control channel. */
    List<String> hostServers() {
        List<String> names = new ArrayList<>();
        for (String config : values.getOrDefault("--mcp-config", List.of())) {
            if (Json.read(content(config)).at("mcpServers") instanceof Json.Obj servers) {
                for (Map.Entry<String, Json> server : servers.members().entrySet()) {
                    if (server.getValue().text("type", "").equals("sdk")) {
                        names.add(server.getKey());
                    }
                }
            }
        }
        return names;
    }
}
