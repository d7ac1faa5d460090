/** @file
 *  One stage of a pipeline on one rank: what the program pipeline (calibrate/real/apps/app/pipeline.c)
 *  keeps, and its parts.
 *
 *      stage_check.c     what the program refuses
 *      stage_open.c      parameters, buffers, codecs
 *      stage_message.c   activations and gradients to and from the neighbours
 *      stage_reduce.c    gradients over replicas, and the tied embedding
 *
 *  A stage's block: its layers; positions (first); final norm (last); embedding V x h (first and
 *  last; V padded to a multiple of 128, as models/work/transformer.h has it).
 */
#ifndef FR_CALIBRATE_REAL_APPS_STAGE_H
#define FR_CALIBRATE_REAL_APPS_STAGE_H

#include "calibrate/real/apps/block.h"
#include "calibrate/real/apps/lowrank.h"
#include "models/plan/schedule.h"

/** What one micro-batch keeps from its forward to its backward pass. */
struct fr_rank_stage_micro {
    struct fr_block_saved *layer; /* [n_layers] */
    void *top;                    /* output of the last layer; sent on, or fed to the logits */
    MPI_Request sent;
};

struct fr_rank_stage {
    struct fr_block_sizes sizes;
    int stages, stage, n_layers, n_micro, vocabulary;
    bool first, last;
    int *inputs, *targets; /* [T] of one micro-batch */
    struct fr_block *w, *g;
    void *embedding, *d_embedding, *positions, *d_positions, *gain, *d_gain, *bias, *d_bias;
    int64_t n_embedding;
    struct fr_rank_stage_micro *micro;
    struct fr_block_room room;
    void *gradient, *logits, *normed, *mean, *inverse; /* h T; V T; h T; T */
    void *d_normed;
    MPI_Comm ends, both; /* first and last stage of a replica; of all replicas */
    struct fr_slot *slots;
    struct fr_lowrank codec; /* of messages to the stage before */
    void *packet[2];         /* factors on their way out; in */
    MPI_Request sent_back;
    struct fr_lowrank *matrix; /* codecs of gradients, [n_matrices] */
    int n_matrices;
    void *factors; /* all P of a stage, then all Q with what goes uncompressed */
    int64_t n_factors;
    double loss;
};

/** A weight matrix: its gradients, rows and columns. */
struct fr_rank_stage_matrix {
    void *at;
    int m, n;
};
enum { FR_STAGE_MATRICES = 4 }; /**< of a layer */
/** Those of layer @p l. */
void fr_rank_stage_matrices(const struct fr_rank_stage *s, int l,
                            struct fr_rank_stage_matrix out[FR_STAGE_MATRICES]);

/** FR_OK, or FR_ERR_INPUT with what is not run here or does not divide. */
fr_status fr_rank_stage_check(const struct fr_real_case *run, struct fr_error *err);
/** Micro-batches of a replica. */
int64_t fr_rank_stage_micro_batches(const struct fr_real_case *run);
/** Parameters of this rank's stage. */
int64_t fr_rank_stage_parameters(const struct fr_real *real);

/** Make real->state, a struct fr_rank_stage; fr_rank_stage_close in any case. */
fr_status fr_rank_stage_open(struct fr_real *real, struct fr_error *err);
void fr_rank_stage_close(struct fr_real *real);

/* Messages of micro-batch m; activations are hidden x tokens, gradients the same or, where the
 * plan compresses them, factors. */
fr_status fr_rank_stage_receive(struct fr_real *real, struct fr_rank_stage *s, void *x,
                                struct fr_error *err);
/** Sent on from s->micro[m].top. */
fr_status fr_rank_stage_send(struct fr_real *real, struct fr_rank_stage *s, int m,
                             struct fr_error *err);
fr_status fr_rank_stage_receive_gradient(struct fr_real *real, struct fr_rank_stage *s, int m,
                                         void *dy, struct fr_error *err);
fr_status fr_rank_stage_send_gradient(struct fr_real *real, struct fr_rank_stage *s, int m,
                                      void *dx, struct fr_error *err);

/** Add up gradients over replicas, compressed where the plan says so, and those of a tied
 *  embedding over both its ends. */
fr_status fr_rank_stage_reduce(struct fr_real *real, struct fr_rank_stage *s,
                               struct fr_error *err);

#endif
