package dev.holdfast.cli;

import dev.holdfast.Outcome;
import dev.holdfast.Receipt;
import dev.holdfast.SessionName;
import dev.holdfast.testkit.Conversation;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/** Checks what the demo promised: in the journal, in what the model was shown, and in the process table. */
final class DemoPromises {
    private final Hosted hosted;
    private final SessionName name;
    private final List<String> words;
    private final Path modelLog;
    private final OrderDesk desk;
    private final List<Long> pids;

    DemoPromises(Hosted hosted, SessionName name, List<String> words, Path modelLog, OrderDesk desk, List<Long> pids) {
        this.hosted = hosted;
        this.name = name;
        this.words = words;
        this.modelLog = modelLog;
        this.desk = desk;
        this.pids = List.copyOf(pids);
    }

    /** Prints each promise and says whether all were kept. */
    boolean check(DemoStage stage) {
        boolean all = terminalRecords(stage);
        boolean once = Conversation.lastIn(modelLog)
                .filter(shown -> shown.holdsOnceInOrder(words.toArray(String[]::new)))
                .isPresent();
        stage.promise(once, "the model was shown each message exactly once, in the order in which they were sent");
        boolean tool = desk.calls() == 1
                && Conversation.lastIn(modelLog)
                        .filter(shown -> shown.toolResults().size() == 1
                                && shown.toolResults()
                                        .getFirst()
                                        .texts()
                                        .toString()
                                        .contains("brass anchor"))
                        .isPresent();
        stage.promise(tool, "the tool ran once, and the model has its result, also after the kill");
        boolean processes = pids.size() == 2 && !DemoKill.lives(pids.getFirst());
        stage.promise(
                processes,
                "two processes served the session ("
                        + pids.stream().map(String::valueOf).collect(Collectors.joining(", then "))
                        + "); the killed one is gone");
        Receipt again = hosted.send(DemoCommand.message(1));
        boolean known = again instanceof Receipt.Duplicate duplicate && duplicate.number() == 1;
        stage.promise(known, "message 1 sent again with its key: recognised, not delivered a second time");
        return all && once && tool && processes && known;
    }

    private boolean terminalRecords(DemoStage stage) {
        var endings = History.endings(name, hosted.journal());
        boolean all = endings.size() == words.size();
        for (long number = 1; number <= words.size(); number++) {
            var records = endings.getOrDefault(number, List.of());
            boolean one = records.size() == 1 && records.getFirst().outcome() == Outcome.ANSWERED;
            String where = records.stream().map(r -> "#" + r.seq()).collect(Collectors.joining(", "));
            stage.promise(
                    one,
                    "message " + number + " has " + (one ? "exactly one terminal record" : "these terminal records")
                            + ": " + (records.isEmpty() ? "none" : where)
                            + (one ? ", " + EventWords.word(Outcome.ANSWERED) : ""));
            all &= one;
        }
        return all;
    }
}
