/* MLPerf Training's pre-training runs: predicted blind, and after one refit a machine; fine-tuning by adapters: blind.
 *
 *      blind   the preset as it is, nothing fitted to these rows
 *      refit   fitted to a machine's smallest run, its larger ones predicted: the efficiency of products where that run
 *              refutes the preset, beyond what releases of the software differ, and what was missed of its plan
 *
 * A machine is what the submitter's system is called but for its size: eos-dfw, hpg.dgxb200x8.  The same for all machines
 * of a preset taken as one, which are of several owners and years; and for those in one round, which is a release of the
 * software.  Smallest is the run on the fewest ranks, of those the first in the file.
 * Plans, precisions and widths of gradients are as the submitters set them.  Rows of accelerators that no
 * preset describes are counted; copies and rows of quality C are left out.  How the published plans rank
 * among ours: forerun reproduce plans. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "studies/training/mlperf.h"
#include "studies/training/procedure.h"
#include "trust/interval.h"
#include "trust/runs/row/machine.h"

static const struct fr_table_limits blind_limits = {.mean = 0.06, FR_TABLE_COVERED};
static const struct fr_table_limits covered_limits = {FR_TABLE_COVERED};
static const struct fr_table_limits refit_limits = {.mean = 0.04, FR_TABLE_COVERED};

/* ---- predictions ------------------------------------------------------------------------- */

/* Runs with their predictions, machine after machine. */
struct part {
    const char *name, *procedure;
    const struct fr_table_limits *limits;
    const struct fr_run **runs;
    struct fr_scored *scored;
    double *alone_s;
    int n;
    const char *command; /* that scores these rows; NULL: none */
};

static bool part_make(int n, struct part *p) {
    size_t capacity = (size_t)n + 1;
    p->runs = fr_calloc(capacity, sizeof *p->runs);
    p->scored = fr_calloc(capacity, sizeof *p->scored);
    p->alone_s = fr_calloc(capacity, sizeof *p->alone_s);
    return p->runs && p->scored && p->alone_s;
}

static void part_free(struct part *p) {
    free(p->runs);
    free(p->scored);
    free(p->alone_s);
}

/* Runs of one machine, from number @p from of the part on. */
static void predict(struct part *p, int from, const struct fr_cluster *preset,
                    const struct fr_tune_result *known) {
    fr_study_predict(known, p->runs + from, p->n - from, fr_processors(), p->scored + from);
    fr_table_alone(preset, p->runs + from, p->n - from, p->alone_s + from);
}

/* The run on the fewest ranks; NULL without any. */
static const struct fr_run *smallest(const struct fr_run *const *runs, int n) {
    const struct fr_run *least = n > 0 ? runs[0] : NULL;
    for (int i = 1; i < n; i++)
        if (fr_plan_ranks(&runs[i]->plan) < fr_plan_ranks(&least->plan)) least = runs[i];
    return least;
}

/* Runs of a preset that are refitted together: those with the same note; NULL: all. */
static const struct refit {
    const char *name, *procedure, *note;
    double release; /* by which they may differ */
    const struct fr_table_limits *limits;
} refits[] = {{"mlperf_refit", "from each machine's smallest run, its larger ones predicted",
               "note.machine", FR_TUNE_RELEASE, &refit_limits},
              {"mlperf_refit_preset", "the same, all machines of a preset taken as one", NULL,
               FR_TUNE_RELEASE, &covered_limits},
              {"mlperf_refit_round",
               "the same for each round (release of the software) of all machines of a preset",
               "note.round", 0, &refit_limits}};

enum { REFITS = sizeof refits / sizeof *refits };

struct study {
    struct part blind, refit[REFITS];
    int n_refits;
    struct fr_tune_result *known;
};

static const char *note_of(const struct refit *how, const struct fr_run *run) {
    const char *note = how->note ? fr_run_row_get(run->row, how->note) : NULL;
    return note ? note : "";
}

static bool together(const struct refit *how, const struct fr_run *a, const struct fr_run *b) {
    return strcmp(note_of(how, a), note_of(how, b)) == 0;
}

/* Fit to the smallest of some runs, predict those of them on more ranks. */
static fr_status refit_some(struct part *p, const struct fr_cluster *preset,
                            const struct fr_run *const *runs, int n, double release,
                            struct fr_tune_result *known, struct fr_error *err) {
    struct fr_tune_options options = fr_procedure_tuning();
    const struct fr_run *least = smallest(runs, n);
    options.release = release;
    options.one_release = release == 0;
    int from = p->n;
    for (int i = 0; i < n; i++)
        if (fr_plan_ranks(&runs[i]->plan) > fr_plan_ranks(&least->plan))
            p->runs[p->n++] = runs[i];
    if (p->n == from) return FR_OK;
    FR_TRY(fr_tune(preset, &least, 1, &options, known, err));
    predict(p, from, preset, known);
    return FR_OK;
}

/* The same for all that are refitted together, in order of appearance. */
static fr_status refit_each(struct study *s, int which, const struct fr_cluster *preset,
                            const struct fr_run *const *runs, int n, struct fr_error *err) {
    const struct refit *how = &refits[which];
    const struct fr_run **some = fr_calloc((size_t)n + 1, sizeof *some);
    fr_status status = some ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int i = 0; i < n && status == FR_OK; i++) {
        int first = 0, count = 0;
        while (!together(how, runs[first], runs[i])) first++;
        if (first < i) continue;
        for (int k = i; k < n; k++)
            if (together(how, runs[k], runs[i])) some[count++] = runs[k];
        status = refit_some(&s->refit[which], preset, some, count, how->release, s->known, err);
    }
    free(some);
    return status;
}

/* Add the machine's runs of one dtype, whose coefficients are its own, to the blind part. @return how many */
static int take(struct study *s, const char *name, fr_dtype dtype,
                const struct fr_table_set *set) {
    int from = s->blind.n;
    for (int i = 0; i < set->n; i++) {
        const char *of = fr_mlperf_preset(set->use[i]);
        if (of && strcmp(of, name) == 0 && set->use[i]->workload.dtype == dtype)
            s->blind.runs[s->blind.n++] = set->use[i];
    }
    return s->blind.n - from;
}

/* All runs of the machine as it is, then the larger ones after the refits, if any are asked for. */
static fr_status machine(struct study *s, const char *name, fr_dtype dtype,
                         const struct fr_table_set *set, struct fr_error *err) {
    struct fr_cluster preset = {0};
    int from = s->blind.n, n = take(s, name, dtype, set);
    const struct fr_run **runs = s->blind.runs + from;
    if (n == 0) return FR_OK;
    fr_status status = fr_table_cluster(name, &preset, err);
    if (status == FR_OK) {
        fr_interval_known(&preset, dtype, s->known);
        predict(&s->blind, from, &preset, s->known);
    }
    for (int k = 0; k < s->n_refits && status == FR_OK; k++)
        status = refit_each(s, k, &preset, runs, n, err);
    fr_cluster_free(&preset);
    return status;
}

/* ---- rows -------------------------------------------------------------------------------- */

static void add_run(struct fr_reproduction *r, const struct part *p, int i) {
    const struct fr_scored *s = &p->scored[i];
    bool inside = s->low_s <= s->measured_s && s->measured_s <= s->high_s;
    char note[160];
    snprintf(note, sizeof note, "%" PRId64 " ranks of %s; 90 %% interval %.4g to %.4g s%s",
             fr_plan_ranks(&p->runs[i]->plan), fr_mlperf_preset(p->runs[i]), s->low_s,
             s->high_s, inside ? "" : ": measured outside");
    fr_reproduce_add(r, FR_ROLE_PREDICTED, s->measured_s, s->predicted_s, "s", INFINITY, note,
                     "%s/%.80s", p->name, s->id);
    if (!r->failed) r->rows[r->count - 1].judged = r->rows[r->count - 1].holds = false;
}

/* Mean error of one machine's runs. */
static void add_machine(struct fr_reproduction *r, const struct part *p, const char *name) {
    double error = 0;
    int n = 0;
    for (int i = 0; i < p->n; i++) {
        if (strcmp(fr_mlperf_preset(p->runs[i]), name) != 0) continue;
        error += fabs(p->scored[i].predicted_s / p->scored[i].measured_s - 1);
        n++;
    }
    if (n == 0) return;
    char note[60];
    snprintf(note, sizeof note, "mean error over %d runs", n);
    fr_reproduce_add(r, FR_ROLE_PREDICTED, NAN, error / n, "1", 0, note, "%s/of_%s", p->name,
                     name);
}

static fr_status add_part(struct fr_reproduction *r, const struct part *p,
                          struct fr_error *err) {
    const struct fr_table_of of = {p->runs, p->alone_s, p->n, p->command};
    if (p->n == 0) return FR_OK;
    for (int i = 0; i < p->n; i++) add_run(r, p, i);
    for (int i = 0; fr_machine_preset(i); i++) add_machine(r, p, fr_machine_preset(i));
    return fr_table_add(r, p->name, p->procedure, &of, p->scored, p->n, p->limits, NULL, err);
}

static void add_without(struct fr_reproduction *r, const char *file,
                        const struct fr_table_set *set) {
    int without = 0;
    for (int i = 0; i < set->n; i++) without += !fr_mlperf_preset(set->use[i]);
    if (without)
        fr_reproduce_add(r, FR_ROLE_IDENTITY, NAN, without, "rows", 0,
                         "an accelerator that no preset describes", "left_out/%s/preset", file);
}

/* All presets, each at each dtype; then the tables. */
static fr_status make(struct fr_reproduction *r, const char *file, struct study *s,
                      const struct fr_table_set *set, struct fr_error *err) {
    s->known = fr_calloc(1, sizeof *s->known);
    bool fits = part_make(set->n, &s->blind) && s->known;
    for (int k = 0; k < s->n_refits; k++) {
        s->refit[k] = (struct part){.name = refits[k].name,
                                    .procedure = refits[k].procedure,
                                    .limits = refits[k].limits};
        fits = part_make(set->n, &s->refit[k]) && fits;
    }
    fr_status status = fits ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int i = 0; fr_machine_preset(i); i++)
        for (int d = 0; d < FR_DTYPE_COUNT && status == FR_OK; d++)
            status = machine(s, fr_machine_preset(i), (fr_dtype)d, set, err);
    if (status == FR_OK) status = add_part(r, &s->blind, err);
    for (int k = 0; k < s->n_refits && status == FR_OK; k++)
        status = add_part(r, &s->refit[k], err);
    if (status == FR_OK) add_without(r, file, set);
    part_free(&s->blind);
    for (int k = 0; k < s->n_refits; k++) part_free(&s->refit[k]);
    free(s->known);
    return status;
}

static fr_status pretraining(struct fr_reproduction *r, const struct fr_table_set *set,
                             struct fr_error *err) {
    struct study s = {.blind = {.name = "mlperf_blind",
                                .procedure = "presets as they are",
                                .limits = &blind_limits,
                                .command = set->command},
                      .n_refits = REFITS};
    return make(r, fr_mlperf_file, &s, set, err);
}

/* Adapters beside frozen weights: blind alone. */
static fr_status fine_tuning(struct fr_reproduction *r, const struct fr_table_set *set,
                             struct fr_error *err) {
    struct study s = {.blind = {.name = "mlperf_lora",
                                .procedure = "presets as they are",
                                .limits = &covered_limits,
                                .command = set->command}};
    return make(r, fr_mlperf_lora_file, &s, set, err);
}

static fr_status run(struct fr_reproduction *r, struct fr_error *err) {
    FR_TRY(fr_mlperf_study(r, fr_mlperf_file, pretraining, err));
    return fr_mlperf_study(r, fr_mlperf_lora_file, fine_tuning, err);
}

const struct fr_paper fr_paper_mlperf = {
    .name = "mlperf",
    .title = "runs of MLPerf Training, predicted blind and after one refit a machine",
    .run = run,
    .measured = true,
};
