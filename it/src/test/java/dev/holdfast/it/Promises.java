package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Arrival;
import dev.holdfast.JournalReader;
import dev.holdfast.Outcome;
import dev.holdfast.SessionName;
import dev.holdfast.StoredEvent;
import dev.holdfast.core.Event;
import dev.holdfast.core.Taken;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.runtime.EventCodec;
import dev.holdfast.testkit.Conversation;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.awaitility.Awaitility;

/**
 * The promises, looked at from outside: what the model was shown last, what the journal says, which processes live. The
 * first word of every message is its key and its marker, and occurs nowhere else.
 */
final class Promises {
    private static final SessionName SESSION = new SessionName(HostMain.SESSION);

    private final Path data;
    private final Contender.Mind mind;
    private final Map<String, String> texts = new LinkedHashMap<>();
    private final Set<String> steered = new HashSet<>();
    private final Map<String, List<Outcome>> expected = new HashMap<>();
    private final EventCodec codec = new EventCodec();

    Promises(Path data, Contender.Mind mind) {
        this.data = data;
        this.mind = mind;
    }

    void sent(String key, String text) {
        texts.put(key, text);
    }

    void steered(String key, String text) {
        steered.add(key);
        texts.put(key, text);
    }

    /** The ends a message may have when it need not be answered. */
    void expect(String key, Outcome... outcomes) {
        expected.put(key, List.of(outcomes));
    }

    private List<Outcome> expected(String key) {
        return expected.getOrDefault(key, List.of(Outcome.ANSWERED));
    }

    Conversation lastConversation() {
        var all = mind.conversations();
        assertThat(all).as("calls of the model").isNotEmpty();
        return all.getLast();
    }

    /** P2: in what the model was shown last, every message whose turn was opened stands once, in the order of acceptance. */
    void everyMessageStandsOnceInOrder() {
        var last = lastConversation();
        var words = last.userTexts();
        String all = String.join("\n", words);
        var opened = told(Set.of(Event.TurnOpened.class, Event.SteerLanded.class));
        int before = -1;
        for (String key : texts.keySet()) {
            int times = opened.contains(key) ? 1 : 0;
            assertThat(last.count(key))
                    .as("times that the model is shown %s, in %s", key, words)
                    .isEqualTo(times);
            if (times == 1) {
                assertThat(all.indexOf(key))
                        .as("the place of %s, in %s", key, words)
                        .isGreaterThan(before);
                before = all.indexOf(key);
            }
        }
    }

    /** Keys of the messages that events of these types name. */
    private Set<String> told(Set<Class<? extends Event>> types) {
        var keys = new HashSet<String>();
        try (var journal = SqliteJournal.readOnly(data)) {
            var byNumber = new HashMap<Long, String>();
            for (Arrival arrival : arrivals(journal)) {
                if (!arrival.kind().urgent()) {
                    byNumber.put(arrival.number(), keyOf(text(arrival)));
                }
            }
            for (StoredEvent stored : events(journal)) {
                var event = codec.decode(stored);
                if (types.contains(event.getClass())) {
                    messages(event).forEach(message -> keys.add(byNumber.getOrDefault(message.number(), "?")));
                }
            }
        }
        return keys;
    }

    private static List<Taken> messages(Event event) {
        return switch (event) {
            case Event.TurnOpened e -> e.messages();
            case Event.SteerLanded e -> List.of(e.message());
            case Event.TurnSettled e -> e.messages();
            case Event.MessageEnded e -> List.of(e.message());
            default -> List.of();
        };
    }

    private static String text(Arrival arrival) {
        return new String(arrival.body(), StandardCharsets.UTF_8);
    }

    /** P2, IN-22: one terminal record for every message, and one event that names every other arrival. */
    void everyMessageHasOneEnd() {
        var ends = new HashMap<Long, List<Outcome>>();
        var done = new HashMap<Long, Integer>();
        try (var journal = SqliteJournal.readOnly(data)) {
            long seq = 0;
            for (StoredEvent stored : events(journal)) {
                assertThat(stored.seq()).as("sequence without a gap").isEqualTo(++seq);
                var event = codec.decode(stored);
                switch (event) {
                    case Event.TurnSettled e -> e.messages().forEach(m -> add(ends, m, e.outcome()));
                    case Event.MessageEnded e -> add(ends, e.message(), e.outcome());
                    case Event.ArrivalDone e -> done.merge(e.number(), 1, Integer::sum);
                    case Event.InterruptAsked e -> done.merge(e.number(), 1, Integer::sum);
                    case Event.QuestionAnswered e -> done.merge(e.number(), 1, Integer::sum);
                    default -> {}
                }
            }
            for (Arrival arrival : arrivals(journal)) {
                if (arrival.kind().urgent()) {
                    assertThat(done.get(arrival.number()))
                            .as("events that name the %s %d", arrival.kind(), arrival.number())
                            .isEqualTo(1);
                } else {
                    String key = keyOf(text(arrival));
                    assertThat(ends.getOrDefault(arrival.number(), List.of()))
                            .as("ends of %s", key)
                            .hasSize(1);
                    assertThat(expected(key))
                            .as("the end of %s", key)
                            .contains(ends.get(arrival.number()).getFirst());
                }
            }
            assertThat(ends).as("messages that ended, of %s", texts.keySet()).hasSameSizeAs(texts);
        }
    }

    /** Whether as many messages have ended as were sent. */
    boolean everythingEnded() {
        long ended = events().stream()
                .mapToLong(event -> switch (event) {
                    case Event.TurnSettled e -> e.messages().size();
                    case Event.MessageEnded e -> 1;
                    default -> 0;
                })
                .sum();
        return ended >= texts.size();
    }

    private String keyOf(String text) {
        return texts.entrySet().stream()
                .filter(entry -> entry.getValue().equals(text))
                .findFirst()
                .orElseThrow(() -> new AssertionError("the journal holds what nobody sent: " + text))
                .getKey();
    }

    private static void add(Map<Long, List<Outcome>> ends, Taken message, Outcome outcome) {
        ends.computeIfAbsent(message.number(), n -> new ArrayList<>()).add(outcome);
    }

    /** Every event of the session, oldest first. */
    List<Event> events() {
        try (var journal = SqliteJournal.readOnly(data)) {
            return events(journal).stream().map(codec::decode).toList();
        }
    }

    private static List<StoredEvent> events(JournalReader journal) {
        var all = new ArrayList<StoredEvent>();
        while (true) {
            long after = all.isEmpty() ? 0 : all.getLast().seq();
            var page = journal.events(SESSION, after, 500).toCompletableFuture().join();
            if (page.isEmpty()) {
                return all;
            }
            all.addAll(page);
        }
    }

    private static List<Arrival> arrivals(JournalReader journal) {
        return journal.arrivals(SESSION, 0, 500, JournalReader.Selection.WITH_BODIES)
                .toCompletableFuture()
                .join();
    }

    /** P3: when an agent started, none of an older incarnation was alive. */
    void neverTwoAgents(List<List<String>> lines) {
        for (List<String> line : lines) {
            if (line.getFirst().equals("started")) {
                assertThat(line.get(2))
                        .as("older agents beside process " + line.get(1))
                        .isEmpty();
            }
        }
    }

    /** P2: whoever asks again under the same key is told of the same message and its end. */
    void sendersCanReadTheirEnds(HostUnderTest host) {
        int mark = host.mark();
        var sent = texts.keySet().stream().filter(key -> !steered.contains(key)).toList();
        sent.forEach(key -> host.command("send", key, texts.get(key)));
        for (String key : sent) {
            assertThat(host.awaitFrom(mark, "receipt", key).get(2)).isEqualTo("Duplicate");
            assertThat(expected(key))
                    .contains(Outcome.valueOf(host.awaitFrom(mark, "reply", key).get(2)));
        }
    }

    private String store() {
        try (var journal = SqliteJournal.at(data)) {
            return journal.storeId();
        }
    }

    /** L2: no process of this store is alive. */
    void nothingIsLeft() {
        String store = store();
        Awaitility.await("no process is left")
                .atMost(Duration.ofSeconds(12))
                .untilAsserted(() -> assertThat(TappedAgent.marked(store)).isEmpty());
    }

    /** After a test that failed. */
    void killLeftovers() {
        for (String line : TappedAgent.marked(store())) {
            ProcessHandle.of(Long.parseLong(line.split("=", 2)[0])).ifPresent(ProcessHandle::destroyForcibly);
        }
    }
}
