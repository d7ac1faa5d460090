/* What measured rows say of the values of a preset, beside what the preset says.
 *
 *      products   efficiency and tail of the tiled form, fitted to every measured product of the device
 *                 (calibrate/fit/products.h)
 *      grouped    products of experts' groups, which nothing was fitted to
 *      attention  flash: median share of the peak forward, of the pairs that a causal kernel makes: half of
 *                 what the rows count; backward: the same of the backward pass over it
 *      of runs    efficiency of the H100's products, host_launch and launch, flash_1, and links of a node: a file
 *                 each in studies/presets/
 *      steps      jitter: from logs of runs, studies/presets/jitter.c
 *      best       no one publishes products of many shapes at 8 bits, or of any at GH200 and GB200, but the best
 *                 that was found (mamf_best_shape.csv): efficiency is that at 16 bits times the ratio of the
 *                 best, and of those devices their best times what an H100's is of its best; of GB200 and GB300
 *                 half way, in logarithms, between that and the same of a B200's; of a B200 at 8 bits half way
 *                 between that and what a GB200 keeps up
 *
 * How wide rows leave a value (/width), standard deviations of logarithms: of products the scatter of the errors of
 * single ones, which a mix of new shapes may be off by, and of the tail what that scatter leaves of it in the fit; between two
 * devices, or of two ways to one value, half their difference; of a ratio of best shapes what such ratios, of
 * 8 to 16 bits, scatter by between devices.
 * Of fits to runs: studies/presets/runs.h.
 *
 * Published is what the rows say, ours what the preset says: to two figures the same, where the preset
 * takes its value from them; where it does not the row says so. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/data.h"
#include "base/sort.h"
#include "calibrate/fit/products.h"
#include "models/work/experts.h"
#include "studies/presets/rows.h"
#include "studies/training/table.h"
#include "trust/interval.h"
#include "trust/numbers/statistics.h"

/* ---- products ---------------------------------------------------------------------------- */

static void take(const struct fr_csv *csv, const char *gpu, struct fr_products *p) {
    for (int i = 0; i < csv->n_rows; i++) {
        double batch = fmax(1, fr_presets_number(csv, i, "b"));
        if (strcmp(fr_presets_cell(csv, i, "gpu"), gpu) != 0) continue;
        p->item[p->n] = (struct fr_product_timed){
            .shape = {.m = batch * fr_presets_number(csv, i, "m"),
                      .n = fr_presets_number(csv, i, "n"),
                      .k = fr_presets_number(csv, i, "k")},
            .result = {.value_B =
                           strcmp(fr_presets_cell(csv, i, "out_dtype"), "fp32") == 0 ? 4 : 2,
                       .adds = strcmp(fr_presets_cell(csv, i, "accumulate"), "True") == 0},
            .count = 1,
            .time_s = 1e-6 * fr_presets_number(csv, i, "derived_time_us")};
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
        double rate = 1e12 * fr_presets_number(csv, i, "measured_tflops");
        if (strcmp(fr_presets_cell(csv, i, "gpu"), gpu) != 0 || !(rate > 0) ||
            strcmp(fr_presets_cell(csv, i, "op"), "group_matmul") != 0)
            continue;
        p->n += take_group(fr_presets_cell(csv, i, "key"), rate, &p->item[p->n]);
    }
}

/* What the preset says of grouped products, all of them and those that add to gradients. */
static void add_groups(struct fr_reproduction *r, const char *preset, struct fr_products *p) {
    double all = 0, adding = 0;
    int n = 0;
    for (int i = 0; i < p->n; i++) {
        double error = fabs(fr_products_ratio(p, i) - 1);
        all += error;
        adding += p->item[i].result.adds ? error : 0;
        n += p->item[i].result.adds;
    }
    if (p->n == 0 || n == 0) return;
    char note[160];
    snprintf(note, sizeof note,
             "mean error on %d grouped products that nothing was fitted to; %.1f %% on the %d "
             "that add to gradients",
             p->n, 100 * adding / n, n);
    fr_reproduce_add(r, FR_ROLE_PREDICTED, NAN, all / p->n, "1", 0, note, "%s/grouped", preset);
}

static fr_status fit_products(struct fr_reproduction *r, const char *preset,
                              struct fr_products *p, const struct fr_widths *widths,
                              double x[FR_PRODUCT_VALUES], struct fr_error *err) {
    static const char *const names[] = {"efficiency", "tail"};
    static const fr_value values[] = {FR_VALUE_EFFICIENCY, FR_VALUE_TAIL};
    static const char *const why[] = {"scatter of the products' errors",
                                      "that this scatter leaves in the fit"};
    double sigma[FR_PRODUCT_VALUES];
    const struct fr_gemm_tiles said = p->device.gemm[FR_BF16].tiles;
    double ours = fr_products_mean_error(p);
    char note[160];
    FR_TRY(fr_products_fit(p, x, sigma, err));
    snprintf(note, sizeof note,
             "%d products; mean error %.1f %% with these, %.1f %% with the preset's", p->n,
             100 * fr_products_mean_error(p), 100 * ours);
    p->device.gemm[FR_BF16].tiles = said;
    for (int k = 0; k < FR_PRODUCT_VALUES; k++) {
        char what[40];
        snprintf(what, sizeof what, "gemm.bf16.%s", names[k]);
        fr_presets_add(r, preset, what, x[k], k ? said.tail : said.efficiency, "1", true,
                       k ? NULL : note);
        fr_presets_add_width(r, preset, what, sigma[k], widths->sigma[values[k]][FR_BF16],
                             why[k]);
    }
    return FR_OK;
}

/* @param x  what the rows say: efficiency and tail */
static fr_status products(struct fr_reproduction *r, const char *preset, const char *gpu,
                          double x[FR_PRODUCT_VALUES], struct fr_error *err) {
    struct fr_csv csv, others;
    struct fr_cluster cluster = {0};
    FR_TRY(fr_presets_read("gemm/simumax_matmul_efficiency.csv", &csv, err));
    fr_status status = fr_presets_read("gemm/simumax_other_op_efficiency.csv", &others, err);
    size_t room = (size_t)(csv.n_rows + others.n_rows) + 1;
    struct fr_products p = {.dtype = FR_BF16, .item = fr_calloc(room, sizeof *p.item)};
    if (status == FR_OK)
        status = p.item ? fr_table_cluster(preset, &cluster, err)
                        : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    p.device = cluster.device;
    if (status == FR_OK) take(&csv, gpu, &p);
    if (status == FR_OK && p.n > 0)
        status = fit_products(r, preset, &p, &cluster.widths, x, err);
    p.n = 0;
    if (status == FR_OK) take_groups(&others, gpu, &p);
    if (status == FR_OK) add_groups(r, preset, &p);
    free(p.item);
    fr_cluster_free(&cluster);
    fr_csv_free(&csv);
    fr_csv_free(&others);
    return status;
}

/* Of an H100 no one publishes products: the last wave costs what it does between the devices before and
 * after it. */
static fr_status between(struct fr_reproduction *r, const char *preset, double before,
                         double after, struct fr_error *err) {
    struct fr_cluster cluster = {0};
    FR_TRY(fr_table_cluster(preset, &cluster, err));
    fr_presets_add(r, preset, "gemm.bf16.tail", sqrt(before * after),
                   cluster.device.gemm[FR_BF16].tiles.tail, "1", true,
                   "geometric mean of what products of A100 and B200 say");
    fr_presets_add_width(r, preset, "gemm.bf16.tail", fabs(log(before / after)) / 2,
                         cluster.widths.sigma[FR_VALUE_TAIL][FR_BF16], "half their difference");
    fr_cluster_free(&cluster);
    return FR_OK;
}

/* ---- best shapes ------------------------------------------------------------------------- */

static double best_share(const struct fr_csv *csv, const char *device, const char *precision) {
    for (int i = 0; i < csv->n_rows; i++)
        if (strcmp(fr_presets_cell(csv, i, "accelerator"), device) == 0 &&
            strcmp(fr_presets_cell(csv, i, "precision"), precision) == 0)
            return fr_presets_number(csv, i, "efficiency_pct") / 100;
    return NAN;
}

/* What a ratio of two best shapes may be off: standard deviation of ln(best at 8 bits / best at 16) over the devices
 * of which both were found. */
static double best_scatter(const struct fr_csv *csv) {
    enum { DEVICES_MAX = 64 };
    double ratio[DEVICES_MAX];
    size_t n = 0;
    for (int i = 0; i < csv->n_rows && n < DEVICES_MAX; i++) {
        const char *device = fr_presets_cell(csv, i, "accelerator");
        double x = best_share(csv, device, "fp8_e4m3") / best_share(csv, device, "bf16");
        if (strcmp(fr_presets_cell(csv, i, "precision"), "bf16") == 0 && x > 0 && isfinite(x))
            ratio[n++] = x;
    }
    return fr_log_deviation(ratio, n);
}

/* Best shapes say what releases reached until their own runs said more (presets/runtime): this one has their shares of all
 * devices. */
static const char of_shapes[] = "nemo-24.11";

/* A preset's efficiency at a precision, and whose best measured shape says what it can reach. */
struct best {
    const char *preset, *device, *precision; /* as the table of shapes has them */
    fr_dtype dtype;
};

/* Efficiency of @p asked where @p known is as its preset says, by the ratio of their best shapes, and its width. */
static fr_status by_ratio(const struct fr_csv *csv, const struct best *known,
                          const struct best *asked, double *efficiency, double *sigma,
                          struct fr_error *err) {
    struct fr_cluster from = {0};
    fr_status status = fr_table_cluster_of(known->preset, of_shapes, &from, err);
    *efficiency = from.device.gemm[known->dtype].tiles.efficiency *
                  best_share(csv, asked->device, asked->precision) /
                  best_share(csv, known->device, known->precision);
    *sigma = hypot(fr_interval_width(&from, fr_coefficient_find("efficiency"), known->dtype),
                   best_scatter(csv));
    fr_cluster_free(&from);
    return status;
}

static void add_width(struct fr_reproduction *r, const struct best *asked,
                      const struct fr_cluster *to, const char *what, double sigma,
                      const char *note) {
    fr_presets_add_width(r, asked->preset, what, sigma,
                         fr_interval_width(to, fr_coefficient_find("efficiency"), asked->dtype),
                         note);
}

/* What runs at one precision say of a device's values together, they say at another by as much less as the ratio may be
 * off. */
static bool add_together(struct fr_reproduction *r, const struct best *known,
                         const struct best *asked, const struct fr_cluster *to,
                         double scatter) {
    const struct fr_together *at_known =
        strcmp(known->preset, asked->preset) == 0
            ? fr_presets_together(to, FR_VALUE_EFFICIENCY, known->dtype)
            : NULL;
    if (!at_known) return false;
    struct fr_together wider = *at_known;
    wider.sigma = hypot(wider.sigma, scatter);
    fr_presets_add_together(r, asked->preset, &wider, to, asked->dtype,
                            "of that and of the ratio");
    return true;
}

/* Half way, in logarithms, where two are known, and half their difference wide. */
static fr_status by_best_shapes(struct fr_reproduction *r, const struct best *known, int n,
                                const struct best *asked, const char *why,
                                struct fr_error *err) {
    struct fr_csv csv;
    struct fr_cluster to = {0};
    double by[2] = {NAN, NAN}, sigma = NAN;
    char what[64];
    FR_TRY(fr_presets_read("gemm/mamf_best_shape.csv", &csv, err));
    snprintf(what, sizeof what, "gemm.%s.efficiency", fr_dtype_names[asked->dtype]);
    fr_status status = fr_table_cluster_of(asked->preset, of_shapes, &to, err);
    for (int i = 0; i < n && status == FR_OK; i++)
        status = by_ratio(&csv, &known[i], asked, &by[i], &sigma, err);
    double other = n > 1 ? by[1] : by[0];
    if (status == FR_OK && isfinite(by[0] * other)) {
        fr_presets_add(r, asked->preset, what, sqrt(by[0] * other),
                       to.device.gemm[asked->dtype].tiles.efficiency, "1", true, why);
        if (n > 1)
            add_width(r, asked, &to, what, fabs(log(by[0] / other)) / 2,
                      "half their difference");
        else if (!add_together(r, known, asked, &to, best_scatter(&csv)))
            add_width(r, asked, &to, what, sigma, "of that and of the ratio");
    }
    fr_cluster_free(&to);
    fr_csv_free(&csv);
    return status;
}

static fr_status eight_bits(struct fr_reproduction *r, const char *preset, const char *device,
                            struct fr_error *err) {
    return by_best_shapes(r, &(struct best){preset, device, "bf16", FR_BF16}, 1,
                          &(struct best){preset, device, "fp8_e4m3", FR_FP8},
                          "that at 16 bits by the ratio of the best shapes", err);
}

/* Trained with, and by products measured one by one. */
static const struct best learned[] = {{"dgx-h100", "NVIDIA H100 SXM", "bf16", FR_BF16},
                                      {"dgx-b200", "NVIDIA B300 SXM", "bf16", FR_BF16}};

static fr_status as_of_an_h100(struct fr_reproduction *r, const char *preset,
                               const char *device, struct fr_error *err) {
    return by_best_shapes(r, learned, 1, &(struct best){preset, device, "bf16", FR_BF16},
                          "an H100's by the ratio of the best shapes", err);
}

/* Racks, of which neither has been published: an H100's share would be a quarter more than a B200's. */
static fr_status half_way(struct fr_reproduction *r, const char *preset, const char *device,
                          struct fr_error *err) {
    return by_best_shapes(r, learned, 2, &(struct best){preset, device, "bf16", FR_BF16},
                          "half way between an H100's and a B200's, by the best shapes", err);
}

/* A B200 at 8 bits, half way, in logarithms, between two opinions: its share at 16 bits by the ratio of its best shapes
 * (S. Bekman, ml-engineering: 76.3 and 77.6 % of the peaks), and nine tenths of what the largest products of a GB200
 * keep up on random values (Azure AI-benchmarking-guide, ND GB200 v6: 2973 TFLOP/s at 32,768 cubed), as clocks under a limit of
 * power (1000 and 1200 W, data sheets) go with its cube root.  Each is as unsure as the first.  A calibration: MLPerf's runs on it had been seen too slow. */
static fr_status b200_at_eight_bits(struct fr_reproduction *r, struct fr_error *err) {
    static const char preset[] = "dgx-b200", what[] = "gemm.fp8.efficiency";
    static const double best_8 = 0.763, best_16 = 0.776, kept_up = 2973e12, nine_tenths = 0.9,
                        limit_W = 1000, of_GB200_W = 1200;
    struct fr_csv csv;
    struct fr_cluster to = {0};
    int j = fr_coefficient_find("efficiency");
    FR_TRY(fr_presets_read("gemm/mamf_best_shape.csv", &csv, err));
    fr_status status = fr_table_cluster_of(preset, of_shapes, &to, err);
    if (status == FR_OK) {
        const struct fr_gemm_model *at_16 = &to.device.gemm[FR_BF16],
                                   *at_8 = &to.device.gemm[FR_FP8];
        double by_shapes = at_16->tiles.efficiency * best_8 / best_16,
               by_rack =
                   nine_tenths * kept_up * cbrt(limit_W / of_GB200_W) / at_8->peak_flop_per_s,
               sigma = hypot(fr_interval_width(&to, j, FR_BF16), best_scatter(&csv)) / sqrt(2);
        fr_presets_add(r, preset, what, sqrt(by_shapes * by_rack), at_8->tiles.efficiency, "1",
                       true, "half way between its share at 16 bits and a GB200's at 8");
        fr_presets_add_width(r, preset, what, sigma, fr_interval_width(&to, j, FR_FP8),
                             "of two opinions, each as unsure as that at 16 bits");
    }
    fr_cluster_free(&to);
    fr_csv_free(&csv);
    return status;
}

/* ---- the paper --------------------------------------------------------------------------- */

static fr_status run(struct fr_reproduction *r, struct fr_error *err) {
    static const char b200[] = "B200-SXM 180GB x8", a100[] = "A100-80GB PCIe x8";
    double of_a100[FR_PRODUCT_VALUES], of_b200[FR_PRODUCT_VALUES];
    char path[512];
    if (!fr_data_find("gemm/simumax_matmul_efficiency.csv", path, sizeof path)) {
        fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, NAN, NAN, "", 0,
                         "skipped: no shared/data above this folder and none in FORERUN_DATA",
                         "skipped");
        return FR_OK;
    }
    FR_TRY(products(r, "dgx-a100", a100, of_a100, err));
    FR_TRY(products(r, "a100-opa", a100, of_a100, err));
    FR_TRY(products(r, "dgx-b200", b200, of_b200, err));
    FR_TRY(products(r, "dgx-b300", b200, of_b200, err));
    FR_TRY(between(r, "dgx-h100", of_a100[1], of_b200[1], err));
    FR_TRY(fr_presets_attention(r, err));
    FR_TRY(fr_presets_share(r, "dgx-h100", err));
    FR_TRY(as_of_an_h100(r, "gh200", "NVIDIA GH200 SXM", err));
    FR_TRY(half_way(r, "gb200-nvl72", "NVIDIA GB200 SXM", err));
    FR_TRY(half_way(r, "gb300-nvl72", "NVIDIA B300 SXM", err));
    FR_TRY(b200_at_eight_bits(r, err));
    FR_TRY(eight_bits(r, "dgx-b300", "NVIDIA B300 SXM", err));
    FR_TRY(eight_bits(r, "dgx-h100", "NVIDIA H100 SXM", err));
    FR_TRY(eight_bits(r, "gh200", "NVIDIA GH200 SXM", err));
    FR_TRY(eight_bits(r, "gb200-nvl72", "NVIDIA GB200 SXM", err));
    FR_TRY(eight_bits(r, "gb300-nvl72", "NVIDIA B300 SXM", err));
    FR_TRY(fr_presets_links(r, err));
    FR_TRY(fr_presets_jitter(r, err));
    FR_TRY(fr_presets_triton(r, "dgx-a100", "a100", err));
    FR_TRY(fr_presets_triton(r, "dgx-h100", "h100", err));
    FR_TRY(fr_presets_eager(r, err));
    FR_TRY(fr_presets_host(r, "dgx-a100", err));
    return fr_presets_host(r, "a100-opa", err);
}

const struct fr_paper fr_paper_presets = {
    .name = "presets",
    .title = "what measured products, kernels and hosts say of presets' values",
    .run = run,
    .measured = true,
};
