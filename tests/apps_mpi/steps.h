/** @file
 *  A transformer's plan on the job's ranks: a few steps of it, its last loss against one rank's, and what it sends against
 *  what the plan's price says. */
#ifndef FR_TESTS_APPS_MPI_STEPS_H
#define FR_TESTS_APPS_MPI_STEPS_H

#include "models/job/job.h"
#include "models/plan/copies.h"
#include "models/price/pipeline.h"
#include "real/apps/mesh/mesh.h"
#include "tests/apps_mpi/mpi_case.h"

enum { SEED = 23, STEPS = 2, BATCH = 16, SEQUENCE = 8 };
static int rank, n_ranks, n_run;

/* No two sizes are equal, so that what is exchanged for something else shows. */
static const char *model_of(bool tied, char *text, size_t capacity) {
    snprintf(
        text, capacity,
        "{\"kind\": \"transformer\", \"layers\": 8, \"hidden\": 12, \"heads\": 4, \"ffn\": "
        "20, \"sequence\": %d, \"vocabulary\": 32, \"vocabulary_multiple\": 2, "
        "\"tied_embedding\": %s, \"dtype\": \"fp64\", \"optimizer\": \"sgd\", "
        "\"global_batch\": %d}",
        SEQUENCE, tied ? "true" : "false", BATCH);
    return text;
}

/* ---- steps --------------------------------------------------------------------------------------- */

/* @return the last step's loss, of all ranks of @p world together. */
static double take_steps(struct mpi_case *c, MPI_Comm world, const char *text) {
    struct fr_error err = {.status = FR_OK};
    double loss = 0, all = 0;
    c->real.update.rate = 0.25;
    for (int step = 0; step < STEPS; step++)
        if (fr_real_step(c->app, &c->real, &loss, &err) != FR_OK)
            FAIL("%s: %s", text, err.detail);
    MPI_Allreduce(&loss, &all, 1, MPI_DOUBLE, MPI_SUM, world);
    return all;
}

static bool open_on(MPI_Comm world, const char *model, const char *text, struct mpi_case *c) {
    struct fr_error err = {.status = FR_OK};
    fr_status status = mpi_case_read(c, &fr_real_pipeline, model, text, SEED, &err);
    if (status == FR_OK) status = fr_real_open(c->app, &c->run, world, &c->real, &err);
    if (status != FR_OK) FAIL("%s: %s %s", text, err.where, err.detail);
    return status == FR_OK;
}

/* ---- bytes ----------------------------------------------------------------------------------------- */

static const char cluster[] =
    "{\"device\": {\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp64\": {\"peak\": \"1 "
    "TFLOP/s\", \"half_dim\": 8}}}, \"levels\": [{\"name\": \"node\", \"ranks\": 64, "
    "\"latency\": \"1 us\", \"bandwidth\": \"10 GB/s\"}]}";

/* Shares are equal and the last one's end beyond what is there, by a value a rank and collective: with zero 2 and 3 one a
 * unit and pass. */
static double beyond_B(const struct mpi_case *c) {
    const struct fr_plan *plan = c->run.plan;
    double copies = (double)(fr_plan_replicas(plan) * (plan->method->branches ? plan->tp : 1));
    double units = (double)(c->workload.transformer.layers / plan->pp + 3);
    double passes = (double)(BATCH / plan->dp / plan->micro_batch) * units;
    if (plan->zero == 0 && !plan->overlap) return 0;
    return sizeof(double) * (copies + 1) * 3 *
           (plan->zero > 1  ? 2 * passes
            : plan->overlap ? 2 * units * (double)plan->chunks
                            : 1);
}

/* Values that a rank sends to add up a norm's gradients, of which P_r ranks of a group have parts. */
static double norm_values(const struct mpi_case *c, int group) {
    double p = (double)fr_plan_grid(c->run.plan, group);
    return 2 * (p - 1) / p * 2 * (double)c->workload.transformer.hidden;
}

/* Those of a layer: both norms, or of phantom products the one of whole values. */
static double layer_norms_values(const struct mpi_case *c) {
    const struct fr_plan *plan = c->run.plan;
    if (plan->sequence_parallel)
        return norm_values(c, FR_GRID_ATTENTION) + norm_values(c, FR_GRID_MLP);
    bool none = !plan->method->uses_ghost || plan->phantom_parts == FR_PHANTOM_ALL;
    return none ? 0 : norm_values(c, FR_GRID_MLP);
}

/* Tokens of a batch. */
static double tokens_of(const struct mpi_case *c) {
    return (double)(c->workload.global_batch * c->workload.transformer.sequence);
}

/* A message is gathered where it arrives, activations over the attention's grid and gradients over the MLP's.  The price has
 * the larger for both (fr_plan_arriving). */
static double overpriced_values(const struct mpi_case *c) {
    const struct fr_plan *plan = c->run.plan;
    if (plan->sequence_parallel) return 0; /* nothing is gathered */
    double most = (double)fr_plan_arriving(plan),
           a = (double)fr_plan_grid(plan, FR_GRID_ATTENTION),
           m = (double)fr_plan_grid(plan, FR_GRID_MLP), all = (double)fr_plan_ranks(plan),
           own =
               tokens_of(c) / (all / (double)plan->pp) * (double)c->workload.transformer.hidden;
    int64_t last = plan->pp * plan->chunks - 1;
    int32_t stages = (int32_t)plan->pp, stage = c->real.pp_rank;
    double up = 0, down = 0;
    for (int chunk = 0; chunk < plan->chunks; chunk++) {
        int64_t at = fr_schedule_virtual(plan->schedule, stages, stage, chunk);
        up += at > 0 && fr_schedule_stage(plan->schedule, stages, at - 1) != stage;
        down += at < last && fr_schedule_stage(plan->schedule, stages, at + 1) != stage;
    }
    return (up * (most - a) + down * (most - m)) * own;
}

/* The price leaves out the three values a token of a divided vocabulary's loss, and of norms the gradients in parts,
 * once. */
static double unpriced_B(const struct mpi_case *c) {
    const struct fr_plan *plan = c->run.plan;
    double divide = (double)fr_plan_grid(plan, FR_GRID_ENDS), others = divide - 1,
           layers = (double)(c->workload.transformer.layers / plan->pp);
    int last_stage =
        fr_schedule_stage(plan->schedule, (int32_t)plan->pp, plan->pp * plan->chunks - 1);
    bool last = c->real.pp_rank == last_stage;
    if (plan->method->branches) return 0;
    double tokens = tokens_of(c) / (double)(fr_plan_replicas(plan) * plan->tp) * divide;
    bool parts = plan->sequence_parallel || plan->method->uses_ghost;
    double loss = last ? 3 * others * tokens : 0,
           norms = layers * layer_norms_values(c) +
                   (parts && last ? norm_values(c, FR_GRID_ENDS) : 0);
    return (loss + norms - overpriced_values(c)) * sizeof(double);
}

/* With cSub the first sub-grid has what is common, and is priced; others never touch their copy of it. */
static bool is_other(const struct mpi_case *c) {
    return c->run.plan->common_subgrid && c->real.tp_rank > 0;
}

/* All of a stage's ranks have what is common to sub-grids: the program counts it apart, the price over dp. */
static void compare_sent(const struct mpi_case *c, const double *priced_B, const char *text) {
    static const int axes[][2] = {{FR_REAL_TP, FR_SENT_TP},
                                  {FR_REAL_PP, FR_SENT_PP},
                                  {FR_REAL_DP, FR_SENT_DP},
                                  {FR_REAL_OTHER, FR_SENT_EMBEDDING}};
    bool common = c->run.plan->method->branches;
    if (is_other(c)) return;
    for (int i = 0; i < (common ? 3 : 4); i++) {
        double got = c->real.sent_B[axes[i][0]] / STEPS,
               want = priced_B[axes[i][1]] + (i == 0 ? unpriced_B(c) : 0),
               slack_B = i >= 2 ? beyond_B(c) : 0;
        if (common && i == 2) {
            got += c->real.sent_B[FR_REAL_OTHER] / STEPS;
            want += priced_B[FR_SENT_EMBEDDING];
        }
        if (!(fabs(got - want) <= 1e-9 * fmax(1, want) + slack_B))
            FAIL("%s, rank %d: sends %.17g B over %s, priced %.17g", text, rank, got,
                 fr_sent_names[axes[i][1]], want);
    }
}

static void compare_bytes(const struct mpi_case *c, const char *model, const char *text) {
    const struct fr_job_names names = {.cluster = cluster, .model = model, .plan = text};
    struct fr_job job = {0};
    struct fr_pipeline p = {0};
    struct fr_error err = {.status = FR_OK};
    uint32_t extrapolated = 0;
    if (fr_job_load(&names, &job, &err) != FR_OK)
        FAIL("%s: %s: %s", text, err.where, err.detail);
    else if (fr_pipeline_check(&job, &job.plan) != 0 ||
             fr_pipeline_make(&job, &job.plan, &p, &extrapolated, &err) != FR_OK)
        FAIL("%s: not priced", text);
    else
        compare_sent(c, p.stage[c->real.pp_rank].sent_B, text);
    fr_pipeline_free(&p);
    fr_job_free(&job);
}

/* The last loss is one rank's, whatever divides the network. */
static inline void compare_loss_within(double loss, double want, double tolerance, const char *text) {
    if (!(fabs(loss - want) <= tolerance * want))
        FAIL("%s, rank %d: the last loss is %.17g, want %.17g", text, rank, loss, want);
}

static inline void compare_loss(double loss, double want, const char *text) {
    compare_loss_within(loss, want, 1e-12, text);
}

#endif
