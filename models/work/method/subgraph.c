/* Sub-graph parallelism (D&SP): parallel branches over g = tp sub-grids, each of which uses data
 * parallelism inside; common layers over all ranks, or over the first sub-grid (cSub).
 *
 *      common layer   b/g samples a rank (cSub: b on the first sub-grid's), gradients over n ranks
 *      branch         b samples a rank and 1/g of the branches, gradients over the n/g of its
 *                     sub-grid
 *
 * with b the samples of one micro-batch over the g ranks of a group.  models/work/subgraph.h states the exchanges
 * where branches split and join, and divides transformers likewise.  Every branch launches kernels of its own, so
 * data parallelism (g = 1) is slow with many branches. */
#include <math.h>

#include "models/work/subgraph.h"

static fr_reasons check(const struct fr_work_part *x) {
    if (!x->layer) return fr_subgraph_check(x->workload, x->plan);
    fr_reasons reasons = 0;
    if (x->layer->norm || x->layer->adds || x->layer->average)
        reasons |= FR_BECAUSE(FR_REASON_LAYER);
    if (x->layer->branches > 0 && fmod(x->layer->branches, x->shard.tp) != 0)
        reasons |= FR_BECAUSE(FR_REASON_BRANCHES);
    if (!x->shard.common_subgrid && fmod(x->shard.batch, x->shard.tp) != 0)
        reasons |= FR_BECAUSE(FR_REASON_BRANCHES);
    return reasons;
}

/* Where branches begin or end: @p values of a sample, on a rank's share of b samples.
 * @return bytes that are exchanged; 0: none. */
static double exchange(const struct fr_shard *shard, fr_joint joint, double values,
                       double value_B, bool backward, struct fr_rank_work *work) {
    double all_B = values * shard->batch * value_B; /* of the whole group */
    bool whole = joint == FR_JOINT_SPLIT || joint == FR_JOINT_SUM;
    bool into = joint == FR_JOINT_SPLIT || joint == FR_JOINT_SLICE;
    bool spreads = into != backward; /* from the common layers to the branches */
    if (joint == FR_JOINT_NONE || shard->tp < 2) return 0;
    if (whole && shard->common_subgrid)
        fr_work_add_comm(work, spreads ? FR_OP_BROADCAST : FR_OP_REDUCE, backward, all_B);
    else if (whole)
        fr_work_add_comm(work, spreads ? FR_OP_ALL_GATHER : FR_OP_REDUCE_SCATTER, backward,
                         all_B);
    else if (shard->common_subgrid)
        fr_work_add_comm(work, spreads ? FR_OP_SCATTER : FR_OP_GATHER, backward, all_B);
    else if (shard->gather_all)
        fr_work_add_comm(work, FR_OP_ALL_GATHER, backward, all_B);
    else
        fr_work_add_comm(work, FR_OP_ALL_TO_ALL, backward, all_B / shard->tp);
    return work->op[work->n_ops - 1].size;
}

/* At both ends of a layer, both ways; each is packed before and unpacked after it (the transposes of
 * the paper's Figure 10), two kernels. */
static void exchanges(const struct fr_workload *workload, const struct fr_layer *layer,
                      const struct fr_shard *shard, struct fr_rank_work *work, double *packed_B,
                      double *kernels) {
    double value_B = fr_dtype_size_B(workload->dtype),
           out = layer->joint_out == FR_JOINT_SUM ? layer->outputs / layer->branches
                                                  : layer->outputs;
    for (int k = 0; k < 4; k++) {
        double size_B =
            k % 2 ? exchange(shard, layer->joint_out, out, value_B, k / 2, work)
                  : exchange(shard, layer->joint_in, layer->inputs, value_B, k / 2, work);
        *packed_B += 4 * size_B;
        *kernels += size_B > 0 ? 2 : 0;
    }
}

static void lower(const struct fr_work_part *x, struct fr_rank_work *work) {
    const struct fr_layer *layer = x->layer;
    const struct fr_shard *shard = &x->shard;
    if (!layer) {
        fr_subgraph_stage(x->workload, x->plan, x->stage, work);
        return;
    }
    fr_work_begin(work);
    bool common = layer->branches <= 0;
    double value_B = fr_dtype_size_B(x->workload->dtype), g = shard->tp;
    double b = common && !shard->common_subgrid ? shard->batch / g : shard->batch;
    double share = common ? 1 : 1 / g, groups = layer->groups * share;
    struct fr_operation *weights = fr_work_add_operator(
        work, layer->rows / layer->groups, layer->positions * b, layer->inner, b, groups);
    weights->axis = common ? FR_AXIS_COMMON : FR_AXIS_DP;
    weights->as_one = common;
    double packed_B = 0, kernels = FR_KERNELS_PER_OPERATOR * groups;
    exchanges(x->workload, layer, shard, work, &packed_B, &kernels);
    fr_work_add_elementwise(work, layer, b * layer->outputs * share * value_B, packed_B,
                            kernels);
    work->parameters = layer->weights + layer->biases;
    work->parameters_rank = work->parameters * share;
    work->parameters_mean =
        common && shard->common_subgrid ? work->parameters / g : work->parameters_rank;
    work->activation_B = b * (layer->inputs + layer->outputs) * share * value_B;
    if (layer->joint_in == FR_JOINT_SPLIT) /* every branch has the whole input */
        work->activation_B += b * layer->inputs * (1 - share) * value_B;
    bool over_all = common && !shard->common_subgrid;
    fr_work_add_gradient(work, x->workload, common ? FR_AXIS_COMMON : FR_AXIS_DP,
                         over_all ? shard->tp * shard->dp : shard->dp);
    if (!common || !shard->common_subgrid) return;
    work->idle_ranks = 1 - 1 / g;
    for (int k = 0; k < work->n_ops; k++) work->op[k].common = true;
}

const struct fr_method fr_method_subgraph = {
    .name = "subgraph",
    .summary =
        "D&SP: parallel branches over g = tp sub-grids; common \"all\" or \"subgrid\" (cSub)",
    .source =
        "Jain et al., SUPER: SUb-Graph Parallelism for TransformERs, 2021, sections III to V",
    .exact = true,
    .divided = true,
    .data_first = true,
    .branches = true,
    .check = check,
    .lower = lower,
};
