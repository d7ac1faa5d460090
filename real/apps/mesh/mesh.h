/** @file
 *  Any plan on one skeleton: units (real/apps/mesh/unit.h) strung to the stages of a mesh dp x
 *  pp x tp, whose passes run in the order of the plan's schedule.
 *
 *      check.c     what is refused
 *      open.c      which units a rank holds; buffers, codecs
 *      pass.c      an iteration: forward passes, and the two parts of backward passes
 *      message.c   activations and their gradients to and from the neighbouring stages
 *      blocking.c  who waits for whom where messages block
 *      part.c      the share of them that a rank sends
 *      partial.c   gradients of which each tp rank has a part
 *      zero.c      parameters and gradients that replicas divide, unit by unit beside the passes
 *      reduce.c    gradients over replicas, and a tied embedding's over both its ends
 *      bucket.c    the former beside the last backward pass
 *      pieces.c    products of tokens in parts, in pieces beside their exchanges
 *      task_regression.c   feed-forward networks: y = relu(W relu(x)) (real/apps/ffn.h)
 *      task_words.c        transformers: random words, each after the one before it
 *
 *  A chunk holds consecutive units: chunk c of stage i is number c P + i of P v in a row, or down and up again where the
 *  schedule folds (models/plan/schedule.h).  Between two chunks a message carries a micro-batch's activations, features x columns: of them each of the tp
 *  ranks sends its 1/tp, and where every rank needs them all they are gathered on arrival.  Messages
 *  are sent without waiting: forward from a buffer of the micro-batch, backward from the first of a
 *  few buffers that is free.
 */
#ifndef FR_REAL_APPS_MESH_MESH_H
#define FR_REAL_APPS_MESH_MESH_H

#include "models/plan/schedule.h"
#include "real/apps/codec.h"
#include "real/apps/mesh/unit.h"

/** Data that one micro-batch saves from its forward to its backward pass. */
struct fr_mesh_micro {
    struct fr_unit_saved *saved; /**< [n_units] */
    void *top;                   /**< what the last unit wrote; sent on, or compared */
    void *part; /**< of it, what is sent where that is not in one piece or coded, else NULL */
    MPI_Request sent;
};

/** Gradients of a chunk that a holder's ranks add up in buckets beside the last pass. */
struct fr_mesh_buckets {
    void *at; /**< those of all units side by side, n_values of them */
    int64_t n_values;
    int n, left; /**< buckets; those that have not gone */
    int unit;    /**< of zero 1: all units from here on have gone */
};

/** A bucket on its way: scattered to be summed, then gathered.  Non-blocking all-reduces send p times as much inside SMPI. */
struct fr_mesh_sum {
    void *at; /**< n values */
    int64_t n, share;
    MPI_Comm comm;
    void *packed, *arrived;
    MPI_Request request;
    enum { FR_MESH_DONE, FR_MESH_SCATTERED, FR_MESH_GATHERED } leg;
};

struct fr_mesh_chunk {
    int number; /**< of P v in a row */
    bool first, last;
    struct fr_unit *unit;
    int n_units, before;         /**< before: units of the rank's chunks before it */
    struct fr_mesh_micro *micro; /**< [n_micro] */
    struct fr_real_codec
        codec; /**< of gradients to the chunk before; opened where they go compressed */
    struct fr_real_codec from; /**< sizes of those from the chunk after; never opened */
    /** Codec of activations to the chunk after, and sizes of those from the chunk before;
     *  where they go compressed. */
    struct fr_real_codec up, up_from;
    struct fr_mesh_buckets buckets[FR_HOLDERS];
    int64_t last_slot; /**< that makes the last of its gradients */
    bool ahead,
        whole; /**< what others updated is gathered ahead, or has been, in this iteration */
};

/** Messages on their way, each in a buffer of its own. */
struct fr_mesh_outbox {
    void **buffer;
    MPI_Request *request;
    int n;
    int64_t values; /**< of each */
};

/** A weight matrix whose gradients go compressed. */
struct fr_mesh_coded {
    void *at;
    struct fr_real_codec codec;
};

/** Gradients that are all-reduced at once, those of several units where they lie side by side, over those who
 *  hold them alike. */
struct fr_mesh_batch {
    bool whole_stage; /**< added up over all ranks, of one stage, in place of its holder */
    int holder;       /**< who has it (division.h) */
    int piece;        /**< of the division (zero.c) */
    void *at;
    int64_t n;
    int coded_from, coded_to; /**< its matrices among those that go compressed, ascending */
};

/** Which of features x columns a rank sends between stages. */
typedef enum {
    FR_MESH_ALL,     /**< it has a part alone, or tp is 1 */
    FR_MESH_ROWS,    /**< features, its part in one piece */
    FR_MESH_COLUMNS, /**< tokens, as models/price/pipeline.c has a transformer's */
    FR_MESH_TOKENS,  /**< tokens, of which it has its part alone (sequence parallel) */
} fr_mesh_cut;

struct fr_mesh_task;

/** A unit's parameters, or its gradients, on their way: of each kind of holder, and last a tied table's. */
struct fr_mesh_flights {
    struct fr_shares_flight each[FR_HOLDERS + 1];
    enum { FR_MESH_LANDED, FR_MESH_FIRST_LEG, FR_MESH_ACROSS } leg;
};

struct fr_mesh_state {
    int stages, stage, n_chunks, n_micro, columns;
    bool splits; /**< weight gradients are passes of their own */
    fr_mesh_cut cut;
    const struct fr_mesh_task *task;
    struct fr_mesh_chunk *chunk;
    struct fr_slot *slots;
    int64_t n_slots, slot; /**< slot: the one that runs */
    bool *
        pairs; /**< [n_slots], where messages block: which send at once with what the next one reads */
    MPI_Request *
        blocking; /**< the message that a stage has yet to end, where messages block; or NULL */
    /** [n_chunks n_micro]: of the epilogue alone, does the gradient that this stage, or the one before,
     *  reads go compressed?  NULL: those of all. */
    bool *reads, *before_reads;
    struct fr_mesh_outbox out;
    void *d[2];         /**< gradients between units, one read while the other is written */
    void *scratch;      /**< the units' */
    void *packet;       /**< factors on their way in */
    void *part, *parts; /**< a rank's columns on their way in; those of all tp ranks */
    struct fr_mesh_sum sums[2]; /**< of buckets, in turn */
    int n_sums;
    bool beside;   /**< gradients go beside the last pass */
    bool bucketed; /**< they do in buckets that are all-reduced */
    struct fr_mesh_batch *batch;
    int n_batches;
    struct fr_mesh_coded *coded;
    int n_coded;
    void *
        factors; /**< of a batch, all P, then all Q with what goes whole; or all packets, then that */
    void *gathered; /**< packets of all replicas */
    void *partials; /**< of all units */
    void *share;    /**< zero 2, 3: a rank's share of gradients, summed */
    struct fr_mesh_flights gathers,
        scatters[2]; /**< in turn, of which the other one's may still be on its way */
    int n_scatters;
    /** This rank's part of a tied embedding and its gradients, and the ranks with which it is
     *  synchronised: the first and last stage's ranks, of a replica or, fused, of all.
     *  MPI_COMM_NULL: with nobody. */
    void *tied;
    int64_t n_tied;
    MPI_Comm ends;
    /** Where the blocks have what is held so (division.h), and how many values. */
    int64_t region[FR_HOLDERS], held[FR_HOLDERS];
    void *inputs, *targets; /**< [n_micro], of the first and the last chunk; the task's */
    void *shares;           /**< the task's buffer for a loss over tp ranks */
    const struct fr_unit_grid *ends_on; /**< the task's: which words a rank at an end has */
    double loss;
};

/** Does the rank have what is common to sub-grids?  With cSub only those of the first one do, and others have no columns. */
static inline bool fr_mesh_has_common(const struct fr_real *real) {
    return !real->run->plan->common_subgrid || real->tp_rank == 0;
}

/** Are units divided each by itself?  Their parameters are gathered, or gradients scattered, beside passes. */
static inline bool fr_mesh_by_unit(const struct fr_plan *plan) {
    return plan->zero >= 2 || (plan->zero == 1 && plan->overlap);
}

/** Does the embedding's all-reduce over replicas take both its ends in? */
static inline bool fr_mesh_fused(const struct fr_real_case *run) {
    return run->plan->compression.fused_embedding;
}

/** Who holds a table of words. */
static inline int fr_mesh_table_holder(const struct fr_real *real) {
    const struct fr_plan *plan = real->run->plan;
    int ends = FR_HELD_BY_GRIDS + FR_GRID_ENDS;
    return fr_real_holds(plan, FR_HELD_BY_STAGE) ? FR_HELD_BY_STAGE
           : fr_real_holds(plan, ends)           ? ends
                                                 : FR_HELD_BY_REPLICAS;
}

/** Is the table of this rank's end of a tied embedding reduced by itself, fused, or divided by itself? */
static inline bool fr_mesh_apart(const struct fr_real *real, const struct fr_mesh_state *mesh) {
    const struct fr_plan *plan = real->run->plan;
    bool divided =
        fr_mesh_by_unit(plan) && fr_real_dividing(plan, fr_mesh_table_holder(real)) > 1;
    return mesh->tied && (fr_mesh_fused(real->run) || divided);
}

/* ---- check.c, open.c ------------------------------------------------------------------------- */

/** FR_OK, or FR_ERR_INPUT with what is not run here or does not divide. */
fr_status fr_mesh_check(const struct fr_real_case *run, struct fr_error *err);
/** Samples of a micro-batch, its columns on a rank that has some, and micro-batches of a replica. */
int64_t fr_mesh_micro_batch(const struct fr_real_case *run);
int64_t fr_mesh_columns(const struct fr_real_case *run);
int64_t fr_mesh_micro_batches(const struct fr_real_case *run);
/** Parameters of this rank's stage. */
int64_t fr_mesh_parameters(const struct fr_real *real);

/** Make real->state, a struct fr_mesh_state; fr_mesh_close in any case. */
fr_status fr_mesh_open(struct fr_real *real);
void fr_mesh_close(struct fr_real *real);

/* ---- pass.c ---------------------------------------------------------------------------------- */

/** An iteration without the optimiser, as struct fr_real_app has it. */
fr_status fr_mesh_gradients(struct fr_real *real, double *loss);
/** The forward pass of micro-batch @p m of a chunk, whose parameters are there. */
fr_status fr_mesh_forward(struct fr_real *real, struct fr_mesh_state *mesh,
                          struct fr_mesh_chunk *c, int m);

/* ---- message.c: of micro-batch m of chunk c ---------------------------------------------------- */

fr_status fr_mesh_receive(struct fr_real *real, struct fr_mesh_state *mesh,
                          struct fr_mesh_chunk *c, int m, void *x);
/** Sent on from the micro-batch's top. */
fr_status fr_mesh_send(struct fr_real *real, struct fr_mesh_state *mesh,
                       struct fr_mesh_chunk *c, int m);
fr_status fr_mesh_receive_gradient(struct fr_real *real, struct fr_mesh_state *mesh,
                                   struct fr_mesh_chunk *c, int m, void *dy);
/** A free buffer of the outbox, for the gradient that is sent next; its number in @p at. */
fr_status fr_mesh_outgoing(struct fr_real *real, struct fr_mesh_state *mesh, int *at,
                           void **buffer);
/** @p dx, in buffer @p at of the outbox or where a part of it is put there, whole or as factors. */
fr_status fr_mesh_send_gradient(struct fr_real *real, struct fr_mesh_state *mesh,
                                struct fr_mesh_chunk *c, int m, int at, const void *dx);

/* ---- part.c: of features x columns, on the grid that has them --------------------------------- */

/** The matrix that a rank sends. */
struct fr_mesh_part {
    int m, n;
    size_t first; /**< where it begins, unless it is columns */
};
struct fr_mesh_part fr_mesh_part_of(const struct fr_real *real,
                                    const struct fr_mesh_state *mesh,
                                    const struct fr_unit_grid *on, int features);
/** This rank's columns of @p whole, one row after the other. */
void fr_mesh_take_columns(struct fr_real *real, const struct fr_unit_grid *on, int features,
                          const void *whole, void *part);
/** Parts of all ranks of the grid to @p whole; the own one is in its place there, or columns, in
 *  mesh->part. */
fr_status fr_mesh_gather(struct fr_real *real, const struct fr_mesh_state *mesh,
                         const struct fr_unit_grid *on, int features, void *whole);

/* ---- partial.c ------------------------------------------------------------------------------- */

/** Values of gradients that tp ranks have parts of, and their sum, on all. */
int64_t fr_mesh_partials(const struct fr_mesh_state *mesh);
fr_status fr_mesh_add_partials(struct fr_real *real, struct fr_mesh_state *mesh);

/* ---- zero.c: nothing of it where the plan's zero does not ask for it ------------------------------- */

/** Values of a rank's share; 0: gradients are not scattered micro-batch by micro-batch. */
int64_t fr_mesh_share(const struct fr_real *real);
/** Capacity for it, once real->division is known.  @return false when memory is exhausted. */
bool fr_mesh_open_share(const struct fr_real *real, struct fr_mesh_state *mesh);
void fr_mesh_close_share(struct fr_mesh_state *mesh);
void fr_mesh_begin_share(struct fr_real *real, struct fr_mesh_state *mesh);
/** Pieces that are divided each by itself: the units of all chunks, where passes gather or scatter theirs, and behind them
 *  a table that is tied over stages. */
int fr_mesh_pieces(const struct fr_real *real, const struct fr_mesh_state *mesh);
/** Parameters of unit @p i of a chunk, to be whole before it runs; nothing where there is no such unit. */
fr_status fr_mesh_gather_begin(struct fr_real *real, struct fr_mesh_state *mesh,
                               const struct fr_mesh_chunk *c, int i);
/** Those of a chunk's first unit, ahead of its first forward pass after an update; once an iteration.  Nothing with zero
 *  3, whose passes gather when they begin. */
fr_status fr_mesh_gather_ahead(struct fr_real *real, struct fr_mesh_state *mesh,
                               struct fr_mesh_chunk *c);
/** Unit @p i is whole, and @p next is gathered beside it. */
fr_status fr_mesh_gather_next(struct fr_real *real, struct fr_mesh_state *mesh,
                              const struct fr_mesh_chunk *c, int i, int next);
/** Send the gradients of @p n units from unit @p i on to their owners beside what follows; they are zero then.  Until the
 *  end all have arrived. */
fr_status fr_mesh_scatter_begin(struct fr_real *real, struct fr_mesh_state *mesh,
                                const struct fr_mesh_chunk *c, int i, int n);
fr_status fr_mesh_scatter_end(struct fr_real *real, struct fr_mesh_state *mesh);
/** Add up both ends' shares of a tied table; then the share goes to its place in the block, for the optimiser. */
fr_status fr_mesh_join_shares(struct fr_real *real, struct fr_mesh_state *mesh);
void fr_mesh_put_share(struct fr_real *real, const struct fr_mesh_state *mesh);

/* ---- bucket.c: nothing of it without the plan's overlap -------------------------------------------- */

/** @return false when memory is exhausted. */
bool fr_mesh_open_buckets(struct fr_real *real, struct fr_mesh_state *mesh);
void fr_mesh_close_buckets(struct fr_mesh_state *mesh);
/** In slot @p slot the chunk's units from @p unit on have made their gradients. */
fr_status fr_mesh_send_buckets(struct fr_real *real, struct fr_mesh_state *mesh,
                               struct fr_mesh_chunk *c, int64_t slot, int unit);
fr_status fr_mesh_end_buckets(struct fr_real *real, struct fr_mesh_state *mesh);

/* ---- reduce.c -------------------------------------------------------------------------------- */

/** Open the batches that are all-reduced at once, and codecs of those that go compressed.
 *  @return false when memory is exhausted. */
bool fr_mesh_open_batches(struct fr_real *real, struct fr_mesh_state *mesh);
/** Add up gradients over replicas, compressed where the plan says so, and a tied embedding's over its
 *  ends. */
fr_status fr_mesh_reduce(struct fr_real *real, struct fr_mesh_state *mesh);

/* ---- tasks: what enters the first unit, and what is asked of the last one's output -------------- */

struct fr_mesh_task {
    /** Inputs and targets of the replica, in its first and its last chunk. */
    fr_status (*open)(struct fr_real *real, struct fr_mesh_state *mesh,
                      const struct fr_chain *chain);
    /** The input of the first unit with micro-batch m. */
    void *(*inputs)(const struct fr_real *real, const struct fr_mesh_state *mesh, int m);
    /** Add micro-batch m's loss to mesh->loss; *dy, mesh->d[0], or where it is put instead := its
     *  gradient. */
    fr_status (*loss)(struct fr_real *real, struct fr_mesh_state *mesh,
                      const struct fr_mesh_chunk *c, int m, void **dy);
};
extern const struct fr_mesh_task fr_mesh_regression, fr_mesh_words;

/** Sample of the replica that this rank's @p token is of, of all its micro-batches one after the other. */
int64_t fr_mesh_words_sample(const struct fr_real *real, const struct fr_mesh_state *mesh,
                             int64_t token);

/** In place of a regression's samples the batch that begins at sample @p first of @p all.  FR_OK or
 *  FR_ERR_NOMEM. */
fr_status fr_mesh_regression_take(struct fr_real *real, int64_t first, int64_t all);

#endif
