package dev.holdfast.claude;

import dev.holdfast.Report;
import dev.holdfast.ReportSink;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * Takes everything an attachment has to say, in order: its reports, and what only this module looks into. The rules of
 * {@link ReportSink} hold for every method.
 */
interface Watcher extends ReportSink {
    /** Whether {@link #frame} is to be called for it; asked under the attachment's lock. */
    boolean wants(Frame frame);

    /** A frame of the agent, before what it means is reported. */
    void frame(Frame frame);

    /** The agent's answer to an interrupt, before that is reported. */
    void receipt(JsonNode receipt);

    /** What became of a question to the users' code. */
    void event(HeldEvent event);

    /** Who decides about tools now; asked under the attachment's lock. */
    Optional<UserDesk.Asker> asker();

    /** One that takes reports only. */
    static Watcher of(ReportSink sink) {
        return new Watcher() {
            @Override
            public void report(Report report) {
                sink.report(report);
            }

            @Override
            public boolean wants(Frame frame) {
                return false;
            }

            @Override
            public void frame(Frame frame) {}

            @Override
            public void receipt(JsonNode receipt) {}

            @Override
            public void event(HeldEvent event) {}

            @Override
            public Optional<UserDesk.Asker> asker() {
                return Optional.empty();
            }
        };
    }
}
