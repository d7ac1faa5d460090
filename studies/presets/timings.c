/* Values of presets from timings of products, kernels, links and steps (studies/presets/timings.h). */
#include "studies/presets/timings.h"

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
#include "studies/energy/rows.h"
#include "trust/numbers/nlfit.h"
#include "trust/numbers/statistics.h"

static fr_status no_memory(const struct fr_study_call *c) {
    return fr_fail(c->err, FR_ERR_NOMEM, NULL, "out of memory");
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

/* Error of the preset on grouped products: all of them, and those that add to gradients. */
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
    const struct fr_gemm_tiles stated = p->device.gemm[FR_BF16].tiles;
    double x[FR_PRODUCT_VALUES], sigma[FR_PRODUCT_VALUES];
    FR_TRY(fr_call_set(c, "without", fr_products_mean_error(p)));
    FR_TRY(fr_products_fit(p, x, sigma, c->err));
    FR_TRY(fr_call_set(c, "with", fr_products_mean_error(p)));
    p->device.gemm[FR_BF16].tiles = stated;
    FR_TRY(fr_call_set(c, "efficiency", x[0]));
    FR_TRY(fr_call_set(c, "efficiency_width", sigma[0]));
    FR_TRY(fr_call_set(c, "tail", x[1]));
    return fr_call_set(c, "tail_width", sigma[1]);
}

/* products(C, GPU): n, and of them efficiency, tail and their widths, mean errors `with` and `without`; groups. */
fr_status fr_presets_products(struct fr_study_call *c) {
    const char *gpu = fr_call_word(c, "gpu", 1);
    struct fr_csv csv, others;
    FR_TRY(read_csv(c, "gemm/simumax_matmul_efficiency.csv", &csv));
    fr_status status = read_csv(c, "gemm/simumax_other_op_efficiency.csv", &others);
    size_t capacity = (size_t)(csv.n_rows + others.n_rows) + 1;
    struct fr_products p = {.dtype = FR_BF16,
                            .device = fr_presets_cluster(c)->device,
                            .item = fr_calloc(capacity, sizeof *p.item)};
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

fr_status fr_presets_best(struct fr_study_call *c) {
    struct fr_csv csv;
    fr_status status = read_csv(c, "gemm/mamf_best_shape.csv", &csv);
    if (status == FR_OK)
        status = fr_say(
            c, best_share(&csv, fr_call_word(c, "device", 0), fr_call_word(c, "precision", 1)));
    fr_csv_free(&csv);
    return status;
}

/* Uncertainty of a ratio of two best shapes: standard deviation of ln(best at 8 bits / best at 16) over the devices
 * with both. */
fr_status fr_presets_best_scatter(struct fr_study_call *c) {
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
fr_status fr_presets_attention(struct fr_study_call *c) {
    struct kernels k = {.peak = fr_call_number(c, "peak", 0, 1)};
    double stated[UNKNOWNS] = {0.5, 300, 0.8}, rms = NAN, left[2 * KERNELS_MAX], squares = 0,
           of_ratios = 0, rows = fr_call_number(c, "rows", 1, 0);
    for (; k.n < KERNELS_MAX && k.n < rows; k.n++) {
        double sequence = fr_call_cell(c, "sequence", k.n);
        k.keys[k.n] = fr_call_cell(c, "causal", k.n) != 0 ? sequence / 2 : sequence;
        k.forward[k.n] = fr_call_cell(c, "forward", k.n);
        k.backward[k.n] = fr_call_cell(c, "backward", k.n);
    }
    FR_TRY(fr_nlfit(residuals, &k, UNKNOWNS, 2 * (size_t)k.n, stated, &rms, c->err));
    residuals(&k, stated, left);
    for (int i = 0; i < k.n; i++) {
        squares += left[2 * i] * left[2 * i] + left[2 * i + 1] * left[2 * i + 1];
        of_ratios += pow(left[2 * i + 1] - left[2 * i], 2);
    }
    FR_TRY(fr_call_set(c, "share", stated[SHARE]));
    FR_TRY(fr_call_set(c, "half_keys", stated[HALF_KEYS]));
    FR_TRY(fr_call_set(c, "of_backward", stated[BACKWARD]));
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
fr_status fr_presets_logged(struct fr_study_call *c) {
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
fr_status fr_presets_rings(struct fr_study_call *c) {
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
fr_status fr_presets_steps(struct fr_study_call *c) {
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
