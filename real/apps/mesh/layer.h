/** @file
 *  A transformer's layer as one rank has it: sublayers one after another,
 *
 *      y = x + W2 between(W1 norm(x) + b1) + b2
 *
 *      heads      W1 makes queries, keys and values (3 q x h), attention is between (attention/context.h), W2 h x q
 *      crossing   of a decoder (Vaswani et al. 2017, section 3.1): queries of x, keys and values of e, what the
 *                 encoder made, all of which every query sees
 *      mlp        W1 f x h, relu is between, W2 h x f
 *
 *  Each of p = tp ranks has a share of the heads (q values) and of the MLP's width (f).  Ways
 *  to have x between sublayers, h values of T tokens, and what joins the ranks' parts:
 *
 *      whole     all of it; an all-reduce of W2's partial sums, backward of W1's (Shoeybi et al., Megatron-LM, 2019,
 *                section 3)
 *      rows      all of it; W2 by rows: what is between is gathered, and what comes out, h/p rows from each;
 *                backward all-reduces of their gradients (Gholami et al. 2017, Eq. 4)
 *      tokens    T/p tokens (sequence parallel, Korthikanti et al. 2022): gathered before W1 and backward once more, partial
 *                sums reduced and scattered; each rank has a part of the norms' gradients
 *      row tokens  tokens of rows: gathered before W1 and backward once more; what is between is gathered, and of what comes
 *                out each rank's rows go to those whose tokens they are, by an all-to-all; backward the same of gradients, and an
 *                all-reduce of those between
 *      values    h/p values (phantom; models/work/phantom_stage.h).  Where a sublayer's products are ghost neurons'
 *                (real/apps/mesh/ghost_neurons.h; of heads, MLP or both) its norm adds up two sums a token.  Else x is
 *                gathered before its norm, partial sums are reduced and scattered
 *      samples   C = T/p of a branch on sub-grids (Jain et al. 2021, section IV; models/work/subgraph.h): split to all
 *                ranks before W1, summed behind W2
 *                or all T of them on the first sub-grid (cSub): broadcast before W1, reduced behind W2
 *      alone     C = T/p of what is no branch; with cSub all T on the first sub-grid, and none on others.  Where heads
 *                alone are branches, queries, keys and values are sliced apart between W1 and attention, and heads
 *                concatenated behind it
 *
 *  The products are those that models/work/transformer_stage.c prices.  The backward pass is in two parts, since a
 *  schedule may put the second off: gradients of inputs, norms and the MLP's first bias, and those of weights.
 *
 *  With `layer_tp` attention and MLP are divided over grids of their own (struct fr_unit), and tokens move between them
 *  (real/apps/redistribute.h), as they do behind the MLP to the next layer.
 *
 *  A rank's parameters: norms first, then each sublayer's, the crossing's last.  With phantom values they lie sublayer by
 *  sublayer.  With sub-grids what all ranks of a stage have alike is first, then branches.  With `layer_tp` the attention's
 *  are first, then the MLP's. */
#ifndef FR_REAL_APPS_MESH_LAYER_H
#define FR_REAL_APPS_MESH_LAYER_H

#include "real/apps/attention/context.h"
#include "real/apps/mesh/ghost_neurons.h"

enum { FR_SUBLAYER_HEADS, FR_SUBLAYER_MLP, FR_SUBLAYER_CROSSING, FR_SUBLAYERS };

typedef enum {
    FR_FLOW_WHOLE,
    FR_FLOW_ROWS,
    FR_FLOW_TOKENS,
    FR_FLOW_ROW_TOKENS,
    FR_FLOW_VALUES,
    FR_FLOW_SAMPLES,
    FR_FLOW_ALONE
} fr_flow;

struct fr_sublayer {
    int kind;
    fr_flow flow;
    bool ghost_neurons, slices; /**< products are ghost neurons'; heads are sliced apart */
    int rank, ranks;
    MPI_Comm group; /**< the ranks that divide it */
    int h,
        o; /**< values of a token; those of what comes out of W2 that the rank adds its bias to */
    int n, t;                /**< own tokens; those of products */
    int before;              /**< own tokens of the sublayer before it */
    int thirds;              /**< 3: queries, keys, values; 1 */
    int wide, from, all;     /**< rows of each in W1 on this rank, from which, of all */
    int rows, in;            /**< W2's */
    struct fr_block_sizes z; /**< of attention */
    struct fr_ghost_neurons up, down; /**< W1 and W2 */
};
/** Is W2 divided by rows?  Are tokens in parts between products? */
static inline bool fr_sublayer_by_rows(const struct fr_sublayer *s) {
    return s->flow == FR_FLOW_ROWS || s->flow == FR_FLOW_ROW_TOKENS;
}
static inline bool fr_sublayer_parted(const struct fr_sublayer *s) {
    return s->flow == FR_FLOW_TOKENS || s->flow == FR_FLOW_ROW_TOKENS;
}
struct fr_sublayer fr_sublayer_of(const struct fr_unit *u, int kind);
/** Kinds of the unit's sublayers, in the order they run.  @return how many */
int fr_sublayers_of(const struct fr_unit *u, int kind[FR_SUBLAYERS]);

struct fr_sublayer_weights {
    void *gain, *bias, *first, *first_bias, *second, *second_bias;
};
/** Values of the unit's parameters: [0] of their first part; [1] of the second, of branches or of an MLP on a grid of its
 *  own. */
void fr_layer_sizes(const struct fr_unit *u, int64_t n[2]);
/** Weights of all kinds, or with @p gradients those. */
void fr_layer_weights(const struct fr_real *real, const struct fr_unit *u, bool gradients,
                      struct fr_sublayer_weights w[FR_SUBLAYERS]);
/** Random weights: deviation 1 / sqrt(inputs), gains 1, biases 0. */
void fr_layer_fill(const struct fr_real *real, struct fr_unit *u);
/** As struct fr_unit_kind has it. */
int fr_layer_matrices(const struct fr_real *real, const struct fr_unit *u,
                      struct fr_unit_matrix *out, int capacity);

/** Data that the backward pass of a micro-batch needs.  x: its input, but of the first
 *  sublayer; all: x of all ranks; a: the normed; first: queries, keys and values; made: what
 *  W2 reads; heads: what attention made, where that is not it. */
struct fr_sublayer_saved {
    void *x, *all, *a, *mean, *inverse, *first, *made, *heads, *ghost_neurons[2], *p;
};
/** Further data that gradients of weights need.  first, a: of what W1 made and read; left: the
 *  gradient of what came out, of all ranks; dx: of its input, but of the first sublayer. */
struct fr_sublayer_deferred {
    void *first, *left, *a, *dx, *ghost_neurons[2];
};
/** Scratch memory of a pass. */
struct fr_sublayer_scratch {
    void *whole, *other, *mid, *heads, *first, *packed, *bias, *sums, *local, *all, *context;
};
/** Values of them, of the saved with the softmax or without; they are put from @p base on unless that is NULL. */
int64_t fr_sublayer_saved(const struct fr_kernels *k, const struct fr_sublayer *s,
                          const void *base, bool softmax, struct fr_sublayer_saved *out);
int64_t fr_sublayer_deferred(const struct fr_kernels *k, const struct fr_sublayer *s,
                             const void *base, struct fr_sublayer_deferred *out);
int64_t fr_sublayer_scratch(const struct fr_kernels *k, const struct fr_sublayer *s,
                            const void *base, struct fr_sublayer_scratch *out);

/** A pass of a sublayer: all that it works on. */
struct fr_sublayer_pass {
    struct fr_real *real;
    const struct fr_unit *u;
    struct fr_sublayer s;
    struct fr_sublayer_weights w, g;
    struct fr_sublayer_saved saved;
    struct fr_sublayer_deferred deferred;
    struct fr_sublayer_scratch scratch;
    const void *e; /**< of a crossing, and its gradient, which is added to */
    void *de;
};
fr_status fr_sublayer_forward(const struct fr_sublayer_pass *p, const void *x, void *y);
/** Attention once more, to where the forward pass put what it made. */
fr_status fr_sublayer_attend(const struct fr_sublayer_pass *p);
/** dx := from dy, which stays; gradients of norms and of the MLP's first bias are added to p->g. */
fr_status fr_sublayer_input(const struct fr_sublayer_pass *p, const void *x, const void *dy,
                            void *dx);
/** The other gradients are added to p->g. */
void fr_sublayer_weight(const struct fr_sublayer_pass *p, const void *dy);

#endif
