/** @file
 *  A pipeline's program of all ranks under construction, shared by the files that lay it out. */
#ifndef FR_SIM_RANKS_LAYING_H
#define FR_SIM_RANKS_LAYING_H

#include "models/price/exchange.h"
#include "sim/ranks/program.h"

/** Exchanges of a stage in a step, with their communicators. */
struct fr_ranks_exchanged {
    struct fr_exchanges x;
    int32_t **members; /* [x.n]: of the cache */
    bool made;
};

/** Communicators that were listed. */
struct fr_ranks_listed {
    struct fr_members members;
    int32_t stage, *rank;
    struct fr_ranks_listed *next;
};

struct fr_ranks_laying {
    const struct fr_job *job;
    const struct fr_plan *plan;
    const struct fr_pipeline *p;
    struct fr_ranks_builder b;
    struct fr_rank_map rank_map;
    struct fr_program folded;
    struct fr_class_price *folded_price;
    struct fr_ranks_exchanged
        *exchanged; /* [stage][FR_EXCHANGES_STEPS + 1]: of what arrived, that of either side */
    struct fr_ranks_exchanged none;
    struct fr_ranks_listed *listed;
    struct fr_ranks_reused *reused; /* [folded class] */
    int32_t **here;                 /* [stage]: its ranks; after them both ends' */
    int32_t n_here;                 /* of a stage */
    int32_t *end; /* [folded task][place in the stage]: the task after which it is over */
    int32_t *start, *lane_end;        /* [rank]: of the pass at hand; [lane][rank] */
    int32_t *block_start, *block_end; /* [rank]: of a stretch with a lane beside it */
    double most;                      /* equal collectives of a pass that are played apart */
};

/** A folded task at hand. */
struct fr_ranks_played {
    const struct fr_task *task;
    const struct fr_task_class *class;
    const struct fr_class_price *price;
    struct fr_ranks_exchanged *e;
    double share;      /* of the stage's whole pass */
    uint32_t measured; /* parts whose messages are inside measured times: bits of FR_PRICE_ */
    struct fr_class_price whole; /* of what is no message */
    struct fr_class_price own;   /* of it, beside which no lane has a stretch */
    bool blocks;                 /* lanes have stretches of their own */
};

/** Exchanges of stage @p i in a step, listed when first asked for.
 *  @param at  stage whose ranks it is; of a message's gather either side of boundary @p i */
struct fr_ranks_exchanged *fr_ranks_exchanged(struct fr_ranks_laying *l, int32_t i, int32_t at,
                                              fr_exchanges_step step);
void fr_ranks_free_exchanged(struct fr_ranks_laying *l);

/** Exchange @p k as a collective of the ranks at hand, @p times at once. */
struct fr_ranks_collective fr_ranks_collective_of(const struct fr_ranks_laying *l,
                                                  const struct fr_ranks_exchanged *e, int k,
                                                  double times);
/** Add its messages. */
void fr_ranks_play(struct fr_ranks_laying *l, const struct fr_ranks_exchanged *e, int k,
                   double times, int32_t micro);
/** The place in part_s of what FR_WITH_... switches. */
int fr_ranks_part(int with);

/** Add a task's work on the ranks at hand, with its collectives on the way and beside (sim/ranks/pass.c). */
void fr_ranks_play_work(struct fr_ranks_laying *l, struct fr_ranks_played *at);
/** How many equal collectives of a pass, or of @p share of it, go apart. */
double fr_ranks_repeats(const struct fr_ranks_laying *l, const struct fr_exchange *x,
                        double share);

#endif
