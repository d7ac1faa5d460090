/* The lines that a launch appends, each with one write. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/journal/journal.h"
#include "calibrate/measure/harness/visits.h"
#include "trust/numbers/statistics.h"

fr_status fr_tally_add(struct fr_tally *tally, int rep, double time_s) {
    if (tally->n == tally->capacity) {
        int capacity = tally->capacity ? 2 * tally->capacity : 16;
        double *grown = fr_realloc(tally->time_s, (size_t)capacity, sizeof *grown);
        if (!grown) return FR_ERR_NOMEM;
        tally->time_s = grown;
        int *reps = fr_realloc(tally->rep, (size_t)capacity, sizeof *reps);
        if (!reps) return FR_ERR_NOMEM;
        tally->rep = reps;
        tally->capacity = capacity;
    }
    tally->rep[tally->n] = rep;
    tally->time_s[tally->n++] = time_s;
    if (rep > tally->last_rep || tally->n == 1) tally->last_rep = rep;
    return FR_OK;
}

/* The lowest that no sample has: of a line that was lost, if one was. */
static int next_rep(const struct fr_tally *tally) {
    if (tally->n == 0 || tally->last_rep == tally->n - 1) return tally->n;
    for (int rep = 0;; rep++) {
        int i = 0;
        while (i < tally->n && tally->rep[i] != rep) i++;
        if (i == tally->n) return rep;
    }
}

static fr_status put(const struct fr_visits *s, struct fr_text *line, struct fr_error *err) {
    return fr_journal_put(s->bench->fd, s->bench->options.samples, line, err);
}

fr_status fr_record_samples(struct fr_visits *s, int index, const double *time_s, int n,
                            struct fr_error *err) {
    const struct fr_point *point = &s->bench->points[index];
    struct fr_tally *tally = &s->tally[index];
    for (int i = 0; i < n; i++) {
        struct fr_text line = {0};
        point->row->head(s->bench, point, &line);
        fr_sample_tail_chosen(s->bench->launch, next_rep(tally), time_s[i],
                              point->choice.algorithm, point->choice.protocol, &line);
        FR_TRY(put(s, &line, err));
        if (fr_tally_add(tally, next_rep(tally), time_s[i]) != FR_OK)
            return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    }
    return FR_OK;
}

/* Which samples lie beyond the limit, in the order taken. */
static int find_outliers(const struct fr_tally *tally, double limit_s, int *reps) {
    int n = 0;
    for (int i = 0; i < tally->n; i++)
        if (tally->time_s[i] > limit_s) reps[n++] = tally->rep[i];
    return n;
}

fr_status fr_record_point(struct fr_visits *s, int index, bool converged,
                          struct fr_error *err) {
    const struct fr_point *point = &s->bench->points[index];
    struct fr_tally *tally = &s->tally[index];
    size_t n = (size_t)tally->n;
    struct fr_text head = {0}, line = {0};
    struct fr_sample_point sample = {.launch = s->bench->launch,
                                     .n = tally->n,
                                     .n_warm = point->pace.n_warm,
                                     .state =
                                         converged ? FR_POINT_CONVERGED : FR_POINT_UNCONVERGED,
                                     .half_width = tally->half_width,
                                     .drift = point->pace.drift};
    double *sorted_s = fr_malloc(n, sizeof *sorted_s);
    int *reps = fr_malloc(n, sizeof *reps);
    fr_status status = FR_ERR_NOMEM;
    if (!sorted_s || !reps) {
        fr_fail(err, status, NULL, "out of memory");
        goto done;
    }
    memcpy(sorted_s, tally->time_s, n * sizeof *sorted_s);
    fr_sort(sorted_s, n);
    sample.median_s = fr_sorted_median(sorted_s, n);
    sample.n_outliers = find_outliers(tally, fr_sorted_slow_limit(sorted_s, n), reps);
    point->row->head(s->bench, point, &head);
    fr_sample_key(fr_text_get(&head), sample.key, sizeof sample.key);
    fr_sample_line_point(&sample, reps, &line);
    status = put(s, &line, err);
    tally->done = true;
    s->n_done++;
    s->n_unconverged += !converged;
done:
    fr_text_free(&head);
    free(sorted_s);
    free(reps);
    return status;
}

fr_status fr_record_probe(struct fr_visits *s, double product_s, double stream_s,
                          struct fr_error *err) {
    struct fr_text line = {0};
    const struct fr_sample_probe probe = {.launch = s->bench->launch,
                                          .rep = s->n_probes++,
                                          .product_s = product_s,
                                          .stream_s = stream_s};
    fr_sample_line_probe(&probe, &line);
    return put(s, &line, err);
}

fr_status fr_record_end(struct fr_visits *s, int reason, struct fr_error *err) {
    struct fr_text line = {0};
    const struct fr_sample_end end = {.reason = reason,
                                      .launch = s->bench->launch,
                                      .unconverged = s->n_unconverged,
                                      .elapsed_s = fr_now_s() - s->start_s};
    fr_sample_line_end(&end, &line);
    return put(s, &line, err);
}
