/** @file
 *  What does a stage cost one of its ranks, its messages' time aside?
 *
 *  Plans that differ in how many stages compress their gradients, or in what is done with messages, share most of
 *  their stages: these are priced once (models/price/memo.h). */
#ifndef FR_MODELS_PRICE_STAGE_PRICE_H
#define FR_MODELS_PRICE_STAGE_PRICE_H

#include "models/job/job.h"
#include "models/price/memo.h"
#include "models/price/rank_map.h"
#include "models/price/stage.h"

struct fr_priced_stage {
    struct fr_stage stage;
    double embedding_s; /**< of the first: the all-reduce of a tied embedding with the last */
    uint32_t extrapolated; /**< bits as in fr_outcome */
    uint64_t number;  /**< that no other has which is priced with this memo; 0: without one */
    int32_t alike_to; /**< the last of the stages from it on that do the same */
};

/** Stage @p i of a checked plan, but for the time of its messages.
 *  @param like    the first stage that does what it does, but for the compression of gradients; both compressed go to
 *                 one rank
 *  @param splits  does the schedule split backward passes?
 *  @param memo    where a transformer's stage is looked up, or NULL: it is made in @p own.  Valid until the next call */
const struct fr_priced_stage *
fr_stage_price(const struct fr_job *job, const struct fr_plan *plan,
               const struct fr_rank_map *rank_map, int32_t i, int32_t like, bool splits,
               const struct fr_price_memo *memo, struct fr_priced_stage *own);

#endif
