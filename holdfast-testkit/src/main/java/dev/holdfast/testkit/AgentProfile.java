package dev.holdfast.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Which version of the command line a {@link ScriptedAgent} plays.
 *
 * @param version what {@code --version} and the init frame say
 * @param quirks how it behaves
 * @param recordDelay how long the record lags behind with {@link AgentQuirk#LATE_RECORD}; zero or more
 * @param pickUpDelay how long a message stays queued before its turn starts; zero or more
 * @param extraTools names that the init frame lists although nobody asked for them: a mismatch to be caught
 * @param hiddenTools names that the init frame leaves out although they were asked for
 */
public record AgentProfile(
        String version,
        Set<AgentQuirk> quirks,
        Duration recordDelay,
        Duration pickUpDelay,
        List<String> extraTools,
        List<String> hiddenTools) {

    /** A profile; the collections are copied. */
    public AgentProfile {
        if (version.isBlank()) {
            throw new IllegalArgumentException("The version is blank; give one such as 2.1.197");
        }
        if (recordDelay.isNegative() || pickUpDelay.isNegative()) {
            throw new IllegalArgumentException("A delay is negative: " + recordDelay + ", " + pickUpDelay);
        }
        quirks = Set.copyOf(quirks);
        extraTools = List.copyOf(extraTools);
        hiddenTools = List.copyOf(hiddenTools);
    }

    /** The older version, and a little worse: the default of every test that does not say otherwise. */
    public static AgentProfile v197() {
        return new AgentProfile(
                "2.1.197",
                EnumSet.of(
                        AgentQuirk.LATE_RECORD,
                        AgentQuirk.LATE_REPLAY,
                        AgentQuirk.HANDSHAKE_TWICE,
                        AgentQuirk.INTERRUPT_HITS_NEXT,
                        AgentQuirk.FORGETS_OPEN_CALL,
                        AgentQuirk.SWALLOWS_UNKNOWN_COMMANDS,
                        AgentQuirk.COMMANDS_WITHOUT_REPLAY,
                        AgentQuirk.FALSE_REPLAY,
                        AgentQuirk.FORK_HANGS_UNDER_OLD,
                        AgentQuirk.DISALLOW_ALL_HITS_MCP),
                Duration.ofMillis(100),
                Duration.ofMillis(5),
                List.of(),
                List.of());
    }

    /** The newer version. */
    public static AgentProfile v332() {
        return new AgentProfile(
                "2.1.332",
                EnumSet.of(
                        AgentQuirk.RECEIPTS,
                        AgentQuirk.LIFECYCLE,
                        AgentQuirk.CAPABILITIES,
                        AgentQuirk.COST_CARRIED,
                        AgentQuirk.REMINDERS,
                        AgentQuirk.ATTACHMENTS,
                        AgentQuirk.JOINS_WITH_BREAKS,
                        AgentQuirk.API_ERROR_REASON,
                        AgentQuirk.DENIAL_FRAMES,
                        AgentQuirk.STREAM_ENDS_AFTER_ABORT,
                        AgentQuirk.CONTINUES_BY_WORDS,
                        AgentQuirk.DISALLOW_ALL_HITS_MCP),
                Duration.ofMillis(100),
                Duration.ofMillis(8),
                List.of(),
                List.of());
    }

    /**
     * The same with one more quirk.
     *
     * @param quirk what to add
     * @return a new profile
     */
    public AgentProfile with(AgentQuirk quirk) {
        List<AgentQuirk> all = new ArrayList<>(quirks);
        all.add(quirk);
        return new AgentProfile(version, Set.copyOf(all), recordDelay, pickUpDelay, extraTools, hiddenTools);
    }

    /**
     * The same without one quirk.
     *
     * @param quirk what to take away
     * @return a new profile
     */
    public AgentProfile without(AgentQuirk quirk) {
        List<AgentQuirk> all = new ArrayList<>(quirks);
        all.remove(quirk);
        return new AgentProfile(version, Set.copyOf(all), recordDelay, pickUpDelay, extraTools, hiddenTools);
    }

    /**
     * The same with another delay of the record.
     *
     * @param delay zero or more
     * @return a new profile
     */
    public AgentProfile recordDelay(Duration delay) {
        return new AgentProfile(version, quirks, delay, pickUpDelay, extraTools, hiddenTools);
    }

    /**
     * The same with another pause before each turn; zero for measurements.
     *
     * @param delay zero or more
     * @return a new profile
     */
    public AgentProfile pickUpDelay(Duration delay) {
        return new AgentProfile(version, quirks, recordDelay, delay, extraTools, hiddenTools);
    }

    /**
     * The same with tools that nobody asked for.
     *
     * @param names as the init frame would list them
     * @return a new profile
     */
    public AgentProfile extraTools(String... names) {
        return new AgentProfile(version, quirks, recordDelay, pickUpDelay, List.of(names), hiddenTools);
    }

    /**
     * The same with tools missing that were asked for.
     *
     * @param names as the init frame would list them
     * @return a new profile
     */
    public AgentProfile hiddenTools(String... names) {
        return new AgentProfile(version, quirks, recordDelay, pickUpDelay, extraTools, List.of(names));
    }

    boolean has(AgentQuirk quirk) {
        return quirks.contains(quirk);
    }

    /** One word for the command line of the child; {@link #parse} reads it. */
    String encode() {
        List<String> names = new ArrayList<>();
        for (AgentQuirk quirk : quirks) {
            names.add(quirk.name());
        }
        names.sort(String::compareTo);
        return version + ";" + String.join(",", names) + ";" + recordDelay.toMillis() + ";" + pickUpDelay.toMillis()
                + ";" + String.join(",", extraTools) + ";" + String.join(",", hiddenTools);
    }

    /** Reads what {@link #encode} wrote; a bare version names one of the two known ones. */
    static AgentProfile parse(String encoded) {
        if (encoded.isEmpty() || encoded.equals("2.1.197")) {
            return v197();
        }
        if (encoded.equals("2.1.332")) {
            return v332();
        }
        List<String> parts = split(encoded, ';');
        if (parts.size() != 6) {
            throw new IllegalArgumentException(
                    "No such profile: " + encoded + "; use 2.1.197, 2.1.332 or what a ScriptedAgent wrote");
        }
        EnumSet<AgentQuirk> quirks = EnumSet.noneOf(AgentQuirk.class);
        for (String name : list(parts.get(1))) {
            quirks.add(AgentQuirk.valueOf(name));
        }
        return new AgentProfile(
                parts.get(0),
                quirks,
                Duration.ofMillis(Long.parseLong(parts.get(2))),
                Duration.ofMillis(Long.parseLong(parts.get(3))),
                list(parts.get(4)),
                list(parts.get(5)));
    }

    private static List<String> list(String joined) {
        return joined.isEmpty() ? List.of() : split(joined, ',');
    }

    static List<String> split(String text, char separator) {
        List<String> parts = new ArrayList<>();
        int from = 0;
        for (int at = text.indexOf(separator); at >= 0; at = text.indexOf(separator, from)) {
            parts.add(text.substring(from, at));
            from = at + 1;
        }
        parts.add(text.substring(from));
        return parts;
    }
}
