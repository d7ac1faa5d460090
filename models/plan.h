/** @file
 *  How the training is laid out: a checked plan file, a mesh dp x pp x tp with its options.
 *
 *  tp is innermost (neighbouring ranks), then pp, then dp.  Every key has a default:
 *
 *      dp 1, pp 1, tp 1      the mesh
 *      method "tensor"       how layers are divided over tp
 *      ghost 0               ghost neurons a rank of method phantom
 *      global_batch          the model's; samples of one iteration over all ranks
 *      micro_batch           global_batch / dp: one micro-batch an iteration; for models of kind
 *                            stages and transformer one sample
 *      layer_tp "uniform"    method grid: a P_r of its own for each layer, as a list, or "best"
 *      iterations            the model's table
 *      schedule "1f1b"       order of a pipeline stage's passes: a row of the table, a file or a
 *                            list (models/schedule_order.h); chunks 1 of the model a rank
 *      p2p "async"           messages between stages: "async", or "duplex" (blocking pairs)
 *      stage_layers          transformer layers of each stage; as equal as can be
 *      sequence_parallel     false; norms and dropouts divided over tp along the sequence too
 *      placement "linear"    where ranks sit, see topology/placement.h; or a list: rank of each slot
 *      common "all"          method subgraph: common layers on all ranks, or on the first
 *                            "subgrid" (D&SP-cSub); exchange "all_to_all" of slices, or
 *                            "all_gather", which moves g times the bytes; branches "heads" of a
 *                            transformer, "attention" or "layer"
 *      overlap "none"        gradients after a stage's last backward pass; "gradient": in buckets
 *                            of `bucket` 25 MiB each, as they come out of that pass
 *      attention "plain"     kernels of attention: "plain" products over the scores, or "flash"
 *                            (fused; "flash-2", "flash-1": of that generation)
 *      rank_order "tp-pp-dp" neighbours follow tp, then pp, then dp; "tp-dp-pp" as Megatron-LM
 *      cp 1                  context parallel: neighbouring replicas share a sequence (they follow tp
 *                            where rank_order is tp-dp-pp, or pp 1)
 *      ep 1                  expert parallel: neighbouring replicas that share the experts
 *      etp tp                tensor parallel inside an expert: tp, or 1: then the tp ranks share whole
 *                            experts too, and ep counts them
 *      overlap_experts false the all-to-all to and from experts beside another micro-batch's products
 *      zero 0                what replicas divide: 1 optimiser, 2 gradients, 3 parameters (FSDP)
 *      X
 */
#ifndef FR_MODELS_PLAN_H
#define FR_MODELS_PLAN_H

#include "models/compression.h"
#include "models/method.h"
#include "models/recompute.h"
#include "models/schedule_order.h"
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

/** Which axis neighbours follow after tp: the pipeline's stages, or the replicas (Megatron-LM). */
typedef enum { FR_ORDER_TP_PP_DP, FR_ORDER_TP_DP_PP } fr_rank_order;
extern const char *const fr_rank_order_names[];
/** Which layers of a transformer are branches of method subgraph:
 *      heads      the attention of each head, between slice and concatenation layers (the paper's)
 *      attention  each head with its part of the products before and after, between split and sum
 *      layer      that, and the columns of the MLP likewise */
typedef enum { FR_BRANCHES_HEADS, FR_BRANCHES_ATTENTION, FR_BRANCHES_LAYER } fr_branches;
extern const char *const fr_branches_names[];

/** Where common layers of method subgraph run, and how slices are exchanged; then NULL. */
extern const char *const fr_common_names[], *const fr_exchange_names[];

struct fr_plan_compression {
    const struct fr_compression *codec;
    fr_scope scope; /**< of backward messages */
    int64_t backward_rank;
    bool lazy_error;         /**< what a message lost is added to the next micro-batch's */
    bool fused_embedding;    /**< one all-reduce over 2 dp ranks instead of dp, then 2 */
    int64_t gradient_stages; /**< stages 0.. whose gradients go compressed */
    int64_t gradient_rank;
};

struct fr_plan {
    int64_t dp, pp, tp;
    const struct fr_method *method;
    int64_t ghost;
    int64_t global_batch; /**< 0: the model's */
    int64_t micro_batch;  /**< 0: all of a rank's samples at once */
    const struct fr_schedule *schedule;
    const struct fr_schedule_order *order; /**< of schedule custom */
    int64_t chunks;
    bool duplex;            /**< blocking exchanges between stages */
    fr_recompute recompute; /**< of transformers */
    fr_attention attention; /**< likewise */
    fr_rank_order rank_order;
    int64_t cp;             /**< context parallel: ranks that share a sequence */
    int64_t ep;             /**< expert parallel: ranks that share the experts */
    int64_t etp;            /**< ranks that divide one expert: tp or 1; 0: tp */
    bool overlap_experts;   /**< exchanges run beside another micro-batch's products */
    int64_t zero;           /**< what replicas divide: see models/zero.h */
    bool sequence_parallel; /**< of transformers */
    double bucket_B;        /**< gradients all-reduced in such buckets; 0: not overlapped */
    struct fr_plan_compression compression;
    struct fr_placement_choice placement;
    fr_branches branches;    /**< of method subgraph */
    bool common_subgrid;     /**< its common layers run on the first sub-grid alone (cSub) */
    bool gather_all;         /**< its slices are all-gathered and the rest discarded */
    double iterations;       /**< 0: the model's */
    const int64_t *layer_tp; /**< P_r of each entry of the workload's layers, or NULL */
    int n_layer_tp;
    const int64_t *stage_layers; /**< transformer layers of each stage, or NULL: equal */
    int n_stage_layers;
    bool layer_tp_best; /**< asked for, to be filled by fr_layer_grids_best */
};

/** PyTorch's DistributedDataParallel makes buckets of 25 MiB unless told otherwise. */
#define FR_BUCKET_B (25 * 0x1p20)

/** The defaults above. */
struct fr_plan fr_plan_default(void);

/** Lists that a plan points to; copies of the plan share them. */
struct fr_plan_lists {
    int64_t *layer_tp, *stage_layers, *seats;
    struct fr_schedule_order order;
};

/** Read the document of a plan file; its lists go into @p lists.  Free with fr_plan_lists_free,
 *  also on error. */
fr_status fr_plan_read(const struct fr_json_document *document, struct fr_plan *plan,
                       struct fr_plan_lists *lists, struct fr_error *err);
void fr_plan_lists_free(struct fr_plan_lists *lists);

/** Samples of a pipeline's micro-batch: one, unless the plan says otherwise.  Stage times are
 *  those of one micro-batch, so for them its size only counts micro-batches. */
static inline int64_t fr_plan_micro_batch(const struct fr_plan *plan) {
    return plan->micro_batch ? plan->micro_batch : 1;
}

/** Does the plan compress or fuse anything? */
static inline bool fr_plan_compresses(const struct fr_plan *plan) {
    const struct fr_plan_compression *c = &plan->compression;
    return c->scope != FR_SCOPE_NONE || c->gradient_stages > 0 || c->fused_embedding;
}

/** A key of the plan that only a pipeline's pricing reads and that is not at its default, or NULL. */
const char *fr_plan_pipeline_key(const struct fr_plan *plan);

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

/** Keys of a plan file, NULL-terminated: for messages and --set. */
extern const char *const fr_plan_keys[];

#endif
