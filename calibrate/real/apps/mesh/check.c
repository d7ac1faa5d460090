/* What the program mesh refuses before anything runs. */
#include <inttypes.h>
#include <stdlib.h>

#include "calibrate/real/apps/ffn.h"
#include "calibrate/real/apps/mesh/mesh.h"
#include "models/plan/key.h"

/* A pass's messages are told apart by tags, of which MPI promises so many. */
enum { PASSES_MAX = 16000 };

int64_t fr_mesh_micro_batch(const struct fr_real_case *run) {
    const struct fr_plan *plan = run->plan;
    if (plan->micro_batch) return plan->micro_batch;
    return plan->pp > 1 ? 1 : fr_real_batch(run) / plan->dp;
}

int64_t fr_mesh_micro_batches(const struct fr_real_case *run) {
    return fr_real_batch(run) / run->plan->dp / fr_mesh_micro_batch(run);
}

int64_t fr_mesh_first_layer(const struct fr_real_case *run, int64_t layers, int64_t number) {
    const struct fr_plan *plan = run->plan;
    int64_t parts = plan->pp * plan->chunks, more = layers % parts, before = 0;
    if (!plan->stage_layers) return number * (layers / parts) + (number < more ? number : more);
    for (int64_t i = 0; i < number; i++) before += plan->stage_layers[i];
    return before;
}

static fr_status check_keys(const struct fr_real_case *run, struct fr_error *err) {
    const struct fr_plan *plan = run->plan;
    const char *needs = NULL;
    if (run->workload->n_layers == 0)
        return fr_fail(err, FR_ERR_INPUT, NULL, "the model has no layers; expected ffn or mlp");
    const struct fr_plan_key *idle = fr_plan_idle_key(run->workload, plan, &needs);
    if (idle)
        return fr_fail(err, FR_ERR_INPUT, NULL, "\"%s\" would have no effect: it needs %s",
                       idle->name, needs);
    const char *lacks = plan->layer_tp                                ? "layer_tp"
                        : plan->duplex                                ? "p2p"
                        : plan->schedule->folds                       ? "schedule"
                        : plan->overlap                               ? "overlap"
                        : plan->recompute                             ? "recompute"
                        : plan->zero                                  ? "zero"
                        : plan->placement.row != &fr_placement_linear ? "placement"
                                                                      : NULL;
    return lacks ? fr_fail(err, FR_ERR_INPUT, NULL, "\"%s\" must have its default in real runs",
                           lacks)
                 : FR_OK;
}

static fr_status check_batch(const struct fr_real_case *run, struct fr_error *err) {
    const struct fr_plan *plan = run->plan;
    FR_TRY(fr_real_divides("the global batch", fr_real_batch(run), "dp", plan->dp, err));
    return fr_real_divides("a replica's batch", fr_real_batch(run) / plan->dp, "micro_batch",
                           fr_mesh_micro_batch(run), err);
}

static fr_status check_stages(const struct fr_real_case *run, int64_t layers,
                              struct fr_error *err) {
    const struct fr_plan *plan = run->plan;
    int64_t parts = plan->pp * plan->chunks, m = fr_mesh_micro_batches(run), listed = 0;
    for (int i = 0; i < plan->n_stage_layers; i++) listed += plan->stage_layers[i];
    if (plan->stage_layers && (plan->n_stage_layers != plan->pp || listed != layers))
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "stage_layers are %" PRId64 " layers of %d stages, not %" PRId64
                       " of %" PRId64,
                       listed, plan->n_stage_layers, layers, plan->pp);
    if (parts > layers)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "%" PRId64 " stages of %" PRId64 " chunks for %" PRId64 " layers",
                       plan->pp, plan->chunks, layers);
    if (plan->chunks > 1 && plan->stage_layers)
        return fr_fail(err, FR_ERR_INPUT, NULL, "stages of chunks have equal layers here");
    if (plan->chunks > 1)
        FR_TRY(fr_real_divides("the number of layers", layers, "pp x chunks", parts, err));
    if (m * plan->chunks > PASSES_MAX)
        return fr_fail(err, FR_ERR_INPUT, NULL, "more than %d passes of a stage", PASSES_MAX);
    struct fr_schedule_args args = {(int32_t)plan->pp, (int32_t)m, (int32_t)plan->chunks,
                                    plan->order};
    const char *why = plan->schedule->refuses(&args);
    return why ? fr_fail(err, FR_ERR_INPUT, NULL, "schedule %s: %s", plan->schedule->name, why)
               : FR_OK;
}

static fr_status check_compression(const struct fr_real_case *run, struct fr_error *err) {
    const struct fr_plan_compression *c = &run->plan->compression;
    if (c->gradient_stages > run->plan->pp)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "compression.gradient.stages is more than the plan has stages (pp)");
    if ((c->scope != FR_SCOPE_NONE || c->gradient_stages > 0) &&
        c->codec != &fr_compression_powersgd)
        return fr_fail(err, FR_ERR_INPUT, NULL, "codec %s is not run here; powersgd is",
                       c->codec->name);
    return FR_OK;
}

fr_status fr_mesh_check(const struct fr_real_case *run, struct fr_error *err) {
    struct fr_real_layer *layers = NULL;
    int n = 0;
    FR_TRY(check_keys(run, err));
    FR_TRY(fr_real_layers(run->workload, &layers, &n, err));
    struct fr_unit unit = fr_unit_make(run, &layers[0], 0, 0, 1);
    fr_status status = FR_OK;
    if (!unit.kind)
        status = fr_fail(err, FR_ERR_INPUT, NULL, "method %s is not run on these layers",
                         run->plan->method->name);
    for (int i = 0; status == FR_OK && i < n; i++) {
        status = unit.kind->check(run, &layers[i], err);
        if (status == FR_OK) /* of which a rank sends its part */
            status = fr_real_divides("a layer's inputs", i ? layers[i].inputs : run->plan->tp,
                                     "tp", run->plan->tp, err);
    }
    free(layers);
    if (status == FR_OK) status = check_batch(run, err);
    if (status == FR_OK) status = check_stages(run, n, err);
    return status == FR_OK ? check_compression(run, err) : status;
}
