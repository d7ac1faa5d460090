/* A decoder-only transformer.  By default it is GPT-2: LayerNorm, biases, learned positions, tied embedding.  It is
 * LLaMA-like with a gated MLP, no biases, RMSNorm and grouped key-value heads.  With cross_layers the last layers are
 * a decoder's and attend to the output of the first ones, the encoder. */
#include <inttypes.h>

#include "models/workload/adapters.h"
#include "models/workload/attention.h"
#include "models/workload/cache.h"
#include "models/workload/encoder.h"
#include "models/workload/hybrid.h"
#include "models/workload/packing.h"
#include "models/workload/predicted.h"
#include "models/workload/rotary.h"
#include "models/workload/routing.h"
#include "models/workload/workload.h"

static const char *const head_kernels[] = {"batched", NULL};
static const char *const norms[] = {"layer", "rms", NULL};
static const char *const position_kinds[] = {"learned", "rotary", "none", NULL};

enum { MOST = 1 << 26 };

#define INTO struct fr_transformer
#include "models/workload/key_rows.h"
static const struct fr_json_key keys[] = {
#define FR_KEY FR_KEY_LISTED
#include "models/workload/kind/transformer_key_list.h"
#undef FR_KEY
    {0}};

static fr_status read_window(const struct fr_json *object, struct fr_transformer *t,
                             struct fr_error *err) {
    struct fr_json window = fr_json_member(object, "window"),
                   layers = fr_json_member(object, "window_layers");
    if (t->window == 0 && fr_json_present(&layers))
        return fr_json_fail(&layers, err, "has no effect without a window");
    if (t->window > 0 && t->cross_layers > 0)
        return fr_json_fail(&window, err, "is not priced beside cross_layers");
    t->window_layers = t->window ? t->layers : 0;
    return fr_json_get_integer(object, "window_layers", false, 1, t->layers, &t->window_layers,
                               err);
}

static fr_status read_groups(const struct fr_json *object, struct fr_transformer *t,
                             struct fr_error *err) {
    struct fr_json groups = fr_json_member(object, "expert_groups"),
                   most = fr_json_member(object, "groups_per_token");
    if (t->experts == 0) return FR_OK; /* refused already */
    FR_TRY(fr_json_get_integer(object, "expert_groups", false, 1, t->experts, &t->expert_groups,
                               err));
    if (t->expert_groups == 0 && fr_json_present(&most))
        return fr_json_fail(&most, err, "has no effect without expert_groups");
    if (t->expert_groups > 0 && t->experts % t->expert_groups != 0)
        return fr_json_fail(&groups, err, "must divide experts = %" PRId64, t->experts);
    t->groups_per_token = t->expert_groups;
    return fr_json_get_integer(object, "groups_per_token", false, 1, t->expert_groups,
                               &t->groups_per_token, err);
}

static fr_status read(const struct fr_json *object, struct fr_workload *workload,
                      struct fr_error *err) {
    struct fr_transformer *t = &workload->transformer;
    struct fr_json heads = fr_json_member(object, "heads");
    struct fr_json kv_heads = fr_json_member(object, "kv_heads");
    struct fr_json kernels = fr_json_member(object, "head_kernels");
    int norm = 0, positions = 0, batched = 0;
    *t = (struct fr_transformer){.tied = true, .biases = true};
    t->heads = 1;
    FR_TRY(fr_json_read_keys(object, keys, t, err));
    FR_TRY(fr_json_get_integer(object, "heads", !fr_hybrid_unattended(object), 1, MOST,
                               &t->heads, err));
    if (!t->kv_heads) t->kv_heads = t->heads;
    if (!t->ffn) t->ffn = 4 * t->hidden;
    if (!t->expert_ffn) t->expert_ffn = t->ffn;
    if (!t->experts_per_token && t->experts) t->experts_per_token = 2;
    FR_TRY(fr_routing_read(object, t, err));
    static const char *const of_experts[] = {"dense_layers", "shared_ffn", "expert_groups",
                                             "groups_per_token"};
    for (int i = 0; i < 4 && t->experts == 0; i++) {
        struct fr_json node = fr_json_member(object, of_experts[i]);
        if (fr_json_present(&node))
            return fr_json_fail(&node, err, "has no effect without experts");
    }
    FR_TRY(fr_json_get_integer(object, "dense_layers", false, 0, t->layers - 1,
                               &t->dense_layers, err));
    FR_TRY(read_groups(object, t, err));
    if (t->experts_per_token > t->experts) {
        struct fr_json node = fr_json_member(object, "experts_per_token");
        return fr_json_fail(&node, err, "a token cannot go to more than %" PRId64 " experts",
                            t->experts);
    }
    FR_TRY(fr_json_get_choice(object, "norm", false, norms, &norm, err));
    FR_TRY(fr_json_get_choice(object, "positions", false, position_kinds, &positions, err));
    FR_TRY(fr_rotary_check(object, positions == 1, err));
    FR_TRY(fr_json_get_integer(object, "cross_layers", false, 0, t->layers, &t->cross_layers,
                               err));
    FR_TRY(fr_json_is_string(&kernels)
               ? fr_json_get_choice(object, "head_kernels", false, head_kernels, &batched, err)
               : fr_json_get_number(object, "head_kernels", false, 1, 1000, &t->head_kernels,
                                    err));
    FR_TRY(read_window(object, t, err));
    FR_TRY(fr_document_read(object, t, err));
    FR_TRY(fr_adapters_read(object, t, err));
    FR_TRY(fr_predicted_read(object, t, err));
    FR_TRY(fr_cache_read(object, t, err));
    FR_TRY(fr_workload_read_store(object, t, err));
    t->norm_biases = norm == 0;
    t->positions = positions == 0;
    t->dropout = t->norm_biases; /* GPT has it, what came with RMSNorm has not */
    FR_TRY(fr_json_get_bool(object, "dropout", false, &t->dropout, err));
    if (t->head_dim == 0 && t->hidden % t->heads != 0)
        return fr_json_fail(&heads, err, "%" PRId64 " does not divide hidden = %" PRId64,
                            t->heads, t->hidden);
    if (t->head_dim == 0) t->head_dim = t->hidden / t->heads;
    if (t->heads % t->kv_heads != 0)
        return fr_json_fail(&kv_heads, err, "must divide heads = %" PRId64, t->heads);
    FR_TRY(fr_attention_read(object, t, err));
    FR_TRY(fr_encoder_read(object, t, err));
    return fr_hybrid_read(object, t, err);
}

const struct fr_kind fr_kind_transformer = {
    .name = "transformer",
    .summary = "a transformer: GPT-2 by default, LLaMA-like or with cross-attention by options",
    .keys = keys,
    .read = read,
};
