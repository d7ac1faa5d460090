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
 * A residual block's shortcut is added to the rows that a rank has made, before they are gathered.  So a projection has no
 * exchange of its own: its rows are gathered as part of the sum, and its input gradient is added to that of the block's
 * first layer before their one all-reduce.  Its input is kept already, as that layer's.
 *
 * A batch norm's statistics are those of a rank's samples; sync_norm exchanges them over P_c, as PyTorch's SyncBatchNorm
 * does: mean, deviation and count of each channel gathered forward, two sums of each channel reduced backward, in fp32.
 *
 * The first convolutions may be divided by the height of their images in place of their filters (models/work/domain.h).
 *
 * Where P_r does not divide the output channels, the fullest rank has ceil(channels / P_r) of them.  All ranks wait
 * for that rank's product and gradients.  Every step of the all-gather moves a block of its size, since the equal
 * blocks of an all-gather are padded. */
#include <math.h>

#include "models/work/domain.h"
#include "models/work/transformer.h"

/* Passes over a layer's rows that are not products.  Batch norm reads its input for the statistics, reads it again and
 * writes; backward it reads input and gradient for two sums, reads both again and writes (Ioffe, Szegedy 2015, Algorithm 1 and
 * the gradients after it).  A shortcut's addition reads two and writes one, and so does that of the two gradients where the
 * block begins.  A mean over positions reads, and backward writes.  A projection has no activation. */
enum { NORM_PASSES = 3 + 5, ADD_PASSES = 3 + 3, MEAN_PASSES = 1 + 1 };
enum { ACTIVATION_KERNELS = 2, NORM_KERNELS = 2, ADD_KERNELS = 2, MEAN_KERNELS = 2 };

static double more_passes(const struct fr_layer *layer) {
    return (layer->norm ? NORM_PASSES : 0) + (layer->adds ? ADD_PASSES : 0) +
           (layer->average ? MEAN_PASSES : 0) - (layer->shortcut ? FR_ELEMENTWISE_PASSES : 0);
}

static double kernels_of(const struct fr_layer *layer, double groups) {
    return FR_KERNELS_PER_OPERATOR * groups + (layer->norm ? NORM_KERNELS : 0) +
           (layer->adds ? ADD_KERNELS : 0) + (layer->average ? MEAN_KERNELS : 0) -
           (layer->shortcut ? ACTIVATION_KERNELS : 0);
}

/* A rank's part of a layer: 1/P_r of its filters, or of the rows of its images. */
struct part {
    double rows, groups; /* output channels, and the groups that they are of */
    double positions;    /* of a channel */
    double inputs;       /* values of a sample */
    double pooled;       /* values of a sample that a pooling reads of neighbours */
    double copies;       /* ranks that have the same weights */
    fr_axis axis;        /* theirs */
};

static struct part part_of(const struct fr_work_part *x) {
    const struct fr_layer *layer = x->layer;
    const struct fr_shard *shard = &x->shard;
    if (!shard->by_height)
        return (struct part){.rows = ceil(layer->rows / shard->tp), /* of the fullest rank */
                             .groups = ceil(layer->groups / shard->tp),
                             .positions = layer->positions,
                             .inputs = layer->inputs,
                             .copies = shard->dp,
                             .axis = FR_AXIS_DP};
    const struct fr_domain_rows rows = fr_domain_rows(x);
    return (struct part){.rows = layer->rows,
                         .groups = layer->groups,
                         .positions = rows.positions,
                         .inputs = rows.inputs,
                         .pooled = rows.pooled,
                         .copies = shard->tp * shard->dp,
                         .axis = FR_AXIS_COMMON};
}

/* Values that a rank keeps of a sample.  The activation after a norm overwrites what the norm made, so the norm's input
 * takes the place of the activation's; pooling after it keeps one more. */
static double kept(const struct fr_layer *layer, const struct part *part) {
    double own = part->rows * part->positions + part->pooled;
    return (layer->shortcut ? 0 : part->inputs) + own +
           (layer->norm && layer->pool.kernel > 0 ? own : 0);
}

static void add_statistics(struct fr_rank_work *work, const struct fr_work_part *x,
                           const struct part *part) {
    double sum_B = fr_dtype_size_B(FR_FP32);
    if (!x->layer->sync_norm || part->copies <= 1 || x->plan->forward) return;
    fr_work_add_collective(work, FR_PASS_FORWARD, part->axis, FR_OP_ALL_GATHER,
                           part->copies * (2 * part->rows + 1) * sum_B, 1);
    fr_work_add_collective(work, FR_PASS_INPUT, part->axis, FR_OP_ALL_REDUCE,
                           2 * part->rows * sum_B, 1);
}

static void add_exchanges(struct fr_rank_work *work, const struct fr_work_part *x,
                          double rows) {
    const struct fr_layer *layer = x->layer;
    const struct fr_shard *shard = &x->shard;
    double value_B = fr_dtype_size_B(x->workload->dtype), b = shard->batch;
    double gradients = layer->input_gradients > 0 ? layer->input_gradients : layer->outputs;
    if (shard->tp <= 1 || layer->shortcut) return;
    double gathered = layer->average ? 1 : layer->positions; /* means are of a rank's rows */
    fr_work_add_comm(work, FR_OP_ALL_GATHER, false, shard->tp * rows * gathered * b * value_B);
    fr_work_add_comm(work, FR_OP_ALL_REDUCE, true, gradients * b * value_B);
}

static fr_reasons check(const struct fr_work_part *x) {
    if (!x->layer) return fr_transformer_check(x->workload, x->plan);
    if (x->shard.by_height) return fr_domain_check(x);
    return x->shard.tp > x->layer->rows ? FR_BECAUSE(FR_REASON_TOO_WIDE) : 0;
}

static void lower(const struct fr_work_part *x, struct fr_rank_work *work) {
    const struct fr_layer *layer = x->layer;
    if (!layer) {
        fr_transformer_stage(x->workload, x->plan, x->stage, work);
        return;
    }
    fr_work_begin(work);
    const struct part part = part_of(x);
    double value_B = fr_dtype_size_B(x->workload->dtype), b = x->shard.batch;
    double slice_B = b * part.rows * part.positions * value_B;
    struct fr_domain_packed packed = {0, 0};
    bool by_height = x->shard.by_height;
    /* A rate that was measured by batch takes a part of an image as that part of a sample. */
    double samples = by_height ? b * part.positions / layer->positions : b;
    struct fr_operation *weights = fr_work_add_operator(
        work, part.rows / part.groups, part.positions * b, layer->inner, samples, part.groups);
    weights->as_one = layer->branches <= 0;
    weights->axis = (uint8_t)part.axis;
    if (by_height) packed = fr_domain_exchange(x, work);
    fr_work_add_elementwise(work, layer, slice_B, more_passes(layer) * slice_B + packed.moved_B,
                            kernels_of(layer, part.groups) + packed.kernels);
    work->parameters = layer->weights + layer->biases;
    work->parameters_rank = part.rows * work->parameters / layer->rows;
    work->parameters_mean = work->parameters / (x->shard.tp * x->shard.dp / part.copies);
    work->activation_B = b * kept(layer, &part) * value_B;
    if (!by_height) add_exchanges(work, x, part.rows);
    add_statistics(work, x, &part);
    fr_work_add_gradient(work, x->workload, part.axis, part.copies);
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
