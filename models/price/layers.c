#include "models/price/layers.h"

#include <math.h>
#include <string.h>

#include "models/price/footprint.h"
#include "models/price/operation.h"
#include "models/work/domain.h"

/* ---- where layers are priced ------------------------------------------------------------------ */

/* Nothing runs ahead to hide either: a kernel costs the device's launch or the host's, whichever is
 * longer. */
static struct fr_pricing pricing_of(const struct fr_job *job, const struct fr_layers *l,
                                    const struct fr_rank_map *rank_map) {
    struct fr_pricing price = fr_pricing_make(job, l->part.plan, rank_map, l->of_stage);
    price.launch_s = fr_device_layer_launch_s(&job->cluster.device);
    return price;
}

/* Working set of a rank in a step; computed only where it decides a rate. */
static struct fr_footprint footprint_of(const struct fr_job *job, struct fr_layers l) {
    struct fr_footprint footprint = {.forward = l.part.plan->forward};
    struct fr_rank_work work;
    while (job->cluster.device.working_sets.n > 0 && fr_layers_next(&l)) {
        fr_layers_lower(&l, &work);
        fr_footprint_add(&footprint, job, l.n * work.parameters_rank, l.n * work.activation_B);
    }
    return footprint;
}

struct fr_pricing fr_layers_pricing(const struct fr_job *job, const struct fr_plan *plan,
                                    const struct fr_rank_map *rank_map, int64_t i) {
    const struct fr_layers l = fr_layers_of_stage(job, plan, i);
    const struct fr_footprint footprint = footprint_of(job, l);
    struct fr_pricing price = pricing_of(job, &l, rank_map);
    fr_footprint_price(&footprint, l.of_stage, &price);
    return price;
}

void fr_layers_work(const struct fr_job *job, const struct fr_layers *l,
                    const struct fr_pricing *price, bool codes, struct fr_rank_work *work,
                    struct fr_coded *coded) {
    fr_layers_lower(l, work);
    if (codes) fr_codec_code_layer(job, l->part.plan, price, work, coded);
}

/* ---- what it costs --------------------------------------------------------------------------- */

/* State while layers are added to their stage. */
struct adding {
    const struct fr_job *job;
    const struct fr_plan *plan;
    struct fr_stage *stage;
    struct fr_group axis[2]; /* of the grid of the layer at hand, where it has its own */
    struct fr_pricing price;
    struct fr_priced sum;
    struct fr_footprint footprint;
    double idle_s; /* of a pass, that a rank in the mean waits for others */
    bool codes;    /* gradients go compressed, where that makes them smaller */
};

static void begin(const struct fr_job *job, const struct fr_layers *l,
                  const struct fr_rank_map *rank_map, struct fr_stage *stage,
                  uint32_t *extrapolated, struct adding *a) {
    a->job = job;
    a->plan = l->part.plan;
    a->stage = stage;
    a->price = pricing_of(job, l, rank_map);
    a->price.sent_B = stage->sent_B;
    a->price.extrapolated = extrapolated;
    a->price.later = a->plan->overlap;
    a->idle_s = 0;
    a->codes = false;
    memset(&a->sum, 0, sizeof a->sum);
}

/* Add the compressed part of @p n equal layers. */
static void add_codes(const struct fr_coded *coded, double idle_ranks, double n,
                      struct fr_stage *stage) {
    for (int axis = 0; axis < FR_AXES; axis++) {
        stage->lossy_B += n * coded->whole_B[axis];
        stage->coded_B += n * coded->coded_B[axis];
    }
    stage->gradient_codec_s += n * coded->time_s;
    stage->codec_idle_s += idle_ranks * n * coded->time_s;
    stage->codec_B += n * coded->stored_B;
    stage->saved_B += n * coded->saved_B;
}

/* The layers at hand. */
static void add_layers(const struct fr_layers *l, struct adding *a) {
    struct fr_stage *stage = a->stage;
    struct fr_rank_work work;
    struct fr_coded coded;
    double n = l->n, common_s = a->sum.common_s;
    fr_layers_work(a->job, l, &a->price, a->codes, &work, &coded);
    if (a->codes) add_codes(&coded, work.idle_ranks, n, stage);
    a->price.n = n;
    a->price.passes = n * l->passes;
    fr_work_price(&a->price, &work, 0, work.n_ops, &a->sum);
    double update_s = a->plan->forward
                          ? 0
                          : n * fr_update_s(&a->price, &a->job->workload, work.parameters_rank);
    stage->optimizer_s += update_s;
    stage->optimizer_idle_s += work.idle_ranks * update_s;
    a->idle_s += work.idle_ranks * (a->sum.common_s - common_s);
    stage->parameters += n * work.parameters;
    stage->parameters_rank += n * work.parameters_rank;
    stage->activation_B += n * work.activation_B;
    if (work.working_B > stage->working_B) stage->working_B = work.working_B;
}

/* The stage's, once all is added. */
static void finish(struct adding *a) {
    struct fr_stage *stage = a->stage;
    const struct fr_passes passes = fr_priced_passes(&a->job->cluster.device, &a->sum);
    bool splits = fr_schedule_splits(a->plan->schedule,
                                     &(struct fr_schedule_args){.order = a->plan->order});
    stage->forward = passes.forward;
    stage->backward = splits ? fr_pass_sum(&passes.input, &passes.weight) : passes.backward;
    stage->weight = passes.weight;
    stage->gradient_s = a->sum.time_s[FR_PASS_ONCE][FR_SPENT_REDUCED] +
                        a->sum.time_s[FR_PASS_ONCE][FR_SPENT_CODED];
    stage->coded_s = a->sum.time_s[FR_PASS_ONCE][FR_SPENT_CODED];
    stage->gradient_B = a->sum.reduced_B[0];
    stage->common_B = a->sum.reduced_B[1];
    if (a->idle_s > 0)
        stage->idle_share = a->idle_s / (fr_pass_s(&stage->forward, FR_WITH_LAUNCH) +
                                         fr_pass_s(&stage->backward, FR_WITH_LAUNCH));
}

/* The grid of the layer at hand, where layers have their own. */
static void take_grid(const struct fr_layers *l, struct adding *a) {
    if (!a->plan->layer_tp) return;
    const struct fr_levels levels = fr_rank_map_levels(&a->job->cluster.levels, a->plan);
    int64_t tp = a->plan->layer_tp[l->entry], ranks = fr_plan_ranks(a->plan);
    a->axis[0] = fr_group_make(&levels, tp, 1);
    a->axis[1] = fr_group_make(&levels, ranks / tp, tp);
    a->price.group[FR_AXIS_TP] = &a->axis[0];
    a->price.group[FR_AXIS_DP] = &a->axis[1];
    a->price.micro_batches = l->micro_batches;
    fr_footprint_price(&a->footprint, l->micro_batches, &a->price);
}

/* Does a codec find anything to do in the stage? */
static bool finds_codes(struct fr_layers l, struct adding *a) {
    struct fr_coded coded = {0};
    struct fr_rank_work work;
    uint32_t ignored = 0, *stated = a->price.extrapolated;
    a->price.extrapolated = &ignored;
    while (coded.time_s <= 0 && fr_layers_next(&l)) {
        take_grid(&l, a);
        fr_layers_lower(&l, &work);
        fr_codec_code(a->job, a->plan, &a->price, &work, work.n_ops, &coded);
    }
    a->price.extrapolated = stated;
    return coded.time_s > 0;
}

/* The input of entry @p k crosses the boundary above the stage. */
static void size_message(const struct fr_job *job, const struct fr_plan *plan, int k,
                         struct fr_stage *stage) {
    const struct fr_workload *w = &job->workload;
    double micro = (double)fr_job_pipeline_micro_batch(job, plan),
           n = fr_layer_crossing(&w->layers[k]),
           whole_B = micro * n * fr_dtype_size_B(w->dtype);
    bool one_rank = plan->common_subgrid;        /* inside a section's parts too */
    bool by_height = fr_domain_divides(plan, k); /* rows stay where they are */
    double parts = one_rank    ? 1
                   : by_height ? 1 / fr_domain_share(w, plan, k)
                               : (double)plan->tp;
    bool by_samples = plan->method->data_first;
    stage->message_rows = by_samples ? micro / parts : micro;
    stage->message_columns = by_samples ? n : n / parts;
    stage->message_B = whole_B / parts;
    stage->gathered_B = plan->tp > 1 && !plan->method->divided && !by_height ? whole_B : 0;
}

void fr_layers_stage(const struct fr_job *job, const struct fr_plan *plan,
                     const struct fr_rank_map *rank_map, int32_t i, struct fr_stage *stage,
                     uint32_t *extrapolated) {
    const struct fr_workload *w = &job->workload;
    struct fr_plan own;
    plan = fr_codec_plan_of(plan, i, &own);
    struct fr_layers l = fr_layers_of_stage(job, plan, i);
    int above = fr_layers_above(w, plan, i);
    struct adding a;
    begin(job, &l, rank_map, stage, extrapolated, &a);
    a.footprint = footprint_of(job, l);
    fr_footprint_price(&a.footprint, l.of_stage, &a.price);
    a.codes = fr_codec_codes(plan, i) && finds_codes(l, &a);
    if (a.codes) a.price.later = false; /* a codec waits for all of a layer's gradients */
    while (fr_layers_next(&l)) {
        take_grid(&l, &a);
        add_layers(&l, &a);
        if (plan->layer_tp && l.entry > 0)
            stage->redistribution_s += fr_redistribution_s(
                job, plan, plan->layer_tp[l.entry - 1], plan->layer_tp[l.entry],
                fr_layer_crossing(&w->layers[l.entry]), (double)fr_job_batch(job, plan));
    }
    if (above >= 0) size_message(job, plan, above, stage);
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
    const struct fr_levels levels = fr_rank_map_levels(&job->cluster.levels, plan);
    struct fr_group group = fr_group_make(&levels, neighbours, stride);
    bool extrapolated = false;
    return fr_comm_time_s(&job->cluster.price[FR_OP_ALL_GATHER], &group, size_B, &extrapolated);
}

/* The other layers' grids are not chosen yet: they are taken to be as large on a rank. */
double fr_layer_time_s(const struct fr_job *job, const struct fr_plan *plan, int k) {
    const struct fr_workload *w = &job->workload;
    struct fr_rank_map rank_map;
    struct fr_rank_work work;
    struct fr_stage stage = {0};
    uint32_t extrapolated = 0;
    if (fr_job_batch(job, plan) % plan->dp != 0) return INFINITY;
    bool made = fr_rank_map_make(job, plan, &rank_map, NULL) == FR_OK;
    struct fr_layers l = fr_layers_of_stage(job, plan, 0);
    struct adding a;
    begin(job, &l, &rank_map, &stage, &extrapolated, &a);
    fr_rank_map_free(&rank_map);
    l.to = INFINITY; /* whatever stages there are */
    while (l.entry < k && fr_layers_next(&l)) continue;
    if (!made || plan->method->check(&l.part)) return INFINITY;
    fr_layers_lower(&l, &work);
    a.footprint = (struct fr_footprint){.forward = plan->forward};
    for (int j = 0; j < w->n_layers; j++)
        fr_footprint_add(&a.footprint, job, w->layers[j].repeat * work.parameters_rank,
                         w->layers[j].repeat * work.activation_B);
    fr_footprint_price(&a.footprint, l.of_stage, &a.price);
    add_layers(&l, &a);
    finish(&a);
    return l.of_stage * (fr_pass_s(&stage.forward, FR_WITH_ALL) +
                         fr_pass_s(&stage.backward, FR_WITH_ALL)) +
           stage.gradient_s + stage.optimizer_s;
}
