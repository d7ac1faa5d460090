/* Rates by working set (models/device/working_set.h) from samples of rows memory and operands. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "calibrate/fit/parts.h"
#include "calibrate/numbers/statistics.h"

/* What is asked for: the own time of the samples that match, or -1 without any. */
struct asked {
    int kernel;
    double size_B;                        /* 0: any */
    const struct fr_sample_memory *shape; /* or NULL: any */
};

static double moved_B(const struct fr_sample_memory *s) {
    return s->moved_B > 0 ? s->moved_B : s->size_B;
}

static bool matches(const struct fr_sample_memory *s, const struct asked *a) {
    if (s->kernel != a->kernel || (a->size_B > 0 && s->size_B != a->size_B)) return false;
    return !a->shape || (s->m == a->shape->m && s->n == a->shape->n && s->k == a->shape->k);
}

/* The own time of each launch's samples, and of these the median: which pages a process gets is drawn
 * once, when it starts, and they differ by a factor of two for as long as it runs.  What interrupts
 * only adds, so within a launch the fastest tell; of launches the next one may be any. */
static double own_s_per_B(const struct fr_samples *samples, const struct fr_fit_speed *speed,
                          const struct asked *a, double *room) {
    enum { LAUNCHES_MAX = 64 };
    double launch_s[LAUNCHES_MAX], all_B = 1; /* the same of all that match */
    size_t n = 0, launches = 0;
    for (size_t i = 0; i <= samples->n_memory && launches < LAUNCHES_MAX; i++) {
        const struct fr_sample_memory *s = &samples->memory[i];
        bool ends = i == samples->n_memory || (i > 0 && s->launch != s[-1].launch);
        if (ends && n > 0) {
            fr_sort(room, n);
            launch_s[launches++] = fr_fit_own(speed, room, n);
            n = 0;
        }
        if (i == samples->n_memory || !matches(s, a)) continue;
        room[n++] = s->time_s;
        all_B = moved_B(s);
    }
    if (launches == 0) return -1;
    fr_sort(launch_s, launches);
    return fr_sorted_median(launch_s, launches) / all_B;
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

/* By how much a product takes longer on operands from a set of @p size_B than on one set of them
 * alone: the median over shapes [s/B], or -1 where that size was not measured. */
static double operands_s_per_B(const struct fr_samples *samples,
                               const struct fr_fit_speed *speed, double size_B, double *room,
                               double *shapes) {
    size_t n = 0;
    for (size_t i = 0; i < samples->n_memory; i++) {
        const struct fr_sample_memory *s = &samples->memory[i];
        struct asked here = {FR_TRAFFIC_OPERANDS, size_B, s};
        struct asked alone = {FR_TRAFFIC_OPERANDS, moved_B(s), s};
        bool first = matches(s, &here);
        for (size_t k = 0; first && k < i; k++) first = !matches(&samples->memory[k], &here);
        if (!first) continue;
        double base = own_s_per_B(samples, speed, &alone, room);
        if (base > 0) shapes[n++] = own_s_per_B(samples, speed, &here, room) - base;
    }
    if (n == 0) return -1;
    fr_sort(shapes, n);
    return fmax(0, fr_sorted_median(shapes, n));
}

/* Sizes below the smallest that was rotated through cost nothing more, above the largest what that
 * does. */
static void fill_operands(struct fr_fit_working_sets *sets) {
    double *at = sets->s_per_B[FR_TRAFFIC_OPERANDS], last = 0;
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

fr_status fr_fit_working_sets(const struct fr_samples *samples,
                              const struct fr_fit_speed *speed,
                              struct fr_fit_working_sets *sets) {
    double *room = fr_malloc(2 * (samples->n_memory + 1), sizeof *room),
           *shapes = room + samples->n_memory + 1;
    *sets = (struct fr_fit_working_sets){0};
    if (!room) return FR_ERR_NOMEM;
    for (size_t i = 0; i < samples->n_memory; i++)
        if (samples->memory[i].kernel == FR_TRAFFIC_STREAM)
            add_size(sets, samples->memory[i].size_B);
    for (int i = 0; i < sets->n; i++) {
        for (int kind = 0; kind < FR_TRAFFIC_OPERANDS; kind++) {
            const struct asked asked = {kind, sets->size_B[i], NULL};
            double s_per_B = own_s_per_B(samples, speed, &asked, room);
            sets->s_per_B[kind][i] = s_per_B > 0 ? s_per_B : unmeasured(sets, kind, i);
        }
        sets->s_per_B[FR_TRAFFIC_OPERANDS][i] =
            operands_s_per_B(samples, speed, sets->size_B[i], room, shapes);
    }
    fill_operands(sets);
    free(room);
    return FR_OK;
}
