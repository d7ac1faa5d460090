/* Tensor parallelism as the phantom-parallelism paper counts it (Table II): the rows of every
 * weight matrix are divided over p ranks, each rank needs the layer's whole input.
 *
 *      forward    broadcast of n b values, all-gather of (n/p) b from each rank
 *      backward   all-reduce of n b, reduce-scatter of (n/p) b to each rank
 *
 * That is one broadcast and one all-reduce more than Megatron's column-row pairs need; we keep
 * the paper's count, since Table I was measured with it. */
#include <math.h>

#include "models/work/transformer.h"

static fr_reasons check(const struct fr_work_part *x) {
    if (!x->layer) return fr_transformer_check(x->workload, x->plan);
    if (!x->layer->fully_connected) return FR_BECAUSE(FR_REASON_LAYER);
    if (fmod(x->layer->outputs, x->shard.tp) != 0) return FR_BECAUSE(FR_REASON_WIDTH);
    return 0;
}

static void lower(const struct fr_work_part *x, struct fr_rank_work *work) {
    const struct fr_layer *layer = x->layer;
    const struct fr_shard *shard = &x->shard;
    if (!layer) {
        fr_transformer_stage(x->workload, x->plan, x->stage, work);
        return;
    }
    fr_work_begin(work);
    double value_B = fr_dtype_size_B(x->workload->dtype);
    double rows = layer->outputs / shard->tp, b = shard->batch;
    fr_work_add_operator(work, rows, b, layer->inputs, b, 1);
    fr_work_add_elementwise(work, layer, b * rows * value_B, 0, FR_KERNELS_PER_OPERATOR);
    work->parameters = layer->weights + layer->biases;
    work->parameters_mean = work->parameters_rank = work->parameters / shard->tp;
    work->activation_B = b * (layer->inputs + rows) * value_B;
    if (shard->tp > 1) {
        fr_work_add_comm(work, FR_OP_BROADCAST, false, layer->inputs * b * value_B);
        fr_work_add_comm(work, FR_OP_ALL_GATHER, false, layer->outputs * b * value_B);
        fr_work_add_comm(work, FR_OP_ALL_REDUCE, true, layer->inputs * b * value_B);
        fr_work_add_comm(work, FR_OP_REDUCE_SCATTER, true, layer->outputs * b * value_B);
    }
    fr_work_add_gradient(work, x->workload, FR_AXIS_DP, shard->dp);
}

const struct fr_method fr_method_tensor = {
    .name = "tensor",
    .summary = "rows of every weight matrix divided over tp ranks",
    .source = "Seal et al., Compression-Induced Communication-Efficient Large Model Training "
              "and Inferencing, 2025, Eqs. 3 to 5 and Table II",
    .exact = true,
    .by_products = true,
    .megatron = true,
    .check = check,
    .lower = lower,
};
