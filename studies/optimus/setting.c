#include "studies/optimus/setting.h"

#include <math.h>

fr_status fr_optimus_load(const char *model, struct fr_optimus *s, struct fr_error *err) {
    static const char *const sets[] = {"tp=8",          "pp=4",           "dp=4",
                                       "micro_batch=8", "recompute=full", "p2p=duplex"};
    const struct fr_job_names names = {
        .cluster = "a100-hdr", .model = model, .sets = sets, .n_sets = 6};
    FR_TRY(fr_job_load(&names, &s->job, err));
    s->preset_flop_per_s = s->job.cluster.device.gemm[FR_FP32].peak_flop_per_s;
    s->preset_B_per_s = s->job.cluster.levels.level[1].rate_B_per_s;
    return FR_OK;
}

struct fr_plan fr_optimus_plan(const struct fr_optimus *s, enum fr_optimus_step step,
                               int64_t compressed_stages) {
    struct fr_plan plan = s->job.plan;
    if (step >= FR_OPTIMUS_CB) plan.compression.scope = FR_SCOPE_EPILOGUE;
    if (step >= FR_OPTIMUS_FE) plan.compression.fused_embedding = true;
    if (step >= FR_OPTIMUS_SC) plan.compression.gradient_stages = compressed_stages;
    return plan;
}

struct fr_outcome fr_optimus_outcome(const struct fr_optimus *s, enum fr_optimus_step step,
                                     int64_t compressed_stages, int *last) {
    struct fr_plan plan = fr_optimus_plan(s, step, compressed_stages);
    struct fr_simulation simulation;
    fr_status status = fr_simulate(&s->job, &plan, NULL, &simulation, NULL);
    struct fr_outcome out = simulation.outcome;
    if (status != FR_OK) out.time_s = NAN;
    if (last) *last = 0;
    for (int32_t i = 1; last && i < simulation.n_stages; i++)
        if (simulation.stages[i].stream_s > simulation.stages[*last].stream_s) *last = i;
    fr_simulation_free(&simulation);
    return out;
}

double fr_optimus_time_s(const struct fr_optimus *s, enum fr_optimus_step step,
                         int64_t compressed_stages) {
    return fr_optimus_outcome(s, step, compressed_stages, NULL).time_s;
}

const double fr_optimus_peak_flop_per_s = 156e12, fr_optimus_adapter_B_per_s = 25e9;

void fr_optimus_apply(struct fr_optimus *s, double efficiency, double adapter) {
    s->job.cluster.device.gemm[FR_FP32].peak_flop_per_s =
        fr_optimus_peak_flop_per_s * efficiency;
    /* Ranks are numbered tensor, data, pipeline there, so that a node's eight all are replicas of
     * one stage and send at once: each has an eighth of the adapter. */
    struct fr_level *system = &s->job.cluster.levels.level[1];
    system->rate_B_per_s = fr_optimus_adapter_B_per_s * adapter / 8;
    system->shared_by = 1;
}
