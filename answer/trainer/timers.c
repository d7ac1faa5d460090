#include "answer/trainer/timers.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "trust/numbers/statistics.h"

const char *const fr_timer_names[] = {"passes", "gradients", "optimizer"};

/* Names of Megatron's timers that add up to a phase: others are parts of these. */
static const struct {
    const char *name;
    int kind;
} names[] = {{"forward-backward", FR_TIMER_PASSES},
             {"forward-compute", FR_TIMER_PASSES}, /* where the first is not printed */
             {"backward-compute", FR_TIMER_PASSES},
             {"all-grads-sync", FR_TIMER_GRADIENTS},
             {"grads-all-reduce", FR_TIMER_GRADIENTS},
             {"grads-reduce-scatter", FR_TIMER_GRADIENTS},
             {"backward-params-all-reduce", FR_TIMER_GRADIENTS},
             {"optimizer", FR_TIMER_OPTIMIZER}};
enum { NAMES = sizeof names / sizeof *names, WHOLE = 0, SYNC = 3 };

/* The row of @p names that the line's name[0..n) is, or -1. */
static int find(const char *name, size_t n) {
    for (int i = 0; i < NAMES; i++)
        if (strlen(names[i].name) == n && strncmp(names[i].name, name, n) == 0) return i;
    return -1;
}

/* A phase that has a timer of its own is not added up. */
static void take(struct fr_timers *t, int row, double least_ms, double most_ms) {
    const int kind = names[row].kind, at = (t->reports - 1) % FR_TIMER_REPORTS;
    const bool own = row == WHOLE || row == SYNC || kind == FR_TIMER_OPTIMIZER;
    double *least_s = &t->report[at][kind].least_s, *most_s = &t->report[at][kind].most_s;
    if (!(least_ms >= 0 && most_ms >= least_ms && most_ms < 1e9)) return;
    if (own) *least_s = *most_s = 0;
    /* Parts come behind the whole, or without it. */
    if (!own && *most_s * 1e3 > most_ms) return;
    *least_s += 1e-3 * least_ms;
    *most_s += 1e-3 * most_ms;
}

static void begin(struct fr_timers *t) {
    const int at = t->reports++ % FR_TIMER_REPORTS;
    memset(t->report[at], 0, sizeof t->report[at]);
    t->open = true;
    t->current = -1;
    t->n_ranks = 0;
}

/* "time (ms) | forward-compute: 1700.1 | backward-compute: ..." */
static bool of_bars(struct fr_timers *t, const char *line) {
    const char *at = strstr(line, "time (ms) |");
    if (!at) return false;
    begin(t);
    t->open = false;
    while ((at = strchr(at, '|'))) {
        at += 1 + strspn(at + 1, " ");
        const size_t n = strcspn(at, ":|");
        const int row = at[n] == ':' ? find(at, n) : -1;
        const double ms = row >= 0 ? strtod(at + n + 1, NULL) : 0;
        if (row >= 0) take(t, row, ms, ms);
    }
    return true;
}

/* "rank  0: 5012.34" below a timer's name. */
static bool of_rank(struct fr_timers *t, const char *line) {
    char *end = NULL;
    if (strncmp(line, "rank", 4) != 0) return false;
    const long rank = strtol(line + 4, &end, 10);
    if (end == line + 4 || *end != ':' || rank < 0) return false;
    const double ms = strtod(end + 1, NULL);
    if (t->current < 0) return true;
    const int kind = names[t->current].kind, at = (t->reports - 1) % FR_TIMER_REPORTS;
    double *least_s = &t->report[at][kind].least_s, *most_s = &t->report[at][kind].most_s;
    if (!(ms >= 0 && ms < 1e9)) return true;
    if (*most_s == 0 || 1e-3 * ms < *least_s) *least_s = 1e-3 * ms;
    if (1e-3 * ms > *most_s) *most_s = 1e-3 * ms;
    if (t->current == WHOLE && rank == t->n_ranks && rank < FR_TIMER_RANKS)
        t->rank_s[t->n_ranks++] = 1e-3 * ms;
    return true;
}

/* "forward-backward ....: (5012.34, 5013.45)", "forward-backward ....: 5013.45", "forward-backward:" */
static bool of_name(struct fr_timers *t, const char *line) {
    size_t n = 0;
    while (isalnum((unsigned char)line[n]) || line[n] == '-' || line[n] == '_') n++;
    const char *at = line + n + strspn(line + n, " .");
    if (n == 0 || *at != ':') return false;
    at += 1 + strspn(at + 1, " ");
    const int row = find(line, n);
    t->current = *at ? -1 : row;
    if (!*at || row < 0) return true;
    char *end = NULL;
    const bool two = *at == '(';
    const double least = strtod(at + two, &end);
    if (end == at + two) return false;
    take(t, row, least, two && *end == ',' ? strtod(end + 1, NULL) : least);
    return true;
}

bool fr_timers_line(struct fr_timers *t, const char *line) {
    if (of_bars(t, line)) return true;
    if (strstr(line, "across ranks (ms):")) return begin(t), true;
    if (!t->open) return false;
    line += strspn(line, " \t");
    return t->open = of_rank(t, line) || of_name(t, line);
}

bool fr_timers_of(const struct fr_timers *t, int kind, double *least_s, double *most_s) {
    double least[FR_TIMER_REPORTS], most[FR_TIMER_REPORTS];
    size_t n = 0;
    for (int i = 0; i < FR_TIMER_REPORTS && i < t->reports; i++) {
        if (!(t->report[i][kind].most_s > 0)) continue;
        least[n] = t->report[i][kind].least_s;
        most[n++] = t->report[i][kind].most_s;
    }
    if (n == 0) return false;
    fr_sort(least, n);
    fr_sort(most, n);
    *least_s = least[n / 2];
    *most_s = most[n / 2];
    return true;
}

int64_t fr_timers_slowest(const struct fr_timers *t, double *excess) {
    double sorted[FR_TIMER_RANKS];
    int64_t slowest = 0;
    if (t->n_ranks < 2) return -1;
    memcpy(sorted, t->rank_s, (size_t)t->n_ranks * sizeof *sorted);
    fr_sort(sorted, (size_t)t->n_ranks);
    const double middle_s = sorted[(t->n_ranks - 1) / 2];
    if (!(middle_s > 0)) return -1;
    for (int i = 1; i < t->n_ranks; i++)
        if (t->rank_s[i] > t->rank_s[slowest]) slowest = i;
    *excess = t->rank_s[slowest] / middle_s - 1;
    return slowest;
}
