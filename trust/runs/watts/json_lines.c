/* An object a line, by any meter: {"timestamp": 1746763068.1, "gpu": 0, "power_W": 312}.  It does not say where it was
 * metered. */
#include <stdio.h>
#include <string.h>

#include "trust/runs/watts.h"

/* The next key and its value of a flat object, as text; @return where the search goes on, NULL: none. */
static const char *next_pair(const char *at, char *key, char *value, size_t capacity) {
    const char *open = strchr(at, '"'), *close = open ? strchr(open + 1, '"') : NULL;
    if (!close) return NULL;
    snprintf(key, capacity, "%.*s", (int)(close - open - 1), open + 1);
    at = close + 1 + strspn(close + 1, " ");
    if (*at != ':') return NULL;
    at += 1 + strspn(at + 1, " ");
    bool quoted = *at == '"';
    at += quoted;
    size_t n = strcspn(at, quoted ? "\"" : ",} ");
    snprintf(value, capacity, "%.*s", (int)n, at);
    return at + n + (quoted && at[n]);
}

/* Powers of an object: one, or one of each device. */
struct powers {
    char key[FR_WATTS_WIDE][FR_WATTS_NAME_B], value[FR_WATTS_WIDE][FR_WATTS_NAME_B];
    int n;
    bool others; /**< powers of another kind beside them */
};

static void take_power(struct fr_watts_log *log, const char *key, const char *value,
                       struct powers *p) {
    if (p->n == FR_WATTS_WIDE || (p->n && !fr_watts_same_but_numbers(p->key[0], key))) {
        p->others = true;
        return;
    }
    log->unit_W = fr_watts_unit(key);
    snprintf(p->key[p->n], sizeof p->key[0], "%s", key);
    snprintf(p->value[p->n++], sizeof p->value[0], "%s", value);
}

static bool line(struct fr_watts_log *log, const char *line) {
    char key[64], value[64], host[32] = "", device[64] = "", name[FR_WATTS_NAME_B];
    struct powers p = {.n = 0};
    bool any = false;
    if (*line != '{') return false;
    for (const char *at = line; (at = next_pair(at, key, value, sizeof key));) {
        if (fr_watts_is_device(key) && !strchr(key, '.'))
            memcpy(device, value, sizeof device);
        else if (fr_watts_is_host(key))
            snprintf(host, sizeof host, "%.31s", value);
        else if (fr_watts_is_time(key))
            fr_watts_set_time(log, value);
        else if (fr_watts_is_power(key))
            take_power(log, key, value, &p);
    }
    if (p.others || (p.n > 1 && *device)) return false;
    for (int i = 0; i < p.n; i++) {
        const char *own = p.n > 1 ? p.key[i] : device;
        snprintf(name, sizeof name, "%.30s%s%.30s", host, *host && *own ? "/" : "", own);
        any |= fr_watts_add_text(log, name, p.value[i]);
    }
    return any;
}

const struct fr_watts_format fr_watts_json_lines = {
    .name = "json-lines",
    .summary = "power by any meter, an object of JSON a line: time and watts",
    .source = "any meter: {\"time\": 1746763068, \"watts\": 312}",
    .measured_at = NULL,
    .line = line,
};
