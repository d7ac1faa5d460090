/** @file
 *  A real program: one of the papers' parallel methods, trained for real on MPI ranks.
 *
 *  A case is a checked model file and a checked plan file, the same that a prediction is made
 *  from, so that the two are about one thing.  A program refuses what it cannot run before
 *  anything starts; opened, it holds this rank's part of the parameters, of their gradients and
 *  of the optimiser's state, each in one block, and makes training steps.
 *
 *  A step does what models/work/method.h counts, no less: input gradients are computed for the first
 *  layer too, since an FFN is a block of a larger network.
 *
 *  Phases, of a step that is profiled: every kernel and every collective is timed on the rank
 *  that runs it, and a barrier stands before every collective,
 *      compute      inside kernels            collective  inside collectives and messages
 *      wait         before collectives and messages, for ranks that come late
 *      launch       the rest of the step: calls, loops, clocks
 *
 *  To add one: real/apps/<name>.c exporting fr_real_<name>, and its row in real/apps/programs.c.
 */
#ifndef FR_REAL_APPS_APP_H
#define FR_REAL_APPS_APP_H

#include "base/clock.h"
#include "calibrate/measure/harness/kernels.h"
#include "calibrate/measure/harness/mpi_try.h"
#include "models/plan/copies.h"
#include "models/plan/plan.h"
#include "models/workload/workload.h"
#include "real/apps/division.h"

struct fr_real_case {
    const struct fr_workload *workload;
    const struct fr_plan *plan;
    const char *options; /**< of the program alone, or "" */
    uint64_t seed;
};

/** Seconds of one profiled step on this rank. */
struct fr_phases {
    double compute_s, collective_s, wait_s;
};

/** Whom a rank sends to: the ranks of its tp, pp, dp and cp axes, or others (those that share a tied
 *  embedding, or a layer's own grid). */
enum { FR_REAL_TP, FR_REAL_PP, FR_REAL_DP, FR_REAL_CP, FR_REAL_OTHER, FR_REAL_AXES };

/** Data of every program: communicators of the mesh, blocks, clocks. */
struct fr_real {
    const struct fr_real_case *run;
    const struct fr_kernels *k;
    /** Ranks of equal dp and pp, of equal tp and pp (those of all dp cp replicas), ..., that share a sample. */
    MPI_Comm world, tp, dp, pp, cp;
    /** With `layer_tp`, for each group of a transformer's products (models/plan/copies.h): the ranks of its grid's column, and
     *  those between which samples move to the next group's grid.  Else null. */
    MPI_Comm rows[FR_GRIDS], between[FR_GRIDS];
    /** All that hold the same as this rank (division.h), and its place among them; null: nobody holds anything so. */
    MPI_Comm held[FR_HOLDERS];
    int held_rank[FR_HOLDERS];
    /** Neighbours that divide what they hold (division.h), and the ranks that have the same part of it (`zero_ranks`).
     *  Null: all who hold it divide it. */
    MPI_Comm dividing[FR_HOLDERS], across[FR_HOLDERS];
    int rank, n_ranks, tp_rank, dp_rank, pp_rank, cp_rank;
    int64_t n_parameters;                   /**< on this rank */
    void *parameters, *gradients, *moments; /**< moments: 0 to 2 of each value of the share */
    int n_moments;
    struct fr_division
        division; /**< of the optimiser's work and state (zero), or all on each */
    void *packed; /**< shares of all replicas, where they are in more than one piece */
    bool gathers; /**< passes gather the parameters that others have updated */
    struct fr_update update;
    bool profile;
    struct fr_phases phases;
    double
        sent_B[FR_REAL_AXES]; /**< by this rank since it was opened, as nccl-tests' bus bytes */
    void *state;              /**< the program's own */
    struct fr_error
        *err; /**< where what fails is reported: of who opened it, or asked for the step */
};

struct fr_real_app {
    const char *name;
    const char *summary;
    const char *source;
    /** FR_OK, or FR_ERR_INPUT with what does not divide or is too large. */
    fr_status (*check)(const struct fr_real_case *run, struct fr_error *err);
    /** Parameters on rank @p real->rank (mesh ranks are set). */
    int64_t (*n_parameters)(const struct fr_real *real);
    /** Allocate the state, fill parameters and data.  @return FR_OK or FR_ERR_NOMEM; close is
     *  called after it in any case. */
    fr_status (*open)(struct fr_real *real);
    /** Forward and backward pass: gradients and the loss summed over all ranks (on all). */
    fr_status (*gradients)(struct fr_real *real, double *loss);
    void (*close)(struct fr_real *real);
};

/** Rows that others name. */
extern const struct fr_real_app fr_real_tensor, fr_real_phantom, fr_real_grid, fr_real_pipeline,
    fr_real_subgraph, fr_real_mesh;
/** Rows in table order, then NULL. */
extern const struct fr_real_app *const fr_real_apps[];

/** Open @p app over @p world, whose size is the plan's ranks. */
fr_status fr_real_open(const struct fr_real_app *app, const struct fr_real_case *run,
                       MPI_Comm world, struct fr_real *real, struct fr_error *err);
void fr_real_close(const struct fr_real_app *app, struct fr_real *real);

/** One training step: gradients, then the optimiser. */
fr_status fr_real_step(const struct fr_real_app *app, struct fr_real *real, double *loss,
                       struct fr_error *err);

/** Allocate @p n values, zeroed, aligned to cache lines; NULL when there is no memory. */
void *fr_real_alloc(const struct fr_kernels *k, int64_t n);

/** One buffer of @p n values. */
struct fr_real_buffer {
    void **at;
    int64_t n;
};
/** Allocate all; false when memory is exhausted, and then some are NULL. */
bool fr_real_alloc_all(const struct fr_kernels *k, const struct fr_real_buffer *all,
                       size_t count);

/** Are parameters held so?  How many hold those of @p holder alike (1: nobody else, or nothing is held so), and how many of
 *  these divide what zero divides (1: it divides nothing); models/plan/copies.h. */
bool fr_real_holds(const struct fr_plan *plan, int holder);
int fr_real_copies(const struct fr_plan *plan, int holder);
int fr_real_dividing(const struct fr_plan *plan, int holder);
/** Does every rank hold its parameters alone? */
bool fr_real_alone(const struct fr_plan *plan);
/** Are parameters of a rank held by more than replicas? */
bool fr_real_holds_parts(const struct fr_plan *plan);
/** This rank among those of its stage, tp first. */
static inline int fr_real_place(const struct fr_real *real) {
    return real->dp_rank * (int)real->run->plan->tp + real->tp_rank;
}
/** Do those who hold something alike divide the optimiser's work on it? */
static inline bool fr_real_divided(const struct fr_real *real, int holder) {
    return real->division.holders[holder] > 1;
}

/** The optimiser over this rank's share of the parameters, once; part of fr_real_step. */
void fr_real_update(struct fr_real *real);

/** The time where a step is profiled, else 0, so that a difference of two is 0. */
static inline double fr_real_clock_s(const struct fr_real *real) {
    return real->profile ? fr_now_s() : 0;
}

/** Return from the enclosing function unless the MPI call succeeds. */
#define FR_REAL_TRY(real, call)                                                                \
    do {                                                                                       \
        int code_ = (call);                                                                    \
        if (code_ != MPI_SUCCESS) return fr_mpi_failed(code_, #call, (real)->err);             \
    } while (0)

/** Time a statement as compute. */
#define FR_COMPUTE(real, statement)                                                            \
    do {                                                                                       \
        double start_s_ = fr_real_clock_s(real);                                               \
        statement;                                                                             \
        (real)->phases.compute_s += fr_real_clock_s(real) - start_s_;                          \
    } while (0)

/** A communicator of those of real->world with equal @p colour, in order of @p key; the caller frees it. */
fr_status fr_real_split(struct fr_real *real, int64_t colour, int64_t key, MPI_Comm *comm);

/* Collectives with clocks; counts are values of one rank's contribution, as in MPI. */
fr_status fr_real_broadcast(struct fr_real *real, MPI_Comm comm, void *buffer, int64_t count);
fr_status fr_real_all_gather(struct fr_real *real, MPI_Comm comm, const void *send,
                             int64_t count, void *recv);
/** @p size_B bytes of each. */
fr_status fr_real_all_gather_bytes(struct fr_real *real, MPI_Comm comm, const void *send,
                                   size_t size_B, void *recv);
/** Begun, to run beside what follows until fr_real_wait. */
fr_status fr_real_all_gather_begin(struct fr_real *real, MPI_Comm comm, const void *send,
                                   int64_t count, void *recv, MPI_Request *request);
/** A message to, and one from, a rank of @p comm, both begun by all of it; likewise. */
fr_status fr_real_send_begin(struct fr_real *real, MPI_Comm comm, int to, int tag,
                             const void *values, int64_t count, MPI_Request *request);
fr_status fr_real_receive_begin(struct fr_real *real, MPI_Comm comm, int from, int tag,
                                void *values, int64_t count, MPI_Request *request);
fr_status fr_real_wait(struct fr_real *real, MPI_Request *request);
fr_status fr_real_reduce_scatter(struct fr_real *real, MPI_Comm comm, const void *send,
                                 void *recv, int64_t count);
/** In place. */
fr_status fr_real_all_reduce(struct fr_real *real, MPI_Comm comm, void *buffer, int64_t count);
/** Begun, likewise. */
fr_status fr_real_all_reduce_begin(struct fr_real *real, MPI_Comm comm, void *buffer,
                                   int64_t count, MPI_Request *request);
fr_status fr_real_all_to_all(struct fr_real *real, MPI_Comm comm, const void *send,
                             int64_t count, void *recv);
/** A reduce-scatter that is begun: each rank's contributions to each, then recv's first @p count values := their sum.  recv
 *  holds those of all ranks.  (MPI_Ireduce_scatter_block fails inside SMPI 3.32.) */
fr_status fr_real_scatter_sum_begin(struct fr_real *real, MPI_Comm comm, const void *send,
                                    int64_t count, void *recv, MPI_Request *request);
fr_status fr_real_scatter_sum_end(struct fr_real *real, MPI_Comm comm, int64_t count,
                                  void *recv, MPI_Request *request);

/* With the root at rank 0 of @p comm; @p count is one rank's part, of a reduce the whole. */
fr_status fr_real_scatter(struct fr_real *real, MPI_Comm comm, const void *send, int64_t count,
                          void *recv);
fr_status fr_real_gather(struct fr_real *real, MPI_Comm comm, const void *send, int64_t count,
                         void *recv);
fr_status fr_real_reduce(struct fr_real *real, MPI_Comm comm, const void *send, void *recv,
                         int64_t count);

/** Return FR_ERR_INPUT unless @p size divides by @p parts. */
fr_status fr_real_divides(const char *what, int64_t size, const char *into, int64_t parts,
                          struct fr_error *err);

/** Workload layers written out: entries with repeat unrolled. */
struct fr_real_layer {
    int64_t inputs, outputs; /**< outputs: after pooling */
    bool bias;
    const struct fr_layer *convolution; /**< NULL: fully connected */
};
/** @param convolves  are convolutions run?  Otherwise only fully connected layers are.
 *  @param[out] layers  freed by the caller.  @return FR_OK, FR_ERR_INPUT, FR_ERR_NOMEM. */
fr_status fr_real_layers(const struct fr_workload *workload, bool convolves,
                         struct fr_real_layer **layers, int *n, struct fr_error *err);

#endif
