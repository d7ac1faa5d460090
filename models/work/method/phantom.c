/* Phantom parallelism: every rank compresses its activations to k ghost neurons, all ranks
 * gather them, and each decompresses the p - 1 foreign ones into its own outputs.
 *
 *      parameters  sum over ranks: n m / p + k p n + ... = per rank (m/p)(n/p) + k (n/p)
 *                  + (p-1) (m/p) k + m/p for a layer of n inputs and m outputs, which is
 *                  n^2/p + k n p + n in all for m = n.  Eq. 4 of the paper omits the k n p
 *                  that its own Table I contains; we follow the matrices of section IV.
 *      forward     all-gather of k b values from each rank
 *      backward    reduce-scatter of p k b values, k b to each rank
 *      operators   local matrix, compressor and p - 1 decompressors: p + 1
 *
 * In a transformer the MLP is divided so, the attention, or both: models/work/phantom_stage.h.
 *
 * Smaller than tensor parallelism iff k < (n/p)(1 - 1/p) (Eq. 8); other k are refused. */
#include <math.h>

#include "models/work/phantom_stage.h"

static fr_reasons check(const struct fr_work_part *x) {
    if (!x->layer) return fr_phantom_check_stage(x->workload, x->plan);
    double p = x->shard.tp, k = x->shard.ghost;
    fr_reasons reasons = 0;
    if (!x->layer->fully_connected) return FR_BECAUSE(FR_REASON_LAYER);
    if (fmod(x->layer->outputs, p) != 0 || fmod(x->layer->inputs, p) != 0)
        reasons |= FR_BECAUSE(FR_REASON_WIDTH);
    if (k < 1) return reasons | FR_BECAUSE(FR_REASON_GHOST);
    double narrower = fmin(x->layer->inputs, x->layer->outputs);
    if (!(k < narrower / p * (1 - 1 / p))) reasons |= FR_BECAUSE(FR_REASON_GHOST_EQ8);
    return reasons;
}

static void lower(const struct fr_work_part *x, struct fr_rank_work *work) {
    const struct fr_layer *layer = x->layer;
    const struct fr_shard *shard = &x->shard;
    if (!layer) {
        fr_phantom_stage(x->workload, x->plan, x->stage, work);
        return;
    }
    fr_work_begin(work);
    double value_B = fr_dtype_size_B(x->workload->dtype);
    double p = shard->tp, k = shard->ghost, b = shard->batch;
    double in = layer->inputs / p, out = layer->outputs / p,
           ghost_neurons_B = p * k * b * value_B;
    fr_work_add_operator(work, out, b, in, b, 1);    /* local */
    fr_work_add_operator(work, k, b, in, b, 1);      /* compressor */
    fr_work_add_operator(work, out, b, k, b, p - 1); /* decompressors */
    fr_work_add_elementwise(work, layer, b * out * value_B, 0,
                            FR_KERNELS_PER_OPERATOR * (p + 1));
    work->parameters_mean = out * in + k * in + (p - 1) * out * k + layer->biases / p;
    work->parameters_rank = work->parameters_mean;
    work->parameters = p * work->parameters_mean;
    work->activation_B = b * (in + out) * value_B + ghost_neurons_B;
    fr_work_add_comm(work, FR_OP_ALL_GATHER, false, ghost_neurons_B);
    fr_work_add_comm(work, FR_OP_REDUCE_SCATTER, true, ghost_neurons_B);
    fr_work_add_gradient(work, x->workload, FR_AXIS_DP, shard->dp);
}

const struct fr_method fr_method_phantom = {
    .name = "phantom",
    .summary = "activations compressed to ghost neurons before the all-gather",
    .source = "Seal et al., Compression-Induced Communication-Efficient Large Model Training "
              "and Inferencing, 2025, Eqs. 6 to 25 and Table II",
    .uses_ghost = true,
    .divided = true,
    .check = check,
    .lower = lower,
};
