#include "models/outcome/rates.h"

#include <math.h>

#include "models/work/recompute.h"
#include "models/work/transformer.h"
#include "models/workload/flop.h"

/* Recomputation of one sample, by modules (models/work/recompute.h) [FLOP]. */
static double modules_again(const struct fr_layers_flop *of, fr_recompute r) {
    double dense = of->dense_first + of->dense_last,
           experts = of->mlp_first + of->mlp_last - dense;
    return (r & FR_RECOMPUTE_CORE_ATTN ? of->core : 0) +
           (r & FR_RECOMPUTE_MLA_UP_PROJ ? of->up : 0) + (r & FR_RECOMPUTE_MLP ? dense : 0) +
           (r & FR_RECOMPUTE_MOE              ? experts
            : r & FR_RECOMPUTE_SHARED_EXPERTS ? of->shared
                                              : 0);
}

/* Recomputation of one sample where all layers recompute [FLOP]; models/plan/recompute.h states the products. */
static double layers_again(const struct fr_counted *network, fr_recompute recompute) {
    struct fr_layers_flop of = fr_counted_layers_flop(network);
    const struct fr_transformer *t = &network->workload->transformer;
    struct fr_again again;
    switch (recompute) {
    case FR_RECOMPUTE_NONE:
        return 0;
    case FR_RECOMPUTE_FULL:
        return of.qkv + of.core + of.out + of.mlp_first + of.mlp_last + of.ssm;
    case FR_RECOMPUTE_SAVE_QKV:
        return of.core + of.out + of.mlp_first;
    case FR_RECOMPUTE_SAVE_QKV_OUT:
        return of.core + of.mlp_first;
    case FR_RECOMPUTE_SELECTIVE_OP:
        again = fr_again_of(t, recompute);
        return again.qkv * of.qkv + of.out + again.dense_first * of.mlp_first +
               again.dense_last * of.mlp_last;
    default:
        return modules_again(&of, recompute);
    }
}

/* Recomputation of those layers that recompute. */
static double flop_again(const struct fr_counted *network, const struct fr_plan *plan) {
    const struct fr_transformer *t = &network->workload->transformer;
    double layers = 0, all = 0;
    if (plan->forward || plan->recompute == FR_RECOMPUTE_NONE) return 0;
    if (plan->recompute_layers == 0 || t->layers == 0)
        return layers_again(network, plan->recompute);
    for (int64_t i = 0; i < plan->pp; i++) {
        double own = (double)fr_transformer_stage_layers(t, plan, i);
        layers += own * fr_plan_recomputed(plan, own);
        all += own;
    }
    return layers / all * layers_again(network, plan->recompute);
}

/* The network that the plan trains: ghost neurons make it another network. */
static struct fr_counted network_of(const struct fr_job *job, const struct fr_plan *plan) {
    bool phantom = plan->method->uses_ghost;
    return (struct fr_counted){.workload = &job->workload,
                               .ghost_neurons = phantom ? (double)plan->ghost : 0,
                               .ranks = phantom ? (double)plan->tp : 0,
                               .phantom_attention =
                                   phantom && plan->phantom_parts != FR_PHANTOM_MLP,
                               .dense_mlp = plan->phantom_parts == FR_PHANTOM_ATTENTION,
                               .palm = job->palm_flop};
}

const char *const fr_rates_conventions[] = {"causal", "palm", NULL};

const char *fr_rates_convention(const struct fr_job *job) {
    return fr_rates_conventions[job->palm_flop];
}

struct fr_rates fr_rates_of(const struct fr_job *job, const struct fr_outcome *out) {
    const struct fr_workload *w = &job->workload;
    double samples_per_s =
        isfinite(out->time_s) ? (double)fr_job_batch(job, &out->plan) / out->time_s : NAN;
    const struct fr_counted network = network_of(job, &out->plan);
    double peak_flop_per_s = fr_gemm_nominal_flop_per_s(&job->cluster.device.gemm[w->dtype]);
    struct fr_rates rates = {
        .samples_per_s = samples_per_s, .tokens_per_s = NAN, .mfu = NAN, .hfu = NAN};
    rates.model_flop_per_s_per_device =
        samples_per_s *
        (out->plan.forward ? fr_counted_forward_flop(&network) : fr_counted_flop(&network)) /
        (double)out->ranks;
    if (w->transformer.layers)
        rates.tokens_per_s = samples_per_s * (double)w->transformer.sequence;
    rates.tokens_per_s_per_device = rates.tokens_per_s / (double)out->ranks;
    /* A plan without a time may be one whose lists do not fit its stages. */
    const double again = isfinite(samples_per_s) ? flop_again(&network, &out->plan) : NAN;
    rates.hardware_flop_per_s_per_device =
        rates.model_flop_per_s_per_device + samples_per_s * again / (double)out->ranks;
    if (peak_flop_per_s > 0) {
        rates.mfu = rates.model_flop_per_s_per_device / peak_flop_per_s;
        rates.hfu = rates.hardware_flop_per_s_per_device / peak_flop_per_s;
    }
    double batch = (double)fr_job_batch(job, &out->plan);
    rates.iterations_per_epoch =
        w->samples && isfinite(out->time_s) ? (double)w->samples / batch : NAN;
    rates.epoch_time_s = rates.iterations_per_epoch * out->time_s;
    rates.epoch_energy_J = rates.iterations_per_epoch * out->energy_J;
    return rates;
}
