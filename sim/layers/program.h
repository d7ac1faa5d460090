/** @file
 *  A program of layers under construction: tasks of the ranks at hand, and their collectives, each as one operation or
 *  message by message.  For those who lay such programs out (sim/layers.c, sim/layers/stages.c).
 *
 *  The ranks at hand are those of one stage, or all.  Each task that is added comes after what its rank did before. */
#ifndef FR_SIM_LAYERS_PROGRAM_H
#define FR_SIM_LAYERS_PROGRAM_H

#include "models/price/layers.h"
#include "models/price/operation.h"
#include "models/price/rank_map.h"
#include "sim/price.h"

struct fr_layers_rank {
    int32_t last;           /* task, or -1 */
    int32_t sent, received; /* messages of the collective under way, or -1 */
    int32_t awaited;        /* one of rail rings to be waited for, or -1 */
};

struct fr_layers_builder {
    const struct fr_job *job;
    const struct fr_plan *plan;
    struct fr_program *program;
    struct fr_class_price *price;
    int32_t class_capacity;
    struct fr_layers_rank *ranks;
    int32_t *here; /* [n_here]: the ranks at hand */
    int32_t n_here;
    int32_t stage;       /* theirs */
    int64_t *members[3]; /* by axis: ranks, one communicator after another */
    const struct fr_rank_map *rank_map;
    int32_t next_class; /* to be used again, or -1: make new ones */
    bool as_messages, failed;
    fr_status status;             /* of operations that are not simulated by messages */
    struct fr_pricing cost;       /* of operations */
    double sent_B[FR_SENT_COUNT]; /* the closed form's is reported */
    uint32_t extrapolated;        /* likewise */
    struct fr_error *err;
};

/** Classes of a step that micro-batches repeat.  They are made the first time and used again, so that a program of a
 *  thousand micro-batches has as many classes as one of a single one. */
struct fr_layers_reused {
    int32_t first_class; /**< -1: not made yet */
};

/** One layer on the ranks of its stage. */
struct fr_layers_placed {
    struct fr_rank_work work;
    double codec_s; /**< of its gradients */
    double repeat;
    struct fr_layers_reused forward, backward, update;
};

/** A stage: its ranks, its layers, an entry of the model each, and what reaches it from the stage below it ([0]) and
 *  above it ([1]). */
struct fr_layers_stage {
    struct fr_layers_placed *layers;
    struct fr_pricing cost;
    int32_t *here;
    int32_t n_here;
    struct fr_layers_reused arriving[2], joining[2];
};

/** The classes added from here on are those of @p reused, in the same order. */
void fr_layers_begin(struct fr_layers_builder *b, struct fr_layers_reused *reused);
/** Append a class with its price, or take the next of those that were made before.  @return it, or -1 */
int32_t fr_layers_class(struct fr_layers_builder *b, fr_task_kind kind,
                        const struct fr_class_price *price);
/** Append a task.  @return its number, or -1 and b->failed */
int32_t fr_layers_task(struct fr_layers_builder *b, int32_t class_id, int32_t rank,
                       int32_t peer, int32_t micro);
/** The same work on every rank at hand, each after what it did before.  @return its class */
int32_t fr_layers_everywhere(struct fr_layers_builder *b, fr_task_kind kind,
                             const struct fr_class_price *price, int32_t micro);

/** A collective of the ranks at hand: one operation, or its messages.  Where it cannot be played, b->status says so.
 *  @param part  of the iteration that its time belongs to: FR_PRICE_TP, say */
void fr_layers_collective(struct fr_layers_builder *b, const struct fr_operation *comm,
                          int part, int32_t micro);

/** Who sits where in every communicator; false without memory. */
bool fr_layers_map_members(struct fr_layers_builder *b);

/** The ranks at hand are those of stage @p i. */
void fr_layers_stand_at(struct fr_layers_builder *b, const struct fr_layers_stage *stages,
                        int32_t i);
/** A pass of all layers of a stage. */
void fr_layers_pass(struct fr_layers_builder *b, struct fr_layers_stage *stage, bool forward,
                    int32_t micro);
/** Gradients and update of a stage, once an iteration. */
void fr_layers_finish(struct fr_layers_builder *b, struct fr_layers_stage *stage);

/** Lay out the passes of a pipeline in its order, with the messages between stages (sim/layers/stages.c).
 *  @return FR_OK; FR_ERR_INPUT when the order deadlocks; FR_ERR_NOMEM. */
fr_status fr_layers_lay_out_stages(struct fr_layers_builder *b, const struct fr_pipeline *p,
                                   struct fr_layers_stage *stages);

/** The stage of rank @p r, as ranks of a program of all ranks are numbered. */
int32_t fr_layers_stage_of(const struct fr_mesh *mesh, int64_t r);

#endif
