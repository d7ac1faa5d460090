#include "models/price/layers.h"

#include <math.h>
#include <string.h>

#include "models/price/codec_price.h"
#include "models/price/footprint.h"
#include "models/price/operation.h"
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

static struct share share_of(const struct fr_job *job, const struct fr_plan *plan) {
    double micro = (double)fr_job_pipeline_micro_batch(job, plan);
    return (struct share){.shard = shard_of(plan, plan->tp, plan->dp, micro),
                          .micro_batches =
                              (double)fr_job_batch(job, plan) / (double)plan->dp / micro,
                          .passes = 1};
}

/* Of a grid of its own: unless the plan says otherwise all samples of a rank at once. */
static struct share share_of_grid(const struct fr_job *job, const struct fr_plan *plan,
                                  int64_t tp, double micro_batches) {
    int64_t dp = fr_plan_ranks(plan) / tp;
    double own = (double)fr_job_batch(job, plan) / (double)dp,
           micro = plan->micro_batch ? (double)plan->micro_batch : own;
    return (struct share){.shard = shard_of(plan, tp, dp, micro),
                          .micro_batches = own / micro,
                          .passes = own / micro / micro_batches};
}

/* ---- what cannot be -------------------------------------------------------------------------- */

/* Entries from @p k on that share a grid of @p tp rows. */
static fr_reasons check_entries(const struct fr_job *job, const struct fr_plan *plan,
                                int64_t tp, int k, int to) {
    int64_t ranks = fr_plan_ranks(plan) / plan->pp, batch = fr_job_batch(job, plan);
    fr_reasons reasons = 0;
    if (ranks % tp != 0 ||
        batch % (ranks / tp) != 0) /* of the plan's own axes it is told as such */
        return plan->layer_tp ? FR_BECAUSE(FR_REASON_LAYER_TP) : 0;
    bool whole = plan->layer_tp && !plan->micro_batch;
    int64_t micro = whole ? batch * tp / ranks : fr_job_pipeline_micro_batch(job, plan);
    const struct fr_shard shard = shard_of(plan, tp, ranks / tp, (double)micro);
    for (; k < to; k++) reasons |= plan->method->check(&job->workload.layers[k], &shard);
    return reasons;
}

/* A grid for every layer, of a method that has them, where ranks lie in their order. */
static fr_reasons check_grids(const struct fr_job *job, const struct fr_plan *plan) {
    fr_reasons reasons = 0;
    if (!plan->layer_tp) return 0;
    if (!plan->method->grids || plan->n_layer_tp != job->workload.n_layers)
        reasons |= FR_BECAUSE(FR_REASON_LAYER_TP);
    if (!plan->placement.row->in_order) reasons |= FR_BECAUSE(FR_REASON_PLACEMENT);
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
    if (!plan->layer_tp) return reasons | check_entries(job, plan, plan->tp, 0, w->n_layers);
    for (int k = 0; k < w->n_layers; k++)
        reasons |= check_entries(job, plan, plan->layer_tp[k], k, k + 1);
    return reasons;
}

/* ---- what it costs --------------------------------------------------------------------------- */

/* What layers add to their stage. */
struct adding {
    const struct fr_job *job;
    const struct fr_plan *plan;
    struct fr_stage *stage;
    struct share share;      /* of the layer at hand */
    struct fr_group axis[2]; /* of its own grid */
    double micro_batches;    /* of the stage */
    struct fr_pricing price;
    struct fr_priced sum;
    struct fr_footprint footprint;
    double idle_s; /* of a pass, that a rank in the mean waits for others */
    bool splits;   /* weight gradients are passes of their own */
    bool codes;    /* gradients go compressed, where that makes them smaller */
};

/* Nothing runs ahead to hide either: a kernel costs the device's launch or the host's, whichever is
 * longer. */
static void begin(const struct fr_job *job, const struct fr_plan *plan,
                  const struct fr_seats *seats, struct fr_stage *stage, uint32_t *extrapolated,
                  struct adding *a) {
    a->job = job;
    a->plan = plan;
    a->stage = stage;
    a->splits =
        fr_schedule_splits(plan->schedule, &(struct fr_schedule_args){.order = plan->order});
    a->share = share_of(job, plan);
    a->micro_batches = a->share.micro_batches;
    a->price = fr_pricing_make(job, plan, seats, a->micro_batches);
    a->price.launch_s = fr_device_layer_launch_s(&job->cluster.device);
    a->price.sent_B = stage->sent_B;
    a->price.extrapolated = extrapolated;
    a->price.later = plan->overlap;
    a->idle_s = 0;
    a->codes = false;
    memset(&a->sum, 0, sizeof a->sum);
    a->footprint = (struct fr_footprint){.forward = plan->forward};
}

static void make_work(const struct adding *a, int k, struct fr_rank_work *work) {
    const struct fr_workload *w = &a->job->workload;
    fr_work_begin(work);
    a->plan->method->layer(w, &w->layers[k], &a->share.shard, work);
    if (a->plan->forward) fr_work_keep_forward(work);
}

static double alone_s(const struct fr_stage *stage) {
    return fr_pass_s(&stage->forward, FR_WITH_LAUNCH) +
           fr_pass_s(&stage->backward, FR_WITH_LAUNCH);
}

/* Of @p n equal layers what goes compressed. */
static void add_codes(struct adding *a, struct fr_rank_work *work, double n) {
    struct fr_stage *stage = a->stage;
    struct fr_coded coded;
    fr_codec_code_layer(a->job, a->plan, &a->price, work, &coded);
    for (int axis = 0; axis < FR_AXES; axis++) {
        stage->lossy_B += n * coded.whole_B[axis];
        stage->coded_B += n * coded.coded_B[axis];
    }
    stage->gradient_codec_s += n * coded.time_s;
    stage->codec_idle_s += work->idle_ranks * n * coded.time_s;
    stage->codec_B += n * coded.kept_B;
    stage->saved_B += n * coded.saved_B;
}

/* @p n equal layers. */
static void add_layer(struct adding *a, struct fr_rank_work *work, double n) {
    struct fr_stage *stage = a->stage;
    a->price.n = n;
    a->price.passes = n * a->share.passes;
    if (a->codes) add_codes(a, work, n);
    double common_s = a->sum.common_s;
    fr_work_price(&a->price, work, 0, work->n_ops, &a->sum);
    double update_s =
        a->plan->forward ? 0
                         : n * fr_update_s(&a->price, &a->job->workload, work->parameters_rank);
    stage->optimizer_s += update_s;
    stage->optimizer_idle_s += work->idle_ranks * update_s;
    a->idle_s += work->idle_ranks * (a->sum.common_s - common_s);
    stage->parameters += n * work->parameters;
    stage->parameters_rank += n * work->parameters_rank;
    stage->activation_B += n * work->activation_B;
    if (work->working_B > stage->working_B) stage->working_B = work->working_B;
}

/* What its working sets are, once it is known what a rank goes through. */
static void settle(struct adding *a) {
    fr_footprint_price(&a->footprint, a->share.micro_batches, &a->price);
}

/* The stage's, once all is added. */
static void finish(struct adding *a) {
    struct fr_stage *stage = a->stage;
    const struct fr_passes passes = fr_priced_passes(&a->job->cluster.device, &a->sum);
    stage->forward = passes.forward;
    stage->backward = a->splits ? fr_pass_sum(&passes.input, &passes.weight) : passes.backward;
    stage->weight = passes.weight;
    stage->gradient_s = a->sum.time_s[FR_PASS_ONCE][FR_SPENT_REDUCED] +
                        a->sum.time_s[FR_PASS_ONCE][FR_SPENT_CODED];
    stage->coded_s = a->sum.time_s[FR_PASS_ONCE][FR_SPENT_CODED];
    stage->gradient_B = a->sum.reduced_B[0];
    stage->common_B = a->sum.reduced_B[1];
    if (a->idle_s > 0) stage->idle_share = a->idle_s / alone_s(stage);
}

/* Layers of entry @p k, which begins at layer @p at, that are among those of [from, to). */
static double layers_within(const struct fr_workload *w, int k, double at, double from,
                            double to) {
    double end = at + w->layers[k].repeat;
    return (to < end ? to : end) - (from > at ? from : at);
}

/* The grid of entry @p k, where layers have their own. */
static void take_grid(struct adding *a, int k) {
    if (!a->plan->layer_tp) return;
    const struct fr_levels levels = fr_seats_levels(&a->job->cluster.levels, a->plan);
    int64_t tp = a->plan->layer_tp[k], ranks = fr_plan_ranks(a->plan);
    a->share = share_of_grid(a->job, a->plan, tp, a->micro_batches);
    a->axis[0] = fr_group_make(&levels, tp, 1);
    a->axis[1] = fr_group_make(&levels, ranks / tp, tp);
    a->price.group[FR_AXIS_TP] = &a->axis[0];
    a->price.group[FR_AXIS_DP] = &a->axis[1];
    a->price.micro_batches = a->share.micro_batches;
    settle(a);
}

/* What a rank goes through in a step; asked for only where it decides a rate. */
static void find_footprint(struct adding *a, double from, double to) {
    const struct fr_workload *w = &a->job->workload;
    double at = 0;
    if (a->job->cluster.device.working_sets.n == 0) return;
    for (int k = 0; k < w->n_layers; at += w->layers[k++].repeat) {
        double n = layers_within(w, k, at, from, to);
        struct fr_rank_work work;
        if (n <= 0) continue;
        take_grid(a, k);
        make_work(a, k, &work);
        fr_footprint_add(&a->footprint, a->job, n * work.parameters_rank,
                         n * work.activation_B);
    }
}

/* Does a codec find anything to do in the stage? */
static bool finds_codes(struct adding *a, double from, double to) {
    const struct fr_workload *w = &a->job->workload;
    double at = 0;
    struct fr_coded coded = {0};
    uint32_t ignored = 0, *told = a->price.extrapolated;
    a->price.extrapolated = &ignored;
    for (int k = 0; k < w->n_layers && coded.time_s <= 0; at += w->layers[k++].repeat) {
        struct fr_rank_work work;
        if (layers_within(w, k, at, from, to) <= 0) continue;
        take_grid(a, k);
        make_work(a, k, &work);
        fr_codec_code(a->job, a->plan, &a->price, &work, work.n_ops, &coded);
    }
    a->price.extrapolated = told;
    return coded.time_s > 0;
}

/* The next stage begins with entry @p k: what enters it crosses the boundary. */
static void size_message(const struct adding *a, int k) {
    const struct fr_workload *w = &a->job->workload;
    const struct fr_plan *plan = a->plan;
    struct fr_stage *stage = a->stage;
    double micro = (double)fr_job_pipeline_micro_batch(a->job, plan), n = w->layers[k].inputs,
           whole_B = micro * n * fr_dtype_size_B(w->dtype);
    bool one_rank = plan->common_subgrid; /* inside a section's parts too */
    double parts = one_rank ? 1 : (double)plan->tp;
    bool by_samples = plan->method->data_first;
    stage->message_rows = by_samples ? micro / parts : micro;
    stage->message_columns = by_samples ? n : n / parts;
    stage->message_B = whole_B / parts;
    stage->gathered_B = plan->tp > 1 && !plan->method->divided ? whole_B : 0;
}

void fr_layers_stage(const struct fr_job *job, const struct fr_plan *plan,
                     const struct fr_seats *seats, int32_t i, struct fr_stage *stage,
                     uint32_t *extrapolated) {
    const struct fr_workload *w = &job->workload;
    bool one = plan->pp == 1;
    double from = one ? 0 : (double)first_layer(job, plan, i),
           to = one ? INFINITY : (double)first_layer(job, plan, i + 1), at = 0;
    struct adding a;
    begin(job, plan, seats, stage, extrapolated, &a);
    find_footprint(&a, from, to);
    settle(&a);
    a.codes = fr_codec_codes(plan, i) && finds_codes(&a, from, to);
    if (a.codes) a.price.later = false; /* a codec waits for all of a layer's gradients */
    for (int k = 0; k < w->n_layers; at += w->layers[k++].repeat) {
        double n = layers_within(w, k, at, from, to);
        struct fr_rank_work work;
        if (at <= to && to < at + w->layers[k].repeat) size_message(&a, k);
        if (n <= 0) continue;
        take_grid(&a, k);
        make_work(&a, k, &work);
        add_layer(&a, &work, n);
        if (plan->layer_tp && k > 0)
            stage->redistribution_s +=
                fr_redistribution_s(job, plan, plan->layer_tp[k - 1], plan->layer_tp[k],
                                    w->layers[k].inputs, (double)fr_job_batch(job, plan));
    }
    /* With chunks, which one entry alone has, the last stage's next is the first one's. */
    if (i == plan->pp - 1 && plan->chunks > 1) size_message(&a, 0);
    finish(&a);
}

double fr_redistribution_s(const struct fr_job *job, const struct fr_plan *plan,
                           int64_t tp_before, int64_t tp_after, double values,
                           double global_batch) {
    int64_t ranks = fr_plan_ranks(plan);
    if (tp_before == tp_after || (plan->forward && tp_after < tp_before)) return 0;
    int64_t dp_before = ranks / tp_before, dp_after = ranks / tp_after;
    int64_t fewer = dp_before < dp_after ? dp_before : dp_after;
    int64_t more = dp_before < dp_after ? dp_after : dp_before;
    int64_t neighbours = (more + fewer - 1) / fewer,
            stride = tp_before < tp_after ? tp_before : tp_after;
    double size_B =
        values * global_batch / (double)fewer * fr_dtype_size_B(job->workload.dtype);
    const struct fr_levels levels = fr_seats_levels(&job->cluster.levels, plan);
    struct fr_group group = fr_group_make(&levels, neighbours, stride);
    bool extrapolated = false;
    return fr_comm_time_s(&job->cluster.price[FR_OP_ALL_GATHER], &group, size_B, &extrapolated);
}

/* The other layers' grids are not chosen yet: they are taken to be as large on a rank. */
double fr_layer_time_s(const struct fr_job *job, const struct fr_plan *plan, int k) {
    const struct fr_workload *w = &job->workload;
    struct fr_seats seats;
    struct fr_rank_work work;
    struct fr_stage stage = {0};
    uint32_t extrapolated = 0;
    if (fr_job_batch(job, plan) % plan->dp != 0) return INFINITY;
    bool made = fr_seats_make(job, plan, &seats, NULL) == FR_OK;
    struct adding a;
    begin(job, plan, &seats, &stage, &extrapolated, &a);
    fr_seats_free(&seats);
    if (!made || plan->method->check(&w->layers[k], &a.share.shard)) return INFINITY;
    make_work(&a, k, &work);
    for (int j = 0; j < w->n_layers; j++)
        fr_footprint_add(&a.footprint, job, w->layers[j].repeat * work.parameters_rank,
                         w->layers[j].repeat * work.activation_B);
    settle(&a);
    add_layer(&a, &work, w->layers[k].repeat);
    finish(&a);
    return a.micro_batches * (fr_pass_s(&stage.forward, FR_WITH_ALL) +
                              fr_pass_s(&stage.backward, FR_WITH_ALL)) +
           stage.gradient_s + stage.optimizer_s;
}
