package dev.holdfast.claude;

import dev.holdfast.Launch;
import dev.holdfast.StopMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Agents that are only a list of what was written to them; the test speaks for them. */
final class FakeAgents implements AgentProcess.Source {
    /** Reads what a real agent would, also deeper than the host itself reads. */
    private static final JsonMapper READER = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(1_000)
                            .build())
                    .build())
            .build();

    final List<Fake> started = new ArrayList<>();
    Optional<String> olderSurvive = Optional.empty();
    AgentProcess.@Nullable CannotStart refusal;
    int reaped;
    Runnable whileStarting = () -> {};

    @Override
    public Optional<String> endOlder(Launch launch) {
        reaped++;
        return olderSurvive;
    }

    @Override
    public AgentProcess start(AgentProcess.Command command, Launch launch, AgentProcess.Listener listener) {
        if (refusal != null) {
            throw refusal;
        }
        whileStarting.run();
        var fake = new Fake(command, listener);
        started.add(fake);
        return fake;
    }

    Fake last() {
        return started.getLast();
    }

    static final class Fake implements AgentProcess {
        final Command command;
        final Listener listener;
        final List<JsonNode> written = new ArrayList<>();
        final List<String> urgent = new ArrayList<>();
        /** How much the host took to be unread when it sent the last line of a turn. */
        long unreadBefore = -1;

        Runnable whenWritten = () -> {};

        @Nullable
        StopMode stopped;

        Fake(Command command, Listener listener) {
            this.command = command;
            this.listener = listener;
        }

        @Override
        public long pid() {
            return 4711;
        }

        @Override
        public void send(String line, boolean first) {
            written.add(READER.readTree(line));
            if (first) {
                urgent.add(line);
            }
            whenWritten.run();
        }

        @Override
        public void sendToReader(String line, long unread) {
            unreadBefore = unread;
            send(line, false);
        }

        @Override
        public void stop(StopMode mode) {
            if (stopped == null) {
                stopped = mode;
            }
        }

        void says(String line) {
            listener.line(line.replace('\'', '"'));
            listener.caughtUp();
        }

        void greets() {
            says(
                    "{'type':'control_response','response':{'subtype':'success','request_id':'holdfast-1','response':{}}}");
        }

        void init(String... tools) {
            says("{'type':'system','subtype':'init','session_id':'native','claude_code_version':'9.9.9','tools':['"
                    + String.join("','", tools) + "'],'mcp_servers':[{'name':'host'}],'skills':[],'plugins':[]}");
        }

        void state(String state) {
            says("{'type':'system','subtype':'session_state_changed','state':'" + state + "'}");
        }

        void replays(String uuid) {
            says("{'type':'user','isReplay':true,'uuid':'" + uuid + "','message':{'role':'user','content':[]}}");
        }

        void probeResult(String cost) {
            says("{'type':'result','subtype':'success','is_error':false,'num_turns':0,'result':'','total_cost_usd':"
                    + cost + "}");
        }

        void answers(String uuid, String text) {
            says("{'type':'assistant','uuid':'" + uuid
                    + "','parent_tool_use_id':null,'message':{'content':[{'type':'text'," + "'text':'" + text
                    + "'}]}}");
        }

        void result(String text, String cost) {
            says("{'type':'result','subtype':'success','is_error':false,'num_turns':1,'result':'" + text
                    + "','terminal_reason':'completed','uuid':'r','usage':{'input_tokens':3,'output_tokens':4},"
                    + "'total_cost_usd':" + cost + "}");
        }

        void exits(String why, String stderr) {
            listener.endOfOutput();
            listener.gone(new Exit(why, stderr, true));
        }

        String lastUuid() {
            return StreamJson.text(written.getLast(), "uuid");
        }

        List<JsonNode> ofType(String type) {
            return written.stream()
                    .filter(line -> StreamJson.text(line, "type").equals(type))
                    .toList();
        }
    }
}
