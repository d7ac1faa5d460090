#include "models/price/layers.h"

#include <math.h>

#include "models/price/footprint.h"
#include "models/work/method.h"

static int64_t layer_count(const struct fr_workload *w) {
    double count = 0;
    for (int i = 0; i < w->n_layers; i++) count += w->layers[i].repeat;
    return (int64_t)count;
}

/* Layers of stages before @p i. */
static int64_t first_layer(const struct fr_job *job, const struct fr_plan *plan, int64_t i) {
    int64_t layers = layer_count(&job->workload), before = 0;
    if (!plan->stage_layers) {
        int64_t more = layers % plan->pp; /* the earlier stages take one more */
        return i * (layers / plan->pp) + (i < more ? i : more);
    }
    for (int64_t k = 0; k < i; k++) before += plan->stage_layers[k];
    return before;
}

static struct fr_shard shard_of(const struct fr_plan *plan, double micro_batch) {
    return (struct fr_shard){.tp = (double)plan->tp,
                             .dp = (double)plan->dp,
                             .ghost = (double)plan->ghost,
                             .batch = micro_batch,
                             .common_subgrid = plan->common_subgrid,
                             .gather_all = plan->gather_all};
}

fr_reasons fr_pipeline_layers_check(const struct fr_job *job, const struct fr_plan *plan) {
    const struct fr_workload *w = &job->workload;
    struct fr_shard shard = shard_of(plan, (double)fr_job_pipeline_micro_batch(job, plan));
    fr_reasons reasons = 0;
    int64_t layers = layer_count(w), listed = 0;
    for (int k = 0; k < plan->n_stage_layers; k++) listed += plan->stage_layers[k];
    bool fits = plan->stage_layers ? plan->n_stage_layers == plan->pp && listed == layers
                                   : plan->pp * plan->chunks <= layers;
    if (!fits) reasons |= FR_BECAUSE(FR_REASON_STAGES);
    if (plan->layer_tp) reasons |= FR_BECAUSE(FR_REASON_PIPELINE);
    if (plan->chunks > 1 && w->n_layers > 1) reasons |= FR_BECAUSE(FR_REASON_SCHEDULE);
    if (plan->recompute) reasons |= FR_BECAUSE(FR_REASON_RECOMPUTE);
    if (!job->cluster.device.gemm[w->dtype].form) reasons |= FR_BECAUSE(FR_REASON_DTYPE);
    for (int k = 0; k < w->n_layers; k++) reasons |= plan->method->check(&w->layers[k], &shard);
    return reasons;
}

/* What one layer adds to its stage, @p n times. */
struct adding {
    const struct fr_job *job;
    struct fr_stage *stage;
    struct fr_pipeline *p;
    const struct fr_seats *seats;
    uint32_t *extrapolated;
    bool buckets; /* gradients go in buckets, whatever layer they are of */
    struct fr_footprint footprint;
};

/* Products come in threes: forward, input gradient, weight gradient (fr_work_add_operator). */
static void add_products(const struct adding *a, const struct fr_layer_work *work, double n) {
    double set_B = fr_footprint_products_B(&a->footprint, a->p->args.micro_batches);
    bool outside = false;
    for (int k = 0; k < work->n_gemms; k++) {
        double time_s = n * work->gemm[k].count *
                        fr_device_product_s(&a->job->cluster.device, a->job->workload.dtype,
                                            &work->gemm[k].shape, set_B, &outside);
        struct fr_pass *pass = k % 3 == 0 ? &a->stage->forward : &a->stage->backward;
        pass->compute_s += time_s;
        if (k % 3 == 2) a->stage->weight.compute_s += time_s;
    }
    if (outside) *a->extrapolated |= FR_EXTRAPOLATED_GEMM;
}

static void add_elementwise(const struct adding *a, const struct fr_layer_work *work,
                            double n) {
    const struct fr_cluster *cluster = &a->job->cluster;
    double forward = FR_ELEMENTWISE_PASSES_FORWARD / FR_ELEMENTWISE_PASSES,
           launched = FR_KERNELS_FORWARD / FR_KERNELS_PER_OPERATOR;
    double moved_s = n * fr_cluster_elementwise_s(cluster, a->job->workload.dtype,
                                                  fr_layer_elementwise(work));
    double launch_s = n * work->kernels * fr_device_layer_launch_s(&cluster->device);
    a->stage->forward.compute_s += forward * moved_s;
    a->stage->backward.compute_s += (1 - forward) * moved_s;
    a->stage->forward.launch_s += launched * launch_s;
    a->stage->backward.launch_s += (1 - launched) * launch_s;
    a->stage->weight.launch_s += launch_s / FR_KERNELS_PER_OPERATOR; /* one of the products */
}

static void add_collectives(const struct adding *a, const struct fr_layer_work *work,
                            double n) {
    for (int k = 0; k < work->n_comms; k++) {
        const struct fr_comm_work *comm = &work->comm[k];
        bool tp = comm->axis == FR_AXIS_TP, all = comm->axis == FR_AXIS_COMMON;
        const struct fr_group *group =
            all ? &a->seats->common : &a->seats->axis[tp ? FR_MESH_TP : FR_MESH_DP];
        double aside_B[FR_SENT_COUNT] = {
            0}; /* in buckets gradients are priced, and booked, later */
        const struct fr_ledger ledger = {.cluster = &a->job->cluster,
                                         .sent_B =
                                             !tp && a->buckets ? aside_B : a->stage->sent_B,
                                         .times = tp ? a->p->args.micro_batches : 1,
                                         .extrapolated = a->extrapolated};
        double time_s = fr_ledger_comm_s(&ledger, tp ? FR_SENT_TP : FR_SENT_DP, comm->op, group,
                                         comm->size_B, n);
        if (!tp) {
            a->stage->gradient_s += time_s;
            *(all ? &a->stage->common_B : &a->stage->gradient_B) += n * comm->size_B;
            continue;
        }
        *(comm->backward ? &a->stage->backward.tp_s : &a->stage->forward.tp_s) += time_s;
    }
}

static void add_layer(const struct adding *a, const struct fr_layer_work *work, double n) {
    const struct fr_workload *w = &a->job->workload;
    struct fr_stage *stage = a->stage;
    add_products(a, work, n);
    add_elementwise(a, work, n);
    add_collectives(a, work, n);
    stage->optimizer_s +=
        n * fr_cluster_traffic_s(&a->job->cluster, w->dtype, FR_TRAFFIC_UPDATE,
                                 work->parameters_rank_max * fr_workload_update_B(w),
                                 fr_footprint_update_B(&a->footprint));
    stage->parameters += n * work->parameters;
    stage->parameters_rank += n * work->parameters_rank_max;
    stage->activation_B += n * work->activation_B;
    stage->working_B = fmax(stage->working_B, work->buffer_B);
}

/* Layers of entry @p k, which begins at layer @p at, that are among those of [from, to). */
static double layers_within(const struct fr_workload *w, int k, double at, double from,
                            double to) {
    return fmin(to, at + w->layers[k].repeat) - fmax(from, at);
}

static struct fr_footprint stage_footprint(const struct fr_workload *w,
                                           const struct fr_plan *plan,
                                           const struct fr_shard *shard, double from,
                                           double to) {
    struct fr_footprint footprint = {0};
    double at = 0;
    for (int k = 0; k < w->n_layers; at += w->layers[k++].repeat) {
        double n = layers_within(w, k, at, from, to);
        struct fr_layer_work work = {0};
        if (n <= 0) continue;
        plan->method->layer(w, &w->layers[k], shard, &work);
        fr_footprint_add(&footprint, w, n * work.parameters_rank_max, n * work.activation_B);
    }
    return footprint;
}

void fr_pipeline_layers_stage(const struct fr_job *job, const struct fr_plan *plan,
                              const struct fr_seats *seats, int32_t i, struct fr_pipeline *p,
                              uint32_t *extrapolated) {
    const struct fr_workload *w = &job->workload;
    double micro = (double)fr_job_pipeline_micro_batch(job, plan),
           from = (double)first_layer(job, plan, i), to = (double)first_layer(job, plan, i + 1),
           at = 0;
    struct fr_shard shard = shard_of(plan, micro);
    struct adding a = {.job = job,
                       .stage = &p->stage[i],
                       .p = p,
                       .seats = seats,
                       .extrapolated = extrapolated,
                       .buckets = plan->overlap};
    if (job->cluster.device.working_sets.n > 0)
        a.footprint = stage_footprint(w, plan, &shard, from, to);
    for (int k = 0; k < w->n_layers; at += w->layers[k++].repeat) {
        double n = layers_within(w, k, at, from, to);
        struct fr_layer_work work = {0};
        if (at <= to && to < at + w->layers[k].repeat) { /* the next stage begins with it */
            double whole_B = micro * w->layers[k].inputs * fr_dtype_size_B(w->dtype);
            a.stage->message_B = whole_B / (double)plan->tp;
            if (plan->method == &fr_method_subgraph && plan->common_subgrid)
                a.stage->message_B = whole_B; /* on one rank, inside a section's parts too */
            a.stage->gathered_B = plan->tp > 1 && !plan->method->divided ? whole_B : 0;
        }
        if (n <= 0) continue;
        plan->method->layer(w, &w->layers[k], &shard, &work);
        add_layer(&a, &work, n);
    }
    p->gradient_B += a.stage->gradient_B + a.stage->common_B;
}
