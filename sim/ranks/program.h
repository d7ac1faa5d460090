/** @file
 *  A program of all ranks, or of one, under construction: tasks of the ranks at hand, and their collectives, each as one
 *  operation or message by message.  For those who lay such programs out (sim/layers.c, sim/ranks/lay_out.c).
 *
 *  Each task that is added comes after what its rank did before. */
#ifndef FR_SIM_RANKS_PROGRAM_H
#define FR_SIM_RANKS_PROGRAM_H

#include "models/price/operation.h"
#include "models/price/rank_map.h"
#include "sim/price.h"

/** Ranks and tasks of a program at most. */
enum { FR_RANKS_PLAYED_MAX = 1 << 16, FR_RANKS_TASKS_MAX = 1 << 25 };

struct fr_ranks_rank {
    int32_t last;           /* task, or -1 */
    int32_t also[2];        /* its next task waits for these too, or -1 */
    int32_t sent, received; /* messages of the collective under way, or -1 */
    int32_t awaited;        /* one of rail rings to be waited for, or -1 */
};

struct fr_ranks_builder {
    const struct fr_cluster *cluster;
    const char *cluster_from; /* for messages */
    struct fr_program *program;
    struct fr_class_price *price;
    int32_t class_capacity;
    struct fr_ranks_rank *ranks;
    int32_t *here; /* [n_here]: the ranks at hand */
    int32_t n_here;
    int32_t stage; /* theirs */
    int16_t chunk; /* of the model, that they work on */
    const struct fr_rank_map *rank_map;
    int32_t next_class; /* to be used again, or -1: make new ones */
    bool failed;
    fr_status status; /* of operations that are not simulated by messages */
    struct fr_error *err;
};

/** Classes of a step that micro-batches repeat.  They are made the first time and used again, so that a program of a
 *  thousand micro-batches has as many classes as one of a single one. */
struct fr_ranks_reused {
    int32_t first_class; /**< -1: not made yet */
};

/** @return FR_OK, or FR_ERR_UNSUPPORTED for more ranks than are played. */
fr_status fr_ranks_check(int64_t ranks, struct fr_error *err);

/** Ranks that did nothing yet: b->ranks[n]; false without memory. */
bool fr_ranks_make(struct fr_ranks_builder *b, int32_t n);

/** The classes added from here on are those of @p reused, in the same order. */
void fr_ranks_begin(struct fr_ranks_builder *b, struct fr_ranks_reused *reused);
/** Append a class with its price, or take the next of those that were made before.  @return it, or -1 */
int32_t fr_ranks_class(struct fr_ranks_builder *b, fr_task_kind kind,
                       const struct fr_class_price *price);
/** Append a task.  @return its number, or -1 and b->failed */
int32_t fr_ranks_task(struct fr_ranks_builder *b, int32_t class_id, int32_t rank, int32_t peer,
                      int32_t micro);
/** @p task comes after all that @p rank did, or was given to wait for. */
void fr_ranks_wait(struct fr_ranks_builder *b, int32_t task, int32_t rank);
/** The same work on every rank at hand, each after what it did before.  @return its class */
int32_t fr_ranks_everywhere(struct fr_ranks_builder *b, fr_task_kind kind,
                            const struct fr_class_price *price, int32_t micro);
/** Ranks at hand that wait for several tasks wait for one that joins them, of no time. */
void fr_ranks_join(struct fr_ranks_builder *b, int32_t micro);

/** A collective of the ranks at hand, in all of their communicators. */
struct fr_ranks_collective {
    fr_op op;
    const struct fr_group *group; /**< that prices it */
    const int32_t *members;       /**< [n_groups * group->n_ranks], each by slots */
    int32_t n_groups;
    double size_B;
    double
        times; /**< played as one that carries so many times as much, and takes so many times as long */
    int part; /**< of the iteration that its time belongs to: FR_PRICE_TP, say */
};

/** Add its messages.  Where it cannot be played, b->status says so. */
void fr_ranks_messages(struct fr_ranks_builder *b, const struct fr_ranks_collective *c,
                       int32_t micro);

/** How many tasks a rank has of it, in the mean; 0 where it cannot be played, or without memory. */
double fr_ranks_tasks(const struct fr_ranks_builder *b, const struct fr_ranks_collective *c);

#endif
