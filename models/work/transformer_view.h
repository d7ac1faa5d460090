/** @file
 *  One stage of a transformer as one rank sees it, under methods tensor and grid.
 *
 *  Three groups of products are divided: those of the attention, of the MLP, and of embedding and logits.  Each has
 *  P_r = p ranks of its own, the plan's tp unless its `layer_tp` states others.  The R = tp dp cp ranks of a stage
 *  process b dp samples of a micro-batch together, so each of a group's P_c = R / p columns has b p / tp of them.
 *
 *  How two products that follow each other are divided (the plan's `divide`):
 *
 *      pairs   the first by its rows, the second by its columns: each rank's part of what is between
 *              stays where it is, and the second's partial sums are added up (Megatron; method tensor)
 *      rows    both by their rows: what either makes is gathered, whole, before the next needs it
 *              (Gholami et al. 2017; method grid, models/work/method/grid.c) */
#ifndef FR_MODELS_WORK_TRANSFORMER_VIEW_H
#define FR_MODELS_WORK_TRANSFORMER_VIEW_H

#include "models/plan/copies.h"
#include "models/work/recompute.h"
#include "models/work/transformer.h"
#include "models/workload/attention.h"

/** A group of products on its grid. */
struct fr_group_view {
    double p;             /**< P_r */
    double batch, tokens; /**< of a micro-batch on a rank */
    double between; /**< ranks that divide what is between products: p with sequence_parallel */
    fr_axis axis;
    fr_axis copies; /**< those that hold copies of its matrices */
};

struct fr_stage_view {
    const struct fr_transformer *t;
    const struct fr_plan *plan;
    double h, mlp; /**< width; matrices of the MLP */
    struct fr_attention_sizes a;
    struct fr_group_view attention_on, mlp_on, ends_on;
    struct fr_group_view dense_on; /**< mlp_on of what experts do not divide */
    bool rows;                     /**< `divide` rows; else pairs */
    bool uniform;                  /**< all groups on the plan's tp */
    double s, own, value_B;        /**< own: of s tokens, a rank's queries */
    double read_B;                 /**< of a value that a product reads */
    bool narrow;                   /**< read_B is less than value_B */
    double layers, cross, attentions;
    double dense, mixed; /**< of the layers, with an MLP and with experts */
    double ssm;          /**< state-space blocks */
    double predicted;    /**< of the layers, those that predict further tokens */
    double
        leaving; /**< of the layers, those whose output leaves the stage, or goes to the logits */
    double queries;                      /**< of a head in the attention, on a rank */
    double heads, scores;                /**< of a rank; of an attention, in memory */
    double mlp_rows, wide, etp, experts; /**< of the experts on the rank */
    bool full, any;                      /**< recomputes all of it, some of it */
    bool saves;                          /**< all but what a policy names */
    bool out, first;                     /**< the attention's second product, the MLP's first */
    struct fr_again again;               /**< which products are made again */
    double recomputed;                   /**< share of the layers that recompute */
    bool gathers;                        /**< sequence parallel */
};

/** Collectives of the stage's layers: between products, of context and experts. */
void fr_transformer_add_exchanges(const struct fr_workload *workload,
                                  const struct fr_stage_view *v, struct fr_rank_work *work);
/** The same of embedding and logits. */
void fr_transformer_add_vocabulary_exchanges(const struct fr_stage_view *v, bool first,
                                             bool last, struct fr_rank_work *work);

/** Add the memory that the stage holds for a moment of its passes in a training step, its logits included.
 *  @param message_B  the largest that a collective between products makes */
void fr_transformer_add_moment(const struct fr_stage_view *v, bool first, bool last,
                               double message_B, struct fr_rank_work *work);
/** Values that MLPs, or experts, of a layer move besides: activations, rows put in order, sent and added up. */
double fr_transformer_activated(const struct fr_stage_view *v, bool mixed);
/** Values that latent attention moves: norms of the narrow latents, the rotation, and the part joined to keys. */
double fr_transformer_latents_moved(const struct fr_stage_view *v);

/** Do the experts' products go over their group's ranks?  Whole ones take what a rank has of the sequence. */
static inline bool fr_transformer_experts_divided(const struct fr_stage_view *v) {
    return v->etp >= v->mlp_on.p;
}
/** Layers whose MLP does, or what their experts share. */
static inline double fr_transformer_mlps_divided(const struct fr_stage_view *v) {
    bool mixed = fr_transformer_experts_divided(v) || v->t->shared_ffn > 0;
    return v->dense + (mixed ? v->mixed : 0);
}

#endif
