#include "models/outcome/cost.h"

#include <math.h>

#include "models/outcome/disturbed.h"
#include "models/plan/key.h"
#include "models/price/footprint.h"
#include "models/price/pipeline.h"
#include "models/price/seats.h"
#include "models/work/method.h"

const char *const fr_part_names[] = {
#define FR_PART_NAME(code, name) #name,
    FR_PART_LIST(FR_PART_NAME)
#undef FR_PART_NAME
        NULL};

const char *const fr_sent_names[] = {
#define FR_SENT_NAME(code, name) #name,
    FR_SENT_LIST(FR_SENT_NAME)
#undef FR_SENT_NAME
        NULL};

const char *const fr_memory_names[] = {
#define FR_MEMORY_NAME(code, name) #name,
    FR_MEMORY_LIST(FR_MEMORY_NAME)
#undef FR_MEMORY_NAME
        NULL};

/* The mesh as pricing needs it, worked out once a plan (or once a layer with its own grid). */
struct mesh {
    struct fr_shard shard;
    struct fr_group tp, dp, all;
    double micro_batches;
    struct fr_footprint footprint; /* zeroes where the device has no rates by working set */
};

static struct mesh mesh_make(const struct fr_job *job, const struct fr_plan *plan, int64_t tp,
                             int64_t dp) {
    double local = (double)fr_job_batch(job, plan) / (double)dp;
    double micro = plan->micro_batch ? (double)plan->micro_batch : local;
    return (struct mesh){
        .shard = {.tp = (double)tp,
                  .dp = (double)dp,
                  .ghost = (double)plan->ghost,
                  .batch = micro,
                  .common_subgrid = plan->common_subgrid,
                  .gather_all = plan->gather_all},
        .tp = fr_group_make(&job->cluster.levels, tp, 1),
        .dp = fr_group_make(&job->cluster.levels, dp, tp * plan->pp),
        .micro_batches = local / micro,
    };
}

/* The same for the plan's own axes, as its placement seats them; false without memory. */
static bool mesh_seat(const struct fr_job *job, const struct fr_plan *plan, struct mesh *mesh) {
    struct fr_seats seats;
    bool made = fr_seats_make(job, plan, &seats, NULL) == FR_OK;
    *mesh = mesh_make(job, plan, plan->tp, plan->dp);
    if (made) {
        mesh->tp = seats.axis[FR_MESH_TP];
        mesh->dp = seats.axis[FR_MESH_DP];
        mesh->all = seats.common;
    }
    fr_seats_free(&seats);
    return made;
}

/* Reasons that do not depend on the layers.  A batch smaller than dp cannot be divided; one
 * that dp does not divide would leave ranks waiting, which nothing here prices. */
static fr_reasons check_mesh(const struct fr_job *job, const struct fr_plan *plan) {
    fr_reasons reasons = 0;
    const char *needs;
    int64_t batch = fr_job_batch(job, plan);
    if (fr_plan_ranks(plan) > fr_levels_capacity(&job->cluster.levels))
        reasons |= FR_BECAUSE(FR_REASON_RANKS);
    if (plan->recompute != FR_RECOMPUTE_NONE) reasons |= FR_BECAUSE(FR_REASON_RECOMPUTE);
    if (fr_plan_compresses(plan)) reasons |= FR_BECAUSE(FR_REASON_COMPRESSION);
    if (fr_seats_refused(plan) ||
        (plan->layer_tp && plan->placement.row != &fr_placement_linear))
        reasons |= FR_BECAUSE(FR_REASON_PLACEMENT);
    if (fr_plan_idle_key(&job->workload, plan, &needs))
        reasons |= FR_BECAUSE(FR_REASON_IDLE_KEY);
    if (!job->cluster.device.gemm[job->workload.dtype].form)
        reasons |= FR_BECAUSE(FR_REASON_DTYPE);
    if (batch % plan->dp != 0) return reasons | FR_BECAUSE(FR_REASON_BATCH);
    if (plan->micro_batch && (batch / plan->dp) % plan->micro_batch != 0)
        reasons |= FR_BECAUSE(FR_REASON_MICRO_BATCH);
    return reasons;
}

/* The tp of layer entry @p i, and whether such a grid exists. */
static int64_t layer_tp(const struct fr_plan *plan, int i) {
    return plan->layer_tp ? plan->layer_tp[i] : plan->tp;
}

static fr_reasons check_layers(const struct fr_job *job, const struct fr_plan *plan) {
    fr_reasons reasons = 0;
    int64_t ranks = fr_plan_ranks(plan), batch = fr_job_batch(job, plan);
    if (plan->layer_tp && plan->n_layer_tp != job->workload.n_layers)
        return FR_BECAUSE(FR_REASON_LAYER_TP);
    for (int i = 0; i < job->workload.n_layers; i++) {
        int64_t tp = layer_tp(plan, i);
        if (ranks % tp != 0 || batch % (ranks / tp) != 0 ||
            (plan->layer_tp && plan->method != &fr_method_grid)) {
            reasons |= FR_BECAUSE(FR_REASON_LAYER_TP);
            continue;
        }
        struct fr_shard shard = {
            .tp = (double)tp,
            .dp = (double)(ranks / tp),
            .ghost = (double)plan->ghost,
            .batch = (double)(plan->micro_batch ? plan->micro_batch : batch * tp / ranks),
            .common_subgrid = plan->common_subgrid};
        reasons |= plan->method->check(&job->workload.layers[i], &shard);
    }
    return reasons;
}

struct layer_price {
    double compute_s, launch_s, tp_s, dp_s;
    double sent_B[FR_SENT_COUNT];
};

/* Price one layer's work: every product, kernel, byte and collective on its own. */
static struct layer_price price_layer(const struct fr_job *job, const struct mesh *mesh,
                                      const struct fr_layer_work *work,
                                      uint32_t *extrapolated) {
    const struct fr_device *device = &job->cluster.device;
    fr_dtype dtype = job->workload.dtype;
    struct layer_price price = {0};
    bool outside = false;
    double set_B = fr_footprint_products_B(&mesh->footprint, mesh->micro_batches);
    for (int i = 0; i < work->n_gemms; i++)
        price.compute_s +=
            work->gemm[i].count *
            fr_device_product_s(device, dtype, &work->gemm[i].shape, set_B, &outside);
    if (outside) *extrapolated |= FR_EXTRAPOLATED_GEMM;
    price.compute_s +=
        fr_cluster_elementwise_s(&job->cluster, dtype, fr_layer_elementwise(work));
    price.compute_s *= mesh->micro_batches;
    price.launch_s = mesh->micro_batches * work->kernels * fr_device_layer_launch_s(device);
    for (int i = 0; i < work->n_comms; i++) {
        const struct fr_comm_work *comm = &work->comm[i];
        const struct fr_group *group = comm->axis == FR_AXIS_TP   ? &mesh->tp
                                       : comm->axis == FR_AXIS_DP ? &mesh->dp
                                                                  : &mesh->all;
        bool tp = comm->axis == FR_AXIS_TP;
        const struct fr_ledger ledger = {.cluster = &job->cluster,
                                         .sent_B = price.sent_B,
                                         .times = tp ? mesh->micro_batches : 1,
                                         .extrapolated = extrapolated};
        *(tp ? &price.tp_s : &price.dp_s) +=
            ledger.times * fr_ledger_comm_s(&ledger, tp ? FR_SENT_TP : FR_SENT_DP, comm->op,
                                            group, comm->size_B, 1);
    }
    /* The optimiser, once an iteration. */
    price.compute_s +=
        fr_cluster_traffic_s(&job->cluster, dtype, FR_TRAFFIC_UPDATE,
                             work->parameters_rank_max * fr_workload_update_B(&job->workload),
                             fr_footprint_update_B(&mesh->footprint));
    return price;
}

static void add_layer(const struct fr_job *job, const struct mesh *mesh,
                      const struct fr_layer *layer, const struct fr_layer_work *work,
                      struct fr_outcome *out) {
    const struct fr_workload *workload = &job->workload;
    struct layer_price price = price_layer(job, mesh, work, &out->extrapolated);
    double n = layer->repeat;
    out->waiting_s += n * work->idle_share * (price.compute_s + price.launch_s);
    out->part_s[FR_PART_COMPUTE] += n * price.compute_s;
    out->part_s[FR_PART_LAUNCH] += n * price.launch_s;
    out->part_s[FR_PART_TP_COMM] += n * price.tp_s;
    out->part_s[FR_PART_DP_COMM] += n * price.dp_s;
    for (int axis = 0; axis < FR_SENT_COUNT; axis++)
        out->sent_B[axis] += n * price.sent_B[axis];
    out->parameters += n * work->parameters;
    out->parameters_rank_max += n * work->parameters_rank_max;
    out->memory_B[FR_MEMORY_PARAMETERS] +=
        n * work->parameters_rank_max * fr_dtype_size_B(workload->dtype);
    out->memory_B[FR_MEMORY_GRADIENTS] +=
        n * work->parameters_rank_max * fr_dtype_size_B(workload->gradient_dtype);
    out->memory_B[FR_MEMORY_OPTIMIZER] +=
        n * work->parameters_rank_max * workload->optimizer_state_B;
    out->memory_B[FR_MEMORY_ACTIVATIONS] += n * work->activation_B;
    out->memory_B[FR_MEMORY_BUFFERS] = fmax(out->memory_B[FR_MEMORY_BUFFERS], work->buffer_B);
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

double fr_layer_time_s(const struct fr_job *job, const struct fr_plan *plan, int i) {
    const struct fr_layer *layer = &job->workload.layers[i];
    if (fr_job_batch(job, plan) % plan->dp != 0) return INFINITY;
    struct fr_layer_work work = {0};
    struct mesh mesh;
    uint32_t extrapolated = 0;
    if (!mesh_seat(job, plan, &mesh)) return INFINITY;
    if (plan->method->check(layer, &mesh.shard)) return INFINITY;
    plan->method->layer(&job->workload, layer, &mesh.shard, &work);
    /* The other layers' grids are not chosen yet: they are taken to be as large on a rank. */
    for (int k = 0; k < job->workload.n_layers; k++)
        fr_footprint_add(&mesh.footprint, &job->workload,
                         job->workload.layers[k].repeat * work.parameters_rank_max,
                         job->workload.layers[k].repeat * work.activation_B);
    struct layer_price p = price_layer(job, &mesh, &work, &extrapolated);
    return layer->repeat * (p.compute_s + p.launch_s + p.tp_s + p.dp_s);
}

/* A method sets whatever it does not add to; what it adds to begins at 0. */
static void layer_work(const struct fr_job *job, const struct fr_plan *plan, int i,
                       const struct fr_shard *shard, struct fr_layer_work *work) {
    work->n_gemms = work->n_comms = 0;
    work->buffer_B = work->idle_share = 0;
    plan->method->layer(&job->workload, &job->workload.layers[i], shard, work);
}

/* What a rank goes through in a step, over all layers; asked for only where it decides a rate. */
static struct fr_footprint plan_footprint(const struct fr_job *job, const struct fr_plan *plan,
                                          const struct mesh *whole) {
    const struct fr_workload *workload = &job->workload;
    struct fr_footprint footprint = {0};
    int64_t ranks = fr_plan_ranks(plan);
    if (job->cluster.device.working_sets.n == 0) return footprint;
    for (int i = 0; i < workload->n_layers; i++) {
        struct fr_shard shard = whole->shard;
        struct fr_layer_work work;
        if (plan->layer_tp)
            shard = mesh_make(job, plan, plan->layer_tp[i], ranks / plan->layer_tp[i]).shard;
        layer_work(job, plan, i, &shard, &work);
        double n = workload->layers[i].repeat;
        fr_footprint_add(&footprint, workload, n * work.parameters_rank_max,
                         n * work.activation_B);
    }
    return footprint;
}

static bool add_layers(const struct fr_job *job, const struct fr_plan *plan,
                       struct fr_outcome *out) {
    const struct fr_workload *workload = &job->workload;
    int64_t ranks = fr_plan_ranks(plan);
    struct mesh mesh;
    if (!mesh_seat(job, plan, &mesh)) return false;
    const struct fr_footprint footprint = plan_footprint(job, plan, &mesh);
    mesh.footprint = footprint;
    for (int i = 0; i < workload->n_layers; i++) {
        const struct fr_layer *layer = &workload->layers[i];
        struct fr_layer_work work;
        if (plan->layer_tp) {
            mesh = mesh_make(job, plan, plan->layer_tp[i], ranks / plan->layer_tp[i]);
            mesh.footprint = footprint;
        }
        layer_work(job, plan, i, &mesh.shard, &work);
        add_layer(job, &mesh, layer, &work, out);
        if (plan->layer_tp && i > 0)
            out->part_s[FR_PART_REDISTRIBUTION] +=
                fr_redistribution_s(job, ranks, plan->layer_tp[i - 1], plan->layer_tp[i],
                                    layer->inputs, (double)fr_job_batch(job, plan));
    }
    return true;
}

static void add_energy(const struct fr_job *job, struct fr_outcome *out) {
    const struct fr_power *power = &job->cluster.device.power;
    double busy_s = out->part_s[FR_PART_COMPUTE] + out->part_s[FR_PART_LAUNCH] +
                    out->part_s[FR_PART_FIXED] - out->waiting_s;
    double idle_s = out->part_s[FR_PART_BUBBLE] + out->waiting_s;
    double comm_s = out->time_s - busy_s - idle_s;
    out->energy_J =
        power->known ? (double)out->ranks * (power->busy_W * busy_s + power->idle_W * idle_s +
                                             power->communicating_W * comm_s)
                     : NAN;
}

void fr_outcome_add_totals(const struct fr_job *job, struct fr_outcome *out) {
    const struct fr_plan *plan = &out->plan;
    out->iterations = NAN;
    if (plan->iterations > 0) {
        out->iterations = plan->iterations;
        out->iterations_origin = FR_ITERATIONS_GIVEN;
    } else
        out->iterations_origin =
            fr_iterations_find(&job->workload, plan->method, plan->tp, plan->ghost,
                               fr_job_batch(job, plan), &out->iterations);
    out->total_time_s = out->iterations * out->time_s;
    out->total_energy_J = out->iterations * out->energy_J;
}

void fr_cost(const struct fr_job *job, const struct fr_plan *given, struct fr_outcome *out) {
    const struct fr_device *device = &job->cluster.device;
    struct fr_plan full = fr_job_fill(job, given), *plan = &full;
    if (fr_job_is_disturbed(job)) {
        struct fr_job own;
        fr_job_disturbed(job, plan, &own);
        fr_cost(&own, plan, out);
        return;
    }
    if (fr_job_is_pipeline(job, plan)) {
        fr_pipeline_cost(job, plan, out);
        return;
    }
    *out = (struct fr_outcome){.plan = *plan, .ranks = fr_plan_ranks(plan)};
    out->reasons = check_mesh(job, plan) | check_layers(job, plan);
    if (out->reasons) {
        out->time_s = out->energy_J = out->iterations = out->total_time_s =
            out->total_energy_J = NAN;
        return;
    }
    if (!add_layers(job, plan, out)) {
        out->reasons = FR_BECAUSE(FR_REASON_SIZE);
        out->time_s = out->energy_J = out->iterations = out->total_time_s =
            out->total_energy_J = NAN;
        return;
    }
    out->part_s[FR_PART_FIXED] = device->fixed_s;
    for (int i = 0; i < FR_PART_COUNT; i++) out->time_s += out->part_s[i];
    out->fullest_rank = plan->method == &fr_method_subgraph ? -1 : 0; /* else all are alike */
    out->memory_B[FR_MEMORY_FRAGMENTATION] = fr_memory_fragmentation_B(device, out->memory_B);
    for (int i = 0; i < FR_MEMORY_COUNT; i++) out->memory_peak_B += out->memory_B[i];
    if (device->memory_B > 0 && out->memory_peak_B > device->memory_B)
        out->reasons |= FR_BECAUSE(FR_REASON_MEMORY);
    add_energy(job, out);
    fr_outcome_add_totals(job, out);
}
