/* 1.5D integrated model and data parallelism on a P_r x P_c grid: tp = P_r ranks divide the
 * weights, dp = P_c ranks the batch.  Per layer (Gholami et al. 2017, Eq. 4), d = outputs before pooling:
 *
 *      forward   all-gather of the outputs, d b values, over P_r
 *      backward  all-reduce of the input gradient over P_r, all-reduce of |W|/P_r weight
 *                gradients over P_c
 *
 * The paper sums 3 (alpha ceil(log P_r) + b (P_r-1)/P_r beta d_i) over the same i.  So it prices the input gradient
 * of layer i with d_i, and also that of the first layer, which needs none.  We keep its sum for convolutional
 * networks, its subject: Eq.  4 then holds to rounding.  Where all layers are fully connected, the gradient is as
 * long as the layer's input, as a real run sends it.  (forerun validate: with d_i a 2048-1024-512-512 MLP on 16 x 1
 * came out 30 % too fast.) The first layer's gradient is priced in both.
 *
 * A transformer's matrices are divided likewise, each by its rows (models/work/transformer_exchange.c);
 * heads are whole, so P_r divides them.
 *
 * Where P_r does not divide the output channels, the fullest rank has ceil(channels / P_r) of them.  All ranks wait
 * for that rank's product and gradients.  Every step of the all-gather moves a block of its size, since the equal
 * blocks of an all-gather are padded. */
#include <math.h>

#include "models/work/transformer.h"

static fr_reasons check(const struct fr_work_part *x) {
    if (!x->layer) return fr_transformer_check(x->workload, x->plan);
    return x->shard.tp > x->layer->rows ? FR_BECAUSE(FR_REASON_TOO_WIDE) : 0;
}

static void lower(const struct fr_work_part *x, struct fr_rank_work *work) {
    const struct fr_layer *layer = x->layer;
    const struct fr_shard *shard = &x->shard;
    if (!layer) {
        fr_transformer_stage(x->workload, x->plan, x->stage, work);
        return;
    }
    fr_work_begin(work);
    double value_B = fr_dtype_size_B(x->workload->dtype), b = shard->batch;
    double rows = ceil(layer->rows / shard->tp); /* of the fullest rank */
    double gradients = layer->input_gradients > 0 ? layer->input_gradients : layer->outputs;
    double groups = ceil(layer->groups / shard->tp);
    fr_work_add_operator(work, rows / groups, layer->positions * b, layer->inner, b, groups)
        ->as_one = layer->branches <= 0;
    fr_work_add_elementwise(work, layer, b * rows * layer->positions * value_B, 0,
                            FR_KERNELS_PER_OPERATOR * groups);
    work->parameters = layer->weights + layer->biases;
    work->parameters_mean = work->parameters / shard->tp;
    work->parameters_rank = rows * work->parameters / layer->rows;
    work->activation_B = b * (layer->inputs + rows * layer->positions) * value_B;
    if (shard->tp > 1) {
        fr_work_add_comm(work, FR_OP_ALL_GATHER, false,
                         shard->tp * rows * layer->positions * b * value_B);
        fr_work_add_comm(work, FR_OP_ALL_REDUCE, true, gradients * b * value_B);
    }
    fr_work_add_gradient(work, x->workload, FR_AXIS_DP, shard->dp);
}

const struct fr_method fr_method_grid = {
    .name = "grid",
    .summary = "1.5D: weights over tp = P_r ranks, batch over dp = P_c ranks",
    .source = "Gholami et al., Integrated Model and Data Parallelism in Training Neural "
              "Networks, 2017, Eq. 4",
    .exact = true,
    .grids = true,
    .by_products = true,
    .check = check,
    .lower = lower,
};
