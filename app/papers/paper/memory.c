/* Memory that runs by others took, beside ours: presets and models as they are, nothing fitted.
 *
 * Where a framework's allocator told the peak of its tensors it is what we predict, M, and
 *
 *      s^2 = mean over plans of ln(measured / M)^2
 *
 * the spread that the interval of any plan's memory has (models/outcome/memory.h).  Each source is held against an
 * interval from the other, a plan counted once, however many runs had it.  Where a device showed more than tensors
 * (nvidia-smi) no interval is stated: the table tells by how much. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/papers/energy/rows.h"
#include "app/papers/training/markdown.h"
#include "app/papers/training/mlperf.h"
#include "models/outcome/cost.h"

static const struct fr_table_limits told = {.mean = 0}, asked = {.mean = 0.05};

/* What is told of a source: its rows, and the squares of its plans' logarithms. */
struct source {
    struct fr_energy_rows rows;
    double squares;
    int plans;
};

/* Has a row before it the same peak by our count?  Then it is the same plan, with other replicas or samples. */
static bool seen(const struct fr_energy_rows *rows, double predicted_B) {
    for (int i = 0; i < rows->count; i++)
        if (rows->items[i].predicted == predicted_B) return true;
    return false;
}

static fr_status add_run(struct source *s, const struct fr_cluster *cluster,
                         const struct fr_run *run, fr_run_counted at, struct fr_error *err) {
    struct fr_job job = {.workload = run->workload, .plan = run->plan, .cluster = *cluster};
    struct fr_outcome out;
    struct fr_energy_row row = {.measured = run->measured_memory_B, .sigma = NAN};
    if (!(row.measured > 0) || run->counted != at) return FR_OK;
    fr_cost(&job, &job.plan, &out);
    if (!isfinite(out.time_s) || !isfinite(out.parameters)) return FR_OK;
    row.predicted = out.memory_peak_B;
    snprintf(row.id, sizeof row.id, "%.79s", run->id);
    if (!seen(&s->rows, row.predicted)) {
        s->squares += pow(log(row.measured / row.predicted), 2);
        s->plans++;
    }
    return fr_energy_rows_add(&s->rows, &row)
               ? FR_OK
               : fr_fail(err, FR_ERR_NOMEM, NULL, "the rows do not fit in memory");
}

/* The runs of @p file; @p preset NULL: each on that of the device which it names (MLPerf). */
static fr_status read_source(struct source *s, const char *file, const char *preset,
                             fr_run_counted at, struct fr_error *err) {
    struct fr_table_set set = {0};
    fr_status status = fr_table_read(file, &set, err);
    for (int i = 0; i < set.n && status == FR_OK; i++) {
        const char *name = preset ? preset : fr_mlperf_preset(set.use[i]);
        struct fr_cluster cluster = {0};
        if (!name || !(set.use[i]->measured_memory_B > 0)) continue;
        status = fr_table_cluster(name, &cluster, err);
        if (status == FR_OK) status = add_run(s, &cluster, set.use[i], at, err);
        fr_cluster_free(&cluster);
    }
    fr_table_free(&set);
    return status;
}

static fr_status add_table(struct fr_reproduction *r, struct source *s,
                           const struct source *other, const char *name, const char *procedure,
                           struct fr_error *err) {
    for (int i = 0; i < s->rows.count && other; i++) {
        s->rows.items[i].sigma = sqrt(other->squares / other->plans);
        s->rows.items[i].degrees = other->plans - 1;
    }
    return fr_energy_rows_table(r, &s->rows, name, procedure, "B", other ? &asked : &told, err);
}

static fr_status allocated(struct fr_reproduction *r, struct fr_error *err) {
    struct source simumax = {0}, mlperf = {0};
    FR_TRY(read_source(&simumax, "training/simumax_b200.csv", "dgx-b200", FR_COUNTED_ALLOCATED,
                       err));
    FR_TRY(read_source(&mlperf, fr_mlperf_file, NULL, FR_COUNTED_ALLOCATED, err));
    FR_TRY(read_source(&mlperf, fr_mlperf_lora_file, NULL, FR_COUNTED_ALLOCATED, err));
    int plans = simumax.plans + mlperf.plans;
    double spread = sqrt((simumax.squares + mlperf.squares) / plans);
    FR_TRY(
        add_table(r, &simumax, &mlperf, "memory_simumax",
                  "tensors of layers of Llama 3 70B on a node of B200, cp to 8, sequences to "
                  "131,072; interval from MLPerf's plans",
                  err));
    FR_TRY(
        add_table(r, &mlperf, &simumax, "memory_mlperf",
                  "tensors of Llama 3.1 405B on H100 and GB200 and of adapters of Llama 2 70B "
                  "on B200 and GB200, fp8; interval from SimuMax's plans",
                  err));
    char note[120];
    snprintf(note, sizeof note,
             "root mean square of ln(measured / predicted) over %d plans: any plan's interval",
             plans);
    fr_reproduce_add(r, FR_ROLE_PREDICTED, NAN, spread, "1", 0, note,
                     "memory_spread/allocated");
    return FR_OK;
}

static fr_status shown(struct fr_reproduction *r, struct fr_error *err) {
    struct source bloom = {0}, small = {0};
    FR_TRY(read_source(&bloom, "training/bigscience_bloom_a100.csv", "a100-opa",
                       FR_COUNTED_DEVICE, err));
    FR_TRY(read_source(&small, "training/bigscience_1b3_v100.csv", "dgx-v100",
                       FR_COUNTED_DEVICE, err));
    FR_TRY(
        add_table(r, &bloom, NULL, "memory_shown_bloom",
                  "tensors of BLOOM's trials on A100 beside what nvidia-smi showed: contexts, "
                  "communicators, buckets and free blocks too",
                  err));
    return add_table(r, &small, NULL, "memory_shown_1b3",
                     "the same of a model of 1.3 billion on V100", err);
}

static fr_status run(struct fr_reproduction *r, struct fr_error *err) {
    fr_status status = allocated(r, err);
    if (status == FR_OK) status = shown(r, err);
    if (status != FR_ERR_IO) return status;
    fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, NAN, NAN, "1", 0, err->detail, "skipped/%s",
                     err->where);
    return FR_OK;
}

const struct fr_paper fr_paper_memory = {
    .name = "memory",
    .title = "memory of training runs by others, as their allocators or devices told it",
    .run = run,
    .measured = true,
    .mark = FR_MEMORY_MARK,
};
