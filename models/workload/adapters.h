/** @file
 *  Which of a transformer's weights are trained: all, or narrow adapters beside frozen ones (LoRA).
 *
 *  Hu et al., LoRA: Low-Rank Adaptation of Large Language Models, 2021.  Beside a product W x stands B A x with
 *  r = `lora_rank` values a token between A (r x inputs) and B (outputs x r); W stays as it is.  Queries, keys and
 *  values are one product here, as are an MLP's gate and up, each with one adapter, as Megatron-Core's fused layers
 *  have them.  With a heads and k key-value heads of d values, and an MLP of f with w = 1 or 2 first products:
 *
 *      parameters a layer   attention  r (h + (a + 2k) d) + r (a d + h)     MLP  r (h + w f) + r (f + h) */
#ifndef FR_MODELS_WORKLOAD_ADAPTERS_H
#define FR_MODELS_WORKLOAD_ADAPTERS_H

#include "models/workload/workload.h"

/** Where adapters may be, and how what second ones make travels; then NULL. */
extern const char *const fr_adapter_places[], *const fr_adapter_exchanges[];

/** Read `lora_rank`, `lora_on` and `lora_exchange` of a transformer's file, whose experts are known. */
fr_status fr_adapters_read(const struct fr_json *object, struct fr_transformer *t,
                           struct fr_error *err);

/** A product that may have an adapter. */
struct fr_adapted {
    double inputs, outputs;
    bool second; /**< of a pair, divided by its inputs over tp */
    bool mlp;    /**< of an MLP; else of an attention */
};

enum { FR_ADAPTED_MAX = 4 };

/** Those that have one, in order. @return how many; 0 where all is trained */
int fr_adapters_list(const struct fr_transformer *t, struct fr_adapted list[FR_ADAPTED_MAX]);

/** Is all but adapters frozen? */
static inline bool fr_transformer_frozen(const struct fr_transformer *t) {
    return t->lora_rank > 0;
}

#endif
