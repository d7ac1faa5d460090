/** @file
 *  How is a transformer read from the keys of a config.json, whatever its family?
 *
 *  A model is described by its blocks, and a block by keys that families share.  They state the attention (key-value
 *  heads, latents, windows, an indexer), the recurrent block, the MLP or experts (shared ones, dense layers first,
 *  every nth layer), and the norm.  Where two families name a size differently, both names are read.  The file states
 *  the block of each layer by `layer_types` or by one of the other ways in blocks.c.  Equal layers become a plain
 *  transformer, others a pattern (models/workload/hybrid.h).
 *
 *  A family adds the keys that its files leave out: a row of models/workload/keyed_list.h with defaults of its class,
 *  as words "key value key value".  They count as if the file had them (a null in the file goes before).  Words that
 *  begin with an underscore are ours, for facts that no key states:
 *
 *      _gated false        an MLP of two products            _layer_norm true   LayerNorm with biases
 *      _qk_norms true      norms of queries and keys         _qkv_bias true     biases of queries, keys and values
 *      _out_bias false     attention_bias leaves out the second product         _biases KEY   all biases, if KEY is true
 *      _norms 4            of a layer, rather than two       _sliding 6         all but each sixth layer have the window
 *      _positions true     learned positions                 _recurrent N       which recurrent block (ssm.h)
 *      _mixers LETTERS     of the layers, repeated           _mlp false         layers without MLP
 *      _parallel true      attention and a recurrent block in each layer
 *      _gate true          a gate of the attention           _both_ways true    no causal mask
 *      _half_ffn true      intermediate_size is of both first products together
 *      _twice true         two attentions and two MLPs beside the experts   _ffn_times N   without a width so often the hidden
 *      _shared N           experts that all tokens share     _beside true       an MLP beside the experts of each layer */
#ifndef FR_MODELS_WORKLOAD_CONFIG_CONFIG_H
#define FR_MODELS_WORKLOAD_CONFIG_CONFIG_H

#include "models/workload/family.h"

enum { FR_CONFIG_LAYERS = 100000, FR_CONFIG_INNER = 3 };

/** A file and what stands in where it is silent. */
struct fr_config {
    const struct fr_json *file;
    struct fr_json inner[FR_CONFIG_INNER]; /**< objects of it whose keys count as its own */
    struct fr_json defaults;               /**< its value NULL: none */
};

/** The block in each layer: a letter of models/workload/hybrid.h. */
struct fr_config_layers {
    char mixer[FR_CONFIG_LAYERS], mlp[FR_CONFIG_LAYERS];
    bool sliding[FR_CONFIG_LAYERS];
    bool twice; /**< two attentions and two MLPs beside the experts of each layer */
};

/** The value of the first of @p keys (NULL-terminated) that the file has, else that the defaults have; a null of the
 *  file: no value.  Without one the place of the first key, absent. */
struct fr_json fr_config_find(const struct fr_config *c, const char *const *keys);
/** The value of one key. */
struct fr_json fr_config_at(const struct fr_config *c, const char *key);
bool fr_config_given(const struct fr_config *c, const char *key);
/** Whole number of the first of @p keys that has a value, from @p least on; without one `*out` keeps its value, and
 *  it is an error where @p required. */
fr_status fr_config_integer(const struct fr_config *c, const char *const *keys, bool required,
                            int64_t least, int64_t *out, struct fr_error *err);
/** Truth of @p key; without a value `*out` keeps its own. */
fr_status fr_config_bool(const struct fr_config *c, const char *key, bool *out,
                         struct fr_error *err);
/** Is a list's element @p i, or for texts "3,4,5" one of the numbers, @p layer? */
bool fr_config_lists(const struct fr_json *list, int64_t layer);
/** Names of keys, NULL-terminated. */
#define FR_KEYS(...) ((const char *const[]){__VA_ARGS__, NULL})

/** Refuse what is in the file and cannot be priced, by its name and with the way round it. */
fr_status fr_config_refuse_unpriced(const struct fr_config *c, struct fr_error *err);
/** Sizes of all layers, biases, norms, attention. */
fr_status fr_config_read_sizes(const struct fr_config *c, struct fr_transformer *t,
                               struct fr_error *err);
fr_status fr_config_read_attention(const struct fr_config *c, struct fr_transformer *t,
                                   struct fr_error *err);
/** Which mixer stands in which layer, with the sizes of recurrent ones and windows. */
fr_status fr_config_read_mixers(const struct fr_config *c, struct fr_transformer *t,
                                struct fr_config_layers *layers, struct fr_error *err);
/** Which layers have experts, and their sizes. */
fr_status fr_config_read_mixture(const struct fr_config *c, struct fr_transformer *t,
                                 struct fr_config_layers *layers, struct fr_error *err);

/** Read @p config by its keys, where silent by @p family's defaults, and of a nested file (@p nested, whose writers leave
 *  out what is the class's default) its sizes. */
fr_status fr_config_read(const struct fr_json *config, const struct fr_family *family,
                         bool nested, struct fr_transformer *t, struct fr_error *err);
/** The row of models/workload/keyed_list.h that the keys of a file of no known family are like. */
const struct fr_family *fr_config_nearest(const struct fr_json *config);

#endif
