#include "trust/taught.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "trust/interval.h"
#include "trust/study.h"

enum { FOLDS_MAX = 12, KEY_MAX = 256 };

static const double enough = 0.95; /* of the mean error of values as they were */

static const struct {
    const char *words, *columns[8];
} questions[FR_TAUGHT_COUNT] = {
    [FR_TAUGHT_MODEL] = {"another model", {"model", NULL}},
    [FR_TAUGHT_PLAN] = {"another plan",
                        {"model", "plan.tp", "plan.pp", "plan.cp", "plan.ep", "plan.zero",
                         "plan.micro_batch", NULL}}};

static int folds_of(const struct fr_run *const *runs, int n, const char *const *columns) {
    int folds = 0;
    for (int i = 0; i < n && folds <= FOLDS_MAX; i++) {
        char key[KEY_MAX], other[KEY_MAX] = "";
        int k = 0;
        fr_study_key(runs[i], columns, key, KEY_MAX);
        for (; k < i; k++) {
            fr_study_key(runs[k], columns, other, KEY_MAX);
            if (strcmp(key, other) == 0) break;
        }
        folds += k == i;
    }
    return folds;
}

static void judge(const struct fr_cluster *prior, const struct fr_run *const *runs, int n,
                  const struct fr_scored *scored, struct fr_taught *t) {
    for (int i = 0; i < n; i++) {
        double stayed_s = fr_run_predict_s(prior, runs[i]);
        if (!isfinite(stayed_s) || !isfinite(scored[i].predicted_s)) continue;
        t->stayed += fabs(stayed_s / runs[i]->measured_s - 1);
        t->tuned += fabs(scored[i].predicted_s / runs[i]->measured_s - 1);
        t->runs++;
    }
    t->stayed /= t->runs;
    t->tuned /= t->runs;
    t->better = t->tuned < enough * t->stayed;
}

static fr_status try_out(const struct fr_cluster *prior, const struct fr_run *const *runs,
                         int n, const struct fr_tune_options *options, int question,
                         struct fr_taught *t, struct fr_error *err) {
    const char *const *columns = questions[question].columns;
    int folds = folds_of(runs, n, columns);
    if (folds < 2 || folds > FOLDS_MAX) return FR_OK;
    struct fr_scored *scored = fr_calloc((size_t)n + 1, sizeof *scored);
    if (!scored) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_status status =
        fr_study_cross(prior, runs, n, NULL, 0, columns, options, scored, &t->folds, err);
    if (status == FR_OK) judge(prior, runs, n, scored, t);
    free(scored);
    return status;
}

/* All values certain, so that what the rows miss is their models' and plans' own; the rest as without rows. */
static fr_status take_back(const struct fr_cluster *prior, const struct fr_run *const *runs,
                           int n, const struct fr_tune_options *options,
                           struct fr_tune_result *result, struct fr_error *err) {
    struct fr_tune_options own = *options;
    struct fr_tune_result *known = fr_calloc(1, sizeof *known);
    if (!known) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    own.fixed = UINT32_MAX;
    own.start = NULL;
    fr_status status = fr_tune(prior, runs, n, &own, result, err);
    if (status == FR_OK) {
        fr_interval_known(prior, result->dtype, known);
        memcpy(result->effect, known->effect, sizeof result->effect);
        result->spread = known->spread;
        result->experts = result->sharded = result->pipelined = true;
        result->unmoved = true;
    }
    free(known);
    return status;
}

fr_status fr_tune_taught(const struct fr_cluster *prior, const struct fr_run *const *runs,
                         int n, const struct fr_tune_options *options,
                         struct fr_tune_result *result,
                         struct fr_taught taught[FR_TAUGHT_COUNT], struct fr_error *err) {
    for (int q = 0; q < FR_TAUGHT_COUNT; q++)
        taught[q] = (struct fr_taught){.question = questions[q].words};
    if (result->unmoved) return take_back(prior, runs, n, options, result, err);
    for (int q = 0; q < FR_TAUGHT_COUNT; q++)
        FR_TRY(try_out(prior, runs, n, options, q, &taught[q], err));
    const struct fr_taught *model = &taught[FR_TAUGHT_MODEL], *plan = &taught[FR_TAUGHT_PLAN];
    bool one_model = folds_of(runs, n, questions[FR_TAUGHT_MODEL].columns) <= 1;
    bool moves = model->folds == 0 ? !one_model || plan->better : model->better;
    return moves ? FR_OK : take_back(prior, runs, n, options, result, err);
}

void fr_taught_print(const struct fr_taught taught[FR_TAUGHT_COUNT],
                     const struct fr_tune_result *result, struct fr_text *text) {
    bool tried = taught[FR_TAUGHT_MODEL].folds > 0 || taught[FR_TAUGHT_PLAN].folds > 0;
    if (tried) fr_text_addf(text, "\nPredictions of rows that were left out of the fit:\n");
    for (int q = 0; q < FR_TAUGHT_COUNT && tried; q++) {
        const struct fr_taught *t = &taught[q];
        if (t->folds == 0)
            fr_text_addf(text, "  %-14s  not tried\n", t->question);
        else
            fr_text_addf(text,
                         "  %-14s  %s: %.1f %% off untuned, %.1f %% off tuned (%d groups)\n",
                         t->question, t->better ? "taught" : "not taught", 100 * t->stayed,
                         100 * t->tuned, t->folds);
    }
    if (result->unmoved)
        fr_text_addf(text, "other models keep their values and intervals;\n"
                           "the rows' own models and plans are known better\n");
}

void fr_taught_json(struct fr_json_writer *w, const struct fr_taught taught[FR_TAUGHT_COUNT]) {
    fr_json_add_array(w, "taught");
    for (int q = 0; q < FR_TAUGHT_COUNT; q++) {
        const struct fr_taught *t = &taught[q];
        fr_json_begin_object(w);
        fr_json_add_string(w, "question", t->question);
        fr_json_add_integer(w, "groups", t->folds);
        fr_json_add_integer(w, "runs", t->runs);
        fr_json_add_number(w, "error_before", t->folds ? t->stayed : NAN);
        fr_json_add_number(w, "error_tuned", t->folds ? t->tuned : NAN);
        fr_json_add_bool(w, "taught", t->better);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}
