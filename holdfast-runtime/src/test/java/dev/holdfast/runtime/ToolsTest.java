package dev.holdfast.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AgentTool;
import dev.holdfast.Author;
import dev.holdfast.Describe;
import dev.holdfast.SessionName;
import dev.holdfast.Tool;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCall;
import dev.holdfast.ToolEffects;
import dev.holdfast.ToolSpec;
import dev.holdfast.core.OpenCall;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Host tools from annotated methods and from tool objects, and the door to them. */
class ToolsTest {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    public enum Speed {
        SLOW,
        FAST
    }

    public record Place(@Describe("name of the street") String street, int number) {}

    public static final class Desk {
        @AgentTool(value = "Looks up an order.", effects = ToolEffects.READ)
        public String order(@Describe("the order's number") int id, Optional<String> note) {
            return "order " + id + note.map(n -> " (" + n + ")").orElse("");
        }

        @AgentTool("Ships goods.")
        public Map<String, Object> ship(Place to, Speed speed, List<String> goods, ToolCall call) {
            return Map.of(
                    "to", to.street() + " " + to.number(), "speed", speed, "count", goods.size(), "turn", call.turn());
        }

        @AgentTool("Fails.")
        public String fail() {
            throw new IllegalStateException("the desk is closed");
        }
    }

    private static final Map<String, Tool> DESK = Tools.of(List.of(new Desk()));

    private static ToolAnswer call(String tool, String input) {
        return ToolDoor.run(DESK, tool, toolCall(input), Optional.empty());
    }

    private static ToolCall toolCall(String input) {
        return new ToolCall(
                new SessionName("s"),
                4,
                9,
                Optional.of(Author.host()),
                "c1",
                "k",
                input,
                () -> false,
                ToolCall.ProgressSink.NONE);
    }

    private static JsonNode schema(String tool) {
        return JSON.readTree(DESK.get(tool).spec().inputSchema());
    }

    @Test
    @Tag("TL-02")
    void annotatedMethod_schemaDescribesItsParameters() {
        var order = schema("order");
        assertThat(order.at("/properties/id/type").asString()).isEqualTo("integer");
        assertThat(order.at("/properties/id/description").asString()).isEqualTo("the order's number");
        assertThat(order.at("/required").toString()).isEqualTo("[\"id\"]");

        var ship = schema("ship");
        assertThat(ship.at("/properties/to/properties/street/description").asString())
                .isEqualTo("name of the street");
        assertThat(ship.at("/properties/speed/enum").toString()).isEqualTo("[\"SLOW\",\"FAST\"]");
        assertThat(ship.at("/properties/goods/type").asString()).isEqualTo("array");
        assertThat(ship.at("/properties/call").isMissingNode()).isTrue();
    }

    @Test
    @Tag("TL-02")
    void annotatedMethod_isCalledWithItsArguments() {
        assertThat(call("order", "{\"id\":7}")).isEqualTo(ToolAnswer.text("order 7"));
        assertThat(call("order", "{\"id\":7,\"note\":\"red\"}")).isEqualTo(ToolAnswer.text("order 7 (red)"));
        var shipped =
                call("ship", "{\"to\":{\"street\":\"Elm\",\"number\":3},\"speed\":\"FAST\",\"goods\":[\"a\",\"b\"]}");
        assertThat(JSON.readTree(shipped.text()).toString())
                .contains("\"to\":\"Elm 3\"", "\"count\":2", "\"turn\":4", "\"speed\":\"FAST\"");
    }

    @Test
    @Tag("TL-03")
    @Tag("TL-05")
    void badInput_isAnErrorThatNamesTheField() {
        assertThat(call("order", "{}")).isEqualTo(ToolAnswer.error("the field 'id' is missing"));
        assertThat(call("order", "{\"id\":\"x\"}").text()).contains("'id'");
        assertThat(call("ship", "{\"to\":{\"street\":\"Elm\"},\"speed\":\"FAST\",\"goods\":[]}")
                        .text())
                .isEqualTo("the field 'to.number' is missing");
        assertThat(call("ship", "{\"to\":{\"street\":\"Elm\",\"number\":1},\"speed\":\"LIGHT\",\"goods\":[]}")
                        .error())
                .isTrue();
        assertThat(call("nothing", "{}").text()).contains("no tool 'nothing'");
    }

    @Test
    @Tag("TL-03")
    void throwingTool_isAnErrorAnswer() {
        assertThat(call("fail", "{}")).isEqualTo(ToolAnswer.error("the tool failed: the desk is closed"));
    }

    @Test
    @Tag("TL-07")
    void forgottenCall_isNotRunAgain() {
        var ended = new OpenCall("c0", "fail", "d", "k", true, false, "done before", true);
        var open = new OpenCall("c0", "fail", "d", "k", false, false, "", true);
        assertThat(ToolDoor.run(DESK, "fail", toolCall("{}"), Optional.of(ended)))
                .isEqualTo(ToolAnswer.text("done before"));
        assertThat(ToolDoor.run(DESK, "fail", toolCall("{}"), Optional.of(open)).text())
                .contains("may have happened");
    }

    @Test
    void binding_refusesWhatCannotBeATool() {
        assertThatThrownBy(() -> Tools.of(List.of("text"))).hasMessageContaining("java.lang.String is no Tool");
        assertThatThrownBy(() -> Tools.of(List.of(new Desk(), named("order")))).hasMessageContaining("'order'");
        assertThat(Tools.of(List.of(named("one"), named("two")))).containsOnlyKeys("one", "two");
    }

    private static Tool named(String name) {
        return new Tool() {
            @Override
            public ToolSpec spec() {
                return new ToolSpec(name, "does nothing", "{}");
            }

            @Override
            public ToolAnswer call(ToolCall call) {
                return ToolAnswer.text("");
            }
        };
    }
}
