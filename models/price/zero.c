#include "models/price/zero.h"

#include <math.h>

#include "models/workload/attention.h"

static bool broadcasts(const struct fr_plan *plan) {
    return plan->zero == 1 && plan->broadcasts;
}

static double divided(const struct fr_plan *plan, const double by_kind[FR_COPIES]) {
    double values = 0;
    for (int k = 0; k < FR_COPIES; k++)
        if (by_kind[k] > 0) values += by_kind[k] / (double)fr_plan_dividing(plan, (fr_copies)k);
    return values;
}

double fr_zero_stored(const struct fr_plan *plan, const struct fr_stage *stage, int least) {
    double in_flight[FR_COPIES];
    if (plan->zero == 0 || plan->zero < least) return stage->parameters_rank;
    fr_stage_in_flight(stage, in_flight);
    return divided(plan, in_flight);
}

double fr_zero_trained(const struct fr_plan *plan, const struct fr_stage *stage, int least) {
    double trained[FR_COPIES];
    bool whole = plan->zero < least || (least == 2 && plan->sums_whole);
    if (plan->zero == 0 || whole) return stage->parameters_rank - stage->frozen_rank;
    fr_stage_trained(stage, trained);
    return divided(plan, trained);
}

/* Append a collective of @p n times @p size_B. */
static int append(struct fr_zero_exchange *out, int count, fr_copies kind, fr_among among,
                  const struct fr_group *group, fr_op op, double size_B, double n) {
    if (group->n_ranks <= 1 || n <= 0) return count;
    out[count] = (struct fr_zero_exchange){op, kind, among, group, size_B, n};
    return count + 1;
}

/* Each kind of copies' collective, in @p parts: @p op on all its @p size_B.  Where fewer copies divide, it is
 * @p op among those and an all-reduce of each one's part across. */
static int list_each(const struct fr_rank_map *rank_map, fr_op op,
                     const double size_B[FR_COPIES], double parts, bool reduces,
                     struct fr_zero_exchange *out) {
    int count = 0;
    for (int k = 0; k < FR_COPIES; k++) {
        const struct fr_group *dividing = &rank_map->copies[k].dividing,
                              *across = &rank_map->copies[k].across;
        double n = size_B[k] > 0 ? parts : 0, part_B = size_B[k] / parts;
        count = append(out, count, (fr_copies)k, FR_AMONG_DIVIDING, dividing, op, part_B, n);
        if (reduces)
            count = append(out, count, (fr_copies)k, FR_AMONG_ACROSS, across, FR_OP_ALL_REDUCE,
                           part_B / (double)fmax(1, (double)dividing->n_ranks), n);
    }
    return count;
}

static int list_reduced(const struct fr_plan *plan, const struct fr_rank_map *rank_map,
                        const struct fr_stage *stage, double parts,
                        struct fr_zero_exchange *out) {
    double size_B[FR_COPIES];
    int count = 0;
    fr_stage_reduced_B(stage, size_B);
    if (plan->zero > 0 && !broadcasts(plan))
        return list_each(rank_map, FR_OP_REDUCE_SCATTER, size_B, parts, true, out);
    for (int k = 0; k < FR_COPIES; k++)
        count = append(out, count, (fr_copies)k, FR_AMONG_ALL, &rank_map->copies[k].all,
                       FR_OP_ALL_REDUCE, size_B[k] / parts, size_B[k] > 0 ? parts : 0);
    return count;
}

static double listed_s(const struct fr_ledger *ledger, const struct fr_zero_exchange *list,
                       int count) {
    double time_s = 0;
    for (int k = 0; k < count; k++)
        time_s += fr_ledger_comm_s(ledger, FR_SENT_DP, list[k].op, list[k].group,
                                   list[k].size_B, list[k].times);
    return time_s;
}

static double each_s(const struct fr_ledger *ledger, const struct fr_rank_map *rank_map,
                     fr_op op, const double size_B[FR_COPIES], double parts, bool reduces) {
    struct fr_zero_exchange list[FR_ZERO_EXCHANGES];
    return listed_s(ledger, list, list_each(rank_map, op, size_B, parts, reduces, list));
}

double fr_zero_reduce_s(const struct fr_ledger *ledger, const struct fr_plan *plan,
                        const struct fr_rank_map *rank_map, const struct fr_stage *stage,
                        double parts) {
    struct fr_zero_exchange list[FR_ZERO_EXCHANGES];
    return listed_s(ledger, list, list_reduced(plan, rank_map, stage, parts, list));
}

/* Collectives of the copies of a stage's parameters, by kind. */
struct copies {
    const struct fr_plan *plan;
    const struct fr_rank_map *rank_map;
    struct fr_ledger ledger;
    double parameters_B[FR_COPIES], gradients_B[FR_COPIES];
    double layers, tensors;
    double ends; /* share of the layers that stand at an end of a pass: one of each chunk's */
    double
        weight; /* values of the largest weight of a layer on a rank, where gathers go weight by weight; else 0 */
};

static double gather_s(const struct copies *c, double parts) {
    return each_s(&c->ledger, c->rank_map, FR_OP_ALL_GATHER, c->parameters_B, parts, false);
}

/* Tensors of a layer on a rank: two norms, query, key and value as one, attention's output, the MLP's, biases of attention,
 * and those of experts. */
static double tensors_of_layer(const struct fr_transformer *t, const struct fr_plan *plan) {
    double of_mlp = t->gated ? 3 : 2,
           experts = ceil((double)t->experts / (double)plan->ep) * of_mlp;
    return 4 + of_mlp + (t->biases ? 2 : 0) + experts;
}

/* Owners one after another, each its part to those that divide with it: nothing runs beside them. */
static int list_broadcasts(const struct copies *c, struct fr_zero_exchange *out) {
    int count = 0;
    for (int k = 0; k < FR_COPIES; k++) {
        const struct fr_group *dividing = &c->rank_map->copies[k].dividing;
        double owners = fmin((double)dividing->n_ranks, c->tensors);
        if (c->parameters_B[k] > 0 && owners > 1)
            count = append(out, count, (fr_copies)k, FR_AMONG_DIVIDING, dividing,
                           FR_OP_BROADCAST, c->parameters_B[k] / owners, owners);
    }
    return count;
}

static double broadcast_s(const struct copies *c) {
    struct fr_zero_exchange list[FR_ZERO_EXCHANGES];
    return listed_s(&c->ledger, list, list_broadcasts(c, list));
}

/* @p layers layers, whole, of what copies divide. */
static double held_B(const struct copies *c, const double size_B[FR_COPIES], double layers) {
    double shared_B = 0;
    for (int k = 0; k < FR_COPIES; k++)
        if (size_B[k] > 0 && fr_plan_dividing(c->plan, (fr_copies)k) > 1) shared_B += size_B[k];
    return fmin(layers, c->layers) / c->layers * shared_B;
}

/* A layer at work and one on its way; or so many weights, of @p value_B each. */
static double gathered_B(const struct copies *c, const double size_B[FR_COPIES], double weights,
                         double value_B) {
    double two_B = held_B(c, size_B, 2);
    return c->weight > 0 ? fmin(two_B, weights * c->weight * value_B) : two_B;
}

/* Values of a layer's largest weight: of experts all that a rank has are one. */
static double largest_weight(const struct fr_transformer *t, const struct fr_plan *plan) {
    const struct fr_attention_sizes a = fr_attention_of(t);
    double h = (double)t->hidden, p = (double)plan->tp,
           attention = fmax(a.queries * fmin(h, a.from_q), a.made * h) / p,
           dense = h * (double)t->ffn / p,
           experts = h * (double)t->experts / (double)plan->ep * (double)t->expert_ffn /
                     (double)fr_plan_expert_tp(plan);
    return fmax(attention, fmax(t->experts > 0 && t->dense_layers == 0 ? 0 : dense, experts));
}

/* Beside a pass all but @p ends may hide, the first layer's gather, or the last one's scatter; behind launches that
 * block nothing does. */
static double shows_s(const struct copies *c, const struct fr_device *device, double comm_s,
                      double pass_s, double ends) {
    if (c->plan->blocking) return comm_s;
    return fr_device_beside_s(device, comm_s, pass_s) + comm_s * ends;
}

/* Gradients, layer by layer: behind every micro-batch, or behind the last backward pass, whose part of what shows
 * comes once. */
static double scattered_s(const struct copies *c, const struct copies *each) {
    const struct fr_ledger *ledger = c->plan->sums_whole ? &c->ledger : &each->ledger;
    return each_s(ledger, c->rank_map, FR_OP_REDUCE_SCATTER, c->gradients_B, c->layers, true);
}

/* Zero 2 and 3: in every pass. */
static void price_passes(const struct copies *c, const struct fr_job *job, bool splits,
                         struct fr_stage *stage) {
    const struct fr_device *device = &job->cluster.device;
    double value_B = fr_dtype_size_B(job->workload.weight_dtype),
           gradient_B = fr_dtype_size_B(job->workload.gradient_dtype);
    struct copies each = *c;
    each.ledger.times = (double)fr_pipeline_micro_batches(job, c->plan);
    const struct fr_plan *plan = c->plan;
    double forward_s = fr_pass_s(&stage->forward, FR_WITH_ALL),
           backward_s = fr_pass_s(&stage->backward, FR_WITH_ALL),
           weight_s = fr_pass_s(&stage->weight, FR_WITH_ALL),
           last_s = splits ? weight_s : backward_s;
    if (plan->forward) {
        stage->forward.dp_s =
            shows_s(c, device, gather_s(&each, c->layers), forward_s, c->ends);
        stage->working_B += gathered_B(c, c->parameters_B, 2, value_B);
        return;
    }
    double scatter_s = scattered_s(c, &each);
    stage->working_B += gathered_B(c, c->gradients_B, 1, gradient_B);
    if (plan->sums_whole) {
        stage->beside_s += shows_s(c, device, scatter_s, last_s, 1 / c->layers);
        scatter_s = 0;
    } else if (splits)
        stage->weight.dp_s = shows_s(c, device, scatter_s, weight_s, c->ends);
    if (plan->zero == 2) {
        stage->backward.dp_s = splits ? stage->weight.dp_s
                               : scatter_s > 0
                                   ? shows_s(c, device, scatter_s, backward_s, c->ends)
                                   : 0;
        return;
    }
    /* Forward; and once more backward, unless they stayed whole. */
    double gathered_s = gather_s(&each, c->layers),
           again_s = plan->reshards ? gather_s(&each, c->layers) : 0;
    stage->working_B += plan->reshards ? gathered_B(c, c->parameters_B, 2, value_B)
                                       : held_B(c, c->parameters_B, c->layers);
    stage->forward.dp_s = shows_s(c, device, gathered_s, forward_s, c->ends);
    if (splits)
        stage->backward.dp_s =
            (again_s > 0 ? shows_s(c, device, again_s, backward_s - weight_s, c->ends) : 0) +
            stage->weight.dp_s;
    else if (again_s + scatter_s > 0)
        stage->backward.dp_s = shows_s(c, device, again_s + scatter_s, backward_s, c->ends);
}

double fr_zero_ends(const struct fr_plan *plan, double layers) {
    return fmin(1, (double)plan->chunks / fmax(1, layers));
}

static struct copies copies_of(const struct fr_job *job, const struct fr_plan *plan,
                               const struct fr_rank_map *rank_map, double layers,
                               const struct fr_stage *stage) {
    const struct fr_device *device = &job->cluster.device;
    double value_B = fr_dtype_size_B(job->workload.weight_dtype);
    struct copies c = {.plan = plan, .rank_map = rank_map, .layers = fmax(1, layers)};
    c.ends = fr_zero_ends(plan, layers);
    if (device->framework.gathers > 0 && job->workload.transformer.layers > 0)
        c.weight = largest_weight(&job->workload.transformer, plan);
    c.tensors = job->workload.transformer.layers > 0
                    ? c.layers * tensors_of_layer(&job->workload.transformer, plan)
                    : INFINITY;
    if (plan->zero == 3)
        fr_stage_in_flight(stage, c.parameters_B);
    else
        fr_stage_trained(stage, c.parameters_B); /* gathered once they are updated */
    for (int k = 0; k < FR_COPIES; k++) c.parameters_B[k] *= value_B;
    fr_stage_reduced_B(stage, c.gradients_B);
    return c;
}

int fr_zero_list(const struct fr_job *job, const struct fr_plan *plan,
                 const struct fr_rank_map *rank_map, double layers,
                 const struct fr_stage *stage, fr_zero_step step, double parts,
                 struct fr_zero_exchange out[FR_ZERO_EXCHANGES]) {
    const struct copies c = copies_of(job, plan, rank_map, layers, stage);
    if (step == FR_ZERO_REDUCES) return list_reduced(plan, rank_map, stage, parts, out);
    if (step == FR_ZERO_UPDATED)
        return broadcasts(plan) ? list_broadcasts(&c, out)
                                : list_each(rank_map, FR_OP_ALL_GATHER, c.parameters_B,
                                            plan->overlap ? c.layers : 1, false, out);
    bool scatters = step == FR_ZERO_SCATTERS;
    return list_each(rank_map, scatters ? FR_OP_REDUCE_SCATTER : FR_OP_ALL_GATHER,
                     scatters ? c.gradients_B : c.parameters_B, c.layers, scatters, out);
}

void fr_zero_price(const struct fr_job *job, const struct fr_plan *plan,
                   const struct fr_rank_map *rank_map, double layers, bool splits,
                   struct fr_stage *stage, uint32_t *extrapolated) {
    const struct fr_device *device = &job->cluster.device;
    struct copies c = copies_of(job, plan, rank_map, layers, stage);
    c.ledger = (struct fr_ledger){&job->cluster, stage->sent_B, 1, extrapolated};
    double forward_s = fr_pass_s(&stage->forward, FR_WITH_ALL);
    bool beside = plan->overlap;
    if (plan->zero == 0 || (plan->forward && plan->zero < 3)) return;
    if (plan->zero >= 2) price_passes(&c, job, splits, stage);
    if (plan->zero == 3) return;
    if (broadcasts(plan)) {
        stage->beside_s += broadcast_s(&c);
        return;
    }
    double gathered_s = gather_s(&c, beside ? c.layers : 1);
    stage->beside_s += beside ? fr_device_beside_s(device, gathered_s, forward_s) : gathered_s;
}
