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

/* ---- the grid of a layer --------------------------------------------------------------------- */

/* A rank's part of a layer, and how often it does it. */
struct share {
    struct fr_shard shard;
    double micro_batches; /* of the layer */
    double passes;        /* in each of the stage's */
    const struct fr_group *tp, *dp, *common;
};

static struct fr_shard shard_of(const struct fr_plan *plan, int64_t tp, int64_t dp,
                                double micro_batch) {
    return (struct fr_shard){.tp = (double)tp,
                             .dp = (double)dp,
                             .ghost = (double)plan->ghost,
                             .batch = micro_batch,
                             .common_subgrid = plan->common_subgrid,
                             .gather_all = plan->gather_all};
}

/* Of the plan's own axes, as its placement seats them. */
static struct share share_of(const struct fr_job *job, const struct fr_plan *plan,
                             const struct fr_seats *seats) {
    double micro = (double)fr_job_pipeline_micro_batch(job, plan);
    return (struct share){.shard = shard_of(plan, plan->tp, plan->dp, micro),
                          .micro_batches =
                              (double)fr_job_batch(job, plan) / (double)plan->dp / micro,
                          .passes = 1,
                          .tp = &seats->axis[FR_MESH_TP],
                          .dp = &seats->axis[FR_MESH_DP],
                          .common = &seats->common};
}

/* Of a grid of its own: unless the plan says otherwise all samples of a rank at once. */
static struct share share_of_grid(const struct fr_job *job, const struct fr_plan *plan,
                                  int64_t tp, double micro_batches, struct fr_group axis[2]) {
    const struct fr_levels *levels = &job->cluster.levels;
    int64_t dp = fr_plan_ranks(plan) / tp;
    double own = (double)fr_job_batch(job, plan) / (double)dp,
           micro = plan->micro_batch ? (double)plan->micro_batch : own;
    axis[0] = fr_group_make(levels, tp, 1);
    axis[1] = fr_group_make(levels, dp, tp);
    return (struct share){.shard = shard_of(plan, tp, dp, micro),
                          .micro_batches = own / micro,
                          .passes = own / micro / micro_batches,
                          .tp = &axis[0],
                          .dp = &axis[1]};
}

/* ---- what cannot be -------------------------------------------------------------------------- */

static fr_reasons check_layer(const struct fr_job *job, const struct fr_plan *plan, int k) {
    int64_t ranks = fr_plan_ranks(plan) / plan->pp, batch = fr_job_batch(job, plan);
    int64_t tp = plan->layer_tp ? plan->layer_tp[k] : plan->tp;
    if (ranks % tp != 0 || batch % (ranks / tp) != 0) return FR_BECAUSE(FR_REASON_LAYER_TP);
    bool whole = plan->layer_tp && !plan->micro_batch;
    int64_t micro = whole ? batch * tp / ranks : fr_job_pipeline_micro_batch(job, plan);
    struct fr_shard shard = shard_of(plan, tp, ranks / tp, (double)micro);
    return plan->method->check(&job->workload.layers[k], &shard);
}

/* A grid for every layer, of a method that has them, where ranks lie in their order. */
static fr_reasons check_grids(const struct fr_job *job, const struct fr_plan *plan) {
    fr_reasons reasons = 0;
    if (!plan->layer_tp) return 0;
    if (plan->method != &fr_method_grid || plan->n_layer_tp != job->workload.n_layers)
        reasons |= FR_BECAUSE(FR_REASON_LAYER_TP);
    if (plan->placement.row != &fr_placement_linear) reasons |= FR_BECAUSE(FR_REASON_PLACEMENT);
    return reasons;
}

static fr_reasons check_stages(const struct fr_job *job, const struct fr_plan *plan) {
    fr_reasons reasons = 0;
    int64_t layers = layer_count(&job->workload), listed = 0;
    for (int k = 0; k < plan->n_stage_layers; k++) listed += plan->stage_layers[k];
    bool fits = plan->stage_layers ? plan->n_stage_layers == plan->pp && listed == layers
                                   : plan->pp * plan->chunks <= layers;
    if (!fits) reasons |= FR_BECAUSE(FR_REASON_STAGES);
    if (plan->layer_tp) reasons |= FR_BECAUSE(FR_REASON_PIPELINE);
    if (plan->chunks > 1 && job->workload.n_layers > 1)
        reasons |= FR_BECAUSE(FR_REASON_SCHEDULE);
    return reasons;
}

fr_reasons fr_layers_check(const struct fr_job *job, const struct fr_plan *plan) {
    const struct fr_workload *w = &job->workload;
    fr_reasons reasons = check_grids(job, plan);
    if (fr_job_is_pipeline(job, plan)) reasons |= check_stages(job, plan);
    if (plan->recompute) reasons |= FR_BECAUSE(FR_REASON_RECOMPUTE);
    if (!job->cluster.device.gemm[w->dtype].form) reasons |= FR_BECAUSE(FR_REASON_DTYPE);
    if (reasons & FR_BECAUSE(FR_REASON_LAYER_TP)) return reasons;
    for (int k = 0; k < w->n_layers; k++) reasons |= check_layer(job, plan, k);
    return reasons;
}

/* ---- what it costs --------------------------------------------------------------------------- */

/* What one layer adds to its stage, @p n times. */
struct adding {
    const struct fr_job *job;
    const struct fr_plan *plan;
    struct fr_stage *stage;
    struct share share;      /* of the layer at hand */
    struct fr_group axis[2]; /* of its own grid */
    double micro_batches;    /* of the stage */
    uint32_t *extrapolated;
    struct fr_footprint footprint;
    double idle_s; /* of a pass, that a rank in the mean waits for others */
};

/* Products come in threes: forward, input gradient, weight gradient (fr_work_add_operator). */
static void add_products(const struct adding *a, const struct fr_layer_work *work, double n) {
    double set_B = fr_footprint_products_B(&a->footprint, a->share.micro_batches);
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

/* In buckets gradients are priced, and booked, later. */
static void add_collectives(const struct adding *a, const struct fr_layer_work *work,
                            double n) {
    const struct share *share = &a->share;
    for (int k = 0; k < work->n_comms; k++) {
        const struct fr_comm_work *comm = &work->comm[k];
        bool tp = comm->axis == FR_AXIS_TP, all = comm->axis == FR_AXIS_COMMON;
        const struct fr_group *group = tp ? share->tp : all ? share->common : share->dp;
        const struct fr_ledger ledger = {.cluster = &a->job->cluster,
                                         .sent_B = a->stage->sent_B,
                                         .times = tp ? a->micro_batches : 1,
                                         .extrapolated = a->extrapolated};
        if (!tp) *(all ? &a->stage->common_B : &a->stage->gradient_B) += n * comm->size_B;
        if (!tp && a->plan->overlap) continue;
        double time_s = fr_ledger_comm_s(&ledger, tp ? FR_SENT_TP : FR_SENT_DP, comm->op, group,
                                         comm->size_B, tp ? n * share->passes : n);
        *(!tp              ? &a->stage->gradient_s
          : comm->backward ? &a->stage->backward.tp_s
                           : &a->stage->forward.tp_s) += time_s;
    }
}

static double alone_s(const struct fr_stage *stage) {
    return fr_pass_s(&stage->forward, FR_WITH_LAUNCH) +
           fr_pass_s(&stage->backward, FR_WITH_LAUNCH);
}

static void add_layer(struct adding *a, const struct fr_layer_work *work, double n) {
    const struct fr_workload *w = &a->job->workload;
    struct fr_stage *stage = a->stage;
    double before_s = work->idle_share > 0 ? alone_s(stage) : 0;
    add_products(a, work, n * a->share.passes);
    add_elementwise(a, work, n * a->share.passes);
    if (work->idle_share > 0) a->idle_s += work->idle_share * (alone_s(stage) - before_s);
    add_collectives(a, work, n);
    double update_s =
        n * fr_cluster_traffic_s(&a->job->cluster, w->dtype, FR_TRAFFIC_UPDATE,
                                 work->parameters_rank_max * fr_workload_update_B(w),
                                 fr_footprint_update_B(&a->footprint));
    stage->optimizer_s += update_s;
    stage->optimizer_idle_s += work->idle_share * update_s;
    stage->parameters += n * work->parameters;
    stage->parameters_rank += n * work->parameters_rank_max;
    stage->activation_B += n * work->activation_B;
    if (work->buffer_B > stage->working_B) stage->working_B = work->buffer_B;
}

/* A method sets whatever it does not add to; what it adds to begins at 0. */
static void make_work(const struct adding *a, int k, struct fr_layer_work *work) {
    const struct fr_workload *w = &a->job->workload;
    work->n_gemms = work->n_comms = 0;
    work->buffer_B = work->idle_share = 0;
    a->plan->method->layer(w, &w->layers[k], &a->share.shard, work);
}

/* Layers of entry @p k, which begins at layer @p at, that are among those of [from, to). */
static double layers_within(const struct fr_workload *w, int k, double at, double from,
                            double to) {
    double end = at + w->layers[k].repeat;
    return (to < end ? to : end) - (from > at ? from : at);
}

/* The grid of entry @p k, where layers have their own. */
static void take_grid(struct adding *a, int k) {
    if (a->plan->layer_tp)
        a->share =
            share_of_grid(a->job, a->plan, a->plan->layer_tp[k], a->micro_batches, a->axis);
}

/* What a rank goes through in a step; asked for only where it decides a rate. */
static void find_footprint(struct adding *a, double from, double to) {
    const struct fr_workload *w = &a->job->workload;
    double at = 0;
    if (a->job->cluster.device.working_sets.n == 0) return;
    for (int k = 0; k < w->n_layers; at += w->layers[k++].repeat) {
        double n = layers_within(w, k, at, from, to);
        struct fr_layer_work work;
        if (n <= 0) continue;
        take_grid(a, k);
        make_work(a, k, &work);
        fr_footprint_add(&a->footprint, w, n * work.parameters_rank_max, n * work.activation_B);
    }
}

/* The next stage begins with entry @p k: what enters it crosses the boundary. */
static void size_message(const struct adding *a, int k) {
    const struct fr_workload *w = &a->job->workload;
    const struct fr_plan *plan = a->plan;
    double micro = (double)fr_job_pipeline_micro_batch(a->job, plan),
           whole_B = micro * w->layers[k].inputs * fr_dtype_size_B(w->dtype);
    bool one_rank = plan->common_subgrid; /* inside a section's parts too */
    a->stage->message_B = one_rank ? whole_B : whole_B / (double)plan->tp;
    a->stage->gathered_B = plan->tp > 1 && !plan->method->divided ? whole_B : 0;
}

void fr_layers_stage(const struct fr_job *job, const struct fr_plan *plan,
                     const struct fr_seats *seats, int32_t i, struct fr_stage *stage,
                     uint32_t *extrapolated) {
    const struct fr_workload *w = &job->workload;
    bool one = plan->pp == 1;
    double from = one ? 0 : (double)first_layer(job, plan, i),
           to = one ? INFINITY : (double)first_layer(job, plan, i + 1), at = 0;
    struct adding a = {.job = job,
                       .plan = plan,
                       .stage = stage,
                       .share = share_of(job, plan, seats),
                       .extrapolated = extrapolated};
    a.micro_batches = a.share.micro_batches;
    find_footprint(&a, from, to);
    for (int k = 0; k < w->n_layers; at += w->layers[k++].repeat) {
        double n = layers_within(w, k, at, from, to);
        struct fr_layer_work work;
        if (at <= to && to < at + w->layers[k].repeat) size_message(&a, k);
        if (n <= 0) continue;
        take_grid(&a, k);
        make_work(&a, k, &work);
        add_layer(&a, &work, n);
        if (plan->layer_tp && k > 0)
            stage->redistribution_s += fr_redistribution_s(
                job, fr_plan_ranks(plan), plan->layer_tp[k - 1], plan->layer_tp[k],
                w->layers[k].inputs, (double)fr_job_batch(job, plan));
    }
    if (a.idle_s > 0) stage->idle_share = a.idle_s / alone_s(stage);
}

double fr_redistribution_s(const struct fr_job *job, int64_t ranks, int64_t tp_before,
                           int64_t tp_after, double values, double global_batch) {
    if (tp_before == tp_after) return 0;
    int64_t dp_before = ranks / tp_before, dp_after = ranks / tp_after;
    int64_t fewer = dp_before < dp_after ? dp_before : dp_after;
    int64_t more = dp_before < dp_after ? dp_after : dp_before;
    int64_t neighbours = (more + fewer - 1) / fewer,
            stride = tp_before < tp_after ? tp_before : tp_after;
    double size_B =
        values * global_batch / (double)fewer * fr_dtype_size_B(job->workload.dtype);
    struct fr_group group = fr_group_make(&job->cluster.levels, neighbours, stride);
    bool extrapolated = false;
    return fr_comm_time_s(&job->cluster.price[FR_OP_ALL_GATHER], &group, size_B, &extrapolated);
}

/* The other layers' grids are not chosen yet: they are taken to be as large on a rank. */
double fr_layer_time_s(const struct fr_job *job, const struct fr_plan *plan, int k) {
    const struct fr_workload *w = &job->workload;
    struct fr_seats seats;
    struct fr_layer_work work;
    struct fr_stage stage = {0};
    uint32_t extrapolated = 0;
    struct adding a = {
        .job = job, .plan = plan, .stage = &stage, .extrapolated = &extrapolated};
    if (fr_job_batch(job, plan) % plan->dp != 0) return INFINITY;
    bool made = fr_seats_make(job, plan, &seats, NULL) == FR_OK;
    if (made) a.share = share_of(job, plan, &seats);
    fr_seats_free(&seats);
    if (!made || plan->method->check(&w->layers[k], &a.share.shard)) return INFINITY;
    a.micro_batches = a.share.micro_batches;
    make_work(&a, k, &work);
    for (int j = 0; j < w->n_layers; j++)
        fr_footprint_add(&a.footprint, w, w->layers[j].repeat * work.parameters_rank_max,
                         w->layers[j].repeat * work.activation_B);
    add_layer(&a, &work, w->layers[k].repeat);
    return a.micro_batches * (fr_pass_s(&stage.forward, FR_WITH_ALL) +
                              fr_pass_s(&stage.backward, FR_WITH_ALL)) +
           stage.gradient_s + stage.optimizer_s;
}
