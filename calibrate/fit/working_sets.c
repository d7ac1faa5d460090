/* Rates by working set (models/device/working_set.h) from samples of rows memory and operands. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "calibrate/fit/parts.h"
#include "trust/numbers/statistics.h"

/* The request: the own time of the samples that match, or -1 without any. */
struct asked {
    int kernel;
    double size_B;                        /* 0: any */
    const struct fr_sample_memory *shape; /* or NULL: any */
};

static double moved_B(const struct fr_sample_memory *s) {
    return s->moved_B > 0 ? s->moved_B : s->size_B;
}

static bool matches(const struct fr_sample_memory *s, const struct asked *a) {
    if (s->kernel != a->kernel || s->adds || (a->size_B > 0 && s->size_B != a->size_B))
        return false;
    return !a->shape || (s->m == a->shape->m && s->n == a->shape->n && s->k == a->shape->k);
}

/* Samples of one visit, and visits of one launch, on their way to a median. */
struct levels {
    double *samples, *visits; /* capacity for all samples each */
    size_t n_samples, n_visits;
};

static void end_visit(struct levels *l, const struct fr_fit_speed *speed) {
    if (l->n_samples == 0) return;
    fr_sort(l->samples, l->n_samples);
    l->visits[l->n_visits++] = fr_fit_own(speed, l->samples, l->n_samples);
    l->n_samples = 0;
}

/* Each visit counts with its own time, since interruptions only add.  The result is the median
 * of a launch's visits, which lie apart, then the median of the launches.  A process draws its
 * pages once, when it starts, and they differ by a factor of two for as long as it runs.  That
 * is the machine under typical load.  It is divided by the typical slowness, since predictions
 * multiply by that. */
static double own_s_per_B(const struct fr_samples *samples, const struct fr_fit_speed *speed,
                          const struct asked *a, double *scratch) {
    enum { LAUNCHES_MAX = 64 };
    double launch_s[LAUNCHES_MAX], all_B = 1; /* the same of all that match */
    struct levels l = {.samples = scratch, .visits = scratch + samples->n_memory};
    size_t launches = 0;
    for (size_t i = 0; i <= samples->n_memory && launches < LAUNCHES_MAX; i++) {
        const struct fr_sample_memory *s = &samples->memory[i];
        bool last = i == samples->n_memory,
             launch = last || (i > 0 && s->launch != s[-1].launch);
        if (launch || (i > 0 && s->probe != s[-1].probe)) end_visit(&l, speed);
        if (launch && l.n_visits > 0) {
            fr_sort(l.visits, l.n_visits);
            launch_s[launches++] = fr_sorted_median(l.visits, l.n_visits);
            l.n_visits = 0;
        }
        if (last || !matches(s, a)) continue;
        l.samples[l.n_samples++] = s->time_s;
        all_B = moved_B(s);
    }
    if (launches == 0) return -1;
    fr_sort(launch_s, launches);
    return fr_sorted_median(launch_s, launches) / fr_fit_memory_slowness(speed) / all_B;
}

static void add_size(struct fr_fit_working_sets *sets, double size_B) {
    int at = sets->n;
    for (int i = 0; i < sets->n; i++)
        if (sets->size_B[i] == size_B) return;
    if (at == FR_WORKING_SETS_MAX) return;
    for (; at > 0 && sets->size_B[at - 1] > size_B; at--)
        sets->size_B[at] = sets->size_B[at - 1];
    sets->size_B[at] = size_B;
    sets->n++;
}

/* By how much a product of one shape takes longer on operands from a larger set than on one set of
 * them alone, over its bytes, and what share of these it writes. */
struct beyond {
    double s_per_B, written;
};

/* @param shapes  gets those measured on a set of @p size_B.  @return how many */
static size_t find_beyond(const struct fr_samples *samples, const struct fr_fit_speed *speed,
                          double size_B, double *scratch, struct beyond *shapes) {
    size_t n = 0;
    for (size_t i = 0; i < samples->n_memory; i++) {
        const struct fr_sample_memory *s = &samples->memory[i];
        struct asked here = {FR_TRAFFIC_OPERANDS, size_B, s};
        struct asked alone = {FR_TRAFFIC_OPERANDS, moved_B(s), s};
        bool first = matches(s, &here);
        for (size_t k = 0; first && k < i; k++) first = !matches(&samples->memory[k], &here);
        if (!first) continue;
        double base = own_s_per_B(samples, speed, &alone, scratch);
        double m = (double)s->m, k = (double)s->k, c = (double)s->n;
        if (base > 0)
            shapes[n++] = (struct beyond){own_s_per_B(samples, speed, &here, scratch) - base,
                                          m * c / (m * c + m * k + k * c)};
    }
    return n;
}

/* The median over the shapes that mostly write, or mostly read, of what is left for that when the
 * rest costs @p other; @p other itself without such a shape. */
static double part_s_per_B(const struct beyond *shapes, size_t n, bool writes, double other,
                           double *scratch) {
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        double share = writes ? shapes[i].written : 1 - shapes[i].written;
        if (share > 0.5) scratch[found++] = (shapes[i].s_per_B - (1 - share) * other) / share;
    }
    if (found == 0) return other;
    fr_sort(scratch, found);
    return fmax(0, fr_sorted_median(scratch, found));
}

/* The extra cost of reading and of writing, each given the other, in turn: each shape is
 * mostly the one or the other, so errors halve from turn to turn.  -1 where that size was not
 * measured. */
static void fit_operands(const struct fr_samples *samples, const struct fr_fit_speed *speed,
                         struct fr_fit_working_sets *sets, int i, double *scratch,
                         struct beyond *shapes) {
    enum { TURNS = 40 };
    double *read = &sets->s_per_B[FR_TRAFFIC_OPERANDS][i],
           *written = &sets->s_per_B[FR_TRAFFIC_RESULTS][i];
    size_t n = find_beyond(samples, speed, sets->size_B[i], scratch, shapes);
    *read = *written = n == 0 ? -1 : 0;
    for (int turn = 0; n > 0 && turn < TURNS; turn++) {
        *read = part_s_per_B(shapes, n, false, *written, scratch);
        *written = part_s_per_B(shapes, n, true, *read, scratch);
    }
}

/* Sizes below the smallest that was rotated through cost nothing more, above the largest what that
 * does. */
static void fill_operands(struct fr_fit_working_sets *sets, int kind) {
    double *at = sets->s_per_B[kind], last = 0;
    for (int i = 0; i < sets->n; i++) {
        if (at[i] < 0) at[i] = last;
        last = at[i];
    }
}

/* A kind that was not measured over so large a set is as slow as a stream, and no faster than over
 * the next smaller. */
static double unmeasured(const struct fr_fit_working_sets *sets, int kind, int i) {
    double streamed = sets->s_per_B[FR_TRAFFIC_STREAM][i];
    return i > 0 ? fmax(streamed, sets->s_per_B[kind][i - 1]) : streamed;
}

/* A byte takes no longer over a set than over a larger one: where it did it was interrupted, which only adds. */
static void no_slower_than_larger(struct fr_fit_working_sets *sets, int kind) {
    double *at = sets->s_per_B[kind];
    for (int i = sets->n - 2; i >= 0; i--) at[i] = fmin(at[i], at[i + 1]);
}

fr_status fr_fit_working_sets(const struct fr_samples *samples,
                              const struct fr_fit_speed *speed,
                              struct fr_fit_working_sets *sets) {
    double *scratch = fr_malloc(2 * samples->n_memory + 1, sizeof *scratch);
    struct beyond *shapes = fr_malloc(samples->n_memory + 1, sizeof *shapes);
    *sets = (struct fr_fit_working_sets){0};
    bool allocated = scratch && shapes;
    for (size_t i = 0; allocated && i < samples->n_memory; i++) {
        int kernel = samples->memory[i].kernel;
        if (kernel == FR_TRAFFIC_STREAM) add_size(sets, samples->memory[i].size_B);
        sets->selects = sets->selects || kernel == FR_TRAFFIC_SELECT;
    }
    for (int i = 0; i < sets->n; i++) {
        for (int kind = 0; kind < FR_TRAFFIC_OPERANDS; kind++) {
            const struct asked asked = {kind, sets->size_B[i], NULL};
            double s_per_B = own_s_per_B(samples, speed, &asked, scratch);
            sets->s_per_B[kind][i] = s_per_B > 0 ? s_per_B : unmeasured(sets, kind, i);
        }
        fit_operands(samples, speed, sets, i, scratch, shapes);
    }
    for (int kind = 0; kind < FR_TRAFFIC_OPERANDS; kind++) no_slower_than_larger(sets, kind);
    fill_operands(sets, FR_TRAFFIC_OPERANDS);
    fill_operands(sets, FR_TRAFFIC_RESULTS);
    free(scratch);
    free(shapes);
    return allocated ? FR_OK : FR_ERR_NOMEM;
}
