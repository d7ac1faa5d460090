#include "studies/training/procedure.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/parallel.h"

static const double rows_max = 100;

struct fr_tune_options fr_procedure_tuning(void) {
    return (struct fr_tune_options){
        .rows_max = rows_max, .threads = fr_processors(), .keep_unrefuted = true};
}

static fr_status no_memory(struct fr_error *err) {
    return fr_fail(err, FR_ERR_NOMEM, NULL, "the tables do not fit in memory");
}

static fr_status add(struct fr_reproduction *r, const struct fr_table_plan *table,
                     const struct fr_cluster *prior, const struct fr_table_set *set,
                     const struct fr_scored *scored, int n, struct fr_error *err) {
    struct fr_cluster preset = {0};
    double *alone_s = fr_calloc((size_t)set->n + 1, sizeof *alone_s);
    const struct fr_table_of of = {set->use, alone_s, set->n, set->command};
    fr_status status = alone_s ? FR_OK : no_memory(err);
    if (status == FR_OK && table->preset)
        status = fr_table_cluster(table->preset, &preset, err);
    if (status == FR_OK) {
        fr_table_alone(table->preset ? &preset : prior, set->use, set->n, alone_s);
        status = fr_table_add(r, table->name, table->procedure, &of, scored, n, table->limits,
                              "s", err);
    }
    fr_cluster_free(&preset);
    free(alone_s);
    return status;
}

fr_status fr_procedure_cross(struct fr_reproduction *r, const struct fr_table_plan *table,
                             const struct fr_cluster *prior, const struct fr_table_set *set,
                             const char *const *columns, const struct fr_tune_options *options,
                             struct fr_error *err) {
    const struct fr_tune_options usual = fr_procedure_tuning();
    struct fr_scored *scored = fr_calloc((size_t)set->n + 1, sizeof *scored);
    fr_status status = scored ? FR_OK : no_memory(err);
    if (status == FR_OK)
        status = fr_study_cross(prior, set->use, set->n, NULL, 0, columns,
                                options ? options : &usual, scored, NULL, err);
    if (status == FR_OK) status = add(r, table, prior, set, scored, set->n, err);
    free(scored);
    return status;
}

fr_status fr_procedure_transfer(struct fr_reproduction *r, const struct fr_table_plan *table,
                                const struct fr_cluster *prior,
                                const struct fr_table_set *fitted,
                                const struct fr_table_set *set,
                                const struct fr_tune_options *options,
                                struct fr_tune_result *tuned, struct fr_error *err) {
    const struct fr_tune_options usual = fr_procedure_tuning();
    struct fr_scored *scored = fr_calloc((size_t)set->n + 1, sizeof *scored);
    fr_status status = scored ? FR_OK : no_memory(err);
    if (status == FR_OK)
        status = fr_tune(prior, fitted->use, fitted->n, options ? options : &usual, tuned, err);
    if (status == FR_OK) {
        fr_study_predict(tuned, set->use, set->n, usual.threads, scored);
        status = add(r, table, prior, set, scored, set->n, err);
    }
    free(scored);
    return status;
}

/* ---- each model in turn ------------------------------------------------------------------- */

struct turns {
    const struct fr_table_set *set;
    struct fr_scored *scored;
    char (*ids)[96]; /* the row, and the first one fitted to */
    const struct fr_run **train, **test;
    struct fr_tune_result *tuned;
    int n;
};

static bool same_model(const struct fr_run *a, const struct fr_run *b) {
    return a->workload.transformer.hidden == b->workload.transformer.hidden &&
           a->workload.transformer.layers == b->workload.transformer.layers;
}

/* Fit to the model of row @p i and predict the others, unless an earlier row has the same model. */
static fr_status take_turn(struct turns *t, const struct fr_cluster *prior, int i,
                           struct fr_error *err) {
    const struct fr_tune_options options = fr_procedure_tuning();
    const struct fr_table_set *set = t->set;
    int first = 0, n_train = 0, n_test = 0;
    while (!same_model(set->use[first], set->use[i])) first++;
    if (first < i) return FR_OK;
    for (int k = 0; k < set->n; k++) {
        if (same_model(set->use[k], set->use[i]))
            t->train[n_train++] = set->use[k];
        else
            t->test[n_test++] = set->use[k];
    }
    if (n_test == 0) return FR_OK;
    FR_TRY(fr_tune(prior, t->train, n_train, &options, t->tuned, err));
    fr_study_predict(t->tuned, t->test, n_test, options.threads, t->scored + t->n);
    for (int k = t->n; k < t->n + n_test; k++) {
        snprintf(t->ids[k], sizeof t->ids[k], "%.40s/from_%.40s", t->scored[k].id,
                 t->train[0]->id);
        t->scored[k].id = t->ids[k];
    }
    t->n += n_test;
    return FR_OK;
}

fr_status fr_procedure_across(struct fr_reproduction *r, const struct fr_table_plan *table,
                              const struct fr_cluster *prior, const struct fr_table_set *set,
                              struct fr_error *err) {
    size_t rows = (size_t)set->n + 1, scratch = rows * rows;
    struct turns t = {.set = set,
                      .scored = fr_calloc(scratch, sizeof *t.scored),
                      .ids = fr_calloc(scratch, sizeof *t.ids),
                      .train = fr_calloc(rows, sizeof *t.train),
                      .test = fr_calloc(rows, sizeof *t.test),
                      .tuned = fr_calloc(1, sizeof *t.tuned)};
    bool fits = t.scored && t.ids && t.train && t.test && t.tuned;
    fr_status status = fits ? FR_OK : no_memory(err);
    for (int i = 0; i < set->n && status == FR_OK; i++) status = take_turn(&t, prior, i, err);
    if (status == FR_OK && t.n > 0) status = add(r, table, prior, set, t.scored, t.n, err);
    free(t.scored);
    free(t.ids);
    free(t.train);
    free(t.test);
    free(t.tuned);
    return status;
}
