/** @file
 *  A layer of a network as one rank holds it; the mesh (real/apps/mesh/mesh.h) strings layers
 *  to stages.  A unit is a fully connected layer, as a method divides it, or a transformer's,
 *  whose embedding and logits are units, too.
 *
 *  Activations are features x columns, a column a sample or a token; a unit reads x, which the
 *  unit before wrote, and writes the x of the next.  Its backward pass has two parts, since a
 *  schedule may postpone the second.  `input` turns the gradient of its output into that of
 *  its input, and saves what `weight` needs.  `weight` makes the gradients of parameters.
 *  They are added up over micro-batches.
 *
 *      methods differ in     divided   between units a rank holds its 1/tp of the features alone
 *                            shares    the gradient of an output comes as tp equal parts, each on a
 *                                      rank with the features whole, that add up to it
 *
 *  To add one: real/apps/mesh/unit/<name>.c exporting fr_unit_<name>, row FR_UNIT(<name>) in
 *  real/apps/mesh/unit_list.h.
 */
#ifndef FR_REAL_APPS_MESH_UNIT_H
#define FR_REAL_APPS_MESH_UNIT_H

#include "real/apps/block.h"
#include "real/apps/redistribute.h"

/** A weight matrix: where its gradients are, rows and columns. */
struct fr_unit_matrix {
    void *at;
    int m, n;
};

/** Ranks that divide products, P_r = p of them, and what these have of a micro-batch. */
struct fr_unit_grid {
    int of; /**< FR_GRID_ATTENTION, ... */
    int p, rank;
    struct fr_real_columns columns; /**< of those of all ranks of a stage */
    MPI_Comm group;
};

struct fr_unit {
    const struct fr_unit_kind *kind;
    const struct fr_real_case *run;
    struct fr_real_layer layer;  /**< the whole of it, where fully connected */
    struct fr_block_sizes block; /**< of a transformer: this rank's part */
    bool crosses;                /**< of a decoder: it attends to what the encoder made, too */
    int64_t index;               /**< in the network, for its random numbers */
    int words; /**< of embedding and logits: this rank's, from tp_rank words on, of ... */
    void *table, *d_table; /**< ... words x hidden; its gradients */
    int tp, tp_rank, ghost;
    MPI_Comm group; /**< the tp ranks */
    /** The grid of its products, of a transformer's layer its attention's; that of a layer's MLP; and those where it reads
     *  x and leaves its output.  All are one unless the plan's `layer_tp` states others. */
    struct fr_unit_grid grid, mlp, from, to;
    MPI_Comm entering, inside, leaving; /**< between grids: from and grid, grid and mlp, to */
    int holder[2];       /**< of its parameters' first part and of the second (division.h) */
    int in, out;         /**< features of x, and of the next unit's, on this rank */
    int rows;            /**< outputs that this rank computes */
    int columns;         /**< of a micro-batch */
    int group_columns;   /**< of sub-grids those of all tp ranks together */
    bool splits;         /**< weight may come after other micro-batches' input */
    void *w, *g;         /**< parameters and their gradients, n of each */
    void *own_w, *own_g; /**< where they are in two parts, the second one's */
    int64_t n;
    bool biases, weights; /**< gradients of an earlier micro-batch are in them already */
    void *scratch;        /**< shared by the units of a rank: scratch(unit) values */
};

/** Data of one micro-batch, from its forward to the end of its backward pass. */
struct fr_unit_saved {
    void *x;    /**< in x columns */
    void *y;    /**< rows x columns: its output, of this rank */
    void *d;    /**< rows x columns: the gradient of that before the activation */
    void *more; /**< the kind's */
    void *own[3];
};

struct fr_unit_kind {
    const char *name; /**< a method's, of fully connected layers */
    bool divided, shares;
    /** All ranks of a stage have the same parameters, and add up their gradients at once. */
    bool whole_stage;
    bool adds; /**< gradients are added to what is there, zero when an iteration begins */
    /** FR_OK, or FR_ERR_INPUT with what does not divide; NULL: all does. */
    fr_status (*check)(const struct fr_unit *u, struct fr_error *err);
    int64_t (*parameters)(const struct fr_unit *u);
    /** So many of the first of the parameters' part @p part (0 or 1) are on all ranks of the part's grid, each of which has
     *  a part of their gradients; NULL: none. */
    int64_t (*partial)(const struct fr_unit *u, int part);
    /** So many of the parameters are the first holder's.  The others, a sub-grid's or an MLP's on a grid of its own,
     *  are the second one's and lie apart.  NULL: all. */
    int64_t (*common)(const struct fr_unit *u);
    /** Random parameters. */
    void (*fill)(const struct fr_real *real, struct fr_unit *u);
    int64_t (*scratch)(const struct fr_unit *u);
    /** Values of own[0..2]; those of x are not in it. */
    void (*keeps)(const struct fr_unit *u, int64_t n[3]);
    fr_status (*forward)(struct fr_real *real, struct fr_unit *u, struct fr_unit_saved *saved,
                         void *next);
    /** dx := from dy, which may be used as scratch memory. */
    fr_status (*input)(struct fr_real *real, struct fr_unit *u, struct fr_unit_saved *saved,
                       void *dy, void *dx);
    void (*weight)(struct fr_real *real, struct fr_unit *u, const struct fr_unit_saved *saved);
    /** @return how many weight matrices it has, ascending in memory, up to @p scratch of them in
     *  @p out */
    int (*matrices)(const struct fr_real *real, const struct fr_unit *u,
                    struct fr_unit_matrix *out, int scratch);
};

/** Are tokens in parts where nothing multiplies (sequence parallel)?  On any grid a rank has the same then. */
bool fr_unit_parts_tokens(const struct fr_plan *plan);
/** The parts of a unit's tokens, on the grid of its products. */
static inline struct fr_token_parts fr_unit_parts(const struct fr_unit *u) {
    return (struct fr_token_parts){u->group, u->block.hidden, u->columns, u->tp, u->tp_rank};
}
/** Tokens of a rank between products. */
static inline int fr_unit_own_tokens(const struct fr_unit *u) {
    return u->block.parted ? u->columns / u->tp : u->columns;
}

/** Gradients of the unit that @p holder have, where they begin, and how many. */
int64_t fr_unit_held(const struct fr_unit *u, int holder, void **at);
/** Values of its input and of its output, as they lie between units. */
static inline int64_t fr_unit_enters(const struct fr_unit *u) {
    return (int64_t)u->in * u->from.columns.n;
}
static inline int64_t fr_unit_leaves(const struct fr_unit *u) {
    return (int64_t)u->out * u->to.columns.n;
}

/** Rows that others name. */
extern const struct fr_unit_kind fr_unit_convolution, fr_unit_domain, fr_unit_block,
    fr_unit_ghost_block, fr_unit_branch_block, fr_unit_cross_block, fr_unit_embedding,
    fr_unit_logits;
/** Rows in table order, then NULL. */
extern const struct fr_unit_kind *const fr_unit_kinds[];

/** The row called @p name, or NULL. */
const struct fr_unit_kind *fr_unit_find(const char *name);

/** d where y > 0, else 0; its row sums are added to @p bias, a part of the unit's gradients.
 *  @p scratch holds @p rows values. */
void fr_unit_relu_backward(struct fr_real *real, struct fr_unit *u, int rows, const void *y,
                           void *d, void *bias, void *scratch);

/* ---- the units of a whole network in a row, and where the chunks of a plan's stages cut it --------
 *
 *      layers            a unit each, fully connected or a convolution with its pooling
 *      transformer       embedding, a unit a layer, logits; the ends come on top of the layers of the
 *                        first and the last chunk */

struct fr_chain {
    const struct fr_real_case *run;
    struct fr_real_layer *layer; /**< [n_layers], or NULL: a transformer's */
    int n_layers, n;             /**< layers; units */
};

/** @return FR_OK, FR_ERR_INPUT, FR_ERR_NOMEM.  Free with fr_chain_free, also on error. */
fr_status fr_chain_make(const struct fr_real_case *run, struct fr_chain *chain,
                        struct fr_error *err);
void fr_chain_free(struct fr_chain *chain);

/** Is it a transformer, which reads words? */
static inline bool fr_chain_reads_words(const struct fr_chain *chain) {
    return chain->run->workload->transformer.layers > 0;
}
/** Layers before chunk @p number of P v, and units. */
int64_t fr_chain_layers_before(const struct fr_chain *chain, int64_t number);
int64_t fr_chain_units_before(const struct fr_chain *chain, int64_t number);

/** Unit @p i on rank @p tp_rank, without memory; NULL kind: the plan's method divides no such layer
 *  here.  Grids have sizes; open.c gives them their ranks.  @param columns  of plan.tp ranks */
struct fr_unit fr_chain_unit(const struct fr_chain *chain, int64_t i, int tp_rank, int columns);

#endif
