/* JSON of AMD's tools, an object over several lines or in one:
 *
 *      "gpu": 0, ... "socket_power": {"value": 140, "unit": "W"}        amd-smi metric --json, monitor --json
 *      "gpu": 0, ... "socket_power": "140 W"                            of earlier releases
 *      "card0": {"Average Graphics Package Power (W)": "95.0"}          rocm-smi --showpower --json
 *
 *  A GPU's key stands before its power. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trust/runs/watts.h"

/* Its value may stand on a line of its own; what else an object says of another quantity is passed over. */
static bool is_power(const char *key) {
    static const char *const keys[] = {"socket_power", "current_socket_power",
                                       "average_socket_power", "power_usage", NULL};
    for (int i = 0; keys[i]; i++)
        if (strcmp(key, keys[i]) == 0) return true;
    return strstr(key, "Package Power") && strstr(key, "(W)") && !strstr(key, "Max");
}

static bool is_card(const char *key) {
    return strncmp(key, "card", 4) == 0 && key[4] && !key[4 + strspn(key + 4, "0123456789")];
}

static void say_device(struct fr_watts_log *log, const char *number) {
    snprintf(log->current, sizeof log->current, "%.*s", (int)strspn(number, "0123456789"),
             number);
    log->other_section = true; /* until a key names a power */
}

/* The value at @p at, quote marks gone.  @return behind it */
static const char *value_at(const char *at, char *out, size_t capacity) {
    const bool quoted = *at == '"';
    at += quoted;
    const size_t n = strcspn(at, quoted ? "\"" : ",}] ");
    snprintf(out, capacity, "%.*s", (int)n, at);
    return at + n + (quoted && at[n]);
}

static bool line(struct fr_watts_log *log, const char *line) {
    char key[64], value[64];
    bool any = false;
    for (const char *at = line; (at = strchr(at, '"'));) {
        at = value_at(at, key, sizeof key);
        const char *colon = at + strspn(at, " ");
        if (*colon != ':') continue; /* a value, or no key */
        at = colon + 1 + strspn(colon + 1, " ");
        const bool inside = *at == '{' || *at == '[' || !*at;
        if (is_card(key) && inside) say_device(log, key + 4);
        if (inside) {
            if (is_power(key)) log->other_section = false;
            continue;
        }
        at = value_at(at, value, sizeof value);
        if (strcmp(key, "gpu") == 0 && isdigit((unsigned char)*value)) say_device(log, value);
        if (strcmp(key, "timestamp") == 0) fr_watts_set_time(log, value);
        const bool whole = is_power(key),
                   part = strcmp(key, "value") == 0 && !log->other_section;
        if ((whole || part) && *log->current) {
            any |= fr_watts_add_text(log, log->current, value);
            log->other_section = true;
        }
    }
    return any;
}

const struct fr_watts_format fr_watts_smi_json = {
    .name = "amd-smi-json",
    .summary = "power of AMD GPUs, as JSON of amd-smi and rocm-smi",
    .source = "amd-smi metric --power --json --watch 1, or rocm-smi --showpower --json",
    .measured_at = "device",
    .accelerators = true,
    .shared = true,
    .line = line,
};
