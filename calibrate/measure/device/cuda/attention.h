/** @file
 *  Fused attention as a graph of cuDNN's, forward and backward.
 *
 *  Symbols:  b batch   h heads of queries   g heads of keys and values, h/g of queries to each   s sequence   d width
 *            tau = 1 / sqrt(d)
 *
 *      forward    S = tau Q K';  causal: S = -inf where the key comes after the query
 *                 M = max S;  P = exp(S - M);  L = sum P;  O = (P / L) V;  the backward pass reads M + log L
 *      backward   D = sum(dO O);  P = exp(S - (M + log L))
 *                 dV = P' dO;  dS = tau P (dO V' - D);  dK = dS' Q;  dQ = dS K
 *
 *  Dao et al., FlashAttention, NeurIPS 2022, Algorithms 1 and 4; the operations are those that cuDNN's engines look for
 *  (NVIDIA/cudnn-frontend, scaled_dot_product_flash_attention.h).  Tensors lie as projections write them: token after
 *  token, in each the heads.
 */
#ifndef FR_CALIBRATE_MEASURE_DEVICE_CUDA_ATTENTION_H
#define FR_CALIBRATE_MEASURE_DEVICE_CUDA_ATTENTION_H

#include "calibrate/measure/device/cuda/dnn_graph.h"
#include "calibrate/measure/device/device.h"

/** Names of what lies in memory, or is a value of the host's. */
enum {
    FR_ATTENTION_Q = 1,
    FR_ATTENTION_K,
    FR_ATTENTION_V,
    FR_ATTENTION_O,
    FR_ATTENTION_STATS, /**< M + log L */
    FR_ATTENTION_SCALE,
    FR_ATTENTION_MASKED, /**< -inf */
    FR_ATTENTION_DO,
    FR_ATTENTION_DQ,
    FR_ATTENTION_DK,
    FR_ATTENTION_DV,
    FR_ATTENTION_ONE,
    FR_ATTENTION_SUMS,   /**< D */
    FR_ATTENTION_DQ_SUM, /**< dQ in fp32, before it is rounded */
    FR_ATTENTION_NAMES
};

/** Append the pass of @p task->backward to @p g. */
void fr_attention_graph(struct fr_dnn_graph *g, const struct fr_device_task *task);

/** Bytes of a named tensor of @p task; 0: it is a value, or the pass has none. */
double fr_attention_tensor_B(const struct fr_device_task *task, int name);

#endif
