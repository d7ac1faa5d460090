#include "studies/held_out.h"

#include <math.h>
#include <stdio.h>

#include "trust/numbers/statistics.h"

const char *const fr_held_place_names[] = {"gpu, several nodes", "gpu, one node",
                                           "mpi on cpus, several nodes",
                                           "mpi on cpus, one node"};

/* Median over cases of one number of each; NaN without cases. */
static double median_of(const struct fr_held_cases *cases, int place, int form, bool p90,
                        int *n) {
    double values[FR_HELD_CASES_MAX];
    size_t count = 0;
    for (int i = 0; i < cases->count; i++) {
        const struct fr_held_case *c = &cases->items[i];
        if ((place >= 0 && (int)c->place != place) || isnan(c->median[form])) continue;
        values[count++] = p90 ? c->p90[form] : c->median[form];
    }
    *n = (int)count;
    if (count == 0) return NAN;
    fr_sort(values, count);
    return fr_sorted_median(values, count);
}

static double coverage_of(const struct fr_held_cases *cases) {
    double covered = 0, points = 0;
    for (int i = 0; i < cases->count; i++) {
        covered += cases->items[i].coverage * cases->items[i].n;
        points += cases->items[i].n;
    }
    return points > 0 ? covered / points : NAN;
}

static void beats(const struct fr_held_cases *cases, int *better, int *tried) {
    for (int i = 0; i < cases->count; i++) {
        const struct fr_held_case *c = &cases->items[i];
        if (isnan(c->median[FR_FIT_LOG])) continue; /* the papers' form could not be fitted */
        (*tried)++;
        *better += c->median[FR_FIT_SIMILARITY] < c->median[FR_FIT_LOG];
    }
}

static void limit(struct fr_reproduction *r, const char *id, double ours, double most,
                  const char *what, int n) {
    char note[200];
    if (isnan(ours)) return;
    snprintf(note, sizeof note, "target: at most %g; %s over %d series", most, what, n);
    fr_reproduce_add(r, FR_ROLE_PREDICTED, NAN, ours, "1", 0, note, "%s", id);
    fr_reproduce_judge(r, ours <= most);
}

static void summarise_forms(struct fr_reproduction *r, const char *kind,
                            const struct fr_held_cases *cases) {
    for (int place = 0; place < FR_HELD_PLACES; place++)
        for (int f = FR_FIT_BEST; f < FR_FIT_FORMS; f++) {
            char note[160];
            int n = 0;
            double ours = median_of(cases, place, f, false, &n);
            if (isnan(ours)) continue;
            snprintf(note, sizeof note, "median over %d series, %s", n,
                     fr_held_place_names[place]);
            fr_reproduce_add(r, FR_ROLE_PREDICTED, NAN, ours, "1", 0, note, "summary/%s/%s/%s",
                             kind, fr_held_place_names[place], fr_fit_form_names[f]);
        }
}

void fr_held_summarise(struct fr_reproduction *r, const struct fr_held_cases *by_sizes,
                       const struct fr_held_cases *by_ranks) {
    int n = 0, better = 0, tried = 0;
    const int form = FR_FIT_SIMILARITY;
    char note[120];
    summarise_forms(r, "sizes", by_sizes);
    summarise_forms(r, "ranks", by_ranks);
    double ours = median_of(by_sizes, -1, form, false, &n);
    limit(r, "summary/sizes/median", ours, 0.06, "median of medians", n);
    ours = median_of(by_sizes, -1, form, true, &n);
    limit(r, "summary/sizes/p90", ours, 0.35, "median of 90th percentiles", n);
    ours = median_of(by_ranks, FR_HELD_GPU_NODES, form, false, &n);
    limit(r, "summary/ranks/gpu-fabrics", ours, 0.15, "median of medians", n);
    ours = median_of(by_ranks, FR_HELD_CPU_NODES, form, false, &n);
    limit(r, "summary/ranks/mpi-on-cpu-clouds", ours, 0.28, "median of medians", n);
    beats(by_sizes, &better, &tried);
    beats(by_ranks, &better, &tried);
    if (tried > 0) {
        snprintf(note, sizeof note, "in %d of %d series; target: at least 80 %%", better,
                 tried);
        fr_reproduce_add_ordering(r, better >= 0.8 * tried, note,
                                  "summary/similarity-beats-the-papers-form");
        if (!r->failed) r->rows[r->count - 1].ours = (double)better / tried;
    }
    const struct fr_held_cases *both[] = {by_sizes, by_ranks};
    const char *names[] = {"sizes", "ranks"};
    for (int i = 0; i < 2; i++) {
        double covered = coverage_of(both[i]);
        if (isnan(covered)) continue;
        fr_reproduce_add(r, FR_ROLE_PREDICTED, 0.9, covered, "1", 1,
                         "share of held-out points inside 90 % intervals; target 0.80 to 0.97",
                         "summary/coverage/%s", names[i]);
        fr_reproduce_judge(r, covered >= 0.80 && covered <= 0.97);
    }
}
