/*
 * The least agent there can be: answers every user line with the frames of a turn, in one write, and every control request
 * with success. What a benchmark measures beside it is the host's part.
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

int main(void) {
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
            at += sprintf(at, STATE, "running");
            at += sprintf(at, "%s", INIT);
            at += sprintf(at, "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[]},\"session_id\":\"s\","
                              "\"parent_tool_use_id\":null,\"uuid\":\"%s\",\"isReplay\":true}\n", id);
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
            at += sprintf(at, STATE, "idle");
        }
        say((size_t) (at - out));
    }
    return 0;
}
