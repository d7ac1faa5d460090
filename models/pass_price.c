#include "models/pass_price.h"

#include <math.h>

#include "models/footprint.h"

/* Times of one collective over tp, by kind. */
struct tp_price {
    double all_reduce_s, all_gather_s, reduce_scatter_s;
};

static double tp_time_s(const struct tp_price *price, const struct fr_tp_work *work) {
    return work->all_reduces * price->all_reduce_s + work->all_gathers * price->all_gather_s +
           work->reduce_scatters * price->reduce_scatter_s;
}

/* Only what the plan needs is asked, so that only that can be extrapolated. */
static struct tp_price price_tp(const struct fr_job *job, const struct fr_plan *plan,
                                const struct fr_group *tp, double size_B,
                                uint32_t *extrapolated) {
    struct tp_price price = {0};
    if (plan->tp == 1 || size_B <= 0) return price;
    const struct fr_cluster *cluster = &job->cluster;
    if (!plan->sequence_parallel) {
        price.all_reduce_s =
            fr_cluster_comm_s(cluster, FR_OP_ALL_REDUCE, tp, size_B, extrapolated);
        return price;
    }
    price.all_gather_s = fr_cluster_comm_s(cluster, FR_OP_ALL_GATHER, tp, size_B, extrapolated);
    price.reduce_scatter_s =
        fr_cluster_comm_s(cluster, FR_OP_REDUCE_SCATTER, tp, size_B, extrapolated);
    return price;
}

double fr_pass_sent_over_tp_B(const struct fr_stage_work *work, int64_t tp) {
    const struct fr_tp_work *parts[] = {&work->forward_tp, &work->backward_tp, &work->again_tp};
    double factor = 0;
    for (int k = 0; k < 3; k++)
        factor += parts[k]->all_reduces * fr_op_bus_factor(FR_OP_ALL_REDUCE, tp) +
                  parts[k]->all_gathers * fr_op_bus_factor(FR_OP_ALL_GATHER, tp) +
                  parts[k]->reduce_scatters * fr_op_bus_factor(FR_OP_REDUCE_SCATTER, tp);
    for (int k = 0; k < work->n_gemms; k++)
        factor += work->regathers[k] * fr_op_bus_factor(FR_OP_ALL_GATHER, tp);
    double sent_B = factor * work->tp_B;
    for (int k = 0; k < work->n_exchanges; k++)
        sent_B += work->exchange[k].count * work->exchange[k].size_B *
                  fr_op_bus_factor(work->exchange[k].op, tp);
    return sent_B;
}

/* ---- products ---------------------------------------------------------------------------- */

/* Where the work of a stage is priced. */
struct pricing {
    const struct fr_job *job;
    const struct fr_plan *plan;
    const struct fr_seats *seats;
    const struct fr_stage_work *work;
    struct tp_price tp;
    double exchange_s[2]; /* forward and backward, where branches split and join */
    double working_set_B; /* of products, but for those over scores just made */
    bool outside;
};

/* Attention's products over the scores are many and thin: they reach a smaller share of the
 * peak, and where heads are narrow the scores' way to memory and back takes longer still. */
static double core_s(const struct pricing *x, const struct fr_gemm_shape *s) {
    const struct fr_device *device = &x->job->cluster.device;
    fr_dtype dtype = x->job->workload.dtype;
    double rate = device->attention.plain * device->gemm[dtype].peak_flop_per_s;
    double moved_B = (s->m * s->n + s->m * s->k + s->n * s->k) * fr_dtype_size_B(dtype);
    return fmax(
        2 * s->m * s->n * s->k / rate,
        fr_cluster_traffic_s(&x->job->cluster, dtype, FR_TRAFFIC_STREAM, moved_B, moved_B));
}

static double product_s(struct pricing *x, int k, struct fr_gemm_shape shape) {
    const struct fr_device *device = &x->job->cluster.device;
    double count = x->work->gemm[k].count;
    if (count <= 0) return 0;
    if (x->work->core[k] && device->attention.plain > 0) return count * core_s(x, &shape);
    return count * fr_device_product_s(device, x->job->workload.dtype, &shape,
                                       x->work->core[k] ? 0 : x->working_set_B, &x->outside);
}

/* A product's backward pass is two products of the same flop: input and weight gradient.  What
 * is gathered beside the input gradient shows as far as it outlasts it. */
static void add_products(struct pricing *x, int from, int to, struct fr_stage *part) {
    for (int k = from; k < to; k++) {
        struct fr_gemm_shape f = x->work->gemm[k].shape;
        double forward_s = product_s(x, k, f);
        double input_s = product_s(x, k, (struct fr_gemm_shape){f.k, f.n, f.m, f.batch});
        double weight_s = product_s(x, k, (struct fr_gemm_shape){f.m, f.k, f.n, f.batch});
        part->forward.compute_s += forward_s;
        part->backward.compute_s += input_s + weight_s + (x->work->again[k] ? forward_s : 0);
        part->backward.tp_s += fr_device_beside_s(
            &x->job->cluster.device, x->work->regathers[k] * x->tp.all_gather_s, input_s);
        part->weight.compute_s += weight_s;
        if (x->work->common[k]) part->common_s += forward_s + input_s + weight_s;
    }
}

/* Peak that attention's shares are of: of 16 bits where the products are of 8. */
static double attention_peak(const struct fr_device *device, fr_dtype dtype) {
    bool wider = dtype == FR_FP8 && device->gemm[FR_BF16].form;
    return device->gemm[wider ? FR_BF16 : dtype].peak_flop_per_s;
}

/* Flop a second of the plan's fused attention kernel forward. */
static double flash_rate(const struct pricing *x) {
    const struct fr_device *device = &x->job->cluster.device;
    fr_attention kernel = x->plan->attention;
    fr_flash generation = kernel == FR_ATTENTION_FLASH_1   ? FR_FLASH_1
                          : kernel == FR_ATTENTION_FLASH_2 ? FR_FLASH_2
                                                           : FR_FLASH_NOW;
    return fr_device_flash(device, generation) * attention_peak(device, x->job->workload.dtype);
}

/* Its time backward over forward: five products to two (the scores once more), each slower. */
static double flash_backward(const struct pricing *x) {
    double slower = x->job->cluster.device.attention.backward;
    return 2.5 / (slower > 0 ? slower : 1);
}

static void add_flash(const struct pricing *x, struct fr_stage *part) {
    if (x->work->flash_flop + x->work->again_flash <= 0) return;
    double rate = flash_rate(x), forward_s = x->work->flash_flop / rate;
    part->forward.compute_s += forward_s;
    part->backward.compute_s += flash_backward(x) * forward_s + x->work->again_flash / rate;
}

/* Context parallel: the keys and values of the other ranks come in beside the attention that uses
 * them (a ring), and their gradients go back; what outlasts the fused kernel shows. */
static void add_context(const struct pricing *x, struct fr_stage *part,
                        uint32_t *extrapolated) {
    const struct fr_cluster *cluster = &x->job->cluster;
    if (x->plan->cp <= 1 || x->work->cp_B <= 0) return;
    const struct fr_group *ring = &x->seats->cp;
    double n = x->work->attentions, B = x->work->cp_B;
    double gather_s = n * fr_cluster_comm_s(cluster, FR_OP_ALL_GATHER, ring, B, extrapolated);
    double scatter_s =
        n * fr_cluster_comm_s(cluster, FR_OP_REDUCE_SCATTER, ring, B, extrapolated);
    double core_s = x->work->flash_flop / flash_rate(x);
    part->forward.tp_s += fr_device_beside_s(&cluster->device, gather_s, core_s);
    part->backward.tp_s +=
        fr_device_beside_s(&cluster->device, gather_s + scatter_s, flash_backward(x) * core_s);
}

/* To the experts and back, forward and backward; again where all is recomputed. */
static void add_experts(const struct pricing *x, struct fr_stage *part,
                        uint32_t *extrapolated) {
    const struct fr_plan *plan = x->plan;
    if (plan->ep <= 1 || x->work->expert_B <= 0) return;
    const struct fr_cluster *cluster = &x->job->cluster;
    double both_s = 2 * x->work->layers.n *
                    fr_cluster_comm_s(cluster, FR_OP_ALL_TO_ALL, &x->seats->ep,
                                      x->work->expert_B, extrapolated);
    double back_s = plan->recompute == FR_RECOMPUTE_FULL ? 2 * both_s : both_s;
    const struct fr_device *device = &cluster->device;
    bool beside = plan->overlap_experts; /* another micro-batch's products: as long as these */
    part->forward.tp_s +=
        beside ? fr_device_beside_s(device, both_s, part->forward.compute_s) : both_s;
    part->backward.tp_s +=
        beside ? fr_device_beside_s(device, back_s, part->backward.compute_s) : back_s;
}

enum { LAYERS = 1, ENDS = 2 };

/* ---- parts ------------------------------------------------------------------------------- */

static double device_s(const struct fr_pass *pass) {
    return pass->compute_s + pass->launch_s + pass->tp_s;
}

static void add_pass(const struct fr_pass *part, double host_s, struct fr_pass *pass) {
    pass->compute_s += part->compute_s;
    pass->tp_s += part->tp_s;
    pass->launch_s += part->launch_s + fmax(0, host_s - device_s(part));
}

/* What is recomputed: all, or the softmax alone. */
static struct fr_elementwise again_part(const struct pricing *x,
                                        const struct fr_stage_share *share, double set_B) {
    bool full = x->plan->recompute == FR_RECOMPUTE_FULL;
    return (struct fr_elementwise){x->work->again_B, full ? share->norm_B : 0,
                                   fmin(share->softmax_B, x->work->again_B), set_B};
}

/* Element-wise passes and kernels of the backward pass are twice the forward's: a gradient comes
 * in beside what was kept, and each product becomes two. */
static void add_part(const struct pricing *x, const struct fr_stage_share *share, bool again,
                     struct fr_stage *part, struct fr_stage *stage) {
    const struct fr_cluster *cluster = &x->job->cluster;
    const struct fr_device *device = &cluster->device;
    const struct fr_stage_work *work = x->work;
    fr_dtype dtype = x->job->workload.dtype;
    /* Between layers little but their activations is touched: a layer's traffic is its set. */
    double set_B = share->n > 0 ? share->forward_B / share->n : share->forward_B;
    const struct fr_elementwise forward = {share->forward_B, share->norm_B, share->softmax_B,
                                           set_B},
                                once_more = again_part(x, share, set_B),
                                common = {share->common_B, share->common_norm_B, 0, set_B};
    double moved_s = fr_cluster_elementwise_s(cluster, dtype, forward);
    double again_s = again ? fr_cluster_elementwise_s(cluster, dtype, once_more) : 0;
    double kernels = share->kernels, again_kernels = again ? work->again_kernels : 0;
    double skew = 1 + device->host_skew * log2((double)x->plan->tp);
    double host_s = device->host_launch_s * skew;
    bool experts = again && x->job->workload.transformer.experts > 1;
    double experts_s = experts ? share->n * device->host_experts_s : 0,
           experts_again_s =
               x->plan->recompute == FR_RECOMPUTE_FULL ? 3 * experts_s : 2 * experts_s;
    part->forward.compute_s += moved_s;
    part->backward.compute_s += 2 * moved_s + again_s;
    part->forward.launch_s = kernels * device->launch_s;
    part->backward.launch_s = (2 * kernels + again_kernels) * device->launch_s;
    part->weight.launch_s = kernels / 2 * device->launch_s;
    part->forward.tp_s += tp_time_s(&x->tp, &share->forward_tp);
    part->backward.tp_s += tp_time_s(&x->tp, &share->backward_tp);
    if (again) part->backward.tp_s += tp_time_s(&x->tp, &work->again_tp);
    part->common_s += 3 * fr_cluster_elementwise_s(cluster, dtype, common);
    stage->common_s += part->common_s + 3 * share->common_kernels * device->launch_s;
    add_pass(&part->forward, kernels * host_s + experts_s, &stage->forward);
    add_pass(&part->backward, (2 * kernels + again_kernels) * host_s + experts_again_s,
             &stage->backward);
    add_pass(&part->weight, kernels / 2 * host_s, &stage->weight);
}

static struct fr_tp_work tp_difference(const struct fr_tp_work *a, const struct fr_tp_work *b) {
    return (struct fr_tp_work){.all_reduces = a->all_reduces - b->all_reduces,
                               .all_gathers = a->all_gathers - b->all_gathers,
                               .reduce_scatters = a->reduce_scatters - b->reduce_scatters};
}

/* Measured layers, and logits where measured, as they are. @return what is left to price */
static int take_profile(const struct pricing *x, struct fr_stage *stage) {
    const struct fr_stage_work *work = x->work;
    const struct fr_layer_profile *row =
        fr_layer_profile_find(&x->job->workload, x->plan->tp, fr_plan_micro_batch(x->plan));
    if (!row) return LAYERS | ENDS;
    stage->forward.compute_s += work->layers.n * row->forward_s;
    stage->backward.compute_s += work->layers.n * row->backward_s;
    stage->weight.compute_s += work->layers.n * row->backward_s / 2;
    bool logits = work->n_gemms > work->layers.n_gemms;
    if (row->logits_forward_s < 0) return ENDS;
    if (!logits) return 0; /* the embedding was measured with the logits */
    stage->forward.compute_s += row->logits_forward_s;
    stage->backward.compute_s += row->logits_backward_s;
    stage->weight.compute_s += row->logits_backward_s / 2;
    return 0;
}

void fr_pass_price(const struct fr_job *job, const struct fr_plan *plan,
                   const struct fr_seats *seats, const struct fr_stage_work *work,
                   struct fr_stage *stage, uint32_t *extrapolated) {
    const struct fr_group *tp = &seats->axis[FR_MESH_TP];
    struct pricing x = {.job = job,
                        .plan = plan,
                        .seats = seats,
                        .work = work,
                        .tp = price_tp(job, plan, tp, work->tp_B, extrapolated)};
    struct fr_footprint footprint = {0};
    if (job->cluster.device.working_sets.n > 0)
        fr_footprint_add(&footprint, &job->workload, work->parameters_rank, work->activation_B);
    x.working_set_B =
        fr_footprint_products_B(&footprint, (double)fr_pipeline_micro_batches(job, plan));
    for (int k = 0; k < work->n_exchanges; k++)
        x.exchange_s[work->exchange[k].backward] +=
            work->exchange[k].count * fr_cluster_comm_s(&job->cluster, work->exchange[k].op, tp,
                                                        work->exchange[k].size_B, extrapolated);
    const struct fr_stage_share *layers = &work->layers;
    struct fr_stage_share ends = {
        .forward_B = work->forward_B - layers->forward_B,
        .kernels = work->kernels - layers->kernels,
        .common_B = work->ends_common_B,
        .common_kernels = work->ends_common_kernels,
        .forward_tp = tp_difference(&work->forward_tp, &layers->forward_tp),
        .backward_tp = tp_difference(&work->backward_tp, &layers->backward_tp)};
    struct fr_stage part = {0};
    int left = take_profile(&x, stage);
    if (left & LAYERS) {
        add_products(&x, 0, layers->n_gemms, &part);
        add_flash(&x, &part);
        add_context(&x, &part, extrapolated);
        add_experts(&x, &part, extrapolated);
        add_part(&x, layers, true, &part, stage);
        /* Where branches split and join the host waits too: nothing hides these (Jain et al. 2021, IV). */
        stage->forward.tp_s += x.exchange_s[0];
        stage->backward.tp_s += x.exchange_s[1];
    }
    if (left & ENDS) {
        part = (struct fr_stage){0};
        add_products(&x, layers->n_gemms, work->n_gemms, &part);
        add_part(&x, &ends, false, &part, stage);
    }
    stage->forward.launch_s += job->cluster.device.host_pass_s;
    stage->backward.launch_s += job->cluster.device.host_pass_s;
    double pass_s = fr_pass_s(&stage->forward, FR_WITH_LAUNCH) +
                    fr_pass_s(&stage->backward, FR_WITH_LAUNCH);
    if (work->idle_ranks > 0) stage->idle_share = work->idle_ranks * stage->common_s / pass_s;
    if (x.outside) *extrapolated |= FR_EXTRAPOLATED_GEMM;
}
