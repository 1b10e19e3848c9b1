/*
 * The least agent there can be: answers every user line with the frames of a turn, in one write, and every control request
 * with success. A line with "flood N" is answered with N lines more, as an agent at work writes them. What a benchmark
 * measures beside it is the host's part. It acknowledges lines with --replay-user-messages, and says when it works and
 * rests where CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS is set.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char out[1 << 16];

static const char *value(const char *line, const char *key, char *into, size_t size) {
    const char *at = strstr(line, key);
    size_t used = 0;
    if (at != NULL) {
        for (at += strlen(key); *at != '\0' && *at != '"' && used + 1 < size; at++) {
            into[used++] = *at;
        }
    }
    into[used] = '\0';
    return into;
}

static void say(size_t length) {
    size_t done = 0;
    while (done < length) {
        ssize_t wrote = write(1, out + done, length - done);
        if (wrote <= 0) {
            exit(1);
        }
        done += (size_t) wrote;
    }
}

static const char *INIT =
        "{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"/tmp\",\"session_id\":\"s\",\"tools\":[],"
        "\"mcp_servers\":[{\"name\":\"host\",\"status\":\"connected\"}],\"model\":\"stub\",\"permissionMode\":\"default\","
        "\"slash_commands\":[\"clear\",\"compact\",\"context\",\"cost\"],\"apiKeySource\":\"ANTHROPIC_API_KEY\","
        "\"claude_code_version\":\"2.1.332\",\"output_style\":\"default\",\"agents\":[\"claude\",\"general-purpose\"],"
        "\"skills\":[],\"plugins\":[],\"uuid\":\"00000000-0000-4000-8000-000000000001\"}\n";

static const char *STATE =
        "{\"type\":\"system\",\"subtype\":\"session_state_changed\",\"state\":\"%s\","
        "\"uuid\":\"00000000-0000-4000-8000-000000000002\",\"session_id\":\"s\"}\n";

static const char *USAGE =
        "{\"input_tokens\":10,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":5,"
        "\"service_tier\":\"standard\",\"cache_creation\":{\"ephemeral_1h_input_tokens\":0,\"ephemeral_5m_input_tokens\":0}}";

/* Lines as an agent at work writes them: eight pieces of an answer, then a finished block and what a tool gave. */
static void flood(long count) {
    char *at = out;
    for (long i = 0; i < count; i++) {
        switch (i % 10) {
            case 8:
                at += sprintf(at, "{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":"
                                  "\"assistant\",\"model\":\"stub\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t%ld\",\"name\":"
                                  "\"Read\",\"input\":{\"file_path\":\"/tmp/a file\",\"limit\":200}}],\"stop_reason\":null,"
                                  "\"stop_sequence\":null,\"usage\":%s},\"parent_tool_use_id\":null,\"session_id\":\"s\","
                                  "\"uuid\":\"00000000-0000-4000-8000-000000000003\"}\n", i, USAGE);
                break;
            case 9:
                at += sprintf(at, "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
                                  "\"tool_use_id\":\"t%ld\",\"content\":\"the words of a file\\nwith two lines\"}]},"
                                  "\"parent_tool_use_id\":null,\"session_id\":\"s\",\"uuid\":\"u%ld\"}\n", i - 1, i);
                break;
            default:
                at += sprintf(at, "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\",\"index\":0,"
                                  "\"delta\":{\"type\":\"text_delta\",\"text\":\"some words of an answer \"}},\"session_id\":\"s\","
                                  "\"parent_tool_use_id\":null,\"uuid\":\"00000000-0000-4000-8000-000000000004\"}\n");
        }
        if (at - out > (1 << 15)) {
            say((size_t) (at - out));
            at = out;
        }
    }
    say((size_t) (at - out));
}

int main(int argc, char **argv) {
    int replays = 0;
    int states = getenv("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS") != NULL;
    for (int i = 1; i < argc; i++) {
        replays |= strcmp(argv[i], "--replay-user-messages") == 0;
    }
    char *line = NULL;
    size_t capacity = 0;
    char id[256];
    long turns = 0;
    while (getline(&line, &capacity, stdin) > 0) {
        char *at = out;
        if (strstr(line, "\"control_request\"") != NULL) {
            value(line, "\"request_id\":\"", id, sizeof id);
            at += sprintf(at, "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"%s\","
                              "\"response\":{}}}\n", id);
        } else if (strstr(line, "\"type\":\"user\"") != NULL) {
            int probe = strstr(line, "\"shouldQuery\":false") != NULL;
            value(line, "\"uuid\":\"", id, sizeof id);
            if (states) {
                at += sprintf(at, STATE, "running");
            }
            at += sprintf(at, "%s", INIT);
            if (replays) {
                at += sprintf(at, "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[]},\"session_id\":\"s\","
                                  "\"parent_tool_use_id\":null,\"uuid\":\"%s\",\"isReplay\":true}\n", id);
            }
            char *asked = strstr(line, "\"flood ");
            if (asked != NULL) {
                say((size_t) (at - out));
                flood(atol(asked + strlen("\"flood ")));
                at = out;
            }
            if (!probe) {
                turns++;
                at += sprintf(at, "{\"type\":\"assistant\",\"message\":{\"id\":\"m%ld\",\"type\":\"message\","
                                  "\"role\":\"assistant\",\"model\":\"stub\",\"content\":[{\"type\":\"text\",\"text\":\"fine\"}],"
                                  "\"stop_reason\":null,\"stop_sequence\":null,\"usage\":%s},\"parent_tool_use_id\":null,"
                                  "\"session_id\":\"s\",\"uuid\":\"a%ld\"}\n", turns, USAGE, turns);
            }
            at += sprintf(at, "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"duration_ms\":1,"
                              "\"num_turns\":%d,\"result\":\"fine\",\"stop_reason\":\"end_turn\",\"session_id\":\"s\","
                              "\"total_cost_usd\":%.4f,\"usage\":%s,\"modelUsage\":{\"stub\":{\"inputTokens\":%ld,"
                              "\"outputTokens\":%ld,\"cacheReadInputTokens\":0,\"cacheCreationInputTokens\":0,\"costUSD\":%.4f}},"
                              "\"permission_denials\":[],\"terminal_reason\":\"completed\",\"uuid\":\"r%ld\"}\n",
                          probe ? 0 : 1, turns * 0.001, USAGE, turns * 10, turns * 5, turns * 0.001, turns);
            if (states) {
                at += sprintf(at, STATE, "idle");
            }
        }
        say((size_t) (at - out));
    }
    return 0;
}
