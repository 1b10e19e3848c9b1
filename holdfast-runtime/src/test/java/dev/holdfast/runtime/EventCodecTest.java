package dev.holdfast.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.ArrivalKind;
import dev.holdfast.CallOutcome;
import dev.holdfast.CallRuling;
import dev.holdfast.DeliveryId;
import dev.holdfast.EventRecord;
import dev.holdfast.FeedEnd;
import dev.holdfast.JournalException;
import dev.holdfast.Limits;
import dev.holdfast.MessageId;
import dev.holdfast.Outcome;
import dev.holdfast.SnapshotRecord;
import dev.holdfast.StoredEvent;
import dev.holdfast.TurnMark;
import dev.holdfast.Usage;
import dev.holdfast.core.Approval;
import dev.holdfast.core.AskedCall;
import dev.holdfast.core.CallFacts;
import dev.holdfast.core.Core;
import dev.holdfast.core.Durable;
import dev.holdfast.core.Event;
import dev.holdfast.core.OpenCall;
import dev.holdfast.core.Phase;
import dev.holdfast.core.Taken;
import dev.holdfast.core.Told;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

/** Stored events and snapshots: what was written is read, and nothing is half-read. */
class EventCodecTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
    private static final DeliveryId LINE = new DeliveryId(new UUID(1, 2));
    private static final Taken MESSAGE = new Taken(3, new MessageId(new UUID(3, 4)), 17, ArrivalKind.MESSAGE);
    private static final int[] POWERS = {1, 10, 1_000, 1_000_000, 100_000_000};
    private final EventCodec codec = new EventCodec();

    static Stream<Event> events() {
        var usage = new Usage(1, 2, 3, 4, OptionalLong.of(5));
        var call = new OpenCall("c", "tool", "d", "k", true, false, "answer", false);
        var facts = new CallFacts(3, "ann", CallRuling.APPROVED, "rule");
        var asked = new AskedCall(1, "c", "tool", "d", "k", true, facts);
        var approval = new Approval("q", asked, Approval.State.ANSWERED, 6, false);
        return Stream.of(
                new Event.SessionOpened("00ff", "claude", NOON),
                new Event.PhaseChanged(Phase.Trigger.RESUME, "", Optional.of(NOON)),
                new Event.ArrivalDone(4, ArrivalKind.CANCEL, 0, "done"),
                new Event.MessageEnded(MESSAGE, Outcome.CLOSED, true, "text", "why"),
                new Event.FinishAsked(5, "why"),
                new Event.QuestionAsked("q", "text", NOON, 5, Optional.of(asked)),
                new Event.QuestionAnswered("q", 6),
                new Event.QuestionWithdrawn("q", "why"),
                new Event.MemoryDropped(3, "reset"),
                new Event.TranscriptCut(2, "why"),
                new Event.TurnCopied(1, 1, Outcome.ANSWERED, 2),
                new Event.HarnessSwapped("claude", "model-loop"),
                new Event.ContinuationQueued(7),
                new Event.FeedOpened(1, "inbox"),
                new Event.MessagesTaken(1, List.of(MESSAGE), NOON),
                new Event.MessagesReturned(1, List.of(MESSAGE), "why"),
                new Event.MessagesReleased(8, List.of(MESSAGE)),
                new Event.MessagesRestored(List.of(MESSAGE)),
                new Event.FeedEnded(1, FeedEnd.IDLE),
                new Event.TurnOpened(1, Told.Kind.MESSAGE, LINE, List.of(MESSAGE), NOON, NOON, false),
                new Event.SteerPlanned(1, MESSAGE, LINE),
                new Event.SteerLanded(1, MESSAGE, LINE),
                new Event.SteerReturned(1, MESSAGE, LINE),
                new Event.ContinuationOpened(1, LINE, "why", List.of(call), List.of("c2"), List.of(approval), NOON),
                new Event.TurnReturned(1, "why", NOON),
                new Event.TurnSettled(
                        1,
                        Told.Kind.MESSAGE,
                        List.of(MESSAGE),
                        Outcome.ANSWERED,
                        Event.Evidence.RESULT,
                        "text \u0000 \u2028 ü",
                        "",
                        usage,
                        new TurnMark(1, List.of("a"), "b"),
                        "r"),
                new Event.CallStarted(1, "c", "tool", "d", "k", true, facts),
                new Event.CallEnded(
                        1, "c", "tool", true, "answer", "d", "k", true, facts, CallOutcome.LOST, OptionalLong.of(7)),
                new Event.InterruptAsked(1, 5, true, "cancelled"),
                new Event.AgentBound(Map.of("model", "slow", "effort", ""), List.of("model: 'a' is now 'slow'")),
                new Event.IncarnationPlanned(2),
                new Event.IncarnationStarted(2, 4711),
                new Event.IncarnationVerified(2, "2.1", "native", true, 1),
                new Event.IncarnationEnded(2, Event.EndCause.CRASHED, "signal 9", true, "tail"),
                new Event.NativeSessionReplaced("native", "the first"),
                new Event.CatchUpPlanned(2, LINE, 1, 3, List.of("a")),
                new Event.RestartScheduled(NOON, 1, "why"),
                new Event.DeadlineMoved(1, NOON),
                new Event.AgentTurnSeen("text", Usage.unknown(), "r"),
                new Event.Noticed("what", "detail"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "2026-11-30T19:18:01.488883369Z",
                "2026-11-30T19:18:01.4Z",
                "2026-11-30T19:18:01Z",
                "2026-11-30T19:18:01.Z",
                "2028-02-29T00:00:00.000000001Z",
                "1970-01-01T00:00:00Z",
                "0000-01-01T23:59:59.999999999Z",
                "+10000-01-01T00:00:00Z",
                "-0001-01-01T00:00:00Z",
                "2026-11-30T19:18:01+02:00",
                "2026-11-30T19:18:01.25+01:00",
                "2026-11-30T24:00:00Z"
            })
    void instant_isReadAsTheJdkReadsIt(String text) {
        assertThat(InstantReader.parse(text)).isEqualTo(Instant.parse(text));
    }

    @Test
    void instants_ofAllKinds_areReadAsTheyWereWritten() {
        var random = new Random(1);
        for (int i = 0; i < 10_000; i++) {
            int nanos = random.nextInt(1_000_000_000) / POWERS[i % POWERS.length] * POWERS[i % POWERS.length];
            var instant = Instant.ofEpochSecond(random.nextLong(-60_000_000_000L, 250_000_000_000L), nanos);
            assertThat(InstantReader.parse(instant.toString())).isEqualTo(instant);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "now",
                "2026-13-30T19:18:01Z",
                "2026-02-30T19:18:01Z",
                "2026-11-30T25:00:00Z",
                "2026-11-30T19:60:01Z",
                "2026-11-30T19:18:01.1234567890Z",
                "2026-11-30T19:18:01,5Z",
                "2026-11-30T19:18:0 Z",
                "2026-11-30 19:18:01Z"
            })
    void event_withoutAnInstantInItsPlace_isRefused(String text) {
        var body = codec.encode(new Event.RestartScheduled(NOON, 1, "why")).body();
        var spoilt = new String(body, StandardCharsets.UTF_8).replace(NOON.toString(), text);
        var record =
                new EventRecord("RestartScheduled", 1, OptionalLong.empty(), spoilt.getBytes(StandardCharsets.UTF_8));
        assertThatThrownBy(() -> codec.decode(stored(record)))
                .isInstanceOf(JournalException.class)
                .hasMessageContaining("event 1 of type RestartScheduled cannot be read")
                .hasMessageContaining(text);
    }

    private static StoredEvent stored(EventRecord record) {
        return new StoredEvent(1, 1, NOON, record);
    }

    @ParameterizedTest
    @MethodSource("events")
    @Tag("MB-17")
    void event_isReadAsItWasWritten(Event event) {
        var record = codec.encode(event);
        assertThat(codec.decode(stored(record))).isEqualTo(event);
        assertThat(record.turn().orElse(0)).isEqualTo(event.turn());
    }

    @Test
    void everyKindOfEvent_isInThisTest() {
        var here = events().map(e -> e.getClass().getSimpleName()).collect(Collectors.toCollection(TreeSet::new));
        var all = Arrays.stream(Event.class.getPermittedSubclasses())
                .map(Class::getSimpleName)
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(here).isEqualTo(all);
    }

    @Test
    @Tag("MB-17")
    void unknownOrNewerEvent_isRefusedByName() {
        var body = "{}".getBytes(StandardCharsets.UTF_8);
        var unknown = stored(new EventRecord("Invented", 1, OptionalLong.empty(), body));
        var newer = stored(new EventRecord("Noticed", 99, OptionalLong.empty(), body));
        var damaged = stored(new EventRecord("Noticed", 1, OptionalLong.empty(), new byte[] {'{'}));
        assertThatThrownBy(() -> codec.decode(unknown)).hasMessageContaining("Invented");
        assertThatThrownBy(() -> codec.decode(newer)).hasMessageContaining("version 99");
        assertThatThrownBy(() -> codec.decode(damaged))
                .isInstanceOfSatisfying(
                        JournalException.class,
                        e -> assertThat(e.problem()).isEqualTo(JournalException.Problem.DAMAGED));
    }

    @Test
    @Tag("MB-17")
    void snapshot_isReadAsItWasWritten_andRefusedWhenNewer() {
        var core = Core.standard(Limits.standard());
        var state = Durable.empty();
        for (Event e : List.of(
                new Event.SessionOpened("00ff", "claude", NOON),
                new Event.TurnOpened(
                        1,
                        Told.Kind.MESSAGE,
                        LINE,
                        List.of(new Taken(2, MESSAGE.id(), 5, ArrivalKind.MESSAGE)),
                        NOON,
                        NOON,
                        false),
                new Event.AgentBound(Map.of("model", "slow"), List.of()),
                new Event.IncarnationPlanned(1),
                new Event.NativeSessionReplaced("native", "the first"),
                new Event.QuestionAsked(
                        "q",
                        "text",
                        NOON,
                        5,
                        Optional.of(new AskedCall(
                                1, "c", "tool", "d", "k", true, new CallFacts(2, "ann", CallRuling.NONE, "rule")))),
                new Event.QuestionAnswered("q", 3),
                new Event.CallStarted(
                        1, "c", "tool", "d", "k", false, new CallFacts(2, "ann", CallRuling.APPROVED, "rule")),
                new Event.InterruptAsked(1, 5, true, "cancelled"))) {
            state = core.apply(state, e);
        }
        assertThat(codec.restore(codec.snapshot(6, state))).isEqualTo(state);
        assertThatThrownBy(() -> codec.restore(new SnapshotRecord(6, 99, new byte[0])))
                .hasMessageContaining("version 99");
    }

    /** What version 1 wrote, as it was written, and a state of it. */
    @Test
    @Tag("MB-17")
    void eventsAndSnapshot_ofTheFirstFormat_areRead() throws Exception {
        var json = JsonMapper.builder().build();
        var types = new TreeSet<String>();
        try (var lines = new BufferedReader(new InputStreamReader(
                EventCodecTest.class.getResourceAsStream("format-1.jsonl"), StandardCharsets.UTF_8))) {
            for (String line : lines.lines().toList()) {
                var stored = json.readTree(line);
                var type = stored.path("type").stringValue();
                var body = json.writeValueAsBytes(stored.path("body"));
                if (type.equals("SNAPSHOT")) {
                    var state = codec.restore(new SnapshotRecord(5, 1, body));
                    assertThat(state.turn().orElseThrow().calls()).hasSize(1);
                    assertThat(state.questions()).hasSize(1);
                    assertThat(state.approvals()).isEmpty();
                    continue;
                }
                types.add(type);
                var event = codec.decode(stored(new EventRecord(type, 1, OptionalLong.empty(), body)));
                assertThat(codec.decode(stored(codec.encode(event)))).isEqualTo(event);
                if (event instanceof Event.CallEnded e) {
                    assertThat(e.answer()).isEqualTo("answer");
                    assertThat(e.outcome()).isEqualTo(CallOutcome.ERROR);
                    assertThat(e.facts().ruling()).isEqualTo(CallRuling.NONE);
                }
            }
        }
        assertThat(types).hasSizeGreaterThanOrEqualTo(36);
    }

    /** As the first version wrote it. */
    @Test
    @Tag("MB-17")
    void snapshot_ofTheFirstVersion_isReadWithoutABinding() throws IOException {
        try (var stored = EventCodecTest.class.getResourceAsStream("snapshot-1.json")) {
            var body = Objects.requireNonNull(stored).readAllBytes();
            var state = codec.restore(new SnapshotRecord(6, 1, body));
            assertThat(state.binding()).isEmpty();
            assertThat(state.seed()).isEqualTo("00ff");
            assertThat(state.openTurn()).hasValue(1);
            assertThat(codec.restore(codec.snapshot(6, state))).isEqualTo(state);
            assertThatThrownBy(() -> codec.restore(new SnapshotRecord(6, 2, body)))
                    .as("a version that has one, without it")
                    .isInstanceOfSatisfying(
                            JournalException.class,
                            e -> assertThat(e.problem()).isEqualTo(JournalException.Problem.DAMAGED));
            assertThatThrownBy(() -> codec.restore(new SnapshotRecord(6, 1, "[]".getBytes(StandardCharsets.UTF_8))))
                    .hasMessageContaining("snapshot at event 6");
        }
    }
}
