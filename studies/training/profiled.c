/* Pipelines from layer times: what is left to the model once a layer is measured. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "studies/training/procedure.h"
#include "trust/profile_fit.h"

static struct fr_run *writable(const struct fr_run *run) {
    return (struct fr_run *)(uintptr_t)run;
}

static void use_profiles(const struct fr_run *const *runs, int n,
                         struct fr_fitted_profile *profiles, int count) {
    for (int i = 0; i < n; i++) fr_profile_use(writable(runs[i]), profiles, count);
}

struct work {
    const struct fr_run **train, **test, **known;
    struct fr_fitted_profile *profiles, *without; /* [n]: of each known run, from the others */
    struct fr_tune_result *tuned;
    struct fr_scored *scored;
    double *alone_s;
    int n_train, n_test, count;
};

static bool share_layers(const struct fr_run *a, const struct fr_run *b) {
    return a->workload.transformer.hidden == b->workload.transformer.hidden &&
           a->plan.tp == b->plan.tp &&
           fr_plan_micro_batch(&a->plan) == fr_plan_micro_batch(&b->plan);
}

/* Layer times of each run come from the others alone: with its own part in them its error would look too small.  A
 * run without others is left out. */
static fr_status leave_out(struct work *w, int *left, struct fr_error *err) {
    const struct fr_run **others = w->test; /* not yet filled */
    *left = 0;
    for (int i = 0; i < w->n_train; i++) {
        int n = 0, count = 0;
        for (int k = 0; k < w->n_train; k++)
            if (k != i && share_layers(w->train[k], w->train[i])) others[n++] = w->train[k];
        if (n == 0) continue;
        FR_TRY(fr_profile_fit(&w->tuned->cluster, others, n, &w->without[*left], &count, err));
        fr_profile_use(writable(w->train[i]), &w->without[*left], 1);
        w->known[(*left)++] = w->train[i];
    }
    return FR_OK;
}

/* Layer times from the runs without a pipeline, and what is left (optimiser, gradients, messages)
 * tuned to the same runs; each twice, since either needs the other. */
static fr_status fit(const struct fr_cluster *prior, struct work *w, struct fr_error *err) {
    struct fr_tune_options options = fr_procedure_tuning();
    options.values_only = true;
    options.keep_unrefuted = false; /* a model's error is in its measured layers */
    FR_TRY(fr_tune(prior, w->train, w->n_train, &options, w->tuned, err));
    for (int round = 0; round < 2; round++) {
        use_profiles(w->train, w->n_train, NULL, 0);
        FR_TRY(fr_profile_fit(&w->tuned->cluster, w->train, w->n_train, w->profiles, &w->count,
                              err));
        use_profiles(w->train, w->n_train, w->profiles, w->count);
        options.model_error = 0.01; /* little is left to be wrong */
        FR_TRY(fr_tune(prior, w->train, w->n_train, &options, w->tuned, err));
    }
    int left;
    options.values_only = false;
    FR_TRY(leave_out(w, &left, err));
    return fr_tune(prior, w->known, left, &options, w->tuned, err);
}

fr_status fr_procedure_profiled(struct fr_reproduction *r, const struct fr_table_plan *table,
                                const struct fr_cluster *prior, const struct fr_table_set *set,
                                struct fr_error *err) {
    size_t capacity = (size_t)set->n + 1;
    struct work w = {.train = fr_calloc(capacity, sizeof *w.train),
                     .test = fr_calloc(capacity, sizeof *w.test),
                     .known = fr_calloc(capacity, sizeof *w.known),
                     .profiles = fr_calloc(capacity, sizeof *w.profiles),
                     .without = fr_calloc(2 * capacity, sizeof *w.without),
                     .tuned = fr_calloc(1, sizeof *w.tuned),
                     .scored = fr_calloc(capacity, sizeof *w.scored),
                     .alone_s = fr_calloc(capacity, sizeof *w.alone_s)};
    fr_status status = w.train && w.test && w.known && w.profiles && w.without && w.tuned &&
                               w.scored && w.alone_s
                           ? FR_OK
                           : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int i = 0; i < set->n && status == FR_OK; i++)
        if (set->use[i]->plan.pp == 1) w.train[w.n_train++] = set->use[i];
    if (status == FR_OK) status = fit(prior, &w, err);
    for (int i = 0; i < set->n && status == FR_OK; i++)
        if (set->use[i]->plan.pp > 1 &&
            fr_profile_use(writable(set->use[i]), w.profiles, w.count))
            w.test[w.n_test++] = set->use[i];
    if (status == FR_OK) {
        fr_study_predict(w.tuned, w.test, w.n_test, fr_processors(), w.scored);
        use_profiles(w.test, w.n_test, NULL, 0); /* the preset alone knows no layer times */
        fr_table_alone(prior, w.test, w.n_test, w.alone_s);
        char command[sizeof set->command + 40];
        snprintf(command, sizeof command, "%s --where 'plan.pp>=2'", set->command);
        const struct fr_table_of of = {w.test, w.alone_s, w.n_test, command};
        status = fr_table_add(r, table->name, table->procedure, &of, w.scored, w.n_test,
                              table->limits, "s", err);
    }
    use_profiles(set->use, set->n, NULL, 0);
    free(w.train);
    free(w.test);
    free(w.known);
    free(w.profiles);
    free(w.without);
    free(w.tuned);
    free(w.scored);
    free(w.alone_s);
    return status;
}
