package dev.holdfast.server;

import dev.holdfast.Message;
import java.util.Map;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.json.JsonMapper;

/** Reads and writes JSON within bounds that do not depend on what a library has as its default. */
final class Json {
    /** A request is one flat object, so nothing in it lies deeper. */
    private static final int DEPTH_MAX = 4;

    private static final int NAME_MAX = 64;
    private static final int NUMBER_MAX = 20;

    private static final JsonMapper MAPPER = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(DEPTH_MAX)
                            .maxNameLength(NAME_MAX)
                            .maxNumberLength(NUMBER_MAX)
                            .maxStringLength(Message.TEXT_BYTES_MAX)
                            .build())
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .build())
            .build();

    private Json() {}

    static byte[] bytes(Map<String, ?> members) {
        return MAPPER.writeValueAsBytes(members);
    }

    static JsonMapper reader() {
        return MAPPER;
    }
}
