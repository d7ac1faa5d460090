/* Repeated measurements of a point become one: the median, how sure it is, how many were slow. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "base/sort.h"
#include "calibrate/fit/parts.h"
#include "trust/numbers/statistics.h"

double fr_fit_median(double *x, size_t n) {
    if (n == 0) return 0;
    fr_sort(x, n);
    return fr_sorted_median(x, n);
}

static int compare(double a, double b) { return FR_ORDER(a, b); }

static int by_point(const void *x, const void *y) {
    const struct fr_sample_collective *a = x, *b = y;
    if (a->op != b->op) return FR_ORDER(a->op, b->op);
    if (a->level != b->level) return FR_ORDER(a->level, b->level);
    if (a->n_ranks != b->n_ranks) return FR_ORDER(a->n_ranks, b->n_ranks);
    if (a->n_nodes != b->n_nodes) return FR_ORDER(a->n_nodes, b->n_nodes);
    return compare(a->size_B, b->size_B);
}

/* Points in order, and within a point its launches in order. */
static int by_sample(const void *x, const void *y) {
    const struct fr_sample_collective *a = x, *b = y;
    int order = by_point(x, y);
    if (order) return order;
    if (a->launch != b->launch) return FR_ORDER(a->launch, b->launch);
    if (a->rep != b->rep) return FR_ORDER(a->rep, b->rep);
    return compare(a->time_s, b->time_s);
}

enum { LAUNCHES_MAX = 64, ROUNDS = 200 };
static const double TWICE = 2;

/* Half the width of the median's 95 % interval over launches: launches are drawn with
 * replacement (their medians, since a launch has a speed of its own), from a fixed seed.
 * @return relative to the median; 0 with fewer than three launches. */
static double bootstrap(const double *medians_s, int n) {
    double drawn[LAUNCHES_MAX], rounds[ROUNDS];
    uint64_t state = 20240531;
    if (n < 3) return 0;
    for (int r = 0; r < ROUNDS; r++) {
        for (int i = 0; i < n; i++) {
            drawn[i] = medians_s[fr_random_lcg(&state) % (unsigned)n];
        }
        fr_sort(drawn, (size_t)n);
        rounds[r] = fr_sorted_median(drawn, (size_t)n);
    }
    fr_sort(rounds, ROUNDS);
    double low = fr_sorted_quantile(rounds, ROUNDS, 0.025);
    double high = fr_sorted_quantile(rounds, ROUNDS, 0.975);
    return 0.5 * (high - low) / fr_sorted_median(rounds, ROUNDS);
}

static int count_slow(const double *sorted_s, size_t n) {
    double limit_s = fr_sorted_slow_limit(sorted_s, n);
    int slow = 0;
    while ((size_t)slow < n && sorted_s[n - 1 - (size_t)slow] > limit_s) slow++;
    return slow;
}

/* Disturbed samples are stored and counted, but they all lie on one side and so shift the
 * median.  So the fit uses the median of the others.  Where most samples were disturbed, even
 * that median is the disturbance's: then it uses the median of those near the fastest. */
static double own_s(const double *sorted_s, size_t n) {
    double time_s = fr_sorted_median(sorted_s, n - (size_t)count_slow(sorted_s, n)),
           fast_s = TWICE * fr_sorted_quantile(sorted_s, n, 0.1);
    if (time_s <= fast_s) return time_s;
    size_t kept = 1;
    while (kept < n && sorted_s[kept] <= fast_s) kept++;
    return fr_sorted_median(sorted_s, kept);
}

/* The median of each launch of a point, and the fitted value. */
struct launches {
    double median_s[LAUNCHES_MAX], own_s[LAUNCHES_MAX];
    int n;
};

static void find_launches(const struct fr_sample_collective *first, size_t n, double *times_s,
                          struct launches *l) {
    l->n = 0;
    for (size_t begin = 0, stop; begin < n && l->n < LAUNCHES_MAX; begin = stop) {
        for (stop = begin; stop < n && first[stop].launch == first[begin].launch; stop++)
            times_s[stop - begin] = first[stop].time_s;
        fr_sort(times_s, stop - begin);
        l->median_s[l->n] = fr_sorted_median(times_s, stop - begin);
        l->own_s[l->n++] = own_s(times_s, stop - begin);
    }
}

static struct fr_fit_point summarise(const struct fr_sample_collective *first, double *times_s,
                                     size_t n) {
    struct launches launches;
    struct fr_fit_point point = {.op = first->op,
                                 .level = first->level,
                                 .n_ranks = first->n_ranks,
                                 .n_nodes = first->n_nodes,
                                 .size_B = first->size_B,
                                 .n = (int)n};
    if (*first->algorithm)
        snprintf(point.choice, sizeof point.choice, "%s %s", first->algorithm, first->protocol);
    find_launches(first, n, times_s, &launches);
    point.n_launches = launches.n;
    for (size_t i = 0; i < n; i++) times_s[i] = first[i].time_s;
    fr_sort(times_s, n);
    point.median_s = fr_sorted_median(times_s, n);
    point.uncertainty = fmax(fr_sorted_median_uncertainty(times_s, n, 0.95),
                             bootstrap(launches.median_s, launches.n));
    point.n_slow = count_slow(times_s, n);
    /* The host chooses the placement of ranks and the caches between them.  Times may change
     * from one launch to the next by a factor of three, to stay so for seconds.  So a launch
     * all of whose samples are slow was not disturbed, and the next run is a launch like any. */
    fr_sort(launches.own_s, (size_t)launches.n);
    point.time_s = fr_sorted_median(launches.own_s, (size_t)launches.n);
    return point;
}

struct wanted {
    const struct fr_series_list *list;
    int series;
    bool has_op; /* send_recv was measured as itself, not only as a ping-pong */
};

static bool of_series(const struct wanted *wanted, const struct fr_sample_collective *s) {
    return wanted->series < 0 || wanted->list->of_source[s->source] == wanted->series;
}

/* For send_recv the operation itself counts or, where it was not measured, the ping-pong. */
static bool usable(const struct wanted *wanted, const struct fr_sample_collective *s) {
    if (!of_series(wanted, s) || s->failed || s->in_place || s->size_B <= 0) return false;
    if (s->pattern == FR_PATTERN_OP) return true;
    return s->pattern == FR_PATTERN_PING_PONG && !wanted->has_op;
}

fr_status fr_fit_medians(const struct fr_samples *samples, const struct fr_series_list *list,
                         int series, struct fr_fit_point **points, int *n_points) {
    struct wanted wanted = {.list = list, .series = series};
    size_t n = 0, begin = 0, stop, all = samples->n_collective;
    if (all == 0) return FR_OK;
    struct fr_sample_collective *sorted = fr_malloc(all, sizeof *sorted);
    double *times_s = fr_malloc(all, sizeof *times_s);
    *points = fr_calloc(all, sizeof **points);
    fr_status status = sorted && times_s && *points ? FR_OK : FR_ERR_NOMEM;
    for (size_t i = 0; i < all; i++) {
        const struct fr_sample_collective *s = &samples->collective[i];
        if (s->op == FR_OP_SEND_RECV && s->pattern == FR_PATTERN_OP && of_series(&wanted, s))
            wanted.has_op = true;
    }
    for (size_t i = 0; status == FR_OK && i < all; i++)
        if (usable(&wanted, &samples->collective[i])) sorted[n++] = samples->collective[i];
    if (status == FR_OK) fr_sort_items(sorted, n, sizeof *sorted, by_sample);
    for (; status == FR_OK && begin < n; begin = stop) {
        for (stop = begin; stop < n && by_point(&sorted[begin], &sorted[stop]) == 0;) stop++;
        (*points)[(*n_points)++] = summarise(&sorted[begin], times_s, stop - begin);
    }
    free(sorted);
    free(times_s);
    return status;
}

fr_status fr_fit_measure(const double *predicted_s, const double *measured_s, int n,
                         struct fr_fit_quality *quality) {
    static const double MOST =
        1e9; /* that a file may state; beyond a factor of two it is all one */
    double squares = 0;
    *quality = (struct fr_fit_quality){.n = n};
    if (n == 0) return FR_OK;
    double *errors = fr_malloc((size_t)n, sizeof *errors);
    if (!errors) return FR_ERR_NOMEM;
    for (int i = 0; i < n; i++) {
        double ratio = predicted_s[i] / measured_s[i];
        double octaves = log2(fmax(ratio, 1e-12)); /* a fit may say 0 s */
        errors[i] = fmin(fabs(ratio - 1), MOST);
        squares += octaves * octaves;
    }
    fr_sort(errors, (size_t)n);
    quality->median = fr_sorted_median(errors, (size_t)n);
    quality->p90 = fr_sorted_quantile(errors, (size_t)n, 0.9);
    quality->rmse_log2 = sqrt(squares / n);
    free(errors);
    return FR_OK;
}
