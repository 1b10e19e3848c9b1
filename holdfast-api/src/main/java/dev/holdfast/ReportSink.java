package dev.holdfast;

/** Takes an attachment's reports. Thread-safe; never blocks and never throws. */
@FunctionalInterface
public interface ReportSink {
    void report(Report report);
}
