/** @file
 *  How the training is laid out: a checked plan file, a mesh dp x pp x tp with its options.
 *
 *  tp is innermost (neighbouring ranks), then pp, then dp, unless rank_order or the method say
 *  otherwise.  Keys, their defaults and what reads them: a row each in models/plan/key_list.h. */
#ifndef FR_MODELS_PLAN_PLAN_H
#define FR_MODELS_PLAN_PLAN_H

#include "models/plan/compression.h"
#include "models/plan/loss.h"
#include "models/plan/method.h"
#include "models/plan/recompute.h"
#include "models/plan/schedule_order.h"
#include "topology/placement.h"

/** Which backward messages go compressed: those of the epilogue are the last P - 1 - i of the
 *  boundary above stage i, which nothing hides. */
typedef enum { FR_SCOPE_NONE, FR_SCOPE_EPILOGUE, FR_SCOPE_ALL } fr_scope;
extern const char *const fr_scope_names[];

/** Which kernels attention runs: products with the scores in memory, or one fused kernel, of today or
 *  of an earlier generation. */
typedef enum {
    FR_ATTENTION_PLAIN,
    FR_ATTENTION_FLASH,
    FR_ATTENTION_FLASH_2,
    FR_ATTENTION_FLASH_1
} fr_attention;
extern const char *const fr_attention_names[];

/** Work that the host records once and starts again as a whole (CUDA graphs): nothing, each layer's pass without its
 *  experts, or all of an iteration. */
typedef enum { FR_GRAPHS_NONE, FR_GRAPHS_LAYERS, FR_GRAPHS_ITERATION } fr_graphs;
extern const char *const fr_graphs_names[];
/** Who says how a step of a mixture runs, in graphs, beside exchanges or not: the user, recipes of the release that the
 *  user names, or nobody.  Intervals are wider accordingly (trust/distance.h). */
typedef enum { FR_RECIPE_STATED, FR_RECIPE_OF_RELEASE, FR_RECIPE_UNKNOWN } fr_recipe_source;

/** Which axis neighbours follow after tp: the pipeline's stages, or the replicas (Megatron-LM). */
typedef enum { FR_ORDER_TP_PP_DP, FR_ORDER_TP_DP_PP } fr_rank_order;
extern const char *const fr_rank_order_names[];
/** Which layers of a transformer are branches of method subgraph:
 *      heads      the attention of each head, between slice and concatenation layers (the paper's)
 *      attention  each head with its part of the products before and after, between split and sum
 *      layer      that, and the columns of the MLP likewise */
typedef enum { FR_BRANCHES_HEADS, FR_BRANCHES_ATTENTION, FR_BRANCHES_LAYER } fr_branches;
extern const char *const fr_branches_names[];

/** Which matrices of a transformer's layer are phantom, of method phantom. */
typedef enum { FR_PHANTOM_MLP, FR_PHANTOM_ATTENTION, FR_PHANTOM_ALL } fr_phantom_parts;
extern const char *const fr_phantom_parts_names[];

/** Spellings of keys with two values, each list ended by NULL.  In order: which passes there are, where common layers
 *  of method subgraph run, how slices are exchanged.  Then: how method grid divides second products, how ranks of a
 *  sequence exchange, messages between stages, gradients.  Last: how gradients are added up, whether hosts wait for
 *  kernels, the tied embedding. */
extern const char *const fr_pass_names[],
    *const fr_common_names[], *const fr_exchange_names[],
                                  *const fr_divide_names[],
                                      *const fr_context_names[],
                                          *const fr_p2p_names[],
                                              *const fr_overlap_names[],
                                                  *const fr_accumulation_names[],
                                                      *const fr_launches_names[],
                                                          *const fr_sync_names[],
                                                              *const fr_zero_exchange_names[],
                                                                  *const fr_embedding_names[];
/** Words that stand for a list: the default first. */
extern const char *const fr_layer_tp_words[],
    *const fr_stage_layers_words[], *const fr_gradient_ranks_words[], *const fr_clock_words[],
                                                                          *const fr_cap_words[];

struct fr_plan_compression {
    const struct fr_compression *codec;
    fr_scope scope; /**< of backward messages */
    int64_t backward_rank;
    bool lazy_error;         /**< what a message lost is added to the next micro-batch's */
    int64_t forward_rank;    /**< activations between stages go compressed to it; 0: whole */
    bool fused_embedding;    /**< one all-reduce over 2 dp ranks instead of dp, then 2 */
    int64_t gradient_stages; /**< stages 0.. whose gradients go compressed */
    int64_t gradient_rank;
    int64_t warm_up; /**< iterations before anything goes compressed */
};

struct fr_plan {
    int64_t dp, pp, tp;
    bool forward; /**< passes forward alone: nothing is trained */
    const struct fr_method *method;
    int64_t ghost;
    fr_phantom_parts phantom_parts; /**< of transformers */
    int64_t global_batch;           /**< 0: the model's */
    int64_t micro_batch;            /**< 0: all of a rank's samples at once */
    const struct fr_schedule *schedule;
    const struct fr_schedule_order *order; /**< of schedule custom */
    int64_t chunks;
    bool duplex;             /**< blocking exchanges between stages */
    fr_recompute recompute;  /**< of transformers */
    fr_offload offload;      /**< likewise */
    fr_graphs graphs;        /**< likewise */
    fr_recipe_source recipe; /**< no key: set where a plan is completed (models/job/assume.h) */
    int64_t offload_layers;  /**< whose activations go, of a rank's; 0: all */
    int64_t recompute_layers; /**< that recompute, the first of each chunk; 0: all */
    fr_attention attention;   /**< likewise */
    fr_loss loss;             /**< likewise */
    fr_rank_order rank_order;
    int64_t cp;         /**< context parallel: ranks that share a sequence */
    bool context_heads; /**< which exchange heads for tokens; else keys go round a ring */
    int64_t ep;         /**< expert parallel: ranks that share the experts */
    int64_t etp;        /**< ranks that divide one expert: tp or 1; 0: tp */
    int64_t
        dispatch_ranks; /**< neighbours of ep that get one copy of a token; 0: each expert one */
    bool overlap_experts;   /**< exchanges run beside another micro-batch's products */
    int64_t zero;           /**< what replicas divide: see models/price/zero.h */
    int64_t zero_ranks;     /**< how many of them divide it; 0: all */
    bool broadcasts;        /**< zero 1: owners broadcast what others gather */
    bool sequence_parallel; /**< of transformers */
    bool overlap_tp;        /**< its gathers and scatters in pieces, beside the products */
    bool overlap;           /**< gradients beside the last backward pass, in buckets */
    bool adds_apart;        /**< gradients of micro-batches, in kernels of their own */
    bool blocking;          /**< hosts wait for every kernel that they launch */
    bool reshards;          /**< zero 3 gives back what it gathered behind a forward pass */
    bool sums_whole;        /**< zero 2 and 3 scatter gradients once an iteration */
    double bucket_size_B;   /**< of that size at most */
    struct fr_plan_compression compression;
    struct fr_placement_choice placement;
    fr_branches branches; /**< of method subgraph */
    bool common_subgrid;  /**< its common layers run on the first sub-grid alone (cSub) */
    bool gather_all;      /**< its slices are all-gathered and the rest discarded */
    bool pairs;           /**< of method grid: second products by their columns */
    int64_t domain;       /**< likewise: convolutions, the first, whose images tp divides */
    double iterations;    /**< 0: the model's */
    const int64_t
        *layer_tp; /**< P_r of each entry of the workload's layers, of a transformer of its
                                attention, MLP, and embedding and logits; or NULL */
    int n_layer_tp;
    bool layer_tp_best;          /**< asked for, to be filled by fr_layer_grids_best */
    const int64_t *stage_layers; /**< transformer layers of each stage, or NULL: equal */
    int n_stage_layers;
    bool stage_layers_best; /**< asked for, to be filled by fr_stage_layers_choose */
    const int64_t
        *gradient_ranks; /**< of each compressed stage, 0: not; NULL: gradient_rank for all */
    int n_gradient_ranks;
    bool gradient_ranks_best; /**< asked for, to be filled by search/stage_ranks.h */
    const int64_t *clock_Hz;  /**< of each stage, or one for all; NULL: the highest */
    int n_clock_Hz;
    bool clock_slack; /**< asked for: chosen by models/outcome/clocks.h */
    /** Clock of each pass in place of each stage's, where "slack" has chosen them: [pp][slots], counted from the
     *  device's lowest clock; else NULL.  No key states it (models/outcome/pipeline_ops.h). */
    const int16_t *pass_clock;
    const int64_t *cap_W; /**< likewise, limits of a device's power; NULL: none */
    int n_cap_W;
    /** FR_PLAN_RESOLVED: keys that nothing reads are at their defaults, nobody need look; below it the
     *  set of keys that were put back there. */
    uint64_t resolved;
};
#define FR_PLAN_RESOLVED ((uint64_t)1 << 63)

/** PyTorch's DistributedDataParallel makes buckets of 25 MiB by default. */
#define FR_BUCKET_B (25 * 0x1p20)

/** The defaults above. */
struct fr_plan fr_plan_default(void);

/** Lists that a plan points to; copies of the plan share them. */
struct fr_plan_lists {
    int64_t *layer_tp, *stage_layers, *gradient_ranks, *rank_map, *clock_Hz, *cap_W;
    struct fr_schedule_order order;
};

/** Read the document of a plan file; its lists go into @p lists.  Free with fr_plan_lists_free,
 *  also on error. */
fr_status fr_plan_read(const struct fr_json_document *document, struct fr_plan *plan,
                       struct fr_plan_lists *lists, struct fr_error *err);
/** The same of an object inside a document. */
fr_status fr_plan_read_object(const struct fr_json *root, struct fr_plan *plan,
                              struct fr_plan_lists *lists, struct fr_error *err);
void fr_plan_lists_free(struct fr_plan_lists *lists);

/** Does the plan say anything of clocks? */
static inline bool fr_plan_clocks(const struct fr_plan *plan) {
    return plan->clock_Hz || plan->clock_slack || plan->cap_W || plan->pass_clock;
}

/** Samples of a pipeline's micro-batch: one, unless the plan says otherwise.  Stage times are
 *  those of one micro-batch, so for them its size only counts micro-batches. */
static inline int64_t fr_plan_micro_batch(const struct fr_plan *plan) {
    return plan->micro_batch ? plan->micro_batch : 1;
}

/** Share of a stage's @p layers that recompute: the first `recompute_layers` of each chunk. */
static inline double fr_plan_recomputed(const struct fr_plan *plan, double layers) {
    double n = (double)plan->recompute_layers * (double)plan->chunks;
    return n > 0 && n < layers ? n / layers : 1;
}

/** The stage that has the last layers. */
static inline int64_t fr_plan_last_stage(const struct fr_plan *plan) {
    return plan->schedule->folds && plan->chunks % 2 == 0 ? 0 : plan->pp - 1;
}

/** Does the plan compress or fuse anything? */
static inline bool fr_plan_compresses(const struct fr_plan *plan) {
    const struct fr_plan_compression *c = &plan->compression;
    return c->scope != FR_SCOPE_NONE || c->forward_rank > 0 || c->gradient_stages > 0 ||
           c->fused_embedding;
}

/** Rank that gradients of stage @p i are compressed to; 0: they are not. */
static inline int64_t fr_plan_gradient_rank(const struct fr_plan *plan, int64_t i) {
    if (i >= plan->compression.gradient_stages) return 0;
    if (!plan->gradient_ranks) return plan->compression.gradient_rank;
    return i < plan->n_gradient_ranks ? plan->gradient_ranks[i] : 0;
}

/** The largest of them. */
static inline int64_t fr_plan_gradient_rank_most(const struct fr_plan *plan) {
    int64_t most = plan->gradient_ranks ? 0 : plan->compression.gradient_rank;
    for (int i = 0; plan->gradient_ranks && i < plan->n_gradient_ranks; i++)
        most = plan->gradient_ranks[i] > most ? plan->gradient_ranks[i] : most;
    return most;
}

/** Leave out what compression loses; a fused embedding stays, which is exact. */
void fr_plan_drop_loss(struct fr_plan *plan);

/** Ranks that hold the same parameters: dp * cp. */
static inline int64_t fr_plan_replicas(const struct fr_plan *plan) {
    return plan->dp * (plan->cp > 1 ? plan->cp : 1);
}

/** Ranks that divide one expert. */
static inline int64_t fr_plan_expert_tp(const struct fr_plan *plan) {
    return plan->etp > 0 ? plan->etp : plan->tp;
}

/** Ranks that hold the same experts: of the dp cp tp ranks of a stage ep etp hold different ones. */
static inline int64_t fr_plan_expert_copies(const struct fr_plan *plan) {
    return fr_plan_replicas(plan) * plan->tp / (plan->ep * fr_plan_expert_tp(plan));
}

/** Are there gradients that several ranks add up? */
static inline bool fr_plan_reduces(const struct fr_plan *plan) {
    return !plan->forward && (fr_plan_replicas(plan) > 1 || fr_plan_expert_copies(plan) > 1 ||
                              (plan->tp > 1 && (plan->method->data_first || plan->domain > 0)));
}

/** How far apart two neighbours along an axis are, in ranks. */
static inline int64_t fr_plan_dp_stride(const struct fr_plan *plan) {
    return plan->rank_order == FR_ORDER_TP_DP_PP ? plan->tp : plan->tp * plan->pp;
}
static inline int64_t fr_plan_pp_stride(const struct fr_plan *plan) {
    return plan->rank_order == FR_ORDER_TP_DP_PP ? plan->tp * fr_plan_replicas(plan) : plan->tp;
}

/** dp * cp * pp * tp. */
static inline int64_t fr_plan_ranks(const struct fr_plan *plan) {
    return fr_plan_replicas(plan) * plan->pp * plan->tp;
}

#endif
