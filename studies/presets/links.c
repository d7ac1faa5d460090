/* Bandwidth of a node's links: what rings of collectives reach, since gathers and scatters, which tensor
 * parallelism and sharded weights wait for, are rings.
 *
 *      bandwidth = bus bandwidth of the largest messages = size (p - 1) / p / time of a gather or scatter,
 *                  twice that of an all-reduce (nccl-tests, PERFORMANCE.md)
 *
 *      H100   all-gather and reduce-scatter of 17 GB on 8 of a node (nccl-tests, a log of
 *             xxrjun/nccl-tests-cluster), their mean
 *      H200, B200   median of the collectives that ran as rings, NVLS off (S. Bekman, ml-engineering; B200: 6 and 7 of
 *                   a node's 8)
 *
 * How wide rows leave it: standard deviation of their logarithms, by Student's t for so few.  Of racks no row says any.
 *
 * B300 and the racks have the links of a B200, 900 GB/s each way by their data sheets.  An A100's are left at an
 * assumed 250 GB/s: an all-reduce on 8 reached 235 (the same), 229 on vTrain's machine, but fits to vTrain's runs over
 * several nodes, which a test holds to 9 %, would come to 9.2 from 8.8 %. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/data.h"
#include "calibrate/samples/import.h"
#include "studies/presets/rows.h"
#include "studies/training/table.h"
#include "trust/numbers/statistics.h"

/* What some measured rates say: the value, and how wide they leave it. */
struct said {
    double rate_B_per_s, sigma;
};

/* Standard deviation of the logarithms of a few rates, wider by what so few tell of it. */
static double scatter(const double *rate, int n) {
    return fr_log_deviation(rate, (size_t)n) * fr_reach_90(n - 1) / fr_reach_90(0);
}

/* @param same  the rows are of these links; else of others of the same kind, and say no width */
static fr_status beside(struct fr_reproduction *r, const char *preset, struct said said,
                        bool same, const char *note, struct fr_error *err) {
    struct fr_cluster cluster = {0};
    if (!isfinite(said.rate_B_per_s)) return FR_OK; /* its file is absent */
    FR_TRY(fr_table_cluster(preset, &cluster, err));
    fr_presets_add(r, preset, "levels.0.bandwidth", said.rate_B_per_s,
                   cluster.levels.level[0].rate_B_per_s, "B/s", true, note);
    if (same && isfinite(said.sigma))
        fr_presets_add_width(r, preset, "levels.0.bandwidth", said.sigma,
                             cluster.widths.sigma[FR_VALUE_NODE_RATE][FR_BF16],
                             "scatter of these rows, so few of them");
    fr_cluster_free(&cluster);
    return FR_OK;
}

/* ---- a log of nccl-tests ----------------------------------------------------------------- */

static double bus_B_per_s(const struct fr_sample_collective *x) {
    return x->size_B * fr_op_bus_factor(x->op, x->n_ranks) / x->time_s;
}

/* Mean over gathers and scatters of the largest size, the first few; NaN without any. */
static struct said largest(const struct fr_samples *samples) {
    enum { FEW = 16 };
    double size_B = 0, sum = 0, rate[FEW];
    int n = 0;
    for (size_t i = 0; i < samples->n_collective; i++) {
        const struct fr_sample_collective *x = &samples->collective[i];
        if (x->op != FR_OP_ALL_GATHER && x->op != FR_OP_REDUCE_SCATTER) continue;
        if (x->size_B < size_B) continue;
        if (x->size_B > size_B) sum = n = 0;
        size_B = x->size_B;
        if (n == FEW) continue;
        rate[n] = bus_B_per_s(x);
        sum += rate[n++];
    }
    return (struct said){n > 0 ? sum / n : NAN, scatter(rate, n)};
}

static fr_status logged(const char *file, struct said *said, struct fr_error *err) {
    const struct fr_import_options options = {0};
    struct fr_samples samples = {0};
    struct fr_text notes = {0};
    char path[512];
    *said = (struct said){NAN, NAN};
    if (!fr_data_find(file, path, sizeof path)) return FR_OK;
    fr_status status =
        fr_import_file(&fr_importer_nccl_tests, path, &options, &samples, &notes, err);
    if (status == FR_OK) *said = largest(&samples);
    fr_text_free(&notes);
    fr_samples_free(&samples);
    return status;
}

/* ---- tables ------------------------------------------------------------------------------ */

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* Of a system's rows that ran as rings, by default or with NVLS off: the median. */
static fr_status rings(const char *system, struct said *said, struct fr_error *err) {
    struct fr_csv csv;
    int n = 0;
    FR_TRY(fr_presets_read("collectives/mlengineering_nvls_vs_ring.csv", &csv, err));
    double *all = fr_calloc((size_t)csv.n_rows + 1, sizeof *all);
    for (int i = 0; all && i < csv.n_rows; i++) {
        bool ring = strcmp(fr_presets_cell(&csv, i, "algo_default"), "Ring") == 0;
        double rate =
            fr_presets_number(&csv, i, ring ? "busbw_GBps_default" : "busbw_GBps_nvls_off");
        if (begins(fr_presets_cell(&csv, i, "system"), system) && rate > 0)
            all[n++] = 1e9 * rate;
    }
    fr_status status = all ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    if (all) fr_sort(all, (size_t)n);
    *said = all && n > 0 ? (struct said){fr_sorted_median(all, (size_t)n), scatter(all, n)}
                         : (struct said){NAN, NAN};
    free(all);
    fr_csv_free(&csv);
    return status;
}

fr_status fr_presets_links(struct fr_reproduction *r, struct fr_error *err) {
    static const char *const nvlink_5[] = {"dgx-b200", "dgx-b300", "gb200-nvl72",
                                           "gb300-nvl72"};
    static const char ring[] = "collectives of 8 GB and more that ran as rings";
    struct said h100, h200, b200;
    FR_TRY(logged("nccl-tests/h100_n1x8_node002.txt", &h100, err));
    FR_TRY(rings("8x H200", &h200, err));
    FR_TRY(rings("8x B200", &b200, err));
    FR_TRY(
        beside(r, "dgx-h100", h100, true, "all-gather and reduce-scatter of 17 GB on 8", err));
    FR_TRY(beside(r, "dgx-h200", h200, true, ring, err));
    for (size_t i = 0; i < sizeof nvlink_5 / sizeof *nvlink_5; i++)
        FR_TRY(beside(r, nvlink_5[i], b200, i < 2, ring, err));
    return FR_OK;
}
