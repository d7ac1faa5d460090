#include "calibrate/samples/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "trust/numbers/statistics.h"

static const double APART_LOG2 = 0.5;

static bool same_texts(const struct fr_sample_source *a, const struct fr_sample_source *b) {
    return !strcmp(a->tool, b->tool) && !strcmp(a->tool_version, b->tool_version) &&
           !strcmp(a->system, b->system) && !strcmp(a->device, b->device) &&
           !strcmp(a->network, b->network) && !strcmp(a->library, b->library) &&
           !strcmp(a->setup, b->setup) && !strcmp(a->statistic, b->statistic);
}

static bool same_point(const struct fr_sample_collective *a,
                       const struct fr_sample_collective *b) {
    return a->op == b->op && a->pattern == b->pattern && a->n_ranks == b->n_ranks &&
           a->n_nodes == b->n_nodes && a->in_place == b->in_place && a->size_B == b->size_B;
}

/* Median |log2| between what two sources measured at the same points, one operation at a time:
 * the largest of them; 0 when they share none. */
static double apart(const struct fr_samples *s, int a, int b, double *scratch) {
    double worst = 0;
    for (int op = 0; op < FR_OP_COUNT; op++) {
        size_t n = 0;
        for (size_t i = 0; i < s->n_collective; i++) {
            const struct fr_sample_collective *x = &s->collective[i];
            if (x->source != a || (int)x->op != op || x->rep > 1 || x->launch > 0) continue;
            for (size_t k = 0; k < s->n_collective; k++) {
                const struct fr_sample_collective *y = &s->collective[k];
                if (y->source != b || y->launch > 0 || !same_point(x, y)) continue;
                scratch[n++] = fabs(log2(x->time_s / y->time_s));
                break;
            }
        }
        if (n == 0) continue;
        fr_sort(scratch, n);
        worst = fmax(worst, fr_sorted_median(scratch, n));
    }
    return worst;
}

static void name_series(struct fr_series *series, const struct fr_sample_source *source,
                        bool by_file) {
    const char *texts[] = {source->system,  source->device, source->network,
                           source->library, source->setup,  source->tool};
    const char *slash = strrchr(source->file, '/');
    size_t used = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (*texts[i])
            fr_line_addf(series->name, sizeof series->name, &used, "%s%s", used ? "; " : "",
                         texts[i]);
    if (*source->tool_version)
        fr_line_addf(series->name, sizeof series->name, &used, " %s", source->tool_version);
    if (by_file)
        fr_line_addf(series->name, sizeof series->name, &used, " (%s)",
                     slash ? slash + 1 : source->file);
    series->gpu =
        strcmp(source->tool, "nccl-tests") == 0 || strcmp(source->tool, "rccl-tests") == 0;
}

/* The series of source @p index (from 1): an earlier one with its texts and no contradiction. */
static int assign(const struct fr_samples *s, struct fr_series_list *list, int index,
                  double *scratch) {
    const struct fr_sample_source *source = &s->source[index - 1];
    bool by_file = false;
    for (int known = 0; known < list->count; known++) {
        int first = list->items[known].source;
        if (first == 0 || !same_texts(&s->source[first - 1], source)) continue;
        bool agrees = true;
        for (int other = 1; other < index && agrees; other++)
            if (list->of_source[other] == known)
                agrees = apart(s, other, index, scratch) <= APART_LOG2;
        if (agrees) return known;
        by_file = true;
    }
    struct fr_series *added = &list->items[list->count];
    *added = (struct fr_series){.source = index};
    name_series(added, source, by_file);
    return list->count++;
}

fr_status fr_series_find(const struct fr_samples *samples, struct fr_series_list *list) {
    size_t n = samples->n_source + 1;
    double *scratch = fr_malloc(samples->n_collective + 1, sizeof *scratch);
    *list = (struct fr_series_list){.items = fr_calloc(n, sizeof *list->items),
                                    .of_source = fr_calloc(n, sizeof *list->of_source)};
    if (!scratch || !list->items || !list->of_source) {
        free(scratch);
        return FR_ERR_NOMEM;
    }
    list->of_source[0] = -1;
    for (size_t i = 0; i < samples->n_collective && list->of_source[0] < 0; i++)
        if (samples->collective[i].source == 0) list->of_source[0] = list->count++;
    for (int i = 1; i < (int)n; i++) list->of_source[i] = assign(samples, list, i, scratch);
    free(scratch);
    return FR_OK;
}

/* Whether two sources may be one to whoever says so: the same cluster and setup, measured with other
 * versions of the tool or of the library. */
static bool may_join(const struct fr_sample_source *a, const struct fr_sample_source *b) {
    return !strcmp(a->tool, b->tool) && !strcmp(a->system, b->system) &&
           !strcmp(a->device, b->device) && !strcmp(a->network, b->network) &&
           !strcmp(a->setup, b->setup) && !strcmp(a->statistic, b->statistic);
}

void fr_series_join(const struct fr_samples *samples, struct fr_series_list *list,
                    const char *text) {
    for (int to = 0; to < list->count; to++) {
        struct fr_series *stored = &list->items[to];
        if (stored->source == 0 || !strstr(stored->name, text)) continue;
        for (int from = to + 1; from < list->count; from++) {
            struct fr_series *joined = &list->items[from];
            if (joined->source == 0 || !strstr(joined->name, text) ||
                !may_join(&samples->source[stored->source - 1],
                          &samples->source[joined->source - 1]))
                continue;
            size_t used = strlen(stored->name);
            const char *version = samples->source[joined->source - 1].tool_version;
            fr_line_addf(stored->name, sizeof stored->name, &used, " with %s",
                         *version ? version : "another");
            for (size_t i = 1; i <= samples->n_source; i++)
                if (list->of_source[i] == from) list->of_source[i] = to;
            *joined = (struct fr_series){.source = 0};
        }
    }
}

void fr_series_free(struct fr_series_list *list) {
    free(list->items);
    free(list->of_source);
    *list = (struct fr_series_list){0};
}
