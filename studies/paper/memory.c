/* Memory that runs by others took, beside ours: presets and models as they are.
 *
 * Where a framework's allocator told the peak of its tensors it is what we predict, M, and
 *
 *      s^2 = mean over plans of ln(measured / M)^2
 *
 * the spread that the interval of any plan's memory has (models/outcome/memory.h).  It is of MLPerf's plans alone: what
 * a moment holds was found on SimuMax's, which say nothing of how far it is off elsewhere.  A plan counts once, however
 * many runs had it, and its own interval is of the others.  Where the allocator told what it reserved, or the device what
 * was taken (nvidia-smi), that is held against what we say of the same (models/outcome/fits/fits.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/outcome/cost.h"
#include "models/outcome/fits/fits.h"
#include "studies/energy/rows.h"
#include "studies/training/markdown.h"
#include "studies/training/mlperf.h"
#include "trust/numbers/statistics.h"

enum { MOST_PLANS = 256 };

static const struct fr_table_limits within_2 = {.mean = 0.02, FR_TABLE_COVERED},
                                    within_5 = {.mean = 0.05, FR_TABLE_COVERED},
                                    within_15 = {.mean = 0.15, FR_TABLE_COVERED};

/* Which number a row states: the allocator's tensors, its reserved memory, or the memory that the device shows. */
typedef enum { TENSORS, RESERVED, SHOWN } number;

/* Sums over a source: its rows, and the squares of its plans' logarithms. */
struct source {
    struct fr_energy_rows rows;
    double square[MOST_PLANS], plan_B[MOST_PLANS];
    int plans;
};

static double squares(const struct source *s) {
    double sum = 0;
    for (int i = 0; i < s->plans; i++) sum += s->square[i];
    return sum;
}

/* A plan with other replicas or samples has the same peak. */
static void count_plan(struct source *s, double measured_B, double predicted_B) {
    for (int i = 0; i < s->plans; i++)
        if (s->plan_B[i] == predicted_B) return;
    if (s->plans == MOST_PLANS) return;
    s->square[s->plans] = pow(log(measured_B / predicted_B), 2);
    s->plan_B[s->plans++] = predicted_B;
}

/* Measured memory of @p run: in its row, or for memory reserved beside tensors in a column of the file. */
static double measured_B(const struct fr_run *run, const struct fr_csv *csv, number of) {
    if (of != RESERVED)
        return run->counted == (of == SHOWN ? FR_COUNTED_DEVICE : FR_COUNTED_ALLOCATED)
                   ? run->measured_memory_B
                   : NAN;
    for (int i = 0; i < csv->n_rows; i++)
        if (strcmp(fr_energy_text(csv, i, "row_id"), run->id) == 0)
            return 0x1p30 * fr_energy_number(csv, i, "measured_peak_reserved_gib");
    return NAN;
}

static void add_run(struct source *s, const struct fr_cluster *cluster,
                    const struct fr_run *run, const struct fr_csv *csv, number of) {
    struct fr_job job = {.workload = run->workload, .plan = run->plan, .cluster = *cluster};
    struct fr_outcome out;
    struct fr_energy_row row = {.measured = measured_B(run, csv, of), .sigma = NAN};
    if (!(row.measured > 0)) return;
    fr_cost(&job, &job.plan, &out);
    if (!isfinite(out.time_s) || !isfinite(out.parameters)) return;
    const struct fr_fits fits = fr_fits_of(&job, &out);
    row.predicted = of == TENSORS    ? out.memory_peak_B
                    : of == RESERVED ? fits.reserved_B
                                     : fits.shown_B;
    double high_B = of == RESERVED ? fits.reserved_high_B : fits.shown_high_B;
    if (of != TENSORS) row.sigma = (high_B / row.predicted - 1) / fr_reach_90(0);
    snprintf(row.id, sizeof row.id, "%.79s", run->id);
    count_plan(s, row.measured, row.predicted);
    fr_energy_rows_add(&s->rows, &row);
}

/* The runs of @p file under the software that they name; @p preset NULL: each on that of the device which it names
 * (MLPerf). */
static fr_status read_source(struct source *s, const char *file, const char *preset, number of,
                             struct fr_error *err) {
    struct fr_table_set set = {0};
    struct fr_csv csv = {0};
    fr_status status = fr_table_read(file, &set, err);
    if (status == FR_OK) status = fr_energy_csv(file, &csv, err);
    for (int i = 0; i < set.n && status == FR_OK; i++) {
        const char *name = preset ? preset : fr_mlperf_preset(set.use[i]);
        struct fr_cluster cluster = {0};
        if (!name || !(set.use[i]->measured_memory_B > 0)) continue;
        status = fr_table_cluster_of(name, fr_run_row_get(set.use[i]->row, "runtime"), &cluster,
                                     err);
        if (status == FR_OK) add_run(s, &cluster, set.use[i], &csv, of);
        fr_cluster_free(&cluster);
    }
    fr_csv_free(&csv);
    fr_table_free(&set);
    return status;
}

/* Each plan's interval is of the others. */
static void hold_against_others(struct source *s) {
    for (int i = 0; i < s->rows.count; i++) {
        struct fr_energy_row *row = &s->rows.items[i];
        double own = pow(log(row->measured / row->predicted), 2);
        row->sigma = sqrt(fmax(0, squares(s) - own) / (s->plans - 1));
        row->degrees = s->plans - 2;
    }
}

static fr_status tensors(struct fr_reproduction *r, struct fr_error *err) {
    struct source simumax = {0}, mlperf = {0};
    FR_TRY(read_source(&simumax, "training/simumax_b200.csv", "dgx-b200", TENSORS, err));
    FR_TRY(read_source(&mlperf, fr_mlperf_file, NULL, TENSORS, err));
    FR_TRY(read_source(&mlperf, fr_mlperf_lora_file, NULL, TENSORS, err));
    double spread = sqrt(squares(&mlperf) / mlperf.plans);
    char note[120];
    snprintf(note, sizeof note,
             "root mean square of ln(measured / predicted) over %d plans: any plan's interval",
             mlperf.plans);
    hold_against_others(&mlperf);
    FR_TRY(fr_energy_rows_table(
        r, &simumax.rows, "memory_simumax",
        "tensors of layers of Llama 3 70B and DeepSeek on a node of B200, cp to 8, sequences "
        "to 131,072",
        "B", &within_2, err));
    FR_TRY(fr_energy_rows_table(
        r, &mlperf.rows, "memory_mlperf",
        "tensors of Llama 3.1 405B on H100 and GB200 and of adapters of Llama 2 70B on B200 "
        "and GB200, fp8; each plan's interval from the others",
        "B", &within_5, err));
    fr_reproduce_add(r, FR_ROLE_PREDICTED, NAN, spread, "1", 0, note,
                     "memory_spread/allocated");
    return FR_OK;
}

static fr_status add_stated(struct fr_reproduction *r, const char *file, const char *preset,
                            number of, const char *name, const char *procedure,
                            const struct fr_table_limits *limits, struct fr_error *err) {
    struct source s = {0};
    FR_TRY(read_source(&s, file, preset, of, err));
    return fr_energy_rows_table(r, &s.rows, name, procedure, "B", limits, err);
}

static fr_status stated(struct fr_reproduction *r, struct fr_error *err) {
    FR_TRY(add_stated(r, "training/simumax_b200.csv", "dgx-b200", RESERVED,
                      "memory_reserved_simumax",
                      "what the allocator reserved of the same runs on B200", &within_5, err));
    FR_TRY(add_stated(r, "training/bigscience_bloom_a100.csv", "a100-opa", SHOWN,
                      "memory_shown_bloom", "what nvidia-smi showed of BLOOM's trials on A100",
                      &within_15, err));
    return add_stated(r, "training/bigscience_1b3_v100.csv", "dgx-v100", SHOWN,
                      "memory_shown_1b3", "the same of a model of 1.3 billion on V100",
                      &within_15, err);
}

static fr_status run(struct fr_reproduction *r, struct fr_error *err) {
    fr_status status = tensors(r, err);
    if (status == FR_OK) status = stated(r, err);
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
