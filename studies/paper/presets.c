/* Values of presets from measured rows: the functions that presets.study calls.
 *
 *      cluster(PRESET, RUNTIME)     one of its own, to be changed; the newest runtime where none is named
 *      ours(C, VALUE, DTYPE), put(C, VALUE, DTYPE, X), width(C, VALUE, DTYPE)      what it says, and how wide
 *      unsure(C, DTYPE)             how wide efficiency is, stated or not
 *      runs(FILE, dtype=, ..., that=), count(RUNS)
 *      tune(C, RUNS, 'coefficients')     all else held: found[coefficient] and left[coefficient], its width
 *      bias(C, RUNS)                mean of ln(predicted / measured)
 *      products, attention, best, best_scatter, logged, rings, steps: studies/presets/timings.h */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/data.h"
#include "calibrate/fit/products.h"
#include "calibrate/samples/import.h"
#include "models/device/jitter.h"
#include "models/work/experts.h"
#include "models/workload/hybrid.h"
#include "studies/presets/timings.h"
#include "studies/training/named.h"
#include "trust/correlated.h"
#include "trust/interval.h"
#include "trust/numbers/nlfit.h"
#include "trust/numbers/statistics.h"

enum { CLUSTERS_MAX = 64, NAMES_MAX = 4 };

struct all {
    struct fr_reproduction *r;
    struct fr_cluster cluster[CLUSTERS_MAX], as_read[CLUSTERS_MAX];
    struct fr_named_runs runs;
    struct fr_correlated correlated; /* of the runs, or widened */
    int n_clusters;
};

static fr_status no_memory(const struct fr_study_call *c) {
    return fr_fail(c->err, FR_ERR_NOMEM, NULL, "out of memory");
}

/* ---- values of a preset --------------------------------------------------------------------- */

static int cluster_index(const struct fr_study_call *c, const char *name, int place) {
    const struct all *all = c->context;
    double which = fr_call_number(c, name, place, 0);
    return which >= 0 && which < all->n_clusters ? (int)which : 0;
}

struct fr_cluster *fr_presets_cluster(const struct fr_study_call *c) {
    return &((struct all *)c->context)->cluster[cluster_index(c, "cluster", 0)];
}

static fr_dtype dtype_of(const struct fr_study_call *c, const char *name, int place) {
    int d = 0;
    while (d < FR_DTYPE_COUNT - 1 &&
           strcmp(fr_dtype_names[d], fr_call_word(c, name, place)) != 0)
        d++;
    return d < FR_DTYPE_COUNT - 1 || *fr_call_word(c, name, place) ? (fr_dtype)d : FR_BF16;
}

static fr_status cluster(struct fr_study_call *c) {
    struct all *all = c->context;
    const char *software = fr_call_word(c, "runtime", 1);
    if (all->n_clusters == CLUSTERS_MAX)
        return fr_fail(c->err, FR_ERR_INPUT, NULL, "more than %d clusters", CLUSTERS_MAX);
    struct fr_cluster *x = &all->cluster[all->n_clusters];
    FR_TRY(fr_table_cluster_of(fr_call_word(c, "preset", 0), *software ? software : NULL, x,
                               c->err));
    all->as_read[all->n_clusters] = *x;
    return fr_say(c, all->n_clusters++);
}

/* Names of values, as coefficients call some of them, and what has their width. */
static const struct value {
    const char *name;
    fr_value width; /* FR_VALUE_COUNT: none */
} values[] = {{"efficiency", FR_VALUE_EFFICIENCY},
              {"tail", FR_VALUE_TAIL},
              {"peak", FR_VALUE_COUNT},
              {"flash", FR_VALUE_FLASH},
              {"half_keys", FR_VALUE_COUNT},
              {"backward", FR_VALUE_FLASH_BACKWARD},
              {"flash_1", FR_VALUE_FLASH_1},
              {"flash_1_attention", FR_VALUE_FLASH_1},
              {"flash_2", FR_VALUE_FLASH_2},
              {"host_launch", FR_VALUE_HOST_LAUNCH},
              {"host_overlap", FR_VALUE_COUNT},
              {"launch", FR_VALUE_LAUNCH},
              {"jitter", FR_VALUE_COUNT},
              {"jitter_share", FR_VALUE_COUNT},
              {"node_rate", FR_VALUE_NODE_RATE}};

enum { VALUES = sizeof values / sizeof *values };

/* Where @p x has the value called @p name; NULL: nowhere. */
static double *place_of(struct fr_cluster *x, const char *name, fr_dtype dtype) {
    struct fr_device *d = &x->device;
    double *const places[VALUES] = {&d->gemm[dtype].tiles.efficiency,
                                    &d->gemm[dtype].tiles.tail,
                                    &d->gemm[dtype].peak_flop_per_s,
                                    &d->attention.flash,
                                    &d->attention.half_keys,
                                    &d->attention.backward,
                                    &d->attention.flash_1,
                                    &d->attention.flash_1,
                                    &d->attention.flash_2,
                                    &d->host_launch_s,
                                    &d->host_overlap,
                                    &d->launch_s,
                                    &d->jitter_s,
                                    &d->jitter_share,
                                    &x->levels.level[0].rate_B_per_s};
    for (int i = 0; i < VALUES; i++)
        if (strcmp(values[i].name, name) == 0) return places[i];
    return NULL;
}

static fr_status unknown(const struct fr_study_call *c, const char *name) {
    return fr_fail(c->err, FR_ERR_INPUT, NULL, "no value \"%.40s\" of a preset", name);
}

static fr_status ours(struct fr_study_call *c) {
    const char *name = fr_call_word(c, "value", 1);
    const double *place = place_of(fr_presets_cluster(c), name, dtype_of(c, "dtype", 2));
    if (!place) return unknown(c, name);
    return fr_say(c, strcmp(name, "flash_2") == 0
                         ? fr_device_flash(&fr_presets_cluster(c)->device, FR_FLASH_2)
                         : *place);
}

static fr_status put(struct fr_study_call *c) {
    const char *name = fr_call_word(c, "value", 1);
    double *place = place_of(fr_presets_cluster(c), name, dtype_of(c, "dtype", 2));
    if (!place) return unknown(c, name);
    *place = fr_call_number(c, "x", 3, NAN);
    return FR_OK;
}

static fr_status width(struct fr_study_call *c) {
    const char *name = fr_call_word(c, "value", 1);
    int i = 0;
    while (i < VALUES && strcmp(values[i].name, name) != 0) i++;
    if (i == VALUES || values[i].width == FR_VALUE_COUNT) return unknown(c, name);
    return fr_say(
        c, fr_presets_cluster(c)->uncertainty.sigma[values[i].width][dtype_of(c, "dtype", 2)]);
}

static fr_status unsure(struct fr_study_call *c) {
    return fr_say(c, fr_interval_width(fr_presets_cluster(c), fr_coefficient_find("efficiency"),
                                       dtype_of(c, "dtype", 1)));
}

/* ---- values together ------------------------------------------------------------------------ */

/* Covariance of efficiency with others that @p x states; NULL: none. */
static const struct fr_correlated *stated_correlated(const struct fr_cluster *x, fr_value value,
                                                     fr_dtype dtype) {
    for (int k = 0; k < x->uncertainty.n_correlated; k++)
        if (fr_correlated_is_of(&x->uncertainty.correlated[k], dtype) &&
            fr_correlated_power(&x->uncertainty.correlated[k], value) != 0)
            return &x->uncertainty.correlated[k];
    return NULL;
}

/* widen_correlated(C, DTYPE, scatter): 1 where it states something, which is kept, wider by that. */
static fr_status widen_correlated(struct fr_study_call *c) {
    struct all *all = c->context;
    const struct fr_correlated *known =
        stated_correlated(fr_presets_cluster(c), FR_VALUE_EFFICIENCY, dtype_of(c, "dtype", 1));
    if (!known) return fr_say(c, 0);
    all->correlated = *known;
    all->correlated.sigma = hypot(known->sigma, fr_call_number(c, "scatter", 2, 0));
    return fr_say(c, 1);
}

/* add_correlated(PRESET, DTYPE, NOTE, cluster=): what was kept beside what the cluster states, the last one as it was read. */
static fr_status add_correlated(struct fr_study_call *c) {
    static const double rounding = 0.05;
    struct all *all = c->context;
    const char *preset = fr_call_word(c, "preset", 0);
    fr_dtype dtype = dtype_of(c, "dtype", 1);
    double last = all->n_clusters - 1;
    const struct fr_cluster *x =
        &all->as_read[(int)fr_call_number(c, "cluster", -1, last < 0 ? 0 : last)];
    const struct fr_correlated *rows = &all->correlated,
                               *stated = stated_correlated(x, rows->of[0].value, dtype);
    char path[FR_VALUE_PATH];
    for (int i = 0; i < rows->n; i++) {
        fr_value_path(rows->of[i].value, dtype, &x->levels, path);
        fr_reproduce_add(all->r, FR_ROLE_FITTED, rows->of[i].power,
                         stated ? fr_correlated_power(stated, rows->of[i].value) : 0, "1",
                         rounding, i ? NULL : "power of each in a sum of logarithms",
                         "%s/together.%s/%s", preset, fr_dtype_names[dtype], path);
    }
    fr_reproduce_add(all->r, FR_ROLE_FITTED, rows->sigma, stated ? stated->sigma : 0, "1",
                     rounding, fr_call_word(c, "note", 2), "%s/together.%s/width", preset,
                     fr_dtype_names[dtype]);
    return FR_OK;
}

/* ---- runs ----------------------------------------------------------------------------------- */

static bool eager(const struct fr_run *run) {
    return run->plan.micro_batch == 1 && run->plan.graphs == FR_GRAPHS_NONE &&
           !fr_transformer_is_hybrid(&run->workload.transformer);
}

static bool is_that(const char *what, const struct fr_run *run) {
    if (strcmp(what, "wait") == 0)
        return eager(run) && run->plan.pp == 1 && !run->plan.overlap_experts;
    if (strcmp(what, "cut") == 0) return eager(run) && run->plan.overlap_experts;
    return strcmp(what, "undivided") != 0 || run->plan.tp == 1;
}

static struct fr_table_set *set_of(const struct fr_study_call *c, int place) {
    return fr_named_runs_of(c, &((struct all *)c->context)->runs, "runs", place);
}

/* None where the file is absent. */
static fr_status runs(struct fr_study_call *c) {
    struct all *all = c->context;
    fr_status status = fr_named_runs_read(c, &all->runs);
    if (status != FR_OK) return status == FR_ERR_IO ? FR_OK : status;
    struct fr_table_set *set = &all->runs.set[all->runs.n - 1];
    int kept = 0;
    for (int i = 0; i < set->n; i++)
        if (is_that(fr_call_word(c, "that", -1), set->use[i])) set->use[kept++] = set->use[i];
    set->n = kept;
    return FR_OK;
}

static fr_status count(struct fr_study_call *c) { return fr_say(c, set_of(c, 0)->n); }

static fr_status bias(struct fr_study_call *c) {
    const struct fr_table_set *set = set_of(c, 1);
    double sum = 0;
    for (int i = 0; i < set->n; i++)
        sum +=
            log(fr_run_predict_s(fr_presets_cluster(c), set->use[i]) / set->use[i]->measured_s);
    return fr_say(c, sum / set->n);
}

/* Fitted are @p names, each from where the cluster has it; all else is held, as unsure as the file and the priors say.
 * As wide is left what the runs leave, given what those of a model, of a plan and of a release share. */
static fr_status tune_names(struct fr_study_call *c, char *const *names, int n,
                            struct fr_tune_result *tuned) {
    const struct fr_table_set *set = set_of(c, 1);
    struct all *all = c->context;
    double others[FR_COEFFICIENT_MAX] = {0};
    struct fr_tune_options options = {
        .rows_max = 100, .threads = 1, .fixed = UINT32_MAX, .sigmas = others};
    const fr_dtype dtype = set->use[0]->workload.dtype;
    struct fr_cluster prior =
        *fr_presets_cluster(c); /* but for the widths that these very runs say */
    prior.uncertainty.n_correlated = 0;
    for (int k = 0; k < n; k++) {
        int j = fr_coefficient_find(names[k]);
        if (j < 0) return unknown(c, names[k]);
        options.fixed &= ~((uint32_t)1 << j);
        prior.uncertainty.sigma[fr_coefficients[j].place][dtype] = 0;
    }
    for (int j = 0; j < fr_coefficient_count(); j++)
        if (options.fixed >> j & 1) others[j] = fr_interval_width(&prior, j, dtype);
    FR_TRY(fr_tune(&prior, set->use, set->n, &options, tuned, c->err));
    for (int k = 0; k < n; k++) {
        char name[FR_TERM_NAME_MAX];
        snprintf(name, sizeof name, "found[%.40s]", names[k]);
        FR_TRY(fr_call_set(c, name, *place_of(&tuned->cluster, names[k], dtype)));
        snprintf(name, sizeof name, "left[%.40s]", names[k]);
        FR_TRY(fr_call_set(c, name, tuned->tuned[fr_coefficient_find(names[k])].sigma));
    }
    return fr_call_number(c, "together", -1, 0) != 0
               ? fr_tune_correlated(tuned, names[0], &all->correlated, c->err)
               : FR_OK;
}

static fr_status tune(struct fr_study_call *c) {
    struct fr_tune_result *tuned = fr_calloc(1, sizeof *tuned);
    char text[FR_TERM_TEXT_MAX], *left = text, *names[NAMES_MAX];
    int n = 0;
    strcpy(text, fr_call_word(c, "names", 2));
    for (char *word; n < NAMES_MAX && (word = strtok_r(left, " ", &left));) names[n++] = word;
    fr_status status = !tuned                           ? no_memory(c)
                       : n == 0 || set_of(c, 1)->n == 0 ? unknown(c, text)
                                                        : tune_names(c, names, n, tuned);
    free(tuned);
    return status;
}

/* ---- the paper ------------------------------------------------------------------------------ */

static fr_status run(struct fr_reproduction *r, struct fr_error *err) {
    static const struct fr_study_function functions[] = {
        {"cluster", cluster},
        {"ours", ours},
        {"put", put},
        {"width", width},
        {"unsure", unsure},
        {"widen_together", widen_correlated},
        {"add_together", add_correlated},
        {"runs", runs},
        {"count", count},
        {"bias", bias},
        {"tune", tune},
        {"products", fr_presets_products},
        {"best", fr_presets_best},
        {"best_scatter", fr_presets_best_scatter},
        {"attention", fr_presets_attention},
        {"logged", fr_presets_logged},
        {"rings", fr_presets_rings},
        {"steps", fr_presets_steps},
        {NULL, NULL}};
    extern const char fr_study_presets[];
    const struct fr_study_text study = {"presets", fr_study_presets, functions};
    char path[512];
    if (!fr_data_find("gemm/simumax_matmul_efficiency.csv", path, sizeof path)) {
        fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, NAN, NAN, "", 0,
                         "skipped: no shared/data above this folder and none in FORERUN_DATA",
                         "skipped");
        return FR_OK;
    }
    struct all *all = fr_calloc(1, sizeof *all);
    if (!all) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    all->r = r;
    fr_status status = fr_study_run(&study, all, r, err);
    for (int i = 0; i < all->n_clusters; i++) fr_cluster_free(&all->as_read[i]);
    fr_named_runs_free(&all->runs);
    free(all);
    return status;
}

const struct fr_paper fr_paper_presets = {
    .name = "presets",
    .title = "what measured products, kernels and hosts say of presets' values",
    .run = run,
    .measured = true,
};
