#include "trust/study.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "trust/interval.h"

/* ---- prediction -------------------------------------------------------------------------- */

struct predicting {
    const struct fr_tune_result *tuned;
    const struct fr_run *const *runs;
    struct fr_scored *scored;
};

static void predict_one(void *context, int64_t i) {
    struct predicting *p = context;
    const struct fr_run *run = p->runs[i];
    struct fr_scored *row = &p->scored[i];
    *row =
        (struct fr_scored){.id = run->id, .group = run->group, .measured_s = run->measured_s};
    struct fr_interval of;
    fr_tune_interval(p->tuned, run, &of);
    row->predicted_s = of.expected_s;
    row->low_s = of.low_s;
    row->high_s = of.high_s;
}

void fr_study_predict(const struct fr_tune_result *tuned, const struct fr_run *const *runs,
                      int n, int threads, struct fr_scored *scored) {
    struct predicting p = {tuned, runs, scored};
    fr_parallel_for(threads, n, predict_one, &p);
}

/* Each cluster has coefficients of its own for each dtype. */
static bool together(const struct fr_run *a, const struct fr_run *b) {
    return a->cluster == b->cluster && a->workload.dtype == b->workload.dtype;
}

static bool is_first(const struct fr_run *const *runs, int i) {
    for (int k = 0; k < i; k++)
        if (together(runs[k], runs[i])) return false;
    return true;
}

/* Those that go together with run @p first, which is the first of them. */
static void predict_together(const struct fr_run *const *runs, int n, int first, int threads,
                             const struct fr_run **some, struct fr_tune_result *known,
                             struct fr_scored *of_some, struct fr_scored *scored) {
    int n_some = 0;
    for (int i = first; i < n; i++)
        if (together(runs[first], runs[i])) some[n_some++] = runs[i];
    fr_interval_known(runs[first]->cluster, runs[first]->workload.dtype, known);
    fr_study_predict(known, some, n_some, threads, of_some);
    for (int i = first, k = 0; i < n; i++)
        if (together(runs[first], runs[i])) scored[i] = of_some[k++];
}

fr_status fr_study_each(const struct fr_run *const *runs, int n, int threads,
                        struct fr_scored *scored, struct fr_error *err) {
    struct fr_tune_result *known = fr_calloc(1, sizeof *known);
    const struct fr_run **some = fr_calloc((size_t)n + 1, sizeof *some);
    struct fr_scored *of_some = fr_calloc((size_t)n + 1, sizeof *of_some);
    bool fits = known && some && of_some;
    for (int i = 0; i < n && fits; i++)
        if (is_first(runs, i))
            predict_together(runs, n, i, threads, some, known, of_some, scored);
    free(some);
    free(of_some);
    free(known);
    return fits ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
}

/* ---- folds ------------------------------------------------------------------------------- */

enum { KEY_MAX = 256 };

void fr_study_key(const struct fr_run *run, const char *const *columns, char *key,
                  size_t capacity) {
    const struct fr_transformer *t = &run->workload.transformer;
    size_t used = 0;
    key[0] = '\0';
    for (int i = 0; columns[i]; i++) {
        const char *value = fr_run_row_get(run->row, columns[i]), *comma = i ? ", " : "";
        if (strcmp(columns[i], "runtime") == 0) value = run->runtime;
        if (strcmp(columns[i], "model") == 0)
            fr_line_addf(key, capacity, &used, "%s%" PRId64 " x %" PRId64, comma, t->hidden,
                         t->layers);
        else
            fr_line_addf(key, capacity, &used, "%s%s", comma, value ? value : "");
    }
}

struct crossing {
    const struct fr_cluster *prior;
    const struct fr_run *const *runs, *const *extra;
    int n, n_extra;
    struct fr_tune_options options;
    char (*key)[KEY_MAX];
    int *first; /* [fold]: a run that has its key */
    struct fr_tune_result *start;
    struct fr_scored *scored;
    fr_status *status;
    struct fr_error *errors;
};

static void run_fold(void *context, int64_t fold) {
    struct crossing *c = context;
    const char *key = c->key[c->first[fold]];
    size_t most = (size_t)(c->n + c->n_extra) + 1;
    const struct fr_run **train = fr_calloc(2 * most, sizeof *train), **test = train + most;
    struct fr_scored *scored = fr_calloc((size_t)c->n + 1, sizeof *scored);
    struct fr_tune_result *tuned = fr_calloc(1, sizeof *tuned);
    int n_train = 0, n_test = 0;
    c->status[fold] = FR_ERR_NOMEM;
    if (train && scored && tuned) {
        for (int i = 0; i < c->n_extra; i++) train[n_train++] = c->extra[i];
        for (int i = 0; i < c->n; i++) {
            if (strcmp(c->key[i], key) == 0)
                test[n_test++] = c->runs[i];
            else
                train[n_train++] = c->runs[i];
        }
        c->status[fold] =
            fr_tune(c->prior, train, n_train, &c->options, tuned, &c->errors[fold]);
        if (c->status[fold] == FR_OK) fr_study_predict(tuned, test, n_test, 1, scored);
        for (int i = 0, k = 0; i < c->n; i++)
            if (strcmp(c->key[i], key) == 0) c->scored[i] = scored[k++];
    }
    free(train);
    free(scored);
    free(tuned);
}

static fr_status first_fit(struct crossing *c, struct fr_error *err) {
    const struct fr_run **train = fr_calloc((size_t)(c->n + c->n_extra) + 1, sizeof *train);
    int n = 0;
    if (!train || !c->start)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the study does not fit in memory");
    for (int i = 0; i < c->n_extra; i++) train[n++] = c->extra[i];
    for (int i = 0; i < c->n; i++)
        if (strcmp(c->key[i], c->key[c->first[0]]) != 0) train[n++] = c->runs[i];
    fr_status status = fr_tune(c->prior, train, n, &c->options, c->start, err);
    c->options.start = c->start;
    free(train);
    return status;
}

static int find_folds(struct crossing *c, const char *const *columns) {
    int folds = 0;
    for (int i = 0; i < c->n; i++) {
        int k = 0;
        fr_study_key(c->runs[i], columns, c->key[i], KEY_MAX);
        while (k < i && strcmp(c->key[k], c->key[i]) != 0) k++;
        if (k == i) c->first[folds++] = i;
    }
    return folds;
}

fr_status fr_study_cross(const struct fr_cluster *prior, const struct fr_run *const *runs,
                         int n, const struct fr_run *const *extra, int n_extra,
                         const char *const *columns, const struct fr_tune_options *options,
                         struct fr_scored *scored, int *folds, struct fr_error *err) {
    size_t capacity = (size_t)n + 1;
    struct crossing c = {.prior = prior,
                         .runs = runs,
                         .extra = extra,
                         .n = n,
                         .n_extra = n_extra,
                         .options = *options,
                         .key = fr_calloc(capacity, sizeof *c.key),
                         .first = fr_calloc(capacity, sizeof *c.first),
                         .start = fr_calloc(1, sizeof *c.start),
                         .scored = scored,
                         .status = fr_calloc(capacity, sizeof *c.status),
                         .errors = fr_calloc(capacity, sizeof *c.errors)};
    fr_status status = FR_OK;
    c.options.threads = 1;
    if (!c.key || !c.first || !c.status || !c.errors) {
        status = fr_fail(err, FR_ERR_NOMEM, NULL, "the study does not fit in memory");
    } else {
        int count = find_folds(&c, columns);
        /* All folds start where the first one ended: their optima lie close together. */
        status = first_fit(&c, err);
        if (status == FR_OK) fr_parallel_for(options->threads, count, run_fold, &c);
        for (int f = 0; f < count && status == FR_OK; f++) {
            status = c.status[f];
            if (status != FR_OK && err) *err = c.errors[f];
        }
        if (folds) *folds = count;
    }
    free(c.start);
    free(c.key);
    free(c.first);
    free(c.status);
    free(c.errors);
    return status;
}
