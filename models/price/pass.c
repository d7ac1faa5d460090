#include "models/price/pass.h"

#include <math.h>

#include "base/extremes.h"
#include "models/price/footprint.h"
#include "models/price/operation.h"

enum { LAYERS = 1, ENDS = 2 };

/* Where the work of a stage is priced. */
struct pricing {
    const struct fr_job *job;
    const struct fr_plan *plan;
    const struct fr_rank_work *work;
    struct fr_pricing price;
};

/* Time of a pass on the device while the host launches ahead. */
static double device_s(const struct fr_pass *pass, double waits_s) {
    return pass->compute_s + pass->launch_s + fr_pass_comm_s(pass) - waits_s;
}

/* Part of the host's time that shows: all of it where the device waits for every launch, @p idle_s at least. */
static double host_shows_s(const struct pricing *x, const struct fr_pass *part, double host_s,
                           double waits_s, double idle_s) {
    return x->plan->blocking ? host_s : fr_larger(idle_s, host_s - device_s(part, waits_s));
}

static void add_pass(const struct pricing *x, const struct fr_pass *part, double host_s,
                     double waits_s, double idle_s, struct fr_pass *pass) {
    pass->compute_s += part->compute_s;
    pass->tp_s += part->tp_s;
    pass->cp_s += part->cp_s;
    pass->ep_s += part->ep_s;
    pass->launch_s += part->launch_s + host_shows_s(x, part, host_s, waits_s, idle_s);
}

static double stalled_s(const struct fr_priced *p, fr_pass_kind pass) {
    return p->time_s[pass][FR_SPENT_TP_STALLED];
}

/* Is another micro-batch at hand, beside whose passes exchanges run? */
static bool is_cut(const struct pricing *x) {
    return x->plan->overlap_experts && x->plan->ep > 1 && x->price.micro_batches > 1;
}

/* Time of the host for a pass of @p kernels in @p layers layers, whose experts take @p experts_s.  It launches kernel
 * by kernel, or the graph of each layer, or all with the graph of the iteration. */
static double host_of(const struct pricing *x, double kernels, double layers,
                      double experts_s) {
    const struct fr_device *device = &x->job->cluster.device;
    double skew = 1 + device->host_skew * log2((double)x->plan->tp),
           cut = experts_s > 0 && is_cut(x) ? 1 + device->host_overlap : 1;
    double launches =
        x->plan->graphs == FR_GRAPHS_LAYERS ? fr_smaller(kernels, layers) : kernels;
    if (x->plan->graphs == FR_GRAPHS_ITERATION) return 0;
    return cut * (launches * (device->host_launch_s * skew) + experts_s);
}

/* Does the device, too, until the host knows how many tokens go to which expert and has launched what follows? */
static bool waits(const struct pricing *x) {
    return x->plan->graphs == FR_GRAPHS_NONE && !is_cut(x);
}

/* Where what is priced is added. */
struct priced_stage {
    struct fr_stage *stage;
    struct fr_pass *input; /* the first of the two passes of a split backward pass */
};

/* Layers, or embedding and logits, whichever takes longer: device or host.  In a backward pass of two parts each has
 * its own kernels, experts and waits.  Half of the launches expert by expert are for weight gradients. */
static void price_part(const struct pricing *x, int which, const struct priced_stage *to) {
    const struct fr_device *device = &x->job->cluster.device;
    const struct fr_rank_work *work = x->work;
    bool layers = which == LAYERS;
    struct fr_priced p = {0};
    fr_work_price(&x->price, work, layers ? 0 : work->n_layer_ops,
                  layers ? work->n_layer_ops : work->n_ops, &p);
    const struct fr_passes passes = fr_priced_passes(device, &p);
    const double *kernels = p.kernels;
    double graphs = layers ? work->layers : 1; /* the embedding's, or the logits' */
    const struct fr_transformer *t = &x->job->workload.transformer;
    bool experts = layers && t->experts > 1 && t->capacity <= 0; /* else it knows the sizes */
    double experts_s = experts ? work->mixed * device->host_experts_s : 0,
           share = x->plan->recompute_layers > 0 ? work->recomputed : 1,
           again = fr_recomputes_experts(x->plan->recompute) ? share : 0,
           idle_s = waits(x) ? experts_s : 0;
    double input = kernels[FR_PASS_INPUT] + kernels[FR_PASS_AGAIN],
           weight = kernels[FR_PASS_WEIGHT],
           input_stalls_s = stalled_s(&p, FR_PASS_INPUT) + stalled_s(&p, FR_PASS_AGAIN),
           weight_stalls_s = stalled_s(&p, FR_PASS_WEIGHT);
    struct fr_stage *stage = to->stage;
    add_pass(x, &passes.forward, host_of(x, kernels[FR_PASS_FORWARD], graphs, experts_s),
             stalled_s(&p, FR_PASS_FORWARD), idle_s, &stage->forward);
    add_pass(x, &passes.backward, host_of(x, input + weight, graphs, (2 + again) * experts_s),
             input_stalls_s + weight_stalls_s, again * idle_s, &stage->backward);
    add_pass(x, &passes.input, host_of(x, input, graphs, (1 + again) * experts_s),
             input_stalls_s, again * idle_s, to->input);
    add_pass(x, &passes.weight, host_of(x, weight, graphs, experts_s), weight_stalls_s, 0,
             &stage->weight);
    stage->common_s += p.common_s;
}

/* ---- measured layers ------------------------------------------------------------------------- */

static bool makes_logits(const struct fr_rank_work *work) {
    for (int k = work->n_layer_ops; k < work->n_ops; k++)
        if (work->op[k].kind == FR_WORK_PRODUCT) return true;
    return false;
}

/* Measured layers, and logits where measured, as they are: as hosts launched ahead. @return what is left to price */
static int take_profile(const struct pricing *x, const struct priced_stage *to) {
    struct fr_stage *stage = to->stage;
    const struct fr_rank_work *work = x->work;
    bool measured = x->plan->method->megatron ||
                    (x->plan->tp == 1 && !x->plan->layer_tp); /* else another division */
    if (!measured || x->plan->blocking) return LAYERS | ENDS;
    const struct fr_layer_profile *row =
        fr_layer_profile_find(&x->job->workload, x->plan->tp, fr_plan_micro_batch(x->plan));
    if (!row) return LAYERS | ENDS;
    stage->forward.compute_s += work->layers * row->forward_s;
    stage->backward.compute_s += work->layers * row->backward_s;
    stage->weight.compute_s += work->layers * row->backward_s / 2;
    to->input->compute_s += work->layers * row->backward_s / 2;
    if (row->logits_forward_s < 0) return ENDS;
    if (!makes_logits(work)) return 0; /* the embedding was measured with the logits */
    stage->forward.compute_s += row->logits_forward_s;
    stage->backward.compute_s += row->logits_backward_s;
    stage->weight.compute_s += row->logits_backward_s / 2;
    to->input->compute_s += row->logits_backward_s / 2;
    return 0;
}

/* Measured times hold their collectives; what these send is counted all the same. */
static void count_measured(const struct pricing *x, int left) {
    struct fr_stage stage = {0};
    struct fr_pass input = {0};
    const struct priced_stage ignored = {&stage, &input};
    uint32_t unasked = 0;
    struct pricing counting = *x;
    counting.price.extrapolated = &unasked;
    if (!(left & LAYERS)) price_part(&counting, LAYERS, &ignored);
    if (!(left & ENDS)) price_part(&counting, ENDS, &ignored);
}

struct fr_pricing fr_pass_pricing(const struct fr_job *job, const struct fr_plan *plan,
                                  const struct fr_rank_map *rank_map,
                                  const struct fr_rank_work *work) {
    double micro_batches = (double)fr_pipeline_micro_batches(job, plan);
    struct fr_pricing price = fr_pricing_make(job, plan, rank_map, micro_batches);
    struct fr_footprint footprint = {.forward = plan->forward};
    if (job->cluster.device.working_sets.n > 0) {
        fr_footprint_add(&footprint, job, work->parameters_rank, work->activation_B);
        fr_footprint_freeze(&footprint, &job->workload, work->frozen_rank);
    }
    fr_footprint_price(&footprint, micro_batches, &price);
    return price;
}

void fr_pass_price(const struct fr_job *job, const struct fr_plan *plan,
                   const struct fr_rank_map *rank_map, const struct fr_rank_work *work,
                   struct fr_stage *stage, struct fr_pass *input, uint32_t *extrapolated) {
    const struct priced_stage to = {stage, input};
    struct pricing x = {.job = job,
                        .plan = plan,
                        .work = work,
                        .price = fr_pass_pricing(job, plan, rank_map, work)};
    x.price.sent_B = stage->sent_B;
    x.price.extrapolated = extrapolated;
    int left = take_profile(&x, &to);
    if (left & LAYERS) price_part(&x, LAYERS, &to);
    if (left & ENDS) price_part(&x, ENDS, &to);
    count_measured(&x, left);
    struct fr_pass *passes[] = {&stage->forward, &stage->backward, input, &stage->weight};
    double host_s = plan->graphs != FR_GRAPHS_ITERATION ? job->cluster.device.host_pass_s : 0;
    for (size_t k = 0; k < sizeof passes / sizeof *passes; k++) passes[k]->launch_s += host_s;
    if (plan->forward) stage->backward = *input = stage->weight = (struct fr_pass){0};
}
