/** @file
 *  What is trained: a checked model file, reduced to the numbers that cost anything.
 *
 *  Every kind becomes a list of layers, each a matrix product over the samples of the batch.
 *  A fully connected layer of `inputs` to `outputs` is the product
 *  (outputs x inputs) (inputs x batch); a convolution is one product per group, of
 *  (rows/groups x inner) by (inner x positions*batch).  `outputs` is the d_i of Gholami et al. 2017:
 *  channels * height * width before any pooling.
 *
 *  To add a kind: models/workload/kind/<name>.c exporting fr_kind_<name>, row FR_KIND(<name>) in
 *  models/workload/kind_list.h.
 */
#ifndef FR_MODELS_WORKLOAD_WORKLOAD_H
#define FR_MODELS_WORKLOAD_WORKLOAD_H

#include "base/json.h"
#include "models/device/device.h"
#include "models/workload/layer_profile.h"

struct fr_method;

enum { FR_LAYER_MAX = 4096, FR_ITERATION_ROWS_MAX = 4096, FR_PATTERN_MAX = 256 };

/** How a branching section begins and ends (Jain et al. 2021, section IV): its input copied to every
 *  branch or sliced among them, its outputs added or concatenated. */
typedef enum {
    FR_JOINT_NONE,
    FR_JOINT_SPLIT,
    FR_JOINT_SLICE,
    FR_JOINT_SUM,
    FR_JOINT_CONCATENATION,
} fr_joint;

/** Square windows that move over channels of height x width values, with zeros around them. */
struct fr_window {
    int64_t channels, height, width;
    int64_t kernel, stride, padding; /**< kernel 0: no windows */
};

struct fr_layer {
    double repeat;    /**< identical layers in a row */
    double inputs;    /**< values entering a sample's layer */
    double outputs;   /**< values leaving it, before pooling */
    double rows;      /**< output channels: what a model axis divides */
    double positions; /**< output positions a sample; 1 when fully connected */
    double inner;     /**< inputs of one output value */
    double groups;
    double weights, biases; /**< parameters */
    bool fully_connected;
    bool softmax; /**< of the outputs, in place of an activation */
    /** Values a sample whose gradients the ranks that divide the weights add up: what enters the
     *  layer.  0: as many as leave it, which is how Eq. 4 of Gholami et al. 2017 counts a layer. */
    double input_gradients;
    /* Kind branches; the groups of such a layer are its branches. */
    double branches;               /**< parallel ones; 0: a common layer */
    fr_joint joint_in, joint_out;  /**< at the first and last layer of a section */
    struct fr_window window, pool; /**< of a convolution; of the pooling after it */
    /* Kind cnn. */
    bool norm;      /**< batch norm of what leaves it, before the activation */
    bool sync_norm; /**< its statistics are those of all replicas */
    bool average;   /**< the mean of each channel goes on */
    bool adds;      /**< a block ends: the shortcut is added to what leaves it */
    bool shortcut;  /**< beside a block: it reads the block's input; its outputs are added */
    double carried; /**< values a sample of a shortcut that pass by: kept until it is added */
};

/** Iterations to the target loss of one configuration. */
struct fr_iterations_row {
    const struct fr_method *method;
    int64_t tp, ghost; /**< 0: any */
    bool
        compressed; /**< of plans that compress gradients or messages; false: of those that do not */
    struct fr_iterations_when
        *when; /**< what else of a plan it holds for, or NULL: any such plan */
    double iterations;
    double rate; /**< of learning, that it was measured at; 0: not said */
};

/** A law of iterations (models/plan/iterations_law.h). */
typedef enum {
    FR_LAW_BATCH,
    FR_LAW_GHOST,
    FR_LAW_BACKWARD,
    FR_LAW_GRADIENT,
} fr_law_along;

struct fr_iterations_law {
    fr_law_along along;
    const struct fr_method *method;  /**< of ghost */
    double critical_batch;           /**< [samples] */
    double iterations;               /**< of ghost, at k = p = 1 */
    double ghost_power, tp_power;    /**< a, b */
    double slope;                    /**< of ln nu */
    double from, to;                 /**< of the batch, k, or the share s */
    double tp_from, tp_to;           /**< of p */
    double error;                    /**< root mean square of ln (measured / law); for people */
    struct fr_iterations_when *when; /**< other keys of the plan, or NULL */
};

/** Quantities along which a ratio of iterations grows. */
enum {
    FR_GROWTH_GHOST,
    FR_GROWTH_TP,
    FR_GROWTH_RANK,
    FR_GROWTH_SHARE,
    FR_GROWTH_WIDTH,
    FR_GROWTH_DEPTH,
    FR_GROWTH_TERMS
};

/** A power law of iterations over those of an exact plan, with its covariance (models/plan/growth.h). */
struct fr_growth {
    fr_law_along of;            /**< ghost neurons, messages or gradients */
    bool uses[FR_GROWTH_TERMS]; /**< others are no part of it */
    double intercept, power[FR_GROWTH_TERMS], centre[FR_GROWTH_TERMS];
    double covariance[FR_GROWTH_TERMS + 1][FR_GROWTH_TERMS + 1]; /**< the intercept first */
    double deviation, quantile;
};
enum { FR_GROWTHS_MAX = 3 };

/** Network and batch that a table of iterations was measured for; 0: not named, any (for the batch: the model's). */
struct fr_iterations_basis {
    int64_t width, layers, sequence, global_batch;
    double rate, loss; /**< for people; a plan has none */
    double
        reference; /**< iterations of an exact plan where growth carries over; 0: the table's */
    char source[240]; /**< likewise, cut */
    bool by_samples;  /**< other batches need as many samples */
    bool any_batch;   /**< one number in place of a table: the user's word */
};

/** Stages of kind "stages"; arrays of one entry (standing for any number of stages) or of
 *  `listed` entries. */
struct fr_stages {
    int listed;        /**< 0: one value for all */
    double *forward_s; /**< of one micro-batch */
    double *backward_s;
    double *weight_s;   /**< the part of backward that makes weight gradients; NULL: half */
    double *gradient_B; /**< all-reduced over dp; NULL: none */
    double message_B;   /**< between neighbouring stages, each way */
};

/** The way that a mixture's experts are kept equally busy: benchmarks that spread tokens evenly, a loss or biases, or nothing. */
typedef enum { FR_BALANCE_EVEN, FR_BALANCE_LOSS, FR_BALANCE_NONE } fr_balance;

/** Kind "transformer": a decoder stack of equal layers between an embedding and logits. */
struct fr_transformer {
    int64_t layers; /**< 0: not of this kind */
    int64_t hidden, heads, kv_heads, head_dim, ffn, sequence;
    int64_t vocabulary;          /**< before padding */
    int64_t vocabulary_multiple; /**< padded to this times tp; 0: 128, as Megatron does */
    int64_t experts;             /**< in every layer's place of the MLP; 0: none */
    int64_t experts_per_token, expert_ffn;
    double capacity, imbalance; /**< see models/work/experts.h; 0: none dropped, by balance */
    fr_balance balance;
    bool gated;           /**< three MLP matrices (SwiGLU) instead of two */
    bool tied;            /**< logits use the embedding's matrix */
    bool biases;          /**< of the matrix products */
    bool qkv_biases;      /**< without biases: of the query, key and value products alone */
    bool qk_norms;        /**< RMSNorm over each head's query and key */
    bool norm_biases;     /**< LayerNorm; false: RMSNorm */
    bool positions;       /**< a learned vector a position */
    bool dropout;         /**< of the scores and before both residual additions */
    int64_t cross_layers; /**< the last ones, with cross-attention besides: a decoder's */
    double head_kernels;  /**< launched forward by each head, as in LBANN; 0: batched */
    int64_t window; /**< tokens that a query attends to, itself among them; 0: all before it */
    int64_t window_layers; /**< in how many of the layers */
    bool
        window_chunks; /**< the window is a piece of the sequence, not what is behind a token */
    int64_t dense_layers; /**< the first ones, which have an MLP in the experts' place */
    int64_t
        shared_ffn; /**< width of an MLP that all tokens go through beside their experts; 0: none */
    int64_t expert_groups,
        groups_per_token; /**< a token's experts are in so many of them; 0: any */
    int64_t q_latent, kv_latent, rope_dim,
        value_dim; /**< of latent attention (attention.h); 0: plain */
    int64_t index_heads, index_dim,
        index_tokens;     /**< of an indexer of sparse attention (attention.h); 0: none */
    bool attention_gate;  /**< a gate of what the heads make, as wide as that */
    int64_t other_layers; /**< layers whose attention has other sizes (attention.h); 0: none */
    int64_t other_heads, other_kv_heads, other_head_dim, other_value_dim;
    bool other_keys_only; /**< there values are the keys */
    double vectors;   /**< further parameters of a layer, on every rank: norms, biases, gates */
    int64_t document; /**< tokens of the one a token is in, where several are packed; 0: one */
    int64_t
        cached; /**< tokens before a sample's, whose keys and values are in memory (cache.h) */
    int64_t predicted; /**< further tokens that are predicted (models/work/predicted.h) */
    int64_t lora_rank; /**< of adapters beside frozen weights (adapters.h); 0: all is trained */
    bool lora_attention, lora_mlp; /**< where they are */
    bool lora_all_to_all;          /**< what second ones make, divided along the sequence */
    bool saved_fp8;   /**< what the MLP's activation function reads, for the backward pass */
    bool both_ways;   /**< a token attends to those behind it too: no causal mask */
    bool masked_head; /**< a product, an activation and a norm before the logits (encoder.h) */
    bool pooler;      /**< what reads a sample's first token, and two logits of it */
    int64_t token_types; /**< of which each has a vector beside words and positions; 0: none */
    char pattern
        [FR_PATTERN_MAX]; /**< blocks of the layers (hybrid.h); "": attention and MLP in each */
    int64_t blocks;       /**< letters of it a layer; 0: one */
    int64_t ssm_kind;     /**< which recurrent block an M is (ssm.h) */
    int64_t ssm_rank;     /**< of its narrow products; 0: none */
    int64_t ssm_heads, ssm_head_dim, ssm_state, ssm_groups, ssm_chunk,
        ssm_conv; /**< of state-space blocks (ssm.h); 0: none */
};

struct fr_workload {
    char name[64];
    char source[1024];
    const struct fr_kind *kind;
    fr_dtype dtype, gradient_dtype;
    fr_dtype weight_dtype; /**< that weights are held and gathered in: fr_workload_weight_B */
    bool fp8_blocks; /**< fp8 has a scale for each block of values, not one for a tensor */
    bool narrow_attention, narrow_logits; /**< at 8 bits, where products are of as few */
    char read_like
        [64]; /**< the family that a file of no known one was read like; "": a known one */
    bool sequence_assumed;    /**< the family's, as its file says only how far it reaches */
    bool modern;              /**< plans start from what is usual today: models/job/assume.h */
    bool of_2019;             /**< the file says that they start from the papers of 2019 */
    double optimizer_state_B; /**< per parameter, besides weight and gradient */
    int64_t global_batch;     /**< customary; used when the plan has none */
    int64_t samples;          /**< of the training set, an epoch; 0: not said */
    int64_t micro_batch;      /**< of transformers, likewise; -1: all of a replica's samples */
    struct fr_layer *layers;
    int n_layers;                      /**< entries of layers[], not counting repeat */
    struct fr_stages stages;           /**< of kind stages, which has no layers */
    struct fr_transformer transformer; /**< of kind transformer, likewise */
    struct fr_layer_profile *profile;  /**< measured layers of a transformer, or NULL */
    int n_profile;
    struct fr_iterations_row *iterations;
    int n_iterations;
    struct fr_iterations_basis basis; /**< of the table */
    struct fr_iterations_law *laws;   /**< n_laws of them */
    int n_laws;
    struct fr_growth *growth; /**< n_growth of them: of networks that the table does not name */
    int n_growth;
};

struct fr_json_key;

struct fr_kind {
    const char *name;
    const char *summary;
    const struct fr_json_key
        *keys; /**< besides the common ones; ends with one without a name */
    /** Fill layers and n_layers. */
    fr_status (*read)(const struct fr_json *object, struct fr_workload *workload,
                      struct fr_error *err);
};

/** Keys of every kind; ends with one without a name. */
extern const struct fr_json_key *const fr_workload_keys;
/** Rows that others name. */
extern const struct fr_kind fr_kind_ffn, fr_kind_mlp, fr_kind_cnn, fr_kind_transformer,
    fr_kind_branches;
/** Rows in table order, then NULL. */
extern const struct fr_kind *const fr_kinds[];

/** Read `defaults`, "2019" or "modern", into workload->modern; absent: it keeps its value. */
fr_status fr_workload_read_defaults(const struct fr_json *root, struct fr_workload *workload,
                                    struct fr_error *err);

/** Read what the document of a model file says of the model; "iterations" are passed over
 *  (models/plan/iterations.h).  Free with fr_workload_free, also on error. */
fr_status fr_workload_read(const struct fr_json_document *document,
                           struct fr_workload *workload, struct fr_error *err);
void fr_workload_free(struct fr_workload *workload);

/** Read `weight_dtype` into workload->weight_dtype, whose dtype is known; absent: that, and bf16 of fp8 and fp4, as
 *  Megatron-LM, Transformer Engine and torchao hold weights unless they are set otherwise.  And `fp8_scaling`,
 *  `attention_dtype` and `logits_dtype`. */
fr_status fr_workload_read_weights(const struct fr_json *root, struct fr_workload *workload,
                                   struct fr_error *err);

/** At what width an activation function keeps its input; then NULL. */
extern const char *const fr_workload_stores[];
/** Read `activation_store` of a transformer into t->saved_fp8; absent: as products take it. */
fr_status fr_workload_read_store(const struct fr_json *object, struct fr_transformer *t,
                                 struct fr_error *err);

/** Bytes held per parameter for its weight.  Where the weight is wider than the products' inputs, the copies for the
 *  products count too; they are made once an iteration.  In fp8 each pass may need a copy of its own (Transformer
 *  Engine, "Handling transposes").  That is so where products of @p device read both operands along the summed
 *  dimension (Hopper: the backward pass needs the transpose).  It is so too with a scale for each block of values
 *  (MXFP8, NVFP4), since scales differ along either dimension.  Else one copy serves both. */
double fr_workload_weight_B(const struct fr_workload *workload, const struct fr_device *device);

/** Share of the weights that autocast makes narrow in each forward pass (framework.casts); 0 where they are kept at the
 *  products' width. */
double fr_workload_casts(const struct fr_workload *workload, const struct fr_device *device);

/** Values of a sample that reach @p layer from those before it: its input, and what of a shortcut passes by. */
static inline double fr_layer_crossing(const struct fr_layer *layer) {
    return layer->inputs + layer->carried;
}

/** A fully connected layer, @p bias or not, standing @p repeat times. */
struct fr_layer fr_layer_fully_connected(double inputs, double outputs, bool bias,
                                         double repeat);

/** Bytes that the optimiser reads and writes per parameter: weight, gradient and state in,
 *  weight and state out (28 for Adam in fp32). */
double fr_workload_update_B(const struct fr_workload *workload);
/** Bytes that a parameter occupies: weight, gradient, state (16 for Adam in fp32). */
double fr_workload_state_B(const struct fr_workload *workload, const struct fr_device *device);

/** The same as fr_workload_weight_B of forward passes alone: no copy serves a backward pass. */
double fr_workload_forward_weight_B(const struct fr_workload *workload,
                                    const struct fr_device *device);

/** Width of a network as its table of iterations names it: a transformer's hidden size, else the
 *  widest layer's outputs; and its depth. */
int64_t fr_workload_width(const struct fr_workload *workload);
int64_t fr_workload_depth(const struct fr_workload *workload);

#endif
