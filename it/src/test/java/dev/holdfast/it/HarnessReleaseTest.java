package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Agent;
import dev.holdfast.Attachment;
import dev.holdfast.Binding;
import dev.holdfast.Harness;
import dev.holdfast.Launch;
import dev.holdfast.Message;
import dev.holdfast.ReportSink;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What agents share (threads, helper processes) goes with their host. */
final class HarnessReleaseTest {
    @TempDir
    Path directory;

    private final List<String> released = new CopyOnWriteArrayList<>();

    /** An instant agent whose harness tells of its release. */
    private final class Noting implements Agent {
        private final String name;
        private final Agent inner;
        private final Harness harness;

        Noting(String name, Executor executor) {
            this.name = name;
            inner = new InstantAgent(executor, Binding.none().shown("model", name), List.of());
            var mine = inner.harness();
            harness = new Harness() {
                @Override
                public String name() {
                    return mine.name();
                }

                @Override
                public Attachment attach(Launch launch, ReportSink sink) {
                    return mine.attach(launch, sink);
                }

                @Override
                public void release(Path home) {
                    released.add(Noting.this.name);
                }
            };
        }

        @Override
        public List<Object> tools() {
            return inner.tools();
        }

        @Override
        public Binding binding() {
            return inner.binding();
        }

        @Override
        public Harness harness() {
            return harness;
        }
    }

    @Test
    @Tag("HS-08")
    @Tag("HN-04")
    void agents_thatWereSwappedForOthers_areReleasedWithTheHostToo() {
        try (var executor = Executors.newSingleThreadExecutor();
                var station = new Station(directory)) {
            var session = station.host().session("one", new Noting("first", executor));
            session.ask(Message.of("hello"));
            Station.now(session.swap(new Noting("second", executor)));
            session.ask(Message.of("and again"));
            assertThat(released).isEmpty();
            station.host().close();
            assertThat(released).containsExactlyInAnyOrder("first", "second");
        }
    }
}
