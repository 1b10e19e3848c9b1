package dev.holdfast.cli;

import dev.holdfast.JournalReader;
import dev.holdfast.SessionName;
import dev.holdfast.StoredEvent;
import dev.holdfast.core.Event;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** {@code holdfast events}: what the journal recorded of a session, each event once and in order. */
@Command(
        name = "events",
        description =
                "Lists a session's committed events, also while another process runs it. With --json all of them.")
final class EventsCommand implements Callable<Integer> {
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final int PAGE = 500;
    private static final Duration POLL = Duration.ofMillis(200);

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private Main main;

    @Parameters(paramLabel = "NAME", description = "The session.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private String session;

    @Option(names = "--after", paramLabel = "SEQ", description = "Only those after this sequence number.")
    private long after;

    @Option(names = "--all", description = "Also the steps in which processes are stopped, which say little to people.")
    private boolean all;

    @Option(names = "--follow", description = "Goes on with new ones until Ctrl-C.")
    private boolean follow;

    @Override
    public Integer call() {
        var globals = main.globals();
        GlobalOptions.logNowhere();
        var screen = globals.screen();
        var name = GlobalOptions.name(session);
        if (after < 0) {
            throw new CommandFailed(Exit.USAGE, "usage", "--after " + after + " is negative; 0 lists all events");
        }
        try (var store = globals.store().read()) {
            ShowCommand.known(name, store);
            long seen = print(name, after, store, screen);
            if (!follow) {
                return Exit.OK;
            }
            try (var departure = Departure.atOnce()) {
                while (departure.within(POLL).isEmpty()) {
                    seen = print(name, seen, store, screen);
                }
                return departure.asked().join();
            }
        }
    }

    private long print(SessionName name, long after, JournalReader store, Screen screen) {
        long seen = after;
        while (true) {
            var page = Waiting.on(store.events(name, seen, PAGE));
            if (page.isEmpty()) {
                return seen;
            }
            for (StoredEvent stored : page) {
                if (screen.json()) {
                    screen.object(members(stored));
                } else if (all || !EventWords.isNoise(stored)) {
                    line(stored, screen);
                }
                seen = stored.seq();
            }
        }
    }

    private static void line(StoredEvent stored, Screen screen) {
        String words = EventWords.read(stored).map(EventWords::of).orElse("(written by a newer version)");
        String seq = Screen.number(stored.seq());
        screen.line(screen.styled(Screen.Style.DIM, seq + "  " + Times.full(stored.at()) + "  ")
                + screen.styled(style(stored), Screen.padded(stored.event().type(), 21))
                + " " + TerminalText.safe(words));
    }

    private static Screen.Style style(StoredEvent stored) {
        return switch (EventWords.read(stored).orElse(new Event.Noticed("", ""))) {
            case Event.TurnSettled e -> Screen.Style.GREEN;
            case Event.TurnOpened e -> Screen.Style.CYAN;
            case Event.IncarnationEnded e -> Screen.Style.YELLOW;
            case Event.PhaseChanged e -> Screen.Style.YELLOW;
            default -> Screen.Style.PLAIN;
        };
    }

    private static Map<String, Object> members(StoredEvent stored) {
        var members = new LinkedHashMap<String, Object>();
        members.put("seq", stored.seq());
        members.put("at", stored.at().toString());
        members.put("epoch", stored.epoch());
        members.put("type", stored.event().type());
        members.put("version", stored.event().version());
        stored.event().turn().ifPresent(turn -> members.put("turn", turn));
        try {
            members.put("body", JSON.readTree(stored.event().body()));
        } catch (JacksonException e) {
            members.put("unreadable", String.valueOf(e.getOriginalMessage()));
        }
        return members;
    }
}
