package dev.holdfast.claude;

import static org.awaitility.Awaitility.await;

import dev.holdfast.Report;
import dev.holdfast.ReportSink;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;

/** Keeps reports in order and waits for them. */
final class Reports implements ReportSink {
    private final List<Report> all = new CopyOnWriteArrayList<>();

    @Override
    public void report(Report report) {
        all.add(report);
    }

    List<Report> all() {
        return List.copyOf(all);
    }

    int mark() {
        return all.size();
    }

    <T extends Report> T next(int from, Class<T> type) {
        return next(from, type, report -> true);
    }

    <T extends Report> T next(int from, Class<T> type, Predicate<T> wanted) {
        await().alias(type.getSimpleName() + " in " + all)
                .atMost(Duration.ofSeconds(20))
                .pollInterval(Duration.ofMillis(5))
                .until(() -> find(from, type, wanted) != null || ended());
        T found = find(from, type, wanted);
        if (found == null) {
            throw new AssertionError("no " + type.getSimpleName() + " in " + all);
        }
        return found;
    }

    private boolean ended() {
        return !all.isEmpty() && all.getLast() instanceof Report.Ended;
    }

    private <T extends Report> T find(int from, Class<T> type, Predicate<T> wanted) {
        return all.stream()
                .skip(from)
                .filter(type::isInstance)
                .map(type::cast)
                .filter(wanted)
                .findFirst()
                .orElse(null);
    }

    <T extends Report> List<T> of(Class<T> type) {
        return all.stream().filter(type::isInstance).map(type::cast).toList();
    }
}
