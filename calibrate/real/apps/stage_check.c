/* What the program pipeline refuses before anything runs. */
#include <inttypes.h>
#include <string.h>

#include "calibrate/real/apps/ffn.h"
#include "calibrate/real/apps/stage.h"

static fr_status check_model(const struct fr_transformer *t, struct fr_error *err) {
    const char *lacks =
        t->layers == 0            ? "the model is no transformer"
        : t->gated                ? "gated MLPs are not trained here"
        : t->kv_heads != t->heads ? "grouped key-value heads are not trained here"
        : t->qk_norms             ? "norms of queries and keys are not trained here"
        : !t->norm_biases         ? "RMSNorm is not trained here; \"norm\": \"layer\" is"
        : !t->biases              ? "products without biases are not trained here"
                                  : NULL;
    return lacks ? fr_fail(err, FR_ERR_INPUT, NULL, "%s", lacks) : FR_OK;
}

int64_t fr_rank_stage_micro_batches(const struct fr_real_case *run) {
    return fr_real_batch(run) / run->plan->dp / fr_plan_micro_batch(run->plan);
}

static fr_status check_compression(const struct fr_real_case *run, struct fr_error *err) {
    const struct fr_plan_compression *c = &run->plan->compression;
    const struct fr_transformer *t = &run->workload->transformer;
    int64_t tokens = fr_plan_micro_batch(run->plan) * t->sequence;
    int64_t narrow = tokens < t->hidden ? tokens : t->hidden;
    if (!fr_plan_compresses(run->plan)) return FR_OK;
    if (strcmp(c->codec->name, "powersgd") != 0)
        return fr_fail(err, FR_ERR_INPUT, NULL, "codec %s is not run here; powersgd is",
                       c->codec->name);
    if (c->scope != FR_SCOPE_NONE && c->backward_rank > narrow)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "backward rank %" PRId64 " is above the messages' %" PRId64,
                       c->backward_rank, narrow);
    if (c->gradient_stages > 0 && c->gradient_rank > t->hidden)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "gradient rank %" PRId64 " is above hidden = %" PRId64, c->gradient_rank,
                       t->hidden);
    return FR_OK;
}

static bool splits(const struct fr_plan *plan) {
    struct fr_schedule_args args = {(int32_t)plan->pp, 1, 1, plan->order};
    return fr_schedule_splits(plan->schedule, &args);
}

fr_status fr_rank_stage_check(const struct fr_real_case *run, struct fr_error *err) {
    const struct fr_plan *plan = run->plan;
    const struct fr_transformer *t = &run->workload->transformer;
    FR_TRY(check_model(t, err));
    const char *lacks = plan->tp != 1             ? "tp"
                        : plan->chunks != 1       ? "chunks"
                        : splits(plan)            ? "schedule"
                        : plan->duplex            ? "p2p"
                        : plan->recompute         ? "recompute"
                        : plan->overlap           ? "overlap"
                        : plan->sequence_parallel ? "sequence_parallel"
                                                  : NULL;
    if (lacks)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "\"%s\" must have its default; the program runs pp x dp", lacks);
    FR_TRY(fr_real_divides("the global batch", fr_real_batch(run), "dp", plan->dp, err));
    FR_TRY(fr_real_divides("a replica's batch", fr_real_batch(run) / plan->dp, "micro_batch",
                           fr_plan_micro_batch(plan), err));
    if (!t->tied && plan->pp == 1)
        return fr_fail(
            err, FR_ERR_INPUT, NULL,
            "one stage with an embedding and logits of their own is not trained here");
    if (plan->pp > t->layers)
        return fr_fail(err, FR_ERR_INPUT, NULL, "%" PRId64 " stages of %" PRId64 " layers",
                       plan->pp, t->layers);
    struct fr_schedule_args args = {(int32_t)plan->pp,
                                    (int32_t)fr_rank_stage_micro_batches(run), 1, plan->order};
    const char *why = plan->schedule->refuses(&args);
    if (why)
        return fr_fail(err, FR_ERR_INPUT, NULL, "schedule %s: %s", plan->schedule->name, why);
    return check_compression(run, err);
}
