#include "base/text/launch_count.h"

#include <stdlib.h>
#include <string.h>

bool fr_launch_count(const char *text, size_t length, int64_t *out) {
    int64_t value = 0;
    if (strspn(text, "0123456789") < length) return false;
    for (size_t i = 0; i < length && value <= FR_LAUNCH_COUNT_MAX; i++)
        value = 10 * value + (text[i] - '0');
    if (value < 1 || value > FR_LAUNCH_COUNT_MAX) return false;
    *out = value;
    return true;
}

/* The host at @p at of @p list and its slots.  @return the next one; @p again: its name stood there before */
static const char *host_at(const char *list, const char *at, int64_t *slots, bool *again) {
    size_t n = strcspn(at, ","), name = strcspn(at, ":,");
    *slots = at[name] == ':' ? strtoll(at + name + 1, NULL, 10) : 1;
    if (*slots < 1) *slots = 1;
    *again = false;
    for (const char *p = list; p < at && !*again; p += strcspn(p, ",") + 1)
        *again = strcspn(p, ":,") == name && strncmp(p, at, name) == 0;
    return at + n + (at[n] == ',');
}

void fr_launch_hosts(const char *list, int64_t *hosts, int64_t *slots) {
    *hosts = *slots = 0;
    for (const char *at = list; *at;) {
        int64_t here = 1;
        bool again = false;
        at = host_at(list, at, &here, &again);
        *hosts += !again;
        *slots += here > FR_LAUNCH_COUNT_MAX ? 1 : here;
        if (*slots > FR_LAUNCH_COUNT_MAX) *slots = FR_LAUNCH_COUNT_MAX;
    }
}

int64_t fr_launch_hosts_filled(const char *list, int64_t ranks) {
    int64_t left = ranks, nodes = 0;
    for (const char *at = list; *at && left > 0;) {
        int64_t here = 1;
        bool again = false;
        at = host_at(list, at, &here, &again);
        nodes += !again;
        left -= here;
    }
    return left > 0 ? 0 : nodes;
}

int64_t fr_launch_names(const char *list) {
    int64_t n = 0;
    for (const char *at = list; *at;) {
        const char *open = at + strcspn(at, "[,");
        if (*open != '[') {
            n++;
            at = *open ? open + 1 : open;
            continue;
        }
        const char *close = strchr(open, ']');
        if (!close) return 0;
        for (const char *p = open + 1; p < close;) {
            long long from = strtoll(p, NULL, 10), to = from;
            const char *dash = p + strspn(p, "0123456789");
            if (*dash == '-') to = strtoll(dash + 1, NULL, 10);
            if (to < from || to - from > FR_LAUNCH_COUNT_MAX) return 0;
            n += to - from + 1;
            p += strcspn(p, ",]") + 1;
        }
        at = close + 1 + (close[1] == ',');
    }
    return n;
}
