package dev.holdfast.cli;

import dev.holdfast.SessionName;
import dev.holdfast.SessionSummary;
import dev.holdfast.journal.SqliteJournal;
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
        var common = main.common();
        common.logNowhere();
        var screen = common.screen();
        List<SessionSummary> sessions;
        try (var store = SqliteJournal.readOnly(common.data())) {
            sessions = all(store);
        }
        if (screen.json()) {
            sessions.forEach(s -> screen.object(members(s)));
            return Exit.OK;
        }
        if (sessions.isEmpty()) {
            screen.line(Screen.Style.PLAIN, "No sessions in " + common.data() + ". Try: holdfast chat NAME");
            return Exit.OK;
        }
        int width = Math.max(
                7,
                sessions.stream().mapToInt(s -> s.name().value().length()).max().orElse(0));
        int states = Math.max(
                5, sessions.stream().mapToInt(s -> state(s).length()).max().orElse(0));
        screen.line(
                Screen.Style.BOLD,
                Screen.padded("SESSION", width) + "  " + Screen.padded("STATE", states) + "  QUEUE  LAST WORDS");
        for (SessionSummary s : sessions) {
            screen.line(Screen.padded(s.name().value(), width) + "  "
                    + screen.styled(style(s), Screen.padded(state(s), states)) + "  "
                    + Screen.padded(Long.toString(s.unread()), 5) + "  "
                    + TerminalText.line(s.summary().lastWords(), WORDS));
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

    /** The state in words. */
    static String state(SessionSummary s) {
        return switch (s.summary().phase()) {
            case "CLOSED" -> "closed";
            case "PARKED" -> "parked: " + TerminalText.line(s.summary().phaseReason(), 40);
            default ->
                s.openTurn().isPresent()
                        ? "in turn " + s.openTurn().getAsLong()
                        : s.unread() > 0 ? "waiting" : s.seq() == 0 ? "new" : "idle";
        };
    }

    private static Screen.Style style(SessionSummary s) {
        return switch (s.summary().phase()) {
            case "CLOSED" -> Screen.Style.DIM;
            case "PARKED" -> Screen.Style.YELLOW;
            default -> s.openTurn().isPresent() ? Screen.Style.GREEN : Screen.Style.PLAIN;
        };
    }

    static Map<String, Object> members(SessionSummary s) {
        var members = new LinkedHashMap<String, Object>();
        members.put("session", s.name().value());
        members.put("state", state(s));
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
        return members;
    }
}
