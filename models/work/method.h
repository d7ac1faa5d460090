/** @file
 *  What a method (models/plan/method.h) makes of a layer.
 *
 *  It turns one layer and its share of the mesh into work: matrix products, kernels,
 *  bytes and collectives of one rank, forward and backward.  It says how much, never how
 *  long: models/price prices it, for the closed form and the event engine alike.
 *
 *  Symbols:  p = tp ranks of the model axis   q = dp ranks of the data axis   b samples of
 *            one micro-batch on a rank   k ghost neurons per rank (phantom width)
 */
#ifndef FR_MODELS_WORK_METHOD_H
#define FR_MODELS_WORK_METHOD_H

#include "models/network/collective.h"
#include "models/plan/method.h"
#include "models/workload/workload.h"

enum { FR_WORK_GEMMS_MAX = 12, FR_WORK_COMMS_MAX = 6 };

/** The part of the mesh that a layer sees. */
struct fr_shard {
    double tp, dp;
    double ghost;
    double batch;        /**< samples of one micro-batch on this rank */
    bool common_subgrid; /**< sub-graphs: common layers on the first sub-grid alone */
    bool gather_all;     /**< all-gather and discard in place of an all-to-all */
};

/** Whom a collective joins, and how often it runs. */
typedef enum {
    FR_AXIS_TP,     /**< the tp ranks, once a micro-batch */
    FR_AXIS_DP,     /**< the dp ranks of equal tp index, once an iteration */
    FR_AXIS_COMMON, /**< tp x dp ranks, or of cSub the first sub-grid, once an iteration */
} fr_axis;

struct fr_comm_work {
    fr_op op;
    fr_axis axis;
    bool backward;
    double size_B; /**< as fr_op counts */
};

/** Work of one layer on one rank; products, kernels and traffic for one micro-batch. */
struct fr_layer_work {
    int n_gemms, n_comms;
    struct fr_gemm_work gemm[FR_WORK_GEMMS_MAX];
    struct fr_comm_work comm[FR_WORK_COMMS_MAX];
    double kernels;             /**< launched, forward and backward */
    double elementwise_B;       /**< moved by what is not a matrix product */
    double softmax_B;           /**< of it, by a softmax */
    double parameters;          /**< of the layer over all tp ranks */
    double parameters_rank;     /**< mean share of a rank */
    double parameters_rank_max; /**< fullest rank */
    double activation_B;        /**< kept for the backward pass */
    double buffer_B;            /**< largest buffer of a message */
    double idle_share;          /**< of the ranks that wait while this layer computes */
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

/** Both directions; little but its own activations is touched while a layer runs. */
static inline struct fr_elementwise fr_layer_elementwise(const struct fr_layer_work *work) {
    return (struct fr_elementwise){work->elementwise_B, 0, work->softmax_B,
                                   work->elementwise_B};
}

/** Append the three products of an operator whose forward product is m x n x k: the output
 *  (m x n x k), the input gradient (k x n x m) and the weight gradient (m x k x n). */
void fr_work_add_operator(struct fr_layer_work *work, double m, double n, double k,
                          double batch, double count);
/** The passes over an output of @p size_B. */
void fr_work_add_elementwise(struct fr_layer_work *work, const struct fr_layer *layer,
                             double size_B);
void fr_work_add_comm(struct fr_layer_work *work, fr_op op, fr_axis axis, bool backward,
                      double size_B);
/** The all-reduce of the fullest rank's gradients over the data axis, when there is one. */
void fr_work_add_gradient(struct fr_layer_work *work, const struct fr_workload *workload,
                          const struct fr_shard *shard);

#endif
