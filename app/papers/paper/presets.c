/* What measured rows say of the values of a preset, beside what the preset says.
 *
 *      products   efficiency, half_k, tail of the tiled form (models/device/gemm/tiled.c), fitted to every
 *                 measured product of the device, in logarithms, errors of 5 % counting as one; priors are
 *                 log-normal about where the presets without rows start
 *      attention  flash: median share of the peak forward, of the pairs that a causal kernel makes: half of
 *                 what the rows count; backward: the same of the backward pass over it
 *      host       host_launch and launch of the A100s, from runs of one node without tensor parallelism
 *                 (vTrain's), all else held: a calibration on those rows, since no one publishes what a
 *                 framework's host takes; tables of the other rows of that file say so
 *      shares     efficiency of the H100's products, 16 and 8 bits, from the runs of dense models in NVIDIA's
 *                 recipes (dgxc), all else held: a calibration on those rows, since no one publishes its
 *                 products; MLPerf's runs of the same device are what it is tried on
 *      fp8        no one publishes products of many shapes: efficiency is that at 16 bits times the ratio
 *                 of the best shapes that were found of either (mamf_best_shape.csv)
 *
 * Published is what the rows say, ours what the preset says: to two figures the same, where the preset
 * takes its value from them; where it does not the row says so. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/papers/reproduce.h"
#include "app/papers/training/table.h"
#include "base/alloc.h"
#include "base/csv.h"
#include "base/data.h"
#include "base/sort.h"
#include "calibrate/numbers/nlfit.h"
#include "calibrate/numbers/statistics.h"

static const double rounding = 0.05, knee = 2, scale = 0.05;

/* ---- rows of a file ---------------------------------------------------------------------- */

static const char *cell(const struct fr_csv *csv, int row, const char *column) {
    const char *text = fr_csv_get(csv, row, column);
    return text ? text : "";
}

static double number(const struct fr_csv *csv, int row, const char *column) {
    return strtod(cell(csv, row, column), NULL);
}

/* @return FR_OK and no rows where the file is absent. */
static fr_status read(const char *file, struct fr_csv *csv, struct fr_error *err) {
    char path[512];
    *csv = (struct fr_csv){0};
    return fr_data_find(file, path, sizeof path) ? fr_csv_read(path, csv, err) : FR_OK;
}

/* Beside the preset's; @p taken: it takes its value from these rows. */
static void add(struct fr_reproduction *r, const char *preset, const char *what, double rows,
                double ours, const char *unit, bool taken, const char *note) {
    fr_reproduce_add(r, taken ? FR_ROLE_FITTED : FR_ROLE_NOT_EXPLAINED, rows, ours, unit,
                     rounding, note, "%s/%s", preset, what);
}

/* ---- products ---------------------------------------------------------------------------- */

struct products {
    struct fr_gemm_model model;
    struct fr_gemm_shape *shape;
    double *time_s;
    int n;
};

/* Where presets without rows start, and how sure that is. */
static const double start[] = {0.65, 128, 0.4}, width[] = {0.5, 0.7, 0.5};
enum { PRODUCT_PARAMETERS = 3 };

static void put(const double *x, struct fr_gemm_model *model) {
    model->tiles.efficiency = x[0];
    model->half = x[1];
    model->tiles.tail = x[2];
}

static double huber(double error) {
    double rho = 2 * knee * knee * (sqrt(1 + error * error / (knee * knee)) - 1);
    return copysign(sqrt(rho), error);
}

static void residuals(void *context, const double *x, double *out) {
    struct products *p = context;
    bool extrapolated = false;
    put(x, &p->model);
    for (int i = 0; i < p->n; i++) {
        double ours_s = p->model.form->time_s(&p->model, &p->shape[i], &extrapolated);
        out[i] = huber(log(ours_s / p->time_s[i]) / scale);
    }
    for (int k = 0; k < PRODUCT_PARAMETERS; k++)
        out[p->n + k] = log(x[k] / start[k]) / width[k];
}

static double mean_error(const struct products *p, const struct fr_gemm_model *model) {
    double sum = 0;
    bool extrapolated = false;
    for (int i = 0; i < p->n; i++)
        sum += fabs(model->form->time_s(model, &p->shape[i], &extrapolated) / p->time_s[i] - 1);
    return sum / p->n;
}

static void take(const struct fr_csv *csv, const char *gpu, struct products *p) {
    for (int i = 0; i < csv->n_rows; i++) {
        double batch = fmax(1, number(csv, i, "b"));
        if (strcmp(cell(csv, i, "gpu"), gpu) != 0) continue;
        p->shape[p->n] = (struct fr_gemm_shape){.m = batch * number(csv, i, "m"),
                                                .n = number(csv, i, "n"),
                                                .k = number(csv, i, "k")};
        p->time_s[p->n] = 1e-6 * number(csv, i, "derived_time_us");
        p->n += p->time_s[p->n] > 0;
    }
}

static fr_status fit_products(struct fr_reproduction *r, const char *preset,
                              const struct fr_gemm_model *ours, struct products *p,
                              struct fr_error *err) {
    static const char *const names[] = {"efficiency", "half_k", "tail"};
    double x[PRODUCT_PARAMETERS];
    const double said[] = {ours->tiles.efficiency, ours->half, ours->tiles.tail};
    char note[160];
    memcpy(x, start, sizeof x);
    p->model = *ours;
    FR_TRY(fr_nlfit(residuals, p, PRODUCT_PARAMETERS, (size_t)(p->n + PRODUCT_PARAMETERS), x,
                    NULL, err));
    put(x, &p->model);
    snprintf(note, sizeof note,
             "%d products; mean error %.1f %% with these, %.1f %% with the "
             "preset's",
             p->n, 100 * mean_error(p, &p->model), 100 * mean_error(p, ours));
    for (int k = 0; k < PRODUCT_PARAMETERS; k++) {
        char what[40];
        snprintf(what, sizeof what, "gemm.bf16.%s", names[k]);
        add(r, preset, what, x[k], said[k], "1", true, k ? NULL : note);
    }
    return FR_OK;
}

static fr_status products(struct fr_reproduction *r, const char *preset, const char *gpu,
                          struct fr_error *err) {
    struct fr_csv csv;
    struct fr_cluster cluster = {0};
    FR_TRY(read("gemm/simumax_matmul_efficiency.csv", &csv, err));
    struct products p = {.shape = fr_calloc((size_t)csv.n_rows + 1, sizeof *p.shape),
                         .time_s = fr_calloc((size_t)csv.n_rows + 1, sizeof *p.time_s)};
    fr_status status = p.shape && p.time_s ? fr_table_cluster(preset, &cluster, err)
                                           : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    if (status == FR_OK) take(&csv, gpu, &p);
    if (status == FR_OK && p.n > 0)
        status = fit_products(r, preset, &cluster.device.gemm[FR_BF16], &p, err);
    free(p.shape);
    free(p.time_s);
    fr_cluster_free(&cluster);
    fr_csv_free(&csv);
    return status;
}

/* ---- attention --------------------------------------------------------------------------- */

/* Median share of the peak over the rows of one operation; NaN without any. */
static fr_status median_share(const struct fr_csv *csv, const char *gpu, const char *op,
                              double *share, int *n, struct fr_error *err) {
    double *all = fr_calloc((size_t)csv->n_rows + 1, sizeof *all);
    if (!all) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    *n = 0;
    for (int i = 0; i < csv->n_rows; i++)
        if (strcmp(cell(csv, i, "gpu"), gpu) == 0 && strcmp(cell(csv, i, "op"), op) == 0)
            all[(*n)++] = number(csv, i, "measured_efficiency");
    fr_sort(all, (size_t)*n);
    *share = *n > 0 ? fr_sorted_median(all, (size_t)*n) : NAN;
    free(all);
    return FR_OK;
}

static fr_status attention(struct fr_reproduction *r, const char *preset, const char *gpu,
                           struct fr_error *err) {
    struct fr_csv csv;
    struct fr_cluster cluster = {0};
    double forward = NAN, backward = NAN;
    int n = 0, m = 0;
    char note[80];
    FR_TRY(read("gemm/simumax_other_op_efficiency.csv", &csv, err));
    fr_status status = fr_table_cluster(preset, &cluster, err);
    if (status == FR_OK) status = median_share(&csv, gpu, "sdp_fwd", &forward, &n, err);
    if (status == FR_OK) status = median_share(&csv, gpu, "sdp_bwd", &backward, &m, err);
    if (status == FR_OK && n > 0 && m > 0) {
        snprintf(note, sizeof note, "median of %d kernels, %d backward", n, m);
        add(r, preset, "attention.flash", forward / 2, cluster.device.attention.flash, "1",
            true, note);
        add(r, preset, "attention.backward", backward / forward,
            cluster.device.attention.backward, "1", true, NULL);
    }
    fr_cluster_free(&cluster);
    fr_csv_free(&csv);
    return status;
}

/* ---- eight bits -------------------------------------------------------------------------- */

static double best_share(const struct fr_csv *csv, const char *device, const char *precision) {
    for (int i = 0; i < csv->n_rows; i++)
        if (strcmp(cell(csv, i, "accelerator"), device) == 0 &&
            strcmp(cell(csv, i, "precision"), precision) == 0)
            return number(csv, i, "efficiency_pct") / 100;
    return NAN;
}

static fr_status eight_bits(struct fr_reproduction *r, const char *preset, const char *device,
                            struct fr_error *err) {
    struct fr_csv csv;
    struct fr_cluster cluster = {0};
    FR_TRY(read("gemm/mamf_best_shape.csv", &csv, err));
    double ratio = best_share(&csv, device, "fp8_e4m3") / best_share(&csv, device, "bf16");
    fr_status status = fr_table_cluster(preset, &cluster, err);
    if (status == FR_OK && isfinite(ratio))
        add(r, preset, "gemm.fp8.efficiency",
            cluster.device.gemm[FR_BF16].tiles.efficiency * ratio,
            cluster.device.gemm[FR_FP8].tiles.efficiency, "1", true,
            "that at 16 bits by the ratio of the best shapes");
    fr_cluster_free(&cluster);
    fr_csv_free(&csv);
    return status;
}

/* ---- shares of the peak from runs ---------------------------------------------------------- */

/* Where presets without rows start. */
static const double share_start = 0.65;

static fr_status fit_share(struct fr_reproduction *r, const char *preset, fr_dtype dtype,
                           const struct fr_table_set *set, struct fr_cluster *cluster,
                           struct fr_tune_result *tuned, struct fr_error *err) {
    struct fr_tune_options options = {.rows_max = 100, .threads = 1};
    char what[40], note[80];
    double said = cluster->device.gemm[dtype].tiles.efficiency;
    options.held = ~((uint32_t)1 << fr_coefficient_find("efficiency"));
    cluster->device.gemm[dtype].tiles.efficiency = share_start;
    FR_TRY(fr_tune(cluster, set->use, set->n, &options, tuned, err));
    snprintf(what, sizeof what, "gemm.%s.efficiency", fr_dtype_names[dtype]);
    snprintf(note, sizeof note, "%d runs: a calibration on them", set->n);
    add(r, preset, what, tuned->cluster.device.gemm[dtype].tiles.efficiency, said, "1", true,
        note);
    return FR_OK;
}

/* Of dense models on H100, all else held. */
static fr_status share(struct fr_reproduction *r, const char *preset, fr_dtype dtype,
                       struct fr_error *err) {
    const struct fr_table_selection want = {
        .dtype = fr_dtype_names[dtype], .sharded = "no", .experts = "no", .device = "H100"};
    static const char file[] = "training/dgxc_benchmarking.csv";
    struct fr_table_set set = {0};
    struct fr_cluster cluster = {0};
    char path[512];
    if (!fr_data_find(file, path, sizeof path)) return FR_OK;
    struct fr_tune_result *tuned = fr_calloc(1, sizeof *tuned);
    fr_status status = tuned ? fr_table_cluster(preset, &cluster, err)
                             : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    if (status == FR_OK) status = fr_table_read(file, &set, err);
    if (status == FR_OK) fr_table_keep(&set, &want);
    if (status == FR_OK && set.n > 0)
        status = fit_share(r, preset, dtype, &set, &cluster, tuned, err);
    fr_table_free(&set);
    fr_cluster_free(&cluster);
    free(tuned);
    return status;
}

/* ---- the host ---------------------------------------------------------------------------- */

/* Where presets of A100 without rows start [s]. */
static const double host_launch_s = 40e-6, launch_s = 8e-6;

static fr_status tune_host(const struct fr_table_set *set, struct fr_cluster *cluster,
                           struct fr_tune_result *tuned, struct fr_error *err) {
    struct fr_tune_options options = {.rows_max = 100, .threads = 1};
    int host = fr_coefficient_find("host_launch"), gap = fr_coefficient_find("launch");
    options.held = ~((uint32_t)1 << host | (uint32_t)1 << gap);
    cluster->device.host_launch_s = host_launch_s;
    cluster->device.launch_s = launch_s;
    return fr_tune(cluster, set->use, set->n, &options, tuned, err);
}

static fr_status host(struct fr_reproduction *r, const char *preset, struct fr_error *err) {
    struct fr_table_set set = {0};
    struct fr_cluster cluster = {0};
    struct fr_tune_result *tuned = fr_calloc(1, sizeof *tuned);
    char path[512], note[80];
    int kept = 0;
    if (!tuned) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_status status = fr_table_cluster(preset, &cluster, err);
    double host_s = cluster.device.host_launch_s, gap_s = cluster.device.launch_s;
    if (status == FR_OK && fr_data_find("training/vtrain_single_node.csv", path, sizeof path)) {
        status = fr_table_read("training/vtrain_single_node.csv", &set, err);
        for (int i = 0; i < set.n; i++)
            if (set.use[i]->plan.tp == 1) set.use[kept++] = set.use[i];
        set.n = kept;
        if (status == FR_OK) status = tune_host(&set, &cluster, tuned, err);
    }
    if (status == FR_OK && kept > 0) {
        snprintf(note, sizeof note, "%d runs of one node at tp 1: a calibration", kept);
        add(r, preset, "host_launch", tuned->cluster.device.host_launch_s, host_s, "s", true,
            note);
        add(r, preset, "launch", tuned->cluster.device.launch_s, gap_s, "s", true, NULL);
    }
    fr_table_free(&set);
    fr_cluster_free(&cluster);
    free(tuned);
    return status;
}

/* ---- the paper --------------------------------------------------------------------------- */

static fr_status run(struct fr_reproduction *r, struct fr_error *err) {
    static const char b200[] = "B200-SXM 180GB x8";
    char path[512];
    if (!fr_data_find("gemm/simumax_matmul_efficiency.csv", path, sizeof path)) {
        fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, NAN, NAN, "", 0,
                         "skipped: no shared/data above this folder and none in FORERUN_DATA",
                         "skipped");
        return FR_OK;
    }
    FR_TRY(products(r, "dgx-b200", b200, err));
    FR_TRY(products(r, "dgx-b300", b200, err));
    FR_TRY(attention(r, "dgx-b200", b200, err));
    FR_TRY(attention(r, "dgx-b300", b200, err));
    FR_TRY(eight_bits(r, "dgx-b200", "NVIDIA B300 SXM", err));
    FR_TRY(eight_bits(r, "dgx-b300", "NVIDIA B300 SXM", err));
    FR_TRY(share(r, "dgx-h100", FR_BF16, err));
    FR_TRY(share(r, "dgx-h100", FR_FP8, err));
    FR_TRY(host(r, "dgx-a100", err));
    return host(r, "a100-opa", err);
}

const struct fr_paper fr_paper_presets = {
    .name = "presets",
    .title = "what measured products, kernels and hosts say of presets' values",
    .run = run,
    .measured = true,
};
