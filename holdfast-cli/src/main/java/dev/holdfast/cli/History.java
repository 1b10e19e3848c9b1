package dev.holdfast.cli;

import dev.holdfast.Arrival;
import dev.holdfast.JournalReader;
import dev.holdfast.JournalReader.Selection;
import dev.holdfast.Outcome;
import dev.holdfast.SessionName;
import dev.holdfast.StoredEvent;
import dev.holdfast.core.Event;
import dev.holdfast.core.Taken;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The conversation of a session, from the journal.
 *
 * @param entries the newest messages, in the order in which they were accepted
 * @param earlier how many older ones were left out
 */
record History(List<Entry> entries, long earlier) {
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final int PAGE = 500;

    History {
        entries = List.copyOf(entries);
    }

    /** A message and its terminal records: exactly one when it is done. */
    record Entry(long number, Instant at, String author, String surface, String text, List<Ending> endings) {
        Entry {
            endings = List.copyOf(endings);
        }
    }

    /**
     * A terminal record.
     *
     * @param turn 0 when it never had one
     * @param first the first of its turn's messages, under which the answer stands
     */
    record Ending(long seq, Instant at, long turn, long first, Outcome outcome, String text, String detail) {}

    /** Reads the last {@code count} messages. */
    static History last(int count, SessionName session, JournalReader journal) {
        var endings = endings(session, journal);
        var entries = new ArrayList<Entry>();
        long after = 0;
        long seen = 0;
        while (true) {
            var page = Waiting.on(journal.arrivals(session, after, PAGE, Selection.WITH_BODIES));
            if (page.isEmpty()) {
                return new History(entries, seen - entries.size());
            }
            for (Arrival arrival : page) {
                after = arrival.number();
                if (!arrival.kind().speaks()) {
                    continue;
                }
                seen++;
                entries.add(entry(arrival, endings.getOrDefault(arrival.number(), List.of())));
                if (entries.size() > count) {
                    entries.removeFirst();
                }
            }
        }
    }

    private static Entry entry(Arrival arrival, List<Ending> endings) {
        String author = "";
        String surface = "";
        try {
            var label = JSON.readTree(arrival.header());
            author = label.path("author").asString("");
            surface = label.path("surface").asString("");
        } catch (JacksonException unreadable) {
            author = "?";
        }
        var text = new String(arrival.body(), StandardCharsets.UTF_8);
        return new Entry(arrival.number(), arrival.acceptedAt(), author, surface, text, endings);
    }

    /** Every terminal record, by message. */
    static Map<Long, List<Ending>> endings(SessionName session, JournalReader journal) {
        var endings = new LinkedHashMap<Long, List<Ending>>();
        long after = 0;
        while (true) {
            var page = Waiting.on(journal.events(session, after, PAGE));
            if (page.isEmpty()) {
                return endings;
            }
            for (StoredEvent stored : page) {
                after = stored.seq();
                EventWords.read(stored).ifPresent(event -> add(stored, event, endings));
            }
        }
    }

    private static void add(StoredEvent stored, Event event, Map<Long, List<Ending>> endings) {
        switch (event) {
            case Event.TurnSettled e -> {
                for (Taken message : e.messages()) {
                    long first = e.messages().getFirst().number();
                    endings.computeIfAbsent(message.number(), n -> new ArrayList<>())
                            .add(new Ending(
                                    stored.seq(), stored.at(), e.turn(), first, e.outcome(), e.text(), e.detail()));
                }
            }
            case Event.MessageEnded e ->
                endings.computeIfAbsent(e.message().number(), n -> new ArrayList<>())
                        .add(new Ending(
                                stored.seq(), stored.at(), 0, e.message().number(), e.outcome(), "", e.why()));
            default -> {}
        }
    }

    /** Prints it for a person. */
    void print(Screen screen) {
        if (earlier > 0) {
            screen.line(Screen.Style.DIM, "(" + earlier + " earlier messages)");
        }
        for (Entry entry : entries) {
            screen.line(screen.styled(Screen.Style.BOLD, label(entry.author())) + screen.setIn(7, entry.text()));
            if (entry.endings().isEmpty()) {
                screen.line(Screen.Style.YELLOW, "       (message " + entry.number() + ", not answered yet)");
            }
            for (Ending ending : entry.endings()) {
                print(ending, entry.number(), screen);
            }
        }
    }

    /** Who speaks: the author that the command itself sends as is the reader. */
    private static String label(String author) {
        String who = author.equals(SendCommand.AUTHOR) ? "you" : TerminalText.line(author, 64);
        return Screen.padded(who, 6) + " ";
    }

    private static void print(Ending ending, long number, Screen screen) {
        if (ending.first() != number) {
            screen.line(Screen.Style.DIM, "       (answered together with message " + ending.first() + ")");
            return;
        }
        if (!ending.text().isBlank()) {
            screen.line(screen.styled(Screen.Style.CYAN, "agent  ") + screen.setIn(7, ending.text()));
        }
        if (ending.outcome() != Outcome.ANSWERED) {
            String words = EventWords.ending(ending.outcome(), ending.detail());
            screen.line(Screen.Style.YELLOW, "       (" + words + ")");
        }
    }

    /** The numbers of the messages that wait for their end. */
    List<Long> open() {
        return entries.stream()
                .filter(e -> e.endings().isEmpty())
                .map(Entry::number)
                .toList();
    }

    static Optional<Ending> only(List<Ending> endings) {
        return endings.size() == 1 ? Optional.of(endings.getFirst()) : Optional.empty();
    }
}
