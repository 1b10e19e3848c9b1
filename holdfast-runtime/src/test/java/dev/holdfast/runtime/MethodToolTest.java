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
import dev.holdfast.ToolSpec;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What annotated methods may take, what their schema says, and what the model hears of an input that breaks it. */
class MethodToolTest {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    public enum Colour {
        RED,
        BLUE
    }

    public record Item(@Describe("what it is called") String name, int count, Optional<Colour> colour) {}

    public record Order(Item first, List<Item> more, Map<String, Integer> prices, Map<Colour, Item> byColour) {}

    public record Found(String name, List<Integer> places) {}

    public static final class Desk {
        @AgentTool("Takes an order.")
        public String order(Order order, @Describe("how urgent") Optional<Integer> urgency) {
            return order + " " + urgency;
        }

        @AgentTool("Takes plain values.")
        public String plain(boolean b, int i, long l, double d, BigDecimal sum, String s, Colour colour, int[] many) {
            return b + " " + i + " " + l + " " + d + " " + sum + " " + s + " " + colour + " " + many.length;
        }

        @AgentTool("Takes times.")
        public String times(Instant at, LocalDate day, LocalTime time, Duration length, UUID id, Set<LocalDate> days) {
            return at + " " + day + " " + time + " " + length + " " + id + " " + days;
        }

        @AgentTool(value = "Finds.", deadlineSeconds = 7)
        public Found found() {
            return new Found("here", List.of(1, 2));
        }
    }

    private static final Map<String, Tool> DESK = Tools.of(List.of(new Desk()));

    static ToolAnswer call(Tool tool, String input) throws Exception {
        return tool.call(new ToolCall(
                new SessionName("s"),
                1,
                1,
                Optional.of(Author.host()),
                "c",
                "k",
                input,
                () -> false,
                ToolCall.ProgressSink.NONE));
    }

    private static ToolAnswer call(String tool, String input) throws Exception {
        return call(DESK.get(tool), input);
    }

    private static JsonNode schema(String tool) {
        return JSON.readTree(DESK.get(tool).spec().inputSchema());
    }

    @Test
    @Tag("TL-02")
    void nestedRecords_listsMapsAndOptionals_areDescribedAndRead() throws Exception {
        var order = schema("order").at("/properties/order");
        assertThat(order.at("/required").toString()).isEqualTo("[\"byColour\",\"first\",\"more\",\"prices\"]");
        assertThat(order.at("/properties/first/properties/name/description").asString())
                .isEqualTo("what it is called");
        assertThat(order.at("/properties/more/items/properties/count/type").asString())
                .isEqualTo("integer");
        assertThat(order.at("/properties/prices/additionalProperties/type").asString())
                .isEqualTo("integer");
        assertThat(order.at("/properties/first/required").toString()).isEqualTo("[\"count\",\"name\"]");
        assertThat(schema("order").at("/properties/urgency/description").asString())
                .isEqualTo("how urgent");

        var answer = call("order", """
                {"order":{"first":{"name":"pen","count":2,"colour":"RED"},"more":[{"name":"ink","count":1}],
                "prices":{"pen":3},"byColour":{"BLUE":{"name":"cup","count":4,"colour":null}}},"urgency":null}""");
        assertThat(answer.text())
                .contains(
                        "Item[name=pen, count=2, colour=Optional[RED]]",
                        "Item[name=ink, count=1, colour=Optional.empty]")
                .contains("prices={pen=3}", "BLUE=Item[name=cup", "Optional.empty");
    }

    @Test
    @Tag("TL-02")
    void plainValuesAndTimes_areDescribedAndRead() throws Exception {
        assertThat(call("plain", """
                {"b":true,"i":1,"l":9007199254740993,"d":0.5,"sum":1.10,"s":"ü","colour":"BLUE","many":[1,2]}""").text()).isEqualTo("true 1 9007199254740993 0.5 1.10 ü BLUE 2");
        assertThat(schema("times").at("/properties/at/format").asString()).isEqualTo("date-time");
        assertThat(call("times", """
                {"at":"2026-01-31T14:30:00Z","day":"2026-01-31","time":"14:30:00","length":"PT90M",
                "id":"123e4567-e89b-12d3-a456-426614174000","days":["2026-02-01"]}""").text())
                .isEqualTo("2026-01-31T14:30:00Z 2026-01-31 14:30 PT1H30M 123e4567-e89b-12d3-a456-426614174000"
                        + " [2026-02-01]");
    }

    @Test
    @Tag("TL-10")
    void object_returned_isStructuredDataAndText() throws Exception {
        assertThat(call("found", "{}")).isEqualTo(ToolAnswer.json("{\"name\":\"here\",\"places\":[1,2]}"));
        assertThat(DESK.get("found").deadline()).contains(Duration.ofSeconds(7));
        assertThat(DESK.get("plain").deadline()).isEmpty();
    }

    @ParameterizedTest
    @Tag("TL-05")
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            plain | {}                                           | the field 'b' is missing
            order | {"order":{"first":{"name":"pen"},"more":[],"prices":{},"byColour":{}}} | 'order.first.count' is missing
            order | {"order":{"first":{"name":"pen","count":"two"},"more":[],"prices":{},"byColour":{}}} | 'order.first.count' does not fit: string found, integer expected; given: "two"
            order | {"order":{"first":{"name":"pen","count":1},"more":[{"name":"x","count":1},{"count":1}],"prices":{},"byColour":{}}} | 'order.more[1].name' is missing
            order | {"order":{"first":{"name":"pen","count":1,"size":3},"more":[],"prices":{},"byColour":{}}} | 'order.first.size' is not one this tool has
            order | {"order":{"first":{"name":"pen","count":1,"colour":"GREEN"},"more":[],"prices":{},"byColour":{}}} | 'order.first.colour' does not fit
            order | {"order":{"first":{"name":"pen","count":1},"more":[],"prices":{"pen":"dear"},"byColour":{}}} | 'order.prices.pen' does not fit
            order | {"order":null}                               | the field 'order' is missing
            times | {"at":"noon","day":"2026-01-31","time":"14:30:00","length":"PT90M","id":"123e4567-e89b-12d3-a456-426614174000","days":[]} | 'at' does not fit
            times | {"at":"2026-01-31T14:30:00Z","day":"2026-01-31","time":"half past","length":"PT90M","id":"123e4567-e89b-12d3-a456-426614174000","days":[]} | the field 'time' does not fit
            order | [1]                                          | the input does not fit: array found, object expected
            order | {                                            | the input is no JSON
            """)
    void input_thatBreaksTheSchema_isAnErrorNamingFieldExpectationAndValue(String tool, String input, String says)
            throws Exception {
        var answer = call(tool, input);
        assertThat(answer.error()).isTrue();
        assertThat(answer.text()).contains(says);
    }

    // ---- what cannot be a tool ------------------------------------------------------------------------------------

    public static class Bean {}

    public record Tree(String name, List<Tree> branches) {}

    public record Box<T>(T content) {}

    public static final class TakesObject {
        @AgentTool("x")
        public String bad(Object anything) {
            return "";
        }
    }

    public static final class TakesBean {
        @AgentTool("x")
        public String bad(List<Bean> beans) {
            return "";
        }
    }

    public static final class TakesTree {
        @AgentTool("x")
        public String bad(Tree tree) {
            return "";
        }
    }

    public static final class TakesBox {
        @AgentTool("x")
        public String bad(Box<String> box) {
            return "";
        }
    }

    public static final class TakesKeys {
        @AgentTool("x")
        public String bad(Map<Integer, String> map) {
            return "";
        }
    }

    public static final class TakesWildcard {
        @AgentTool("x")
        public String bad(List<?> list) {
            return "";
        }
    }

    public static final class TakesBytes {
        @AgentTool("x")
        public String bad(byte[] bytes) {
            return "";
        }
    }

    static List<Object> refused() {
        return List.of(
                new TakesObject(),
                new TakesBean(),
                new TakesTree(),
                new TakesBox(),
                new TakesKeys(),
                new TakesWildcard(),
                new TakesBytes());
    }

    @ParameterizedTest
    @MethodSource("refused")
    @Tag("TL-02")
    void parameter_thatNoSchemaDescribes_isRefusedByName(Object source) {
        assertThatThrownBy(() -> Tools.of(source))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("parameter '")
                .hasMessageContaining(source.getClass().getName() + ".bad(")
                .hasMessageContaining("which a tool's input cannot have");
    }

    // ---- tools with a schema of their own -------------------------------------------------------------------------

    private static Tool with(String schema) {
        return new Tool() {
            @Override
            public ToolSpec spec() {
                return new ToolSpec("own", "brings its schema", schema);
            }

            @Override
            public ToolAnswer call(ToolCall call) {
                return ToolAnswer.text("ran");
            }
        };
    }

    private static Tool bound(String schema) {
        return Tools.of(with(schema)).getFirst();
    }

    @ParameterizedTest
    @Tag("TL-05")
    @Tag("TL-10")
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            {"type":"object","properties":{"a":{"type":"integer","minimum":3}}} | {"a":2} | 'a' does not fit
            {"type":"object","properties":{"a":{"pattern":"^x+$"}}} | {"a":"y"} | 'a' does not fit
            {"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"null"}]}}} | {"a":1} | 'a' does not fit
            {"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"number"}}} | {"a":"1"} | 'a' does not fit
            {"$schema":"http://json-schema.org/draft-07/schema#","type":"object","definitions":{"n":{"type":"number"}},"properties":{"a":{"$ref":"#/definitions/n"}}} | {"a":"1"} | 'a' does not fit
            {"type":"object","properties":{"a":{}},"dependentRequired":{"a":["b"]}} | {"a":1} | 'b'
            {"type":"object","if":{"properties":{"a":{"const":1}}},"then":{"required":["c"]}} | {"a":1} | 'c' is missing
            """)
    void anySchema_isHeldAgainstTheInput(String schema, String input, String says) throws Exception {
        var answer = call(bound(schema), input);
        assertThat(answer.error()).isTrue();
        assertThat(answer.text()).contains(says);
        assertThat(call(bound("{}"), input)).isEqualTo(ToolAnswer.text("ran"));
    }

    @ParameterizedTest
    @Tag("TL-05")
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            {"type":"objekt"}                                     | 'own'
            {"type":"object"                                      | 'own'
            {"properties":{"a":{"$ref":"http://127.0.0.1:9/x"}}}  | 'own'
            {"properties":{"a":{"$ref":"#/$defs/missing"}}}       | 'own'
            {"$schema":"http://example.invalid/schema"}           | 'own'
            """)
    void schema_thatIsNone_isRefusedAtBinding(String schema, String says) {
        assertThatThrownBy(() -> bound(schema))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the input schema of tool")
                .hasMessageContaining(says);
    }
}
