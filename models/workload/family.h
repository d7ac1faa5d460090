/** @file
 *  Which transformer does a Hugging Face config.json describe?
 *
 *  A file is read by its keys (models/workload/config/config.h), with the defaults of its family; a family that is not known
 *  like the nearest one, which is said.  Old families with keys of their own have a reader of their own.
 *
 *  Such a file names its family by `model_type` (or, in older files, by `architectures`) and
 *  gives the sizes under the names of that family.  It is not ours: keys that cost nothing
 *  are ignored, null counts as absent, and what a key means when it is absent is the default
 *  of the family's configuration class in the transformers library.  Sizes have no default, but where
 *  published files leave them out.
 *  A multimodal file is read by its `text_config`; the towers beside it are not priced.
 *
 *  To add a family: a row of models/workload/keyed_list.h; with keys of its own models/workload/family/<name>.c exporting
 *  fr_family_<name>, row FR_FAMILY(<name>) in models/workload/family_list.h.
 */
#ifndef FR_MODELS_WORKLOAD_FAMILY_H
#define FR_MODELS_WORKLOAD_FAMILY_H

#include "models/workload/workload.h"

enum { FR_FAMILY_SIZE_MAX = 1 << 26 };

struct fr_family {
    const char *name;         /**< its model_type */
    const char *architecture; /**< its causal language model, where model_type is absent */
    const char *summary;
    fr_status (*read)(const struct fr_json *config, struct fr_transformer *transformer,
                      struct fr_error *err);
    const char *defaults,
        *sizes;       /**< of one without a reader: models/workload/config/config.h */
    const char *note; /**< behind its name, where it is known; or NULL */
    /** Tokens of a sequence that pre-training of the family uses before its context is stretched; files say how far it
     *  reaches at last.  0: as files say, which are trained at all of it. */
    int64_t sequence;
};

/** Rows in table order, then NULL. */
extern const struct fr_family *const fr_families[];

/** Is the object @p root such a file (no `kind`, but `model_type` or `architectures`)? */
bool fr_family_is_config(const struct fr_json *root);

/** Read it as a workload of kind transformer: sequence is the family's, as far as the file allows it, dtype
 *  its torch_dtype, state that of Adam, with fp32 gradients and master weights at 16 bits.
 *  `name`, `sequence`, `dtype`, `gradient_dtype`, `optimizer_state` and `global_batch` of
 *  model.json go before. */
fr_status fr_family_read(const struct fr_json *root, struct fr_workload *workload,
                         struct fr_error *err);

/** May --set give @p path of the config @p root a value?  Its keys are many and most are ignored,
 *  so that one the file does not have and no family reads is a misspelling.
 *  @return FR_OK or FR_ERR_USAGE with the nearest key. */
fr_status fr_family_check_set(const struct fr_json *root, const char *path,
                              struct fr_error *err);

/* For families. */

/** Whole number from 1 to @p max.  Absent or null: `*out` keeps its value, unless required. */
fr_status fr_family_integer(const struct fr_json *config, const char *key, bool required,
                            int64_t max, int64_t *out, struct fr_error *err);
/** Absent or null: `*out` keeps its value. */
fr_status fr_family_bool(const struct fr_json *config, const char *key, bool *out,
                         struct fr_error *err);
/** Is there dropout, of the scores or before the residual additions?  A share that the file does not say
 *  is 0.1. */
fr_status fr_family_dropout(const struct fr_json *config, const char *of_scores,
                            const char *of_residuals, bool *out, struct fr_error *err);
/** LLaMA and its descendants, with its names of the keys: gated MLP, RMSNorm, rotary positions,
 *  grouped key-value heads.  @p transformer holds the family's defaults of kv_heads and
 *  head_dim (0: heads, and hidden / heads), and its biases and norms, which are left alone. */
fr_status fr_family_read_rotary(const struct fr_json *config,
                                struct fr_transformer *transformer, struct fr_error *err);
/** Under which keys a family has its sizes: any of two, the first is named where both are missing.
 *  NULL: head_dim hidden / heads, ffn four times hidden; else where they stand. */
struct fr_family_sizes {
    const char *layers[2], *hidden[2], *heads[2], *sequence[2];
    const char *head_dim, *ffn;
};
/** Their names in most of today's files. */
extern const struct fr_family_sizes fr_family_usual_sizes;
/** GPT and its descendants: as many key-value heads as heads.  @p transformer holds the family's flags
 *  and, where files leave it out, its sequence. */
fr_status fr_family_read_sizes(const struct fr_json *config, const struct fr_family_sizes *keys,
                               struct fr_transformer *transformer, struct fr_error *err);
/** Key-value heads divide the heads; else an error at @p key. */
fr_status fr_family_check_heads(const struct fr_json *config, const char *key,
                                const struct fr_transformer *t, struct fr_error *err);
/** A choice of experts in the place of every MLP: keys of how many, how many a token, how wide. */
struct fr_family_experts {
    const char *count, *chosen, *width;
};
fr_status fr_family_read_experts(const struct fr_json *config,
                                 const struct fr_family_experts *keys, struct fr_transformer *t,
                                 struct fr_error *err);
/** Groups, convolution and chunks of state-space blocks, whose heads are known; what the file lacks stays. */
fr_status fr_family_read_scan(const struct fr_json *config, struct fr_transformer *t,
                              struct fr_error *err);
/** As far as they are in the file, attention_bias and mlp_bias must be false. */
fr_status fr_family_refuse_biases(const struct fr_json *config, struct fr_error *err);

#endif
