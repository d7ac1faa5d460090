/** @file
 *  What a method (models/plan/method.h) makes of a part of a model.
 *
 *  It turns a layer and its share of the mesh, or a stage of a transformer, into work: matrix products, kernels,
 *  bytes and collectives of one rank, forward and backward.  It says how much, never how
 *  long: models/price prices it, for the closed form and the event engine alike.
 *
 *  Symbols:  p = tp ranks of the model axis   q = dp ranks of the data axis   b samples of
 *            one micro-batch on a rank   k ghost neurons per rank (phantom width)
 */
#ifndef FR_MODELS_WORK_METHOD_H
#define FR_MODELS_WORK_METHOD_H

#include "models/plan/method.h"
#include "models/work/operation.h"
#include "models/workload/workload.h"

struct fr_plan; /* models/plan/plan.h */

/** The part of the mesh that a layer sees. */
struct fr_shard {
    double tp, dp;
    double ghost;
    double batch;        /**< samples of one micro-batch on this rank */
    bool common_subgrid; /**< sub-graphs: common layers on the first sub-grid alone */
    bool by_height;      /**< grids: images are divided, not filters (models/work/domain.h) */
    bool gather_all;     /**< all-gather and discard in place of an all-to-all */
};

/** The part of a model that a method divides: a layer on its grid (models/work/layers.h), or a stage of a
 *  transformer. */
struct fr_work_part {
    const struct fr_workload *workload;
    const struct fr_plan *plan;
    int64_t stage;
    const struct fr_layer *layer; /**< NULL: of a transformer */
    struct fr_shard shard;        /**< of the layer */
};

/** Kernels of one operator (a matrix product with what surrounds it), forward and backward:
 *  product, bias and activation forward; their gradient, two products, update backward.
 *  The number that Table I of the phantom paper was calibrated with. */
#define FR_KERNELS_PER_OPERATOR 6.0
#define FR_KERNELS_FORWARD 2.0 /* of them */

/** Passes over a layer's local output that are not matrix products: read and write for bias
 *  with activation forward; gradient and output in, masked gradient out backward. */
#define FR_ELEMENTWISE_PASSES 5.0
#define FR_ELEMENTWISE_PASSES_FORWARD 2.0 /* of them */

/** The same of a normalisation (read, write) and of a softmax with its mask and dropout (read and
 *  written twice) forward; twice as many backward. */
#define FR_NORM_PASSES 2.0
#define FR_SOFTMAX_PASSES 4.0

/** The three products of an operator whose forward product is m x n x k. @return the weight gradient's,
 *  of a matrix that the replicas hold copies of */
static inline struct fr_operation *fr_work_add_operator(struct fr_rank_work *work, double m,
                                                        double n, double k, double batch,
                                                        double times) {
    const struct fr_gemm_shape shapes[] = {[FR_PASS_FORWARD] = {m, n, k, batch, 0},
                                           [FR_PASS_INPUT] = {k, n, m, batch, 0},
                                           [FR_PASS_WEIGHT] = {m, k, n, batch, 0}};
    struct fr_operation *o = NULL;
    for (int pass = FR_PASS_FORWARD; pass <= FR_PASS_WEIGHT; pass++) {
        o = fr_work_add(work, FR_WORK_PRODUCT, (fr_pass_kind)pass, times);
        o->shape = shapes[pass];
        o->transposed = (uint8_t)fr_work_transposed((fr_pass_kind)pass);
    }
    o->axis = FR_AXIS_DP;
    return o;
}

/** Add a layer's element-wise work: the passes over an output of @p size_B, @p more_B beside them, and @p kernels in
 *  all.  Each pass does the shares of one operator.  While the layer runs little besides its own activations is
 *  touched, so its working set is the bytes that it moves both ways. */
void fr_work_add_elementwise(struct fr_rank_work *work, const struct fr_layer *layer,
                             double size_B, double more_B, double kernels);
/** A collective between layers, whose buffer is held. */
void fr_work_add_comm(struct fr_rank_work *work, fr_op op, bool backward, double size_B);
/** The all-reduce of a rank's gradients over @p axis, where it has @p ranks. */
void fr_work_add_gradient(struct fr_rank_work *work, const struct fr_workload *workload,
                          fr_axis axis, double ranks);

#endif
