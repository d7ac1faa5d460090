#include "models/workload/attention.h"

#include <inttypes.h>

#include "models/workload/hybrid.h"

enum { MOST = 1 << 26 };

/* Sizes of an attention with @p a heads, @p k key-value heads, d values of a query and a key and v of a value each.
 * @p keys_only: no product makes values, which are the keys. */
static struct fr_attention_sizes heads_of(const struct fr_transformer *t, int64_t a, int64_t k,
                                          int64_t d, int64_t v, bool keys_only) {
    double h = (double)t->hidden, queries = (double)(a * d), keys = (double)(k * d),
           values = (double)(k * v), made = (double)(a * v),
           gate = t->attention_gate ? made : 0,
           to = queries + keys + (keys_only ? 0 : values) + gate;
    return (struct fr_attention_sizes){.queries = queries,
                                       .keys = keys,
                                       .values = values,
                                       .made = made,
                                       .from_q = h,
                                       .to_q = to,
                                       .arrives = h,
                                       .divided = h * to + made * h};
}

/* @p share of @p b, the rest of @p a; both have the same inputs. */
static struct fr_attention_sizes mean_of(struct fr_attention_sizes a,
                                         const struct fr_attention_sizes *b, double share) {
    double *const into[] = {&a.queries, &a.keys, &a.values, &a.made, &a.to_q, &a.divided};
    const double more[] = {b->queries, b->keys, b->values, b->made, b->to_q, b->divided};
    for (int i = 0; i < 6; i++) *into[i] += share * (more[i] - *into[i]);
    return a;
}

static struct fr_attention_sizes plain(const struct fr_transformer *t) {
    struct fr_attention_sizes a =
        heads_of(t, t->heads, t->kv_heads, t->head_dim, fr_attention_value_dim(t), false);
    if (t->other_layers == 0) return a;
    const struct fr_attention_sizes b =
        heads_of(t, t->other_heads, t->other_kv_heads, t->other_head_dim, t->other_value_dim,
                 t->other_keys_only);
    return mean_of(a, &b, (double)t->other_layers / fr_block_counts_of(t).attention);
}

static struct fr_attention_sizes latent(const struct fr_transformer *t) {
    double h = (double)t->hidden, a = (double)t->heads, d = (double)t->head_dim,
           v = (double)fr_attention_value_dim(t), r = (double)t->rope_dim,
           cq = (double)t->q_latent, c = (double)t->kv_latent, from = cq > 0 ? cq : h;
    return (struct fr_attention_sizes){.queries = a * d,
                                       .keys = a * d,
                                       .values = a * v,
                                       .made = a * v,
                                       .q_latent = cq,
                                       .kv_latent = c + r,
                                       .from_q = from,
                                       .from_kv = c,
                                       .to_q = a * d,
                                       .to_kv = a * (d - r + v),
                                       .arrives = from + c + r,
                                       .divided =
                                           from * a * d + c * a * (d - r + v) + a * v * h,
                                       .whole = h * (cq + c + r) + cq + c};
}

struct fr_attention_sizes fr_attention_of(const struct fr_transformer *t) {
    struct fr_attention_sizes a = fr_attention_is_latent(t) ? latent(t) : plain(t);
    if (t->index_heads == 0) return a;
    double h = (double)t->hidden, heads = (double)t->index_heads, e = (double)t->index_dim;
    a.index_q = heads * e;
    a.index_k = e + heads;
    a.whole += a.from_q * a.index_q + h * a.index_k + 2 * e;
    return a;
}

static fr_status without(const struct fr_json *object, struct fr_error *err) {
    static const char *const of_it[] = {"q_latent", "rope_dim", "value_dim"};
    for (int i = 0; i < 3; i++) {
        struct fr_json node = fr_json_member(object, of_it[i]);
        if (fr_json_present(&node))
            return fr_json_fail(&node, err, "has no effect without kv_latent");
    }
    return FR_OK;
}

fr_status fr_attention_read(const struct fr_json *object, struct fr_transformer *t,
                            struct fr_error *err) {
    struct fr_json latent = fr_json_member(object, "kv_latent"),
                   dim = fr_json_member(object, "head_dim");
    if (t->kv_latent == 0) return without(object, err);
    if (!fr_json_present(&dim))
        return fr_json_fail(&latent, err,
                            "latent attention wants head_dim: of queries and keys, rope_dim "
                            "among them");
    if (t->kv_heads != t->heads || t->cross_layers > 0 || t->lora_rank > 0)
        return fr_json_fail(&latent, err, "latent attention is not priced beside %s",
                            t->lora_rank > 0      ? "lora_rank"
                            : t->cross_layers > 0 ? "cross_layers"
                                                  : "kv_heads: every head has keys of its own");
    FR_TRY(fr_json_get_integer(object, "rope_dim", false, 0, t->head_dim, &t->rope_dim, err));
    if (!t->value_dim) t->value_dim = t->head_dim - t->rope_dim;
    if (!t->value_dim) t->value_dim = t->head_dim;
    return FR_OK;
}
