/** @file
 *  Work of a transformer's stage on its ranks, with its passes priced.
 *
 *  It holds all that depends neither on the order of passes nor on the handling of finished gradients and messages
 *  (zero, overlap, compression).  Plans that differ in these alone share it (models/price/memo.h).  Inner stages with
 *  the same number of layers do the same work. */
#ifndef FR_MODELS_PRICE_STAGE_WORK_H
#define FR_MODELS_PRICE_STAGE_WORK_H

#include "models/price/pipeline.h"
#include "models/price/rank_map.h"
#include "models/work/operation.h"

struct fr_stage_work {
    struct fr_rank_work work;
    struct fr_stage stage; /**< its passes and what they send; nothing else */
    struct fr_pass
        input; /**< that makes gradients of inputs, where the schedule splits the backward pass */
    uint32_t extrapolated;
};

/** A plan's placement, with those who talk across each boundary where plans share them. */
struct fr_stage_places {
    struct fr_rank_map rank_map;
    struct fr_group *above; /**< [pp], or NULL: fr_rank_map_pair */
    int32_t *like;          /**< [pp], or NULL: the first boundary over such links as each */
    struct fr_pair_lines *lines; /**< of messages, or NULL: nobody asked */
};

/** Does stage @p i of a transformer do what stage i - 1 does? */
bool fr_stage_work_repeats(const struct fr_job *job, const struct fr_plan *plan, int64_t i);

/** Stage @p i of a checked plan: in @p memo, where there is one, else made in @p own. */
const struct fr_stage_work *fr_stage_work_find(const struct fr_job *job,
                                               const struct fr_plan *plan,
                                               const struct fr_rank_map *rank_map, int64_t i,
                                               const struct fr_price_memo *memo,
                                               struct fr_stage_work *own);

#endif
