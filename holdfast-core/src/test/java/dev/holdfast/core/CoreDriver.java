package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ArrivalKind;
import dev.holdfast.CallRuling;
import dev.holdfast.DeliveryId;
import dev.holdfast.FeedEnd;
import dev.holdfast.Knowledge;
import dev.holdfast.Limits;
import dev.holdfast.MessageId;
import dev.holdfast.Outcome;
import dev.holdfast.Report;
import dev.holdfast.TurnMark;
import dev.holdfast.TurnResult;
import dev.holdfast.Usage;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Drives the core as an owner would: holds the store's arrivals, the state and the clock, and takes every decision as
 * committed. After each one {@link CoreChecks} looks whether the state still makes sense.
 */
final class CoreDriver {
    static final String SEED = "0123456789abcdef0123456789abcdef";

    private final Core core;
    private final CoreChecks checks;
    private final List<Header> store = new ArrayList<>();
    private final List<Event> journal = new ArrayList<>();
    private long given;
    private Settings settings;
    private long epoch = 1;
    private long asked;
    private Durable durable = Durable.empty();
    private Live live = Live.none();
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private List<Event> last = List.of();

    /** A session whose owner has just woken for the first time. */
    CoreDriver(Limits limits) {
        this(limits, Settings.standard());
    }

    CoreDriver(Limits limits, Settings settings) {
        this.settings = settings;
        core = Core.standard(limits);
        checks = new CoreChecks(core);
        take(new Input.Awake(SEED, harness, epoch, settings));
    }

    // ---- what is there --------------------------------------------------------------------------------------------

    private String harness = "scripted";

    Durable durable() {
        return durable;
    }

    Live live() {
        return live;
    }

    Instant now() {
        return now;
    }

    /** The events of the last decision. */
    List<Event> last() {
        return last;
    }

    /** Every event so far. */
    List<Event> journal() {
        return List.copyOf(journal);
    }

    <E extends Event> List<E> journal(Class<E> type) {
        return journal.stream().filter(type::isInstance).map(type::cast).toList();
    }

    /** The newest event of a kind. */
    <E extends Event> E newest(Class<E> type) {
        var all = journal(type);
        assertThat(all).as("events of type " + type.getSimpleName()).isNotEmpty();
        return all.getLast();
    }

    Turn turn() {
        return durable.turn().orElseThrow(() -> new AssertionError("no turn is open; last events: " + last));
    }

    /** The line whose landing and result settle the open turn. */
    DeliveryId line() {
        return turn().current().id();
    }

    Set<Effect> effects() {
        return core.effects(durable, live);
    }

    <E extends Effect> Optional<E> effect(Class<E> type) {
        return effects().stream().filter(type::isInstance).map(type::cast).findFirst();
    }

    /** The line that should be told now. */
    Optional<Told> told() {
        return effect(Effect.Tell.class).map(Effect.Tell::told);
    }

    Optional<Instant> dueAt() {
        return core.dueAt(durable, live);
    }

    Optional<Instant> wakeAt() {
        return core.wakeAt(durable, live);
    }

    boolean sleepable() {
        return core.sleepable(durable, live, now);
    }

    /** Whether the core says that mail waits, and whether it says that the process rests (MB-14). */
    boolean waits() {
        return core.waits(durable, live);
    }

    boolean rests() {
        return core.idle(durable, live);
    }

    long epoch() {
        return epoch;
    }

    /** Numbers of the messages the open turn began with. */
    List<Long> inTurn() {
        return numbers(turn().original().messages());
    }

    List<Long> front() {
        return numbers(durable.front());
    }

    List<Long> inHand() {
        return numbers(durable.reading().inHand());
    }

    static List<Long> numbers(List<Taken> messages) {
        return messages.stream().map(Taken::number).toList();
    }

    long turnsOpened() {
        return journal(Event.TurnOpened.class).size();
    }

    /** The terminal record of a message, if it has one. */
    Optional<Outcome> outcome(long number) {
        for (Event event : journal) {
            if (event instanceof Event.MessageEnded e && e.message().number() == number) {
                return Optional.of(e.outcome());
            }
            if (event instanceof Event.TurnSettled e && e.messages().stream().anyMatch(m -> m.number() == number)) {
                return Optional.of(e.outcome());
            }
        }
        return Optional.empty();
    }

    /** What was recorded about an arrival that carries no words. */
    String done(long number) {
        return journal(Event.ArrivalDone.class).stream()
                .filter(e -> e.number() == number)
                .map(Event.ArrivalDone::what)
                .findFirst()
                .orElse("");
    }

    // ---- arrivals -------------------------------------------------------------------------------------------------

    /** A sender's delivery is committed; the owner has not read it yet. */
    long accept(ArrivalKind kind) {
        return accept(kind, Header.Wish.none());
    }

    long acceptCancelOfTurn(long turn) {
        return accept(ArrivalKind.CANCEL, wish("", OptionalLong.of(turn), OptionalLong.empty(), ""));
    }

    long acceptCancelOfMessage(long number) {
        return accept(ArrivalKind.CANCEL, wish("", OptionalLong.empty(), OptionalLong.of(number), ""));
    }

    static Header.Wish wish(String sender, OptionalLong turn, OptionalLong message, String note) {
        return new Header.Wish(sender, false, turn, message, OptionalLong.empty(), "", note, Optional.empty());
    }

    /** Of a cut. */
    static Header.Wish from(long turn) {
        return wish("", OptionalLong.of(turn), OptionalLong.empty(), "");
    }

    static Header.Wish note(String note) {
        return wish("", OptionalLong.empty(), OptionalLong.empty(), note);
    }

    long accept(ArrivalKind kind, Header.Wish wish) {
        long number = store.size() + 1L;
        boolean urgent = kind.urgent();
        var bound = urgent && durable.turn().isPresent()
                ? OptionalLong.of(durable.turn().orElseThrow().number())
                : OptionalLong.empty();
        store.add(new Header(
                number,
                new MessageId(new UUID(7, number)),
                kind,
                10 * number,
                bound,
                urgent ? durable.takenThrough() : 0,
                wish));
        return number;
    }

    long arrive(ArrivalKind kind, Header.Wish wish) {
        long number = accept(kind, wish);
        read();
        return number;
    }

    /** The owner reads whatever is accepted and not read. */
    void read() {
        var unread = store.stream().filter(h -> h.number() > given).toList();
        given = store.size();
        take(new Input.Arrived(unread, given));
    }

    /** The owner reads the urgent ones ahead of everything else, as it does when it wakes (IN-05). */
    void readUrgent() {
        take(new Input.Arrived(
                store.stream()
                        .filter(h -> h.kind().urgent() && h.number() > durable.takenThrough())
                        .toList(),
                0));
    }

    long arrive(ArrivalKind kind) {
        long number = accept(kind);
        read();
        return number;
    }

    long message() {
        return arrive(ArrivalKind.MESSAGE);
    }

    long steer() {
        return arrive(ArrivalKind.STEER);
    }

    long cancel() {
        return arrive(ArrivalKind.CANCEL);
    }

    long cancelTurn(long turn) {
        long number = acceptCancelOfTurn(turn);
        read();
        return number;
    }

    long cancelMessage(long message) {
        long number = acceptCancelOfMessage(message);
        read();
        return number;
    }

    long resume() {
        return arrive(ArrivalKind.RESUME);
    }

    long evict() {
        return arrive(ArrivalKind.EVICT);
    }

    long close(String why) {
        long number = accept(ArrivalKind.CLOSE, note(why));
        read();
        return number;
    }

    // ---- arrivals that ask for something ---------------------------------------------------------------------------

    long pause(String why) {
        return arrive(ArrivalKind.PAUSE, note(why));
    }

    long drain(Duration within) {
        return arrive(ArrivalKind.DRAIN, drainWish(within));
    }

    Header.Wish drainWish(Duration within) {
        var none = OptionalLong.empty();
        return new Header.Wish("", false, none, none, none, "", "", Optional.of(now.plus(within)));
    }

    long finish(String why) {
        return arrive(ArrivalKind.FINISH, note(why));
    }

    long withdraw(long message) {
        return arrive(ArrivalKind.WITHDRAW, about(message));
    }

    static Header.Wish about(long message) {
        return wish("", OptionalLong.empty(), OptionalLong.of(message), "");
    }

    long replace() {
        return arrive(ArrivalKind.REPLACE);
    }

    long messageOf(String sender) {
        return arrive(ArrivalKind.MESSAGE, by(sender));
    }

    static Header.Wish by(String sender) {
        return wish(sender, OptionalLong.empty(), OptionalLong.empty(), "");
    }

    static Header.Wish afterIdle() {
        var none = OptionalLong.empty();
        return new Header.Wish("", true, none, none, none, "", "", Optional.empty());
    }

    long timeOut(long ownerEpoch) {
        return arrive(ArrivalKind.SESSION_TIMEOUT, ofOwner(ownerEpoch));
    }

    static Header.Wish ofOwner(long epoch) {
        var none = OptionalLong.empty();
        return new Header.Wish("", false, none, none, OptionalLong.of(epoch), "", "", Optional.empty());
    }

    static Header.Wish to(String question) {
        var none = OptionalLong.empty();
        return new Header.Wish("", false, none, none, none, question, "", Optional.empty());
    }

    long answerTo(String question) {
        return arrive(ArrivalKind.ANSWER, to(question));
    }

    // ---- the host's own inputs -------------------------------------------------------------------------------------

    void question(String id, Duration within) {
        take(new Input.QuestionRaised(id, "really?", now.plus(within)));
    }

    /** The host asks something of the present incarnation. */
    DeliveryId internal() {
        asked++;
        var id = new DeliveryId(new UUID(99, asked));
        take(new Input.InternalAsked(id));
        return id;
    }

    void judged(long number, boolean rejected) {
        take(new Input.Judged(epoch, durable.incarnation(), number, rejected));
    }

    /** A reading surface opens a feed; its number. */
    long openFeed() {
        take(new Input.FeedWanted("inbox"));
        return durable.reading().feed();
    }

    /** The newest feed's reader waits for one. */
    void next() {
        take(new Input.TakeWanted(durable.reading().feed(), 1, true, 0));
    }

    /** The newest feed's reader takes everything that was accepted by now, without waiting. */
    void takeAll() {
        take(new Input.TakeWanted(durable.reading().feed(), 1_000, false, store.size()));
    }

    void settle(long number) {
        take(new Input.ReadSettled(durable.reading().feed(), number, Outcome.ANSWERED, "answer to " + number));
    }

    void giveBack(long... numbers) {
        var all = LongStream.of(numbers).boxed().toList();
        take(new Input.ReadReturned(durable.reading().feed(), all, "its taker was gone"));
    }

    void feedOver(FeedEnd cause, boolean keeps) {
        take(new Input.FeedOver(durable.reading().feed(), cause, keeps));
    }

    void restore(long... numbers) {
        take(new Input.RestoreWanted(LongStream.of(numbers).boxed().toList()));
    }

    /** One arrival is read, and by mistake none before it. */
    void readOnly(long number) {
        take(new Input.Arrived(List.of(store.get((int) number - 1)), number));
    }

    /** Arrivals that were read before are given to the core once more. */
    void readAgain(long number) {
        take(new Input.Arrived(List.of(store.get((int) number - 1)), given));
    }

    // ---- the process ----------------------------------------------------------------------------------------------

    void slot(Input.SlotAnswer answer) {
        take(new Input.Slot(epoch, durable.incarnation(), answer));
    }

    void slotGranted() {
        slot(Input.SlotAnswer.GRANTED);
    }

    void report(Report report) {
        take(new Input.Reported(epoch, durable.incarnation(), report));
    }

    void known(Knowledge knowledge) {
        report(new Report.Known(knowledge));
    }

    void verified() {
        report(new Report.Started(4711));
        report(new Report.Verified("1.0", durable.nativeSession().orElseThrow()));
    }

    /** From a place under the cap to a process that takes lines. */
    void up(Knowledge knowledge) {
        slotGranted();
        known(knowledge);
        verified();
    }

    /** The same for an agent that has never been asked anything. */
    void up() {
        up(Knowledge.nothing());
    }

    void landed(DeliveryId id) {
        report(new Report.Landed(id));
    }

    /** The line that is told lands. */
    void landed() {
        landed(live.told().orElseThrow(() -> new AssertionError("no line is told")));
    }

    void busy() {
        report(new Report.Busy());
    }

    void idle() {
        report(new Report.Idle());
    }

    void result(TurnResult result) {
        report(new Report.Result(result));
    }

    void result(String text) {
        result(answer(text));
    }

    /** The told line lands and is answered, and the agent rests. */
    void answered(String text) {
        landed();
        result(text);
        idle();
    }

    /** A message is asked and answered with the process as it is. */
    long exchange(String text) {
        long number = message();
        if (live.stage() == AgentStage.PLANNED) {
            up();
        }
        answered(text);
        return number;
    }

    void interruptAnswered() {
        report(new Report.InterruptAnswered());
    }

    void breached(String what) {
        report(new Report.Breached(what));
    }

    void ended(String why, String fatal) {
        report(new Report.Ended(why, fatal, "stderr of " + why));
    }

    /** The agent's process is gone, for no reason of ours. */
    void died() {
        ended("exit code 137", "");
    }

    /** The agent wants a call, and no rule is against it. */
    void callAsked(String callId, String tool, String input, boolean sideEffects) {
        callWanted(callId, tool, input, sideEffects, false);
        var first = last;
        if (live.calls().get(callId).stage() == Call.Stage.ASKED) {
            judged(callId, new Ruling.Admitted("default", CallRuling.ALLOWED));
            last = Stream.concat(first.stream(), last.stream()).toList();
        }
    }

    void callWanted(String callId, String tool, String input, boolean sideEffects, boolean builtIn) {
        take(new Input.CallAsked(
                epoch, durable.incarnation(), callId, tool, DeliveryIds.digest(input), sideEffects, builtIn));
    }

    /** The door says this of a call now. */
    void judged(String callId, Ruling ruling) {
        judged(callId, live.calls().get(callId).round(), ruling, now);
    }

    void judged(String callId, int round, Ruling ruling, Instant at) {
        take(new Input.CallJudged(epoch, durable.incarnation(), callId, round, ruling, "ann", at));
    }

    void callFinished(String callId, String answer) {
        take(new Input.CallFinished(epoch, durable.incarnation(), callId, false, answer));
    }

    // ---- time and crashes -----------------------------------------------------------------------------------------

    void tick(Duration passed) {
        now = now.plus(passed);
        take(new Input.Tick());
    }

    /** Time passes, and nobody is awake to see it. */
    void sleep(Duration passed) {
        now = now.plus(passed);
    }

    /** Time passes to the next thing that is due. */
    void tickDue() {
        var due = dueAt().orElseThrow(() -> new AssertionError("nothing is due"));
        tick(due.isAfter(now) ? Duration.between(now, due) : Duration.ZERO);
    }

    /** The host stops in an orderly way. */
    void leave() {
        take(new Input.Leaving());
    }

    /** The host dies. Another owner folds the journal, wakes, and reads what is unread. */
    void hostCrash() {
        newOwner();
        read();
    }

    /** The same, for another kind of owner. */
    void hostCrash(Settings next) {
        settings = next;
        hostCrash();
    }

    /** The host ends in order; the next one has another harness for the session. */
    void swap(String next) {
        harness = next;
        newOwner();
        read();
    }

    /** Another owner folds the journal and wakes; it has read nothing yet. */
    void newOwner() {
        durable = fold();
        live = Live.none();
        epoch++;
        checks.newOwner();
        take(new Input.Awake("ffffffffffffffffffffffffffffffff", harness, epoch, settings));
        given = durable.takenThrough();
        var first = last;
        readUrgent();
        last = Stream.concat(first.stream(), last.stream()).toList();
    }

    Durable fold() {
        var folded = Durable.empty();
        for (Event event : journal) {
            folded = core.apply(folded, event);
        }
        return folded;
    }

    /** A decision, taken as committed. */
    void take(Input input) {
        var decision = checks.decide(durable, live, input, now);
        last = decision.events();
        journal.addAll(last);
        durable = checks.commit(durable, live, input, decision);
        live = decision.live();
        checks.journal(store, journal, durable, fold());
    }

    // ---- vocabulary -----------------------------------------------------------------------------------------------

    static TurnResult answer(String text) {
        return result(TurnResult.Ending.ANSWERED, text, List.of());
    }

    static TurnResult result(TurnResult.Ending ending, String text, List<DeliveryId> lines) {
        return new TurnResult(
                ending,
                text,
                ending == TurnResult.Ending.ANSWERED ? "" : ending.name(),
                new Usage(10, 20, 0, 0, OptionalLong.of(1_000)),
                lines,
                "a-" + text,
                "r-" + text,
                false);
    }

    /** What the agent has when its record is whole and no line of an open turn is in it. */
    Knowledge remembers(long covers) {
        return new Knowledge(Knowledge.RecordState.PRESENT, covers, List.of(), List.of(), new Knowledge.Tail.None());
    }

    /** The record is whole and has these lines of the open turn, unanswered. */
    Knowledge hasOpen(DeliveryId... present) {
        return new Knowledge(
                Knowledge.RecordState.PRESENT,
                newestMark(),
                List.of(),
                List.of(present),
                new Knowledge.Tail.Open(List.of(), List.of()));
    }

    /** The record is whole and has these lines of the open turn, and after them an answer. */
    Knowledge hasAnswered(String text, DeliveryId... present) {
        return new Knowledge(
                Knowledge.RecordState.PRESENT,
                newestMark(),
                List.of(),
                List.of(present),
                new Knowledge.Tail.Answered(new TurnResult(
                        TurnResult.Ending.ANSWERED, text, "", Usage.unknown(), List.of(), "a-" + text, "", false)));
    }

    /** The newest turn an agent with a whole record covers: it can know only of turns that left a mark. */
    long newestMark() {
        return durable.marks().stream().mapToLong(TurnMark::turn).max().orElse(0);
    }
}
