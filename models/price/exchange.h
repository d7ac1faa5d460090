/** @file
 *  Which collectives do the ranks of a stage run, one by one?  For those who play them message by message.
 *
 *  The passes of a stage are priced as sums (models/price/pass.h, layers.h, zero.h).  Here the same collectives are a
 *  list: op, size, who takes part, how often, and where in the pass.  Some are on the pass's way: it waits for them.
 *  Others are in a lane beside it.  A lane of e seconds beside h seconds of the pass's work costs the pass
 *
 *      s = max(0, e - h) + slow
 *
 *  so that what is on the way, the shown part of all lanes and the pass's own work add up to the pass.
 */
#ifndef FR_MODELS_PRICE_EXCHANGE_H
#define FR_MODELS_PRICE_EXCHANGE_H

#include "models/price/members.h"
#include "models/price/pipeline.h"

struct fr_exchange {
    fr_op op;
    int with; /**< part of the pass that it is: FR_WITH_TP, say */
    struct fr_members members;
    const struct fr_group *group; /**< of the rank map */
    double size_B, times;         /**< in passes of all chunks */
    double alone_s;               /**< of all its times */
    /** Where on the pass's way, as shares of the pass's own work: after each of `repeats` equal parts of it. */
    double from, to, repeats;
    int lane; /**< -1: on the way */
};

/** Collectives beside a pass: beside a stretch of its work in each repetition, or from its start to its end. */
struct fr_lane {
    int with;
    double
        own_s; /**< of the pass's work, in stretches that no other lane is beside; 0: from its start to its end */
    double
        beside_s; /**< h: of the pass, that hides them; below 0: more of the pass than there is goes before */
    double slow_s; /**< that both lose by being beside each other */
};

enum { FR_LANES = 64 };

struct fr_exchanges {
    int n, capacity;
    struct fr_exchange *list;
    int n_lanes;
    struct fr_lane lane[FR_LANES];
};

/** Steps of an iteration that exchange something. */
typedef enum {
    FR_EXCHANGES_FORWARD,
    FR_EXCHANGES_BACKWARD, /**< all of it; where the schedule splits it, gradients of inputs */
    FR_EXCHANGES_WEIGHT,
    FR_EXCHANGES_GRADIENT,  /**< gradients of replicas, once or in buckets */
    FR_EXCHANGES_UPDATED,   /**< after the optimiser's step */
    FR_EXCHANGES_EMBEDDING, /**< of a tied embedding */
    FR_EXCHANGES_ARRIVED, /**< of a message across the boundary above stage i, at either side */
    FR_EXCHANGES_STEPS
} fr_exchanges_step;

/** List what stage @p i of a priced pipeline exchanges in @p step.
 *  @param[out] out  free with fr_exchanges_free, also without memory
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_exchanges_make(const struct fr_job *job, const struct fr_plan *plan,
                            const struct fr_rank_map *rank_map,
                            const struct fr_pipeline *pipeline, int32_t i,
                            fr_exchanges_step step, struct fr_exchanges *out);
void fr_exchanges_free(struct fr_exchanges *exchanges);

/** Time that what is beside the pass shows of lane @p lane [s]. */
double fr_lane_shown_s(const struct fr_exchanges *exchanges, int lane);

#endif
