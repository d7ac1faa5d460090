/* What measured rows say of the values of presets: the functions that presets.study computes with.
 *
 *      cluster(PRESET, RUNTIME)     one of its own, to be changed; the newest runtime where none is named
 *      ours(C, VALUE, DTYPE), put(C, VALUE, DTYPE, X), width(C, VALUE, DTYPE)      what it says, and how wide
 *      unsure(C, DTYPE)             how wide efficiency is, stated or not
 *      runs(FILE, dtype=, ..., that=), count(RUNS)
 *      tune(C, RUNS, 'coefficients')     all else held: found[coefficient] and left[coefficient], its width
 *      bias(C, RUNS)                mean of ln(predicted / measured)
 *      products, attention, best, best_scatter, logged, rings, steps: below */
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
#include "studies/energy/rows.h"
#include "studies/training/named.h"
#include "trust/interval.h"
#include "trust/numbers/nlfit.h"
#include "trust/numbers/statistics.h"
#include "trust/together.h"

enum { CLUSTERS_MAX = 64, NAMES_MAX = 4 };

struct all {
    struct fr_reproduction *r;
    struct fr_cluster cluster[CLUSTERS_MAX], as_read[CLUSTERS_MAX];
    struct fr_named_runs runs;
    struct fr_together together; /* of the runs, or widened */
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

static struct fr_cluster *cluster_of(const struct fr_study_call *c) {
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
    const double *place = place_of(cluster_of(c), name, dtype_of(c, "dtype", 2));
    if (!place) return unknown(c, name);
    return fr_say(c, strcmp(name, "flash_2") == 0
                         ? fr_device_flash(&cluster_of(c)->device, FR_FLASH_2)
                         : *place);
}

static fr_status put(struct fr_study_call *c) {
    const char *name = fr_call_word(c, "value", 1);
    double *place = place_of(cluster_of(c), name, dtype_of(c, "dtype", 2));
    if (!place) return unknown(c, name);
    *place = fr_call_number(c, "x", 3, NAN);
    return FR_OK;
}

static fr_status width(struct fr_study_call *c) {
    const char *name = fr_call_word(c, "value", 1);
    int i = 0;
    while (i < VALUES && strcmp(values[i].name, name) != 0) i++;
    if (i == VALUES || values[i].width == FR_VALUE_COUNT) return unknown(c, name);
    return fr_say(c, cluster_of(c)->widths.sigma[values[i].width][dtype_of(c, "dtype", 2)]);
}

static fr_status unsure(struct fr_study_call *c) {
    return fr_say(c, fr_interval_width(cluster_of(c), fr_coefficient_find("efficiency"),
                                       dtype_of(c, "dtype", 1)));
}

/* ---- values together ------------------------------------------------------------------------ */

/* What @p x states of efficiency together with others; NULL: nothing. */
static const struct fr_together *stated_together(const struct fr_cluster *x, fr_value value,
                                                 fr_dtype dtype) {
    for (int k = 0; k < x->widths.n_together; k++)
        if (fr_together_is_of(&x->widths.together[k], dtype) &&
            fr_together_power(&x->widths.together[k], value) != 0)
            return &x->widths.together[k];
    return NULL;
}

/* widen_together(C, DTYPE, scatter): 1 where it states something, which is kept, wider by that. */
static fr_status widen_together(struct fr_study_call *c) {
    struct all *all = c->context;
    const struct fr_together *known =
        stated_together(cluster_of(c), FR_VALUE_EFFICIENCY, dtype_of(c, "dtype", 1));
    if (!known) return fr_say(c, 0);
    all->together = *known;
    all->together.sigma = hypot(known->sigma, fr_call_number(c, "scatter", 2, 0));
    return fr_say(c, 1);
}

/* add_together(PRESET, DTYPE, NOTE, cluster=): what was kept beside what the cluster states, the last one as it was read. */
static fr_status add_together(struct fr_study_call *c) {
    static const double rounding = 0.05;
    struct all *all = c->context;
    const char *preset = fr_call_word(c, "preset", 0);
    fr_dtype dtype = dtype_of(c, "dtype", 1);
    double last = all->n_clusters - 1;
    const struct fr_cluster *x =
        &all->as_read[(int)fr_call_number(c, "cluster", -1, last < 0 ? 0 : last)];
    const struct fr_together *rows = &all->together,
                             *said = stated_together(x, rows->of[0].value, dtype);
    char path[FR_VALUE_PATH];
    for (int i = 0; i < rows->n; i++) {
        fr_value_path(rows->of[i].value, dtype, x->levels.count, path);
        fr_reproduce_add(all->r, FR_ROLE_FITTED, rows->of[i].power,
                         said ? fr_together_power(said, rows->of[i].value) : 0, "1", rounding,
                         i ? NULL : "power of each in a sum of logarithms", "%s/together.%s/%s",
                         preset, fr_dtype_names[dtype], path);
    }
    fr_reproduce_add(all->r, FR_ROLE_FITTED, rows->sigma, said ? said->sigma : 0, "1", rounding,
                     fr_call_word(c, "note", 2), "%s/together.%s/width", preset,
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
        sum += log(fr_run_predict_s(cluster_of(c), set->use[i]) / set->use[i]->measured_s);
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
        .rows_max = 100, .threads = 1, .held = UINT32_MAX, .sigmas = others};
    const fr_dtype dtype = set->use[0]->workload.dtype;
    struct fr_cluster prior = *cluster_of(c); /* but for the widths that these very runs say */
    prior.widths.n_together = 0;
    for (int k = 0; k < n; k++) {
        int j = fr_coefficient_find(names[k]);
        if (j < 0) return unknown(c, names[k]);
        options.held &= ~((uint32_t)1 << j);
        prior.widths.sigma[fr_coefficients[j].place][dtype] = 0;
    }
    for (int j = 0; j < fr_coefficient_count(); j++)
        if (options.held >> j & 1) others[j] = fr_interval_width(&prior, j, dtype);
    FR_TRY(fr_tune(&prior, set->use, set->n, &options, tuned, c->err));
    for (int k = 0; k < n; k++) {
        char name[FR_TERM_NAME_MAX];
        snprintf(name, sizeof name, "found[%.40s]", names[k]);
        FR_TRY(fr_call_set(c, name, *place_of(&tuned->cluster, names[k], dtype)));
        snprintf(name, sizeof name, "left[%.40s]", names[k]);
        FR_TRY(fr_call_set(c, name, tuned->tuned[fr_coefficient_find(names[k])].sigma));
    }
    return fr_call_number(c, "together", -1, 0) != 0
               ? fr_tune_together(tuned, names[0], &all->together, c->err)
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

/* ---- tables of numbers ---------------------------------------------------------------------- */

/* No rows where the file is absent. */
static fr_status read_csv(const struct fr_study_call *c, const char *file, struct fr_csv *csv) {
    char path[512];
    *csv = (struct fr_csv){.text = NULL};
    return fr_data_find(file, path, sizeof path) ? fr_csv_read(path, csv, c->err) : FR_OK;
}

static bool says(const struct fr_csv *csv, int row, const char *column, const char *text) {
    return strcmp(fr_energy_text(csv, row, column), text) == 0;
}

static double number(const struct fr_csv *csv, int row, const char *column) {
    return strtod(fr_energy_text(csv, row, column), NULL);
}

/* ---- products ------------------------------------------------------------------------------- */

static void take(const struct fr_csv *csv, const char *gpu, struct fr_products *p) {
    for (int i = 0; i < csv->n_rows; i++) {
        if (!says(csv, i, "gpu", gpu)) continue;
        p->item[p->n] = (struct fr_product_timed){
            .shape = {.m = fmax(1, number(csv, i, "b")) * number(csv, i, "m"),
                      .n = number(csv, i, "n"),
                      .k = number(csv, i, "k")},
            .result = {.value_B = says(csv, i, "out_dtype", "fp32") ? 4 : 2,
                       .adds = says(csv, i, "accumulate", "True")},
            .count = 1,
            .time_s = 1e-6 * number(csv, i, "derived_time_us")};
        p->n += p->item[p->n].time_s > 0;
    }
}

/* "ng=40, M=616, N=3072, K=5120, ..., main_grad_dtype=fp32, stage=bwd_grad_w, ..., accumulate=True": of a
 * forward product M x N x K and its gradients. */
static bool take_group(const char *key, double flop_per_s, struct fr_product_timed *x) {
    double groups = 0, m = 0, n = 0, k = 0;
    bool adds = strstr(key, "accumulate=True");
    if (sscanf(key, "ng=%lf, M=%lf, N=%lf, K=%lf", &groups, &m, &n, &k) != 4) return false;
    *x = (struct fr_product_timed){.count = groups,
                                   .time_s = 2 * groups * m * n * k / flop_per_s};
    m = fr_experts_rows(m);
    x->shape = (struct fr_gemm_shape){n, m, k, .at_once = groups};
    x->gradient = strstr(key, "stage=bwd_grad_w");
    if (strstr(key, "stage=bwd_grad_act"))
        x->shape = (struct fr_gemm_shape){k, m, n, .at_once = groups};
    if (x->gradient) x->shape = (struct fr_gemm_shape){n, k, m, .at_once = groups};
    x->result = (struct fr_gemm_use){
        .value_B = adds && strstr(key, "main_grad_dtype=fp32") ? 4 : 2, .adds = adds};
    return true;
}

static void take_groups(const struct fr_csv *csv, const char *gpu, struct fr_products *p) {
    for (int i = 0; i < csv->n_rows; i++) {
        double rate = 1e12 * number(csv, i, "measured_tflops");
        if (says(csv, i, "gpu", gpu) && rate > 0 && says(csv, i, "op", "group_matmul"))
            p->n += take_group(fr_energy_text(csv, i, "key"), rate, &p->item[p->n]);
    }
}

/* What the preset is off on grouped products, all of them and those that add to gradients. */
static fr_status say_groups(struct fr_study_call *c, const struct fr_products *p) {
    double all = 0, adding = 0;
    int n = 0;
    for (int i = 0; i < p->n; i++) {
        double error = fabs(fr_products_ratio(p, i) - 1);
        all += error;
        adding += p->item[i].result.adds ? error : 0;
        n += p->item[i].result.adds;
    }
    FR_TRY(fr_call_set(c, "groups", p->n));
    FR_TRY(fr_call_set(c, "adding", n));
    FR_TRY(fr_call_set(c, "off_all", all / p->n));
    return fr_call_set(c, "off_adding", adding / n);
}

static fr_status fit_products(struct fr_study_call *c, struct fr_products *p) {
    const struct fr_gemm_tiles said = p->device.gemm[FR_BF16].tiles;
    double x[FR_PRODUCT_VALUES], sigma[FR_PRODUCT_VALUES];
    FR_TRY(fr_call_set(c, "without", fr_products_mean_error(p)));
    FR_TRY(fr_products_fit(p, x, sigma, c->err));
    FR_TRY(fr_call_set(c, "with", fr_products_mean_error(p)));
    p->device.gemm[FR_BF16].tiles = said;
    FR_TRY(fr_call_set(c, "efficiency", x[0]));
    FR_TRY(fr_call_set(c, "efficiency_width", sigma[0]));
    FR_TRY(fr_call_set(c, "tail", x[1]));
    return fr_call_set(c, "tail_width", sigma[1]);
}

/* products(C, GPU): n, and of them efficiency, tail and their widths, mean errors `with` and `without`; groups. */
static fr_status products(struct fr_study_call *c) {
    const char *gpu = fr_call_word(c, "gpu", 1);
    struct fr_csv csv, others;
    FR_TRY(read_csv(c, "gemm/simumax_matmul_efficiency.csv", &csv));
    fr_status status = read_csv(c, "gemm/simumax_other_op_efficiency.csv", &others);
    size_t room = (size_t)(csv.n_rows + others.n_rows) + 1;
    struct fr_products p = {.dtype = FR_BF16,
                            .device = cluster_of(c)->device,
                            .item = fr_calloc(room, sizeof *p.item)};
    if (status == FR_OK && !p.item) status = no_memory(c);
    if (status == FR_OK) take(&csv, gpu, &p);
    if (status == FR_OK) status = fr_call_set(c, "n", p.n);
    if (status == FR_OK && p.n > 0) status = fit_products(c, &p);
    p.n = 0;
    if (status == FR_OK) take_groups(&others, gpu, &p);
    if (status == FR_OK) status = say_groups(c, &p);
    free(p.item);
    fr_csv_free(&csv);
    fr_csv_free(&others);
    return status;
}

/* ---- best shapes ---------------------------------------------------------------------------- */

static double best_share(const struct fr_csv *csv, const char *device, const char *precision) {
    for (int i = 0; i < csv->n_rows; i++)
        if (says(csv, i, "accelerator", device) && says(csv, i, "precision", precision))
            return number(csv, i, "efficiency_pct") / 100;
    return NAN;
}

static fr_status best(struct fr_study_call *c) {
    struct fr_csv csv;
    fr_status status = read_csv(c, "gemm/mamf_best_shape.csv", &csv);
    if (status == FR_OK)
        status = fr_say(
            c, best_share(&csv, fr_call_word(c, "device", 0), fr_call_word(c, "precision", 1)));
    fr_csv_free(&csv);
    return status;
}

/* What a ratio of two best shapes may be off: standard deviation of ln(best at 8 bits / best at 16) over the devices
 * of which both were found. */
static fr_status best_scatter(struct fr_study_call *c) {
    enum { DEVICES_MAX = 64 };
    double ratio[DEVICES_MAX];
    size_t n = 0;
    struct fr_csv csv;
    fr_status status = read_csv(c, "gemm/mamf_best_shape.csv", &csv);
    for (int i = 0; status == FR_OK && i < csv.n_rows && n < DEVICES_MAX; i++) {
        const char *device = fr_energy_text(&csv, i, "accelerator");
        double x = best_share(&csv, device, "fp8_e4m3") / best_share(&csv, device, "bf16");
        if (says(&csv, i, "precision", "bf16") && x > 0 && isfinite(x)) ratio[n++] = x;
    }
    fr_csv_free(&csv);
    return status == FR_OK ? fr_say(c, fr_log_deviation(ratio, n)) : status;
}

/* ---- attention ------------------------------------------------------------------------------ */

enum { KERNELS_MAX = 32 };
enum { SHARE, HALF_KEYS, BACKWARD, UNKNOWNS };

struct kernels {
    double keys[KERNELS_MAX], forward[KERNELS_MAX], backward[KERNELS_MAX], peak;
    int n;
};

/* ln(timed / the law's), forward and backward of each. */
static void residuals(void *of, const double *unknown, double *left) {
    const struct kernels *k = of;
    for (int i = 0; i < k->n; i++) {
        double law = k->peak * unknown[SHARE] * k->keys[i] / (k->keys[i] + unknown[HALF_KEYS]);
        left[2 * i] = log(k->forward[i] / law);
        left[2 * i + 1] = log(k->backward[i] / (law * unknown[BACKWARD]));
    }
}

/* attention(peak), of the table sequence, causal, forward, backward: share, half_keys, of_backward, rms; and standard
 * deviations that the law leaves: of_kernels, of a kernel's time, of_ratios, of that of its two passes. */
static fr_status attention(struct fr_study_call *c) {
    struct kernels k = {.peak = fr_call_number(c, "peak", 0, 1)};
    double said[UNKNOWNS] = {0.5, 300, 0.8}, rms = NAN, left[2 * KERNELS_MAX], squares = 0,
           of_ratios = 0, rows = fr_call_number(c, "rows", 1, 0);
    for (; k.n < KERNELS_MAX && k.n < rows; k.n++) {
        double sequence = fr_call_cell(c, "sequence", k.n);
        k.keys[k.n] = fr_call_cell(c, "causal", k.n) != 0 ? sequence / 2 : sequence;
        k.forward[k.n] = fr_call_cell(c, "forward", k.n);
        k.backward[k.n] = fr_call_cell(c, "backward", k.n);
    }
    FR_TRY(fr_nlfit(residuals, &k, UNKNOWNS, 2 * (size_t)k.n, said, &rms, c->err));
    residuals(&k, said, left);
    for (int i = 0; i < k.n; i++) {
        squares += left[2 * i] * left[2 * i] + left[2 * i + 1] * left[2 * i + 1];
        of_ratios += pow(left[2 * i + 1] - left[2 * i], 2);
    }
    FR_TRY(fr_call_set(c, "share", said[SHARE]));
    FR_TRY(fr_call_set(c, "half_keys", said[HALF_KEYS]));
    FR_TRY(fr_call_set(c, "of_backward", said[BACKWARD]));
    FR_TRY(fr_call_set(c, "rms", rms));
    FR_TRY(fr_call_set(c, "of_kernels", sqrt(squares / (2 * k.n - UNKNOWNS))));
    return fr_call_set(c, "of_ratios", sqrt(of_ratios / (k.n - 1)));
}

/* ---- links ---------------------------------------------------------------------------------- */

/* `rate`, and `sigma`: standard deviation of the logarithms of a few rates, wider by what so few tell of it. */
static fr_status say_rate(struct fr_study_call *c, double rate_B_per_s, const double *rates,
                          int n) {
    FR_TRY(fr_call_set(c, "rate", rate_B_per_s));
    return fr_call_set(
        c, "sigma",
        n > 0 ? fr_log_deviation(rates, (size_t)n) * fr_reach_90(n - 1) / fr_reach_90(0) : NAN);
}

/* logged(FILE) of nccl-tests: the mean over gathers and scatters of the largest size, the first few. */
static fr_status logged(struct fr_study_call *c) {
    enum { FEW = 16 };
    const struct fr_import_options options = {0};
    struct fr_samples samples = {0};
    struct fr_text notes = {0};
    char path[512];
    double size_B = 0, sum = 0, rate[FEW];
    int n = 0;
    fr_status status = FR_OK;
    if (fr_data_find(fr_call_word(c, "file", 0), path, sizeof path))
        status =
            fr_import_file(&fr_importer_nccl_tests, path, &options, &samples, &notes, c->err);
    for (size_t i = 0; status == FR_OK && i < samples.n_collective; i++) {
        const struct fr_sample_collective *x = &samples.collective[i];
        if (x->op != FR_OP_ALL_GATHER && x->op != FR_OP_REDUCE_SCATTER) continue;
        if (x->size_B < size_B) continue;
        if (x->size_B > size_B) sum = n = 0;
        size_B = x->size_B;
        if (n == FEW) continue;
        rate[n] = x->size_B * fr_op_bus_factor(x->op, x->n_ranks) / x->time_s;
        sum += rate[n++];
    }
    fr_text_free(&notes);
    fr_samples_free(&samples);
    return status == FR_OK ? say_rate(c, n > 0 ? sum / n : NAN, rate, n) : status;
}

/* rings(SYSTEM): of its rows that ran as rings, by default or with NVLS off, the median. */
static fr_status rings(struct fr_study_call *c) {
    const char *system = fr_call_word(c, "system", 0);
    struct fr_csv csv;
    int n = 0;
    FR_TRY(read_csv(c, "collectives/mlengineering_nvls_vs_ring.csv", &csv));
    double *all = fr_calloc((size_t)csv.n_rows + 1, sizeof *all);
    for (int i = 0; all && i < csv.n_rows; i++) {
        bool ring = says(&csv, i, "algo_default", "Ring");
        double rate = number(&csv, i, ring ? "busbw_GBps_default" : "busbw_GBps_nvls_off");
        if (strncmp(fr_energy_text(&csv, i, "system"), system, strlen(system)) == 0 && rate > 0)
            all[n++] = 1e9 * rate;
    }
    if (all) fr_sort(all, (size_t)n);
    fr_status status = all ? say_rate(c, n > 0 ? fr_sorted_median(all, (size_t)n) : NAN, all, n)
                           : no_memory(c);
    free(all);
    fr_csv_free(&csv);
    return status;
}

/* ---- jitter --------------------------------------------------------------------------------- */

enum { RUNS_MAX = 64 };

struct steps {
    int n;
    const char *round[RUNS_MAX];
    double jitter_s[RUNS_MAX]; /* or its share */
};

static void read_steps(const struct fr_csv *csv, const char *device, bool share,
                       struct steps *out) {
    for (int i = 0; i < csv->n_rows && out->n < RUNS_MAX; i++) {
        double spread_s = number(csv, i, "measured_step_time_p95_s") -
                          number(csv, i, "measured_step_time_p05_s"),
               time_s = number(csv, i, "measured_step_time_s");
        if (!says(csv, i, "accelerator", device) ||
            !says(csv, i, "step_time_kind", "every step") || !says(csv, i, "duplicate_of", ""))
            continue;
        double of = share ? time_s : sqrt(number(csv, i, "accelerators") * time_s),
               jitter_s = spread_s / (2 * FR_NORMAL_90 * of);
        if (!(jitter_s > 0) || !isfinite(jitter_s)) continue;
        out->round[out->n] = fr_energy_text(csv, i, "round");
        out->jitter_s[out->n++] = jitter_s;
    }
}

/* Geometric mean of all runs but those of @p without; NaN of none. */
static double mean(const struct steps *s, const char *without) {
    double sum = 0;
    int n = 0;
    for (int i = 0; i < s->n; i++) {
        if (without && strcmp(s->round[i], without) == 0) continue;
        sum += log(s->jitter_s[i]);
        n++;
    }
    return n > 0 ? exp(sum / n) : NAN;
}

/* Median factor by which runs of a round are off what the other rounds say; NaN of one round. */
static double between_rounds(const struct steps *s) {
    double off[RUNS_MAX];
    size_t n = 0;
    for (int i = 0; i < s->n; i++) {
        double others = mean(s, s->round[i]);
        if (isfinite(others)) off[n++] = fabs(log(s->jitter_s[i] / others));
    }
    fr_sort(off, n);
    return n > 0 ? exp(fr_sorted_median(off, n)) : NAN;
}

/* steps(DEVICE, share=): n, mean, apart_by and rounds. */
static fr_status steps(struct fr_study_call *c) {
    struct steps s = {.n = 0};
    struct fr_csv csv;
    fr_status status = read_csv(c, "mlperf/time_pretraining.csv", &csv);
    if (status == FR_OK)
        read_steps(&csv, fr_call_word(c, "device", 0), fr_call_number(c, "share", -1, 0) != 0,
                   &s);
    if (status == FR_OK) status = fr_call_set(c, "n", s.n);
    if (status == FR_OK) status = fr_call_set(c, "mean", mean(&s, NULL));
    if (status == FR_OK)
        status = fr_call_set(c, "apart_by",
                             s.n > 1 ? exp(fr_log_deviation(s.jitter_s, (size_t)s.n)) : NAN);
    if (status == FR_OK) status = fr_call_set(c, "rounds", between_rounds(&s));
    fr_csv_free(&csv);
    return status;
}

/* ---- the paper ------------------------------------------------------------------------------ */

static fr_status run(struct fr_reproduction *r, struct fr_error *err) {
    static const struct fr_study_function functions[] = {{"cluster", cluster},
                                                         {"ours", ours},
                                                         {"put", put},
                                                         {"width", width},
                                                         {"unsure", unsure},
                                                         {"widen_together", widen_together},
                                                         {"add_together", add_together},
                                                         {"runs", runs},
                                                         {"count", count},
                                                         {"bias", bias},
                                                         {"tune", tune},
                                                         {"products", products},
                                                         {"best", best},
                                                         {"best_scatter", best_scatter},
                                                         {"attention", attention},
                                                         {"logged", logged},
                                                         {"rings", rings},
                                                         {"steps", steps},
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
