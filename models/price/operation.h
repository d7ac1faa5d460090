/** @file
 *  The one price: where an operation (models/work/operation.h) becomes seconds.
 *
 *      product     count * product(shape, working set)                        device
 *                  with few columns (streams) at least its bytes / memory rate
 *      scores      the same of operands just made; where the device says what batched products over
 *                  scores reach, max(flop / rate, bytes / memory rate)
 *      attention   flop / (share of the peak), backward slower; forward as long as exponentials take, where
 *                  heads are narrow (a softmax has one for 4 d flop of a head of d values)
 *      cached      max(flop / share of the peak, bytes / memory rate): of tokens in a cache
 *      scan        flop / (the share of the peak that products over scores reach), at 16 bits or more
 *      traffic     bytes of each kind / rate of their working set             cluster
 *      kernels     count * launch
 *      collective  count * T(op, size, group); what it sends is booked with it
 *      update      bytes / rate of all that a rank holds
 *      stream      bytes / memory rate: a codec's
 *      select      bytes / rate of a sort's passes, of the set that one goes through: likewise
 *
 *  A list's operations add up to its passes (fr_priced).  A collective beside something shows as far as it outlasts
 *  it (fr_device_beside_s).  In pieces over p ranks it takes p steps, each a product's piece and the exchange of
 *  another.  The first T / p of its time T shows, and the rest shows as beside the pass's products (Wang et al.,
 *  Overlap Communication with Dependent Computation via Decomposition, 2023).  A piece's product is taken to be as
 *  efficient as the whole.
 */
#ifndef FR_MODELS_PRICE_OPERATION_H
#define FR_MODELS_PRICE_OPERATION_H

#include "models/job/job.h"
#include "models/price/ledger.h"
#include "models/price/rank_map.h"
#include "models/price/stage.h"
#include "models/work/operation.h"

/** Where operations are priced. */
struct fr_pricing {
    const struct fr_cluster *cluster;
    fr_dtype dtype;
    fr_attention attention;
    const struct fr_group *group[FR_AXES];
    double micro_batches;        /**< passes in an iteration */
    double n;                    /**< equal lists ... */
    double passes;               /**< ... and how often a pass of the stage runs each */
    bool later;                  /**< gradients are priced, and booked, in buckets later */
    double products_B, update_B; /**< working sets (models/price/footprint.h) */
    double met_B[FR_PASS_KINDS]; /**< of the products of each pass; 0: products_B */
    struct fr_gemm_use weight_gradient;   /**< adds to that of the micro-batch before */
    bool narrow_attention, narrow_logits; /**< at 8 bits (models/workload/workload.h) */
    double casts;    /**< share of the weights that a forward pass makes narrow */
    bool adds_apart; /**< in a kernel of its own, which reads what the product wrote */
    double launch_s; /**< of one kernel */
    bool in_turn;    /**< nothing runs beside anything: launches block */
    double *sent_B;  /**< [FR_SENT_COUNT]: by one rank in an iteration */
    uint32_t *extrapolated;
};

/** On @p rank_map; a list at a time, without working sets, launches of the device alone. */
struct fr_pricing fr_pricing_make(const struct fr_job *job, const struct fr_plan *plan,
                                  const struct fr_rank_map *rank_map, double micro_batches);

/** Time of all @p operation's times after each other [s]. */
double fr_operation_s(const struct fr_pricing *x, const struct fr_operation *operation);

/** The work that a collective really runs beside: nothing where launches block, or where there is none of another
 *  micro-batch. */
fr_beside fr_operation_beside(const struct fr_pricing *x, const struct fr_operation *operation);

/** Parts of a rank's time. */
enum {
    FR_SPENT_PRODUCTS,
    FR_SPENT_ATTENTION, /**< fused; and scans */
    FR_SPENT_SCORES,    /**< of FR_SPENT_PRODUCTS those of attention that is not */
    FR_SPENT_TRAFFIC,
    FR_SPENT_LAUNCH,
    FR_SPENT_TP,
    FR_SPENT_TP_STALLED, /**< the host waits too */
    FR_SPENT_TP_BESIDE,  /**< in pieces beside the pass's products */
    FR_SPENT_CP,
    FR_SPENT_CP_BESIDE, /**< attention */
    FR_SPENT_EP,
    FR_SPENT_EP_BESIDE, /**< all of the pass */
    FR_SPENT_REDUCED,   /**< gradients, once an iteration */
    FR_SPENT_CODED,     /**< likewise, compressed */
    FR_SPENTS
};

/** Prices of lists: sums over their operations. */
struct fr_priced {
    double time_s[FR_PASS_KINDS][FR_SPENTS];
    double kernels[FR_PASS_KINDS]; /**< launched in each */
    double ring;                   /**< ranks around which keys go beside attention; 0: none */
    double common_s;               /**< of products, traffic and kernels */
    double reduced_B[2];           /**< gradients over replicas, and over a stage's ranks */
};

/** Add operations [@p from, @p to) of @p work to @p sum, those of a pass `passes` times and those
 *  once an iteration n times. */
void fr_work_price(const struct fr_pricing *x, const struct fr_rank_work *work, int from,
                   int to, struct fr_priced *sum);

/** A stage's passes of @p sum, with what shows of that which runs beside something: forward, backward, and the
 *  two passes that a schedule which splits the backward pass makes of it.  Each has only its own work beside
 *  what it exchanges, so that the two together never take less than the whole. */
struct fr_passes {
    struct fr_pass forward, backward, input, weight;
};
struct fr_passes fr_priced_passes(const struct fr_device *device, const struct fr_priced *sum);

/** Time of making the weights narrow that products read at 8 bits, once an iteration, by rows and by columns, of
 *  @p weight_B each as they are kept (Transformer Engine's cache of micro-batches); 0 at other widths [s]. */
double fr_narrow_weights_s(const struct fr_pricing *x, const struct fr_rank_work *work,
                           double weight_B);

/** Time of the optimiser's step on @p parameters of a rank [s]. */
double fr_update_s(const struct fr_pricing *x, const struct fr_workload *workload,
                   double parameters);

#endif
