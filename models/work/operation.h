/** @file
 *  What one rank does in an iteration: a list of operations, with what it holds.
 *
 *  An operation is a product, bytes moved, kernels launched, a collective: what, how large, how
 *  often, and in which pass.  Every method lowers layers, and stages of a transformer, to such a
 *  list; it says how much, never how long.  models/price/operation.h turns an operation into seconds,
 *  and nobody else does: the passes of a pipeline, the tasks of the event engine, energy and bytes
 *  are all read from the same list.
 *
 *      pass     forward; input and weight gradient, which with what is done again make the backward
 *               pass; what is done once an iteration
 *      matrix   a weight gradient of shape m x n is of a weight matrix of m rows and n columns, of which
 *               there are `times`: what a codec of gradients works on.  Its axis says who holds copies
 *               of it.  Filters of a grouped convolution are one matrix, the groups' rows below each
 *               other (out_channels x (in_channels / groups) kh kw, as the tensor lies in memory)
 *
 *  To add a kind: a row of fr_work_kind, its price in models/price/operation.c.
 */
#ifndef FR_MODELS_WORK_OPERATION_H
#define FR_MODELS_WORK_OPERATION_H

#include <stddef.h>
#include <string.h>

#include "models/device/device.h"
#include "models/network/collective.h"
#include "models/work/moment.h"

typedef enum {
    FR_WORK_PRODUCT,    /**< matrix products of `shape` */
    FR_WORK_SCORES,     /**< the same with attention's scores, which have just been made */
    FR_WORK_ATTENTION,  /**< `size` flop of a fused attention kernel */
    FR_WORK_CACHED,     /**< `size` flop of attention to cached tokens, `read_B` of the cache */
    FR_WORK_SCAN,       /**< `size` flop of the products of a state-space block's scan */
    FR_WORK_TRAFFIC,    /**< what is `moved` beside the products */
    FR_WORK_KERNELS,    /**< launches */
    FR_WORK_COLLECTIVE, /**< `op` of `size` bytes, as fr_op counts, over `axis` */
    FR_WORK_UPDATE,     /**< `size` bytes of the optimiser */
    FR_WORK_STREAM,     /**< `size` bytes through memory, of a codec */
    FR_WORK_SELECT,     /**< the same by a pass of a sort */
    FR_WORK_KINDS
} fr_work_kind;

typedef enum {
    FR_PASS_FORWARD,
    FR_PASS_INPUT,  /**< backward: gradients of inputs, and whatever else is not below */
    FR_PASS_WEIGHT, /**< backward: gradients of weights */
    FR_PASS_AGAIN,  /**< backward: of the forward pass, recomputed */
    FR_PASS_ONCE,   /**< once an iteration */
    FR_PASS_KINDS
} fr_pass_kind;

/** Whom a collective joins. */
typedef enum {
    FR_AXIS_TP,        /**< the tp ranks */
    FR_AXIS_DP,        /**< the replicas, of equal tp index */
    FR_AXIS_COMMON,    /**< tp x dp ranks of a stage, or of cSub the first sub-grid */
    FR_AXIS_CP,        /**< those that share a sequence */
    FR_AXIS_EP,        /**< those that share the experts */
    FR_AXIS_ATTENTION, /**< those that divide attentions on a grid of their own */
    FR_AXIS_MLP,       /**< MLPs likewise */
    FR_AXIS_ENDS,      /**< embedding and logits likewise */
    FR_AXIS_TO_MLP,    /**< neighbours between which attention's and MLP's grids move tokens */
    FR_AXIS_TO_ENDS,   /**< MLP's and the ends' */
    FR_AXIS_FROM_ENDS, /**< the ends' and attention's */
    FR_AXIS_EP_ACROSS, /**< of them one of each group that gets one copy of a token */
    FR_AXIS_EP_WITHIN, /**< such a group */
    FR_AXIS_EXPERT,    /**< those that hold copies of the same experts */
    FR_AXIS_ATTENTION_COPIES, /**< of attentions on a grid of their own */
    FR_AXIS_MLP_COPIES,
    FR_AXIS_ENDS_COPIES,
    FR_AXES
} fr_axis;

/** The work that a collective runs beside; it shows as far as it outlasts that work. */
typedef enum {
    FR_BESIDE_NOTHING,   /**< on its way */
    FR_BESIDE_PRODUCT,   /**< the operation before it */
    FR_BESIDE_ATTENTION, /**< the pass's attention: one fused kernel, or products over scores */
    FR_BESIDE_PASS, /**< products and attention of another micro-batch's pass; nothing where there is one */
    FR_BESIDE_PIECES, /**< the pass's products, all but the first of its ranks' pieces */
} fr_beside;

struct fr_operation {
    uint8_t kind; /**< fr_work_kind */
    uint8_t pass; /**< fr_pass_kind */
    uint8_t op;   /**< of a collective: fr_op */
    uint8_t
        axis; /**< likewise: fr_axis; of a weight gradient, who holds copies of its matrix */
    uint8_t beside;     /**< of a collective: fr_beside */
    uint8_t transposed; /**< of a product: fr_transposed */
    bool stalls;        /**< likewise: the host waits for it before it launches more */
    bool made; /**< of a product: what it reads was written at its width by what made it */
    bool
        wide; /**< of a product: at the width that values are kept at, where others are narrower */
    bool streams; /**< of a product: its matrix is read from memory, and few columns hide it */
    bool frozen;  /**< of a product: its weights are not trained */
    bool common;  /**< of common layers: some ranks may wait meanwhile (method subgraph) */
    bool as_one;  /**< of a weight gradient: its `times` matrices are the rows of one;
                         of gradients' collective: it carries what was compressed */
    double times; /**< equal ones in the pass */
    union {
        struct fr_gemm_shape shape;
        struct fr_elementwise moved;
        struct {           /* of launches */
            double apart;  /**< more, as their share, where each operation is a kernel */
            double blocks; /**< layers whose fused kernels spare some */
        };
        struct {
            double size;
            double
                keys, /**< of an attention: those that a kernel meets a query with, in the mean */
                head;      /**< values of a query's head; 0: not said */
            double read_B; /**< of cached tokens' keys and values */
        };
    };
};

/** Work of one rank: of a layer, or of a stage.  A pass is that of one micro-batch. */
struct fr_rank_work {
    int n_ops, n_layer_ops; /**< the first are the layers', the rest embedding and logits */
    double layers;          /**< in it */
    double mixed;           /**< of them, those with experts */
    double recomputed;      /**< share of them that recompute, where a plan says how many */
    double parameters;      /**< over all tp ranks, copies of a tied embedding counted once */
    double parameters_rank; /**< on the fullest rank */
    double parameters_mean; /**< of a layer: on a rank in the mean */
    double embedding_rank;  /**< of parameters_rank, the (shared) embedding matrix */
    double expert_rank;     /**< of them, experts', of which there are fewer copies */
    double frozen, frozen_rank; /**< of parameters and parameters_rank, not trained */
    double common_rank;         /**< of them, equal on all tp ranks and reduced over them too */
    double grid_rank[3];        /**< of them, of a transformer's groups on grids of their own */
    double idle_ranks;          /**< share of the ranks that wait while common work is done */
    double activation_B;        /**< kept for the backward pass, a micro-batch */
    double ends_B;              /**< of it, embedding's and logits' */
    double apart_B;       /**< kept besides, where each operation is a kernel of its own */
    double apart_again_B; /**< likewise of a layer that is made again */
    double cache_B;       /**< keys and values behind the pass, of a micro-batch's samples */
    double working_B;     /**< held while a pass runs, the largest message at least */
    struct fr_moment_sizes moment;
    struct fr_operation op[160];
};

/** An empty list. */
static inline void fr_work_begin(struct fr_rank_work *work) {
    memset(work, 0, offsetof(struct fr_rank_work, op));
}

/** @p times operations of a kind, of which there may be more to say. @return it. */
static inline struct fr_operation *fr_work_add(struct fr_rank_work *work, fr_work_kind kind,
                                               fr_pass_kind pass, double times) {
    struct fr_operation *o = &work->op[work->n_ops++];
    memset(o, 0, offsetof(struct fr_operation, times)); /* one store */
    o->kind = (uint8_t)kind;
    o->pass = (uint8_t)pass;
    o->times = times;
    if (kind == FR_WORK_KERNELS) o->apart = o->blocks = 0;
    return o;
}

/** A collective of a pass, or once; @return it, likewise. */
static inline struct fr_operation *fr_work_add_collective(struct fr_rank_work *work,
                                                          fr_pass_kind pass, fr_axis axis,
                                                          fr_op op, double size_B,
                                                          double times) {
    struct fr_operation *o = fr_work_add(work, FR_WORK_COLLECTIVE, pass, times);
    o->op = (uint8_t)op;
    o->axis = (uint8_t)axis;
    o->size = size_B;
    return o;
}

/** Which operand of a layer's product is transposed: values lie as features by tokens, y = W x, so that
 *  gradients read W^T for dx and x^T for dW. */
static inline fr_transposed fr_work_transposed(fr_pass_kind pass) {
    return pass == FR_PASS_INPUT    ? FR_TRANSPOSED_A
           : pass == FR_PASS_WEIGHT ? FR_TRANSPOSED_B
                                    : FR_TRANSPOSED_NONE;
}

/** A forward product m x n x k and its gradients: input k x n x m, weight m x k x n.
 *
 *  A product runs in pieces, of n / pieces columns each, where an exchange goes round a ring beside it.  Two products
 *  do so: the forward product (after its gather or before its scatter), and the input gradient of a pair's second
 *  product, after a gather.  The input gradient of a first product (which has `regathers`) runs whole beside the
 *  gather for the weight gradient, which waits for all columns.  Transformer Engine's user buffers do this by
 *  default: "ring_exchange" and "pipeline" for the former, "bulk" for the latter. */
struct fr_product {
    double m, n, k, batch, times;
    double at_once; /**< of them; 0: one after the other */
    double pieces;  /**< 0: one */
    bool scores;    /**< of attention, without weights */
    bool frozen;    /**< its weights are not trained: no gradient of theirs */
    double again;   /**< share of them that the backward pass makes again */
    bool common;
    bool
        made; /**< its input comes from what writes it at the width that it is read at: a norm */
    bool wide;                    /**< not at fewer bits than values are kept at: logits */
    fr_axis copies;               /**< of its weights; 0: FR_AXIS_DP */
    double regathers, regather_B; /**< all-gathers beside the input gradient, */
    fr_axis regather_axis;        /**< over tp, or another axis */
};
void fr_work_add_product(struct fr_rank_work *work, const struct fr_product *product);

/** Leave the forward pass alone: what would be kept is held a layer at a time. */
void fr_work_keep_forward(struct fr_rank_work *work);

#endif
