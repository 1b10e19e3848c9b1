package dev.holdfast.claude;

import static dev.holdfast.claude.Recorded.CODEC;
import static dev.holdfast.claude.Recorded.id;
import static dev.holdfast.claude.Recorded.record;
import static dev.holdfast.claude.Recorded.uuidOf;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DeliveryId;
import dev.holdfast.Knowledge;
import dev.holdfast.Knowledge.RecordState;
import dev.holdfast.Knowledge.Tail;
import dev.holdfast.KnowledgeQuestion;
import dev.holdfast.TurnMark;
import dev.holdfast.TurnResult.Ending;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the record tells, on files written by the two real versions. */
class AgentRecordTest {
    private static final String VERSIONS = "dev.holdfast.claude.Recorded#versions";

    private static Knowledge ask(List<String> record, List<TurnMark> marks, int... open) {
        List<DeliveryId> ids =
                IntStream.of(open).mapToObj(n -> DeliveryId.parse(id(n))).toList();
        return AgentRecord.of(record, CODEC).answer(new KnowledgeQuestion(Optional.of("s"), marks, ids));
    }

    private static TurnMark mark(long turn, int asked, String answered) {
        return new TurnMark(turn, List.of(id(asked)), answered);
    }

    private static List<TurnMark> twoTurns(List<String> record) {
        return List.of(
                mark(1, 1, uuidOf(record, "assistant", "answer 1")),
                mark(2, 2, uuidOf(record, "assistant", "answer 2")));
    }

    // ---- coverage

    @ParameterizedTest
    @MethodSource(VERSIONS)
    @Tag("TN-16")
    void coverage_allMarksThere_coversTheNewest(String version) {
        var record = record("plain", version);
        var marks = List.of(
                mark(1, 1, uuidOf(record, "assistant", "answer 1")),
                mark(2, 2, uuidOf(record, "assistant", "answer 3")));
        var known = ask(record, marks);
        assertThat(known.record()).isEqualTo(RecordState.PRESENT);
        assertThat(known.coversTurn()).isEqualTo(2);
        assertThat(known.askedNext()).isEmpty();
        assertThat(known.tail()).isEqualTo(new Tail.None());
    }

    @ParameterizedTest
    @MethodSource(VERSIONS)
    @Tag("TN-16")
    @Tag("HS-05")
    void coverage_newestTurnLost_coversWhatIsThere(String version) {
        var record = record("plain", version);
        var known = ask(record, List.of(mark(1, 1, uuidOf(record, "assistant", "answer 1")), mark(2, 7, "nowhere")));
        assertThat(known.record()).isEqualTo(RecordState.PRESENT);
        assertThat(known.coversTurn()).isEqualTo(1);
        assertThat(known.askedNext()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource(VERSIONS)
    @Tag("TN-16")
    void coverage_answerOfNewestTurnLost_saysItWasAsked(String version) {
        var record = record("plain", version);
        var known = ask(record, List.of(mark(1, 1, uuidOf(record, "assistant", "answer 1")), mark(2, 2, "nowhere")));
        assertThat(known.coversTurn()).isEqualTo(1);
        assertThat(known.askedNext()).containsExactly(id(2));
    }

    @ParameterizedTest
    @MethodSource(VERSIONS)
    @Tag("TN-16")
    void coverage_holeBeforeACoveredTurn_isDamage(String version) {
        var record = record("plain", version);
        var marks = List.of(mark(1, 7, "nowhere"), mark(2, 2, uuidOf(record, "assistant", "answer 3")));
        assertThat(ask(record, marks).record()).isEqualTo(RecordState.DAMAGED);
    }

    @ParameterizedTest
    @MethodSource(VERSIONS)
    @Tag("TN-16")
    void coverage_holeToldAgainByACatchUp_isNoDamage(String version) {
        var record = record("plain", version);
        var marks = List.of(
                mark(1, 7, "nowhere"),
                new TurnMark(1, List.of(id(9)), ""),
                mark(2, 2, uuidOf(record, "assistant", "answer 3")));
        var known = ask(record, marks);
        assertThat(known.record()).isEqualTo(RecordState.PRESENT);
        assertThat(known.coversTurn()).isEqualTo(2);
    }

    @ParameterizedTest
    @MethodSource(VERSIONS)
    @Tag("TN-16")
    void coverage_severalTurnsToldAgainByOneCatchUp_areCovered(String version) {
        var record = record("plain", version);
        var marks = List.of(
                mark(1, 1, uuidOf(record, "assistant", "answer 1")),
                mark(2, 6, "nowhere"),
                mark(3, 7, "nowhere"),
                new TurnMark(3, List.of(id(9)), ""),
                mark(4, 2, uuidOf(record, "assistant", "answer 3")));
        var known = ask(record, marks);
        assertThat(known.record()).isEqualTo(RecordState.PRESENT);
        assertThat(known.coversTurn()).isEqualTo(4);
    }

    @ParameterizedTest
    @MethodSource(VERSIONS)
    @Tag("TN-16")
    void coverage_afterCompaction_olderTurnsStillCount(String version) {
        var record = record("compacted", version);
        var marks = new ArrayList<>(twoTurns(record));
        marks.add(mark(3, 3, uuidOf(record, "assistant", version.equals("2.1.197") ? "answer 4" : "answer 5")));
        var known = ask(record, marks, 3);
        assertThat(known.record()).isEqualTo(RecordState.PRESENT);
        assertThat(known.coversTurn()).isEqualTo(3);
        assertThat(known.tail()).isInstanceOf(Tail.Answered.class);
    }

    @Test
    @Tag("TN-16")
    void coverage_turnsOnABranchThatWasLeft_doNotCount() {
        var record = record("forked", "2.1.197");
        var known = ask(record, twoTurns(record), 2);
        assertThat(known.coversTurn()).isZero();
        assertThat(known.present()).isEmpty();
        assertThat(known.tail()).isEqualTo(new Tail.None());
    }

    @ParameterizedTest
    @MethodSource(VERSIONS)
    @Tag("TN-16")
    void coverage_lineInTheMiddleUnreadable_isDamage(String version) {
        var record = new ArrayList<>(record("plain", version));
        String lost = uuidOf(record, "assistant", "answer 1");
        record.replaceAll(line -> line.contains("\"uuid\":\"" + lost) ? line.substring(0, 40) : line);
        var marks = List.of(mark(1, 1, ""), mark(2, 2, uuidOf(record, "assistant", "answer 3")));
        assertThat(ask(record, marks).record()).isEqualTo(RecordState.DAMAGED);
    }

    // ---- open lines

    @ParameterizedTest
    @MethodSource(VERSIONS)
    @Tag("TN-08")
    void open_lineNotThere_isAbsent(String version) {
        var known = ask(record("plain", version), List.of(), 7);
        assertThat(known.present()).isEmpty();
        assertThat(known.tail()).isEqualTo(new Tail.None());
    }

    @ParameterizedTest
    @MethodSource(VERSIONS)
    @Tag("TN-08")
    void open_answeredWithATool_isAnswered(String version) {
        var record = record("plain", version);
        var known = ask(record, List.of(), 2);
        assertThat(known.present()).containsExactly(DeliveryId.parse(id(2)));
        var result = ((Tail.Answered) known.tail()).result();
        assertThat(result.ending()).isEqualTo(Ending.ANSWERED);
        assertThat(result.text()).isEqualTo("answer 3");
        assertThat(result.answerId()).isEqualTo(uuidOf(record, "assistant", "answer 3"));
        assertThat(result.usage().outputTokens()).isEqualTo(10);
        assertThat(result.usage().costMicros()).isEmpty();
        assertThat(result.requestId()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource(VERSIONS)
    @Tag("TN-08")
    void open_killedInMidAnswer_isOpen(String version) {
        assertThat(ask(record("killed-answering", version), List.of(), 2).tail())
                .isEqualTo(new Tail.Open(List.of(), List.of()));
    }

    @ParameterizedTest
    @MethodSource(VERSIONS)
    @Tag("TN-08")
    void open_fillerAfterAResume_isNoAnswer(String version) {
        var record = record("killed-answering-resumed", version);
        assertThat(String.join("\n", record)).contains("No response requested.");
        assertThat(ask(record, List.of(), 2).tail()).isEqualTo(new Tail.Open(List.of(), List.of()));
    }

    @ParameterizedTest
    @MethodSource(VERSIONS)
    @Tag("TL-07")
    void open_killedInACall_namesTheCall(String version) {
        assertThat(ask(record("killed-calling", version), List.of(), 1).tail())
                .isEqualTo(new Tail.Open(List.of("toolu_1"), List.of()));
    }

    @ParameterizedTest
    @MethodSource(VERSIONS)
    @Tag("TL-07")
    void open_callLostAndReplacedOnResume_isStillWithoutEnd(String version) {
        assertThat(ask(record("killed-calling-resumed", version), List.of(), 1).tail())
                .isEqualTo(new Tail.Open(List.of("toolu_1"), List.of()));
    }

    @ParameterizedTest
    @MethodSource(VERSIONS)
    @Tag("TN-08")
    void open_errorOfTheModel_isNoAnswer(String version) {
        assertThat(ask(record("failed", version), List.of(), 1).tail()).isEqualTo(new Tail.Open(List.of(), List.of()));
    }

    @ParameterizedTest
    @MethodSource(VERSIONS)
    @Tag("TN-08")
    void open_interrupted_endsAsInterrupted(String version) {
        var tail = (Tail.Answered)
                ask(record("interrupted", version), List.of(), 1).tail();
        assertThat(tail.result().ending()).isEqualTo(Ending.INTERRUPTED);
        assertThat(tail.result().answerId()).isNotEmpty();
    }

    @ParameterizedTest
    @MethodSource(VERSIONS)
    @Tag("TN-08")
    void open_foldedLine_isPresentByItsSource(String version) {
        var known = ask(record("folded", version), List.of(), 1, 2);
        assertThat(known.present()).containsExactly(DeliveryId.parse(id(1)), DeliveryId.parse(id(2)));
        assertThat(((Tail.Answered) known.tail()).result().text()).isEqualTo("answer 2");
    }

    @ParameterizedTest
    @MethodSource(VERSIONS)
    @Tag("TN-08")
    void open_killedRightAfterFolding_hasBothLines(String version) {
        var known = ask(record("killed-folded", version), List.of(), 1, 2);
        assertThat(known.present()).hasSize(2);
        assertThat(known.tail()).isEqualTo(new Tail.Open(List.of(), List.of("toolu_1")));
    }

    @ParameterizedTest
    @MethodSource(VERSIONS)
    void open_coalescedLines_onlyTheLastIsThere(String version) {
        assertThat(ask(record("coalesced", version), List.of(), 1, 2, 3).present())
                .containsExactly(DeliveryId.parse(id(1)), DeliveryId.parse(id(3)));
    }

    // ---- damage

    @ParameterizedTest
    @MethodSource(VERSIONS)
    void cutAnywhere_isReadWithoutAFailure(String version) {
        for (String name : List.of("plain", "folded", "killed-calling-resumed", "compacted")) {
            String whole = String.join("\n", record(name, version)) + "\n";
            for (int end = 0; end < whole.length(); end += 97) {
                var lines = Stream.of(whole.substring(0, end).split("\n", -1)).toList();
                var known = ask(lines, List.of(mark(1, 1, "")), 1, 2);
                assertThat(known.record()).isNotEqualTo(RecordState.MISSING);
            }
        }
    }

    @ParameterizedTest
    @MethodSource(VERSIONS)
    void lastLineTorn_isLikeNotWritten(String version) {
        var record = new ArrayList<>(record("killed-answering", version));
        record.add("{\"parentUuid\":\"" + id(2) + "\",\"type\":\"assistant\",\"message\":{\"role\":\"assi");
        assertThat(ask(record, List.of(), 2).tail()).isEqualTo(new Tail.Open(List.of(), List.of()));
    }

    @Test
    void entriesThatAreTheirOwnParents_areReadWithoutAnEnd() {
        var record = List.of(
                "{\"type\":\"user\",\"uuid\":\"a\",\"parentUuid\":\"b\",\"message\":{\"content\":\"x\"}}",
                "{\"type\":\"user\",\"uuid\":\"b\",\"parentUuid\":\"a\",\"message\":{\"content\":\"x\"}}");
        assertThat(ask(record, List.of(new TurnMark(1, List.of("a"), "b"))).coversTurn())
                .isEqualTo(1);
    }

    @Test
    @Tag("HS-06")
    void fileWithoutAMessage_cannotBeResumed() {
        assertThat(ask(List.of(), List.of()).record()).isEqualTo(RecordState.DAMAGED);
        assertThat(ask(List.of("{\"type\":\"queue-operation\",\"operation\":\"enqueue\"}"), List.of())
                        .record())
                .isEqualTo(RecordState.DAMAGED);
    }

    @Test
    void sidechainEntries_areNotTheConversation() {
        var record = new ArrayList<>(record("plain", "2.1.197"));
        record.add("{\"type\":\"assistant\",\"uuid\":\"side\",\"parentUuid\":\"" + id(1)
                + "\",\"isSidechain\":true,\"message\":{\"content\":[]}}");
        assertThat(ask(record, List.of(), 2).tail()).isInstanceOf(Tail.Answered.class);
    }
}
