#include "models/price/pass.h"

#include <math.h>

#include "models/price/footprint.h"

/* Collectives over tp of @p size_B each [s]. */
static double tp_time_s(const struct fr_ledger *ledger, const struct fr_group *tp,
                        double size_B, const struct fr_tp_work *work) {
    return fr_ledger_comm_s(ledger, FR_SENT_TP, FR_OP_ALL_REDUCE, tp, size_B,
                            work->all_reduces) +
           fr_ledger_comm_s(ledger, FR_SENT_TP, FR_OP_ALL_GATHER, tp, size_B,
                            work->all_gathers) +
           fr_ledger_comm_s(ledger, FR_SENT_TP, FR_OP_REDUCE_SCATTER, tp, size_B,
                            work->reduce_scatters);
}

/* ---- products ---------------------------------------------------------------------------- */

/* Where the work of a stage is priced. */
struct pricing {
    const struct fr_job *job;
    const struct fr_plan *plan;
    const struct fr_seats *seats;
    const struct fr_stage_work *work;
    struct fr_ledger ledger;
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
        double regather_s =
            fr_ledger_comm_s(&x->ledger, FR_SENT_TP, FR_OP_ALL_GATHER,
                             &x->seats->axis[FR_MESH_TP], x->work->tp_B, x->work->regathers[k]);
        part->backward.tp_s += fr_device_beside_s(&x->job->cluster.device, regather_s, input_s);
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
 * them (a ring), and their gradients go back; attention that is recomputed asks for them once
 * more.  What outlasts the fused kernel shows. */
static void add_context(const struct pricing *x, struct fr_stage *part) {
    const struct fr_device *device = &x->job->cluster.device;
    const struct fr_group *ring = &x->seats->cp;
    double n = x->work->attentions, B = x->work->cp_B;
    double again = x->plan->recompute != FR_RECOMPUTE_NONE ? 1 : 0;
    if (x->plan->cp <= 1 || B <= 0) return;
    double forward_s = fr_ledger_comm_s(&x->ledger, FR_SENT_CP, FR_OP_ALL_GATHER, ring, B, n);
    double backward_s =
        fr_ledger_comm_s(&x->ledger, FR_SENT_CP, FR_OP_ALL_GATHER, ring, B, (1 + again) * n) +
        fr_ledger_comm_s(&x->ledger, FR_SENT_CP, FR_OP_REDUCE_SCATTER, ring, B, n);
    double core_s = x->work->flash_flop / flash_rate(x),
           again_s = x->work->again_flash / flash_rate(x);
    part->forward.cp_s += fr_device_beside_s(device, forward_s, core_s);
    part->backward.cp_s +=
        fr_device_beside_s(device, backward_s, flash_backward(x) * core_s + again_s);
}

/* To the experts and back, forward and backward; again where all is recomputed. */
static void add_experts(const struct pricing *x, struct fr_stage *part) {
    const struct fr_plan *plan = x->plan;
    if (plan->ep <= 1 || x->work->expert_B <= 0) return;
    double again = plan->recompute == FR_RECOMPUTE_FULL ? 1 : 0, n = 2 * x->work->layers.n;
    double there_s = fr_ledger_comm_s(&x->ledger, FR_SENT_EP, FR_OP_ALL_TO_ALL, &x->seats->ep,
                                      x->work->expert_B, n),
           back_s = fr_ledger_comm_s(&x->ledger, FR_SENT_EP, FR_OP_ALL_TO_ALL, &x->seats->ep,
                                     x->work->expert_B, (1 + again) * n);
    const struct fr_device *device = &x->job->cluster.device;
    bool beside = plan->overlap_experts; /* another micro-batch's products: as long as these */
    part->forward.ep_s +=
        beside ? fr_device_beside_s(device, there_s, part->forward.compute_s) : there_s;
    part->backward.ep_s +=
        beside ? fr_device_beside_s(device, back_s, part->backward.compute_s) : back_s;
}

enum { LAYERS = 1, ENDS = 2 };

/* ---- parts ------------------------------------------------------------------------------- */

static double device_s(const struct fr_pass *pass) {
    return pass->compute_s + pass->launch_s + fr_pass_comm_s(pass);
}

static void add_pass(const struct fr_pass *part, double host_s, struct fr_pass *pass) {
    pass->compute_s += part->compute_s;
    pass->tp_s += part->tp_s;
    pass->cp_s += part->cp_s;
    pass->ep_s += part->ep_s;
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
    const struct fr_group *tp = &x->seats->axis[FR_MESH_TP];
    part->forward.tp_s += tp_time_s(&x->ledger, tp, work->tp_B, &share->forward_tp);
    part->backward.tp_s += tp_time_s(&x->ledger, tp, work->tp_B, &share->backward_tp);
    if (again) part->backward.tp_s += tp_time_s(&x->ledger, tp, work->tp_B, &work->again_tp);
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

/* What branches exchange where they split and join: the host waits too, nothing hides it
 * (Jain et al. 2021, IV). */
static void add_exchanges(const struct pricing *x, struct fr_stage *stage) {
    const struct fr_group *tp = &x->seats->axis[FR_MESH_TP];
    for (int k = 0; k < x->work->n_exchanges; k++) {
        const struct fr_exchange_work *e = &x->work->exchange[k];
        *(e->backward ? &stage->backward.tp_s : &stage->forward.tp_s) +=
            fr_ledger_comm_s(&x->ledger, FR_SENT_TP, e->op, tp, e->size_B, e->count);
    }
}

static void price_layers(struct pricing *x, struct fr_stage *stage) {
    struct fr_stage part = {0};
    add_products(x, 0, x->work->layers.n_gemms, &part);
    add_flash(x, &part);
    add_context(x, &part);
    add_experts(x, &part);
    add_part(x, &x->work->layers, true, &part, stage);
    add_exchanges(x, stage);
}

static void price_ends(struct pricing *x, struct fr_stage *stage) {
    const struct fr_stage_work *work = x->work;
    const struct fr_stage_share *layers = &work->layers;
    const struct fr_stage_share ends = {
        .forward_B = work->forward_B - layers->forward_B,
        .kernels = work->kernels - layers->kernels,
        .common_B = work->ends_common_B,
        .common_kernels = work->ends_common_kernels,
        .forward_tp = tp_difference(&work->forward_tp, &layers->forward_tp),
        .backward_tp = tp_difference(&work->backward_tp, &layers->backward_tp)};
    struct fr_stage part = {0};
    add_products(x, layers->n_gemms, work->n_gemms, &part);
    add_part(x, &ends, false, &part, stage);
}

/* Measured times hold their collectives; what these send is counted all the same. */
static void count_measured(const struct pricing *x, int left) {
    struct fr_stage ignored = {0};
    uint32_t unasked = 0;
    struct pricing counting = *x;
    counting.ledger.extrapolated = &unasked;
    if (!(left & LAYERS)) price_layers(&counting, &ignored);
    if (!(left & ENDS)) price_ends(&counting, &ignored);
}

void fr_pass_price(const struct fr_job *job, const struct fr_plan *plan,
                   const struct fr_seats *seats, const struct fr_stage_work *work,
                   struct fr_stage *stage, uint32_t *extrapolated) {
    double micro_batches = (double)fr_pipeline_micro_batches(job, plan);
    struct pricing x = {.job = job,
                        .plan = plan,
                        .seats = seats,
                        .work = work,
                        .ledger = {.cluster = &job->cluster,
                                   .sent_B = stage->sent_B,
                                   .times = micro_batches,
                                   .extrapolated = extrapolated}};
    struct fr_footprint footprint = {0};
    if (job->cluster.device.working_sets.n > 0)
        fr_footprint_add(&footprint, &job->workload, work->parameters_rank, work->activation_B);
    x.working_set_B = fr_footprint_products_B(&footprint, micro_batches);
    int left = take_profile(&x, stage);
    if (left & LAYERS) price_layers(&x, stage);
    if (left & ENDS) price_ends(&x, stage);
    count_measured(&x, left);
    stage->forward.launch_s += job->cluster.device.host_pass_s;
    stage->backward.launch_s += job->cluster.device.host_pass_s;
    double pass_s = fr_pass_s(&stage->forward, FR_WITH_LAUNCH) +
                    fr_pass_s(&stage->backward, FR_WITH_LAUNCH);
    if (work->idle_ranks > 0) stage->idle_share = work->idle_ranks * stage->common_s / pass_s;
    if (x.outside) *extrapolated |= FR_EXTRAPOLATED_GEMM;
}
