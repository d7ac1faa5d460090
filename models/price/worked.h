/** @file
 *  What a transformer's stage asks of its ranks, with its passes priced.
 *
 *  All that hangs on neither the order of passes nor on what is done with gradients and messages once they
 *  are there (zero, overlap, compression), so that plans which differ in these alone share it
 *  (models/price/memo.h).  Stages between the first and the last that have as many layers do the same. */
#ifndef FR_MODELS_PRICE_WORKED_H
#define FR_MODELS_PRICE_WORKED_H

#include "models/price/pipeline.h"
#include "models/price/seats.h"
#include "models/work/operation.h"

struct fr_worked {
    struct fr_rank_work work;
    struct fr_stage stage; /**< its passes and what they send; nothing else */
    struct fr_pass
        input; /**< that makes gradients of inputs, where the schedule splits the backward pass */
    uint32_t extrapolated;
};

/** A plan's placement, with those who talk across each boundary where plans share them. */
struct fr_seated {
    struct fr_seats seats;
    struct fr_group *above; /**< [pp], or NULL: fr_seats_pair */
};

/** Does stage @p i of a transformer do what stage i - 1 does? */
bool fr_worked_repeats(const struct fr_job *job, const struct fr_plan *plan, int64_t i);

/** Stage @p i of a checked plan: in @p memo, where there is one, else made in @p own. */
const struct fr_worked *fr_worked_find(const struct fr_job *job, const struct fr_plan *plan,
                                       const struct fr_seats *seats, int64_t i,
                                       const struct fr_price_memo *memo, struct fr_worked *own);

#endif
