package dev.holdfast.it;

import dev.holdfast.Outcome;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Collectors;

/** What a turn of the soak makes its agent do, how often, and how the turn ends by itself. */
enum SoakFault {
    PLAIN(40, "", Outcome.ANSWERED),
    TOOL(10, "[[tool mcp__host__step {\"text\":\"x\"}]]", Outcome.ANSWERED),
    ODD(8, "[[garbage]] [[bad-utf8]] [[unknown-frame]] [[trickle 漢字]] [[line 200000]]", Outcome.ANSWERED),
    FLOOD(4, "[[flood stdout 300000]] [[flood stderr 300000]]", Outcome.ANSWERED),
    FAMILY(4, "[[grandchild 600]] [[escape 600]]", Outcome.ANSWERED),
    OWN(4, "[[agent-turn]]", Outcome.ANSWERED),
    LATE(4, "[[late-result 50]]", Outcome.ANSWERED),
    SLOW(10, "[[sleep 8000]]", Outcome.CANCELLED),
    HANGS(1, "[[hang]]", Outcome.FAILED),
    STOPS(1, "[[stop]]", Outcome.FAILED),
    DIES(2, "[[crash KILL]]", Outcome.DEAD_LETTER),
    QUITS(1, "[[no-result-exit 0]]", Outcome.DEAD_LETTER),
    BREAKS_OFF(1, "[[half]]", Outcome.DEAD_LETTER);

    private static final int SUM =
            Arrays.stream(values()).mapToInt(fault -> fault.weight).sum();

    private final int weight;
    private final String steps;
    private final Outcome end;

    SoakFault(int weight, String steps, Outcome end) {
        this.weight = weight;
        this.steps = steps;
        this.end = end;
    }

    static SoakFault any(Random random) {
        int at = random.nextInt(SUM);
        for (SoakFault fault : values()) {
            at -= fault.weight;
            if (at < 0) {
                return fault;
            }
        }
        return PLAIN;
    }

    /** What a message begins with. */
    String word() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }

    /** For the scripted agent: only a message's own beginning counts, words told again are words. */
    static String scenario() {
        return Arrays.stream(values())
                .filter(fault -> !fault.steps.isEmpty())
                .map(fault -> "begins " + fault.word() + ": " + fault.steps + "\n")
                .collect(Collectors.joining());
    }

    /**
     * A process that is killed besides is told to go on, which is answered; one that dies again and again makes a dead
     * letter; and what is to be cancelled may be quicker.
     */
    boolean mayEndAs(Outcome outcome) {
        return outcome == end || outcome == Outcome.ANSWERED || outcome == Outcome.DEAD_LETTER;
    }
}
