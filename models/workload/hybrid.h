/** @file
 *  What stands in which layer of a hybrid: one block each, attention, an MLP, experts or a state-space block.
 *
 *  A layer of a transformer is an attention and an MLP (or experts).  With a `pattern` a layer is one block, with a norm
 *  before it and a residual addition behind, named by a letter as Megatron-LM's and NVIDIA's Nemotron-H files name them
 *  (`hybrid_override_pattern`):
 *
 *      M  state-space (Mamba-2, models/workload/ssm.h)    *  attention    -  MLP    E  experts, with what they share
 *
 *  from the first layer on, and from its beginning again where there are more layers than letters: "M" is a pure
 *  Mamba-2.  Files of others may have layers of several blocks, `blocks` letters each: "MEMEME*E", two letters a layer,
 *  is Qwen3-Next, three recurrent layers and one of attention, experts in each. */
#ifndef FR_MODELS_WORKLOAD_HYBRID_H
#define FR_MODELS_WORKLOAD_HYBRID_H

#include "models/workload/workload.h"

/** Blocks of a layer of a hybrid. */
static inline int64_t fr_layer_blocks(const struct fr_transformer *t) {
    return t->blocks ? t->blocks : 1;
}

/** How many there are of each. */
struct fr_block_counts {
    double attention, mlp, experts, ssm;
};

static inline bool fr_transformer_is_hybrid(const struct fr_transformer *t) {
    return t->pattern[0] != '\0';
}

/** Blocks in the layers of a hybrid from @p from (counted from 0) to before @p to; the first and the last may be
 *  parts of a layer. */
struct fr_block_counts fr_block_counts_between(const struct fr_transformer *t, double from,
                                               double to);

/** Blocks in all layers, for any transformer; cross-attentions are not counted. */
struct fr_block_counts fr_block_counts_of(const struct fr_transformer *t);

/** Read `pattern` of a transformer's file, whose other keys are known, with the sizes of its state-space blocks.
 *  Refused beside what nobody has said of one: adapters, latent attention, cross-attention, windows, further
 *  tokens, and `dense_layers`, which the letters say. */
fr_status fr_hybrid_read(const struct fr_json *object, struct fr_transformer *t,
                         struct fr_error *err);
/** Check a hybrid that another file describes: does our file, @p object, have keys that are refused beside it? */
fr_status fr_hybrid_check(const struct fr_json *object, const struct fr_transformer *t,
                          struct fr_error *err);
/** Has the file a pattern without attention, so that it needs no heads? */
bool fr_hybrid_unattended(const struct fr_json *object);
/** Take @p pattern, of the file's @p node; each letter one of the four, experts where there are some. */
fr_status fr_hybrid_set(const struct fr_json *node, const char *pattern,
                        struct fr_transformer *t, struct fr_error *err);

#endif
