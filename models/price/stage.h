/** @file
 *  What a stage costs one of its ranks: passes, what is reduced, what is held.
 *
 *  Filled by models/price/ from a list of operations; a pipeline is an array of them, and the
 *  recurrence, the event program, energy and memory read nothing else. */
#ifndef FR_MODELS_PRICE_STAGE_H
#define FR_MODELS_PRICE_STAGE_H

#include <stdint.h>
#include <string.h>

#include "models/plan/copies.h"
#include "models/price/ledger.h"
#include "models/work/moment.h"

/** Parts of the model that can be switched off, to see the effect on the mean error. */
enum {
    FR_WITH_LAUNCH = 1,
    FR_WITH_TP = 2,
    FR_WITH_MESSAGES = 4,
    FR_WITH_GRADIENTS = 8,
    FR_WITH_EMBEDDING = 16,
    FR_WITH_CODEC = 32, /* time to compress and decompress; messages stay small without it */
    FR_WITH_CP = 64,
    FR_WITH_EP = 128,
    FR_WITH_OFFLOAD = 256,
    FR_WITH_ALL = 511
};

/** Time of one pass of a stage, all chunks: a pass of one chunk takes 1/v of it. */
struct fr_pass {
    double compute_s;
    double launch_s; /**< gaps between kernels, and what of the host's launching shows */
    double tp_s;
    double cp_s;   /**< of the ring of keys and values, the part that shows */
    double ep_s;   /**< tokens to their experts and back, likewise */
    double dp_s;   /**< of what replicas gather and scatter beside the pass, likewise */
    double host_s; /**< of activations to the host's memory and back, likewise */
    double pp_s;   /**< of the message that it sends, where launches block */
};

struct fr_stage {
    struct fr_pass forward;
    /** Whole.  Where the schedule splits it, the sum of two passes that were priced apart: that of gradients
     *  of inputs, and ... */
    struct fr_pass backward;
    struct fr_pass weight; /**< ... that of weight gradients */
    double message_B;      /**< that one rank sends to stage i + 1 mod P, each way */
    double gathered_B; /**< of which it makes this much over tp on arrival; 0: not gathered */
    double message_s;  /**< time of both */
    double message_rows, message_columns;    /**< the matrix that message_B is */
    double small_message_B, small_message_s; /**< the same of a backward message, compressed */
    bool sends_whole;                        /**< a codec would not make its messages smaller */
    double encode_s, decode_s;               /**< of one such message */
    double message_codec_B;                  /**< memory that encoding them keeps */
    /** The same of a message forward; 0 bytes: it goes whole. */
    double small_forward_B, small_forward_s, forward_encode_s, forward_decode_s,
        forward_codec_B;
    double gradient_s; /**< all-reduce over dp, after the last backward pass or in buckets */
    int32_t buckets;   /**< n of each chunk; 0: not overlapped */
    double bucket_s;   /**< b */
    double coded_B; /**< buffers of the collectives in which what is compressed of it travels */
    double coded_s; /**< of gradient_s, that */
    double gradient_codec_s; /**< to compress and decompress what of it goes compressed */
    double codec_idle_s;     /**< of it, that a rank in the mean waits for others */
    double lossy_B;          /**< gradients that what is compressed stands for */
    double saved_B;          /**< that a rank sends less for it */
    double narrowed_s;       /**< of optimizer_s: weights made narrow for products of 8 bits */
    double optimizer_s;      /**< after that, and after the embedding's */
    double optimizer_idle_s; /**< of it, that a rank in the mean waits for others */
    double
        redistribution_s; /**< between grids of layers, in an iteration; of one stage alone */
    /** Time that shows of exchanges over dp beside passes: the gather of updated parameters after the optimiser, and
     *  the time that passes lose to gradients in buckets (models/price/zero.h). */
    double beside_s;
    double gradient_B; /**< over the replicas */
    double expert_B;   /**< of experts, over their copies, besides */
    double common_B;   /**< gradients all-reduced over tp x dp, besides */
    double grid_B[3]; /**< of a transformer's groups on grids of their own, over their copies */
    double common_s;  /**< of its products, those of common layers (method subgraph) */
    double idle_share; /**< of its ranks' passes spent waiting for others of the stage */
    double codec_B;    /**< memory that compressing its gradients keeps */
    double sent_B[FR_SENT_COUNT]; /**< by one rank in an iteration */
    double clock_Hz;              /**< of its devices; 0: their highest */
    double parameters;            /**< over its tp ranks; NaN: not known */
    double parameters_rank;
    double frozen, frozen_rank; /**< of these, not trained */
    double expert_rank;         /**< of them, experts' */
    double common_rank;         /**< of them, common layers' of method subgraph */
    double grid_rank[3];        /**< of them, of groups on grids of their own */
    double
        again_s; /**< of the backward pass, repeats the forward pass; fr_pipeline_price_again */
    double activation_B; /**< kept for the backward pass by one rank, a micro-batch */
    double cache_B;      /**< keys and values of tokens, of all samples of one micro-batch */
    double ends_B;       /**< of it, embedding's and logits' */
    double offloaded_B;  /**< of it, in the host's memory */
    double layer_B;      /**< of that, one layer's, which the device has at a time */
    double host_state_B; /**< besides in the host's memory */
    double offload_s;    /**< of the optimiser's step there, with the ways to and fro */
    double working_B;    /**< held while a pass runs */
    struct fr_moment_sizes moment;
    bool repeats; /**< all of it but the time of its messages is as in the stage before */
    bool alike;   /**< it repeats, or differs in the compression of its gradients alone */
};

/** Gradients reduced once an iteration, and parameters on a rank, by who holds copies of them. */
static inline void fr_stage_reduced_B(const struct fr_stage *s, double by_kind_B[FR_COPIES]) {
    const double all_B[FR_COPIES] = {s->gradient_B, s->expert_B,  s->common_B,
                                     s->grid_B[0],  s->grid_B[1], s->grid_B[2]};
    memcpy(by_kind_B, all_B, sizeof all_B);
}
static inline void fr_stage_in_flight(const struct fr_stage *s, double by_kind[FR_COPIES]) {
    double grids = s->grid_rank[0] + s->grid_rank[1] + s->grid_rank[2];
    const double all[FR_COPIES] = {s->parameters_rank - s->expert_rank - s->common_rank - grids,
                                   s->expert_rank,
                                   s->common_rank,
                                   s->grid_rank[0],
                                   s->grid_rank[1],
                                   s->grid_rank[2]};
    memcpy(by_kind, all, sizeof all);
}
/** Those of them that are trained: beside frozen ones adapters, which have the replicas' copies. */
static inline void fr_stage_trained(const struct fr_stage *s, double by_kind[FR_COPIES]) {
    const double adapters[FR_COPIES] = {s->parameters_rank - s->frozen_rank};
    fr_stage_in_flight(s, by_kind);
    if (s->frozen_rank > 0) memcpy(by_kind, adapters, sizeof adapters);
}
static inline double fr_stage_all_reduced_B(const struct fr_stage *s) {
    return s->gradient_B + s->expert_B + s->common_B + s->grid_B[0] + s->grid_B[1] +
           s->grid_B[2];
}

/** Time of a whole pass with only what @p with has [s]. */
static inline double fr_pass_s(const struct fr_pass *pass, int with) {
    return pass->compute_s + (with & FR_WITH_LAUNCH ? pass->launch_s : 0) +
           (with & FR_WITH_TP ? pass->tp_s : 0) + (with & FR_WITH_CP ? pass->cp_s : 0) +
           (with & FR_WITH_EP ? pass->ep_s : 0) + (with & FR_WITH_GRADIENTS ? pass->dp_s : 0) +
           (with & FR_WITH_OFFLOAD ? pass->host_s : 0) +
           (with & FR_WITH_MESSAGES ? pass->pp_s : 0);
}

/** Both passes, one after the other. */
static inline struct fr_pass fr_pass_sum(const struct fr_pass *a, const struct fr_pass *b) {
    return (struct fr_pass){a->compute_s + b->compute_s, a->launch_s + b->launch_s,
                            a->tp_s + b->tp_s,           a->cp_s + b->cp_s,
                            a->ep_s + b->ep_s,           a->dp_s + b->dp_s,
                            a->host_s + b->host_s,       a->pp_s + b->pp_s};
}

/** Communication in a pass [s]. */
static inline double fr_pass_comm_s(const struct fr_pass *pass) {
    return pass->tp_s + pass->cp_s + pass->ep_s + pass->dp_s + pass->host_s + pass->pp_s;
}

#endif
