package dev.holdfast.cli;

import dev.holdfast.SessionName;
import dev.holdfast.SessionSummary;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParentCommand;

/** {@code holdfast ps}: the sessions of a store, also while another process runs them. */
@Command(name = "ps", description = "Lists the sessions, also while another process runs them.")
final class PsCommand implements Callable<Integer> {
    private static final int PAGE = 500;
    private static final int WORDS = 60;

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private Main main;

    @Override
    public Integer call() {
        var globals = main.globals();
        GlobalOptions.logNowhere();
        var screen = globals.screen();
        List<SessionSummary> sessions;
        try (var store = globals.store().read()) {
            sessions = all(store);
        }
        var host = HostSeen.of(globals);
        if (screen.json()) {
            sessions.forEach(s -> screen.object(members(s, host)));
            return Exit.OK;
        }
        if (sessions.isEmpty()) {
            screen.line(Screen.Style.PLAIN, "No sessions in " + globals.data() + ". Try: holdfast chat NAME");
            return Exit.OK;
        }
        int width = Math.max(
                7,
                sessions.stream().mapToInt(s -> s.name().value().length()).max().orElse(0));
        int states = Math.max(
                5,
                sessions.stream().mapToInt(s -> state(s, host).length()).max().orElse(0));
        screen.line(
                Screen.Style.BOLD,
                Screen.padded("SESSION", width) + "  " + Screen.padded("STATE", states) + "  QUEUE  LAST WORDS");
        for (SessionSummary s : sessions) {
            screen.line(Screen.padded(s.name().value(), width) + "  "
                    + screen.styled(style(s, host), Screen.padded(state(s, host), states)) + "  "
                    + Screen.padded(Long.toString(s.unread()), 5) + "  "
                    + TerminalText.line(s.summary().lastWords(), WORDS));
        }
        if (!host.words().isEmpty()) {
            screen.blank();
            screen.line(Screen.Style.DIM, host.words());
        }
        return Exit.OK;
    }

    private static List<SessionSummary> all(dev.holdfast.JournalReader store) {
        var all = new ArrayList<SessionSummary>();
        Optional<SessionName> after = Optional.empty();
        while (true) {
            var page = Waiting.on(store.sessions(after, PAGE));
            if (page.isEmpty()) {
                return all;
            }
            all.addAll(page);
            after = Optional.of(page.getLast().name());
        }
    }

    /** The state in words: a turn is run only by a host. */
    static String state(SessionSummary s, HostSeen host) {
        String reason = TerminalText.line(s.summary().phaseReason(), 40);
        return switch (s.summary().phase()) {
            case "CLOSED" -> "closed";
            case "PARKED" -> "parked: " + reason;
            case "PAUSED" -> reason.isEmpty() ? "paused" : "paused: " + reason;
            case "DRAINING" -> "draining";
            default -> {
                if (s.openTurn().isPresent()) {
                    yield host.works(s.name())
                            ? "in turn " + s.openTurn().getAsLong()
                            : "turn " + s.openTurn().getAsLong() + " unfinished";
                }
                yield s.unread() > 0 ? "waiting" : s.seq() == 0 ? "new" : "idle";
            }
        };
    }

    private static Screen.Style style(SessionSummary s, HostSeen host) {
        return switch (s.summary().phase()) {
            case "CLOSED" -> Screen.Style.DIM;
            case "PARKED", "PAUSED", "DRAINING" -> Screen.Style.YELLOW;
            default ->
                s.openTurn().isEmpty()
                        ? Screen.Style.PLAIN
                        : host.works(s.name()) ? Screen.Style.GREEN : Screen.Style.YELLOW;
        };
    }

    static Map<String, Object> members(SessionSummary s, HostSeen host) {
        var members = new LinkedHashMap<String, Object>();
        members.put("session", s.name().value());
        members.put("state", state(s, host));
        members.put(
                "phase", s.summary().phase().isEmpty() ? "OPEN" : s.summary().phase());
        members.put("phase_reason", s.summary().phaseReason());
        members.put("queue", s.unread());
        s.openTurn().ifPresent(turn -> members.put("open_turn", turn));
        s.summary().turnSince().ifPresent(at -> members.put("turn_since", at.toString()));
        members.put("messages", s.lastArrival());
        members.put("events", s.seq());
        s.summary().costMicros().ifPresent(micros -> members.put("cost_micros", micros));
        members.put("last_words", s.summary().lastWords());
        host.pid().ifPresent(pid -> members.put("host", pid));
        return members;
    }
}
