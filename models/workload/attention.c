#include "models/workload/attention.h"

#include <inttypes.h>

enum { MOST = 1 << 26 };

static struct fr_attention_sizes plain(const struct fr_transformer *t) {
    double h = (double)t->hidden, q = (double)(t->heads * t->head_dim),
           kv = (double)(t->kv_heads * t->head_dim);
    return (struct fr_attention_sizes){.queries = q,
                                       .keys = kv,
                                       .values = kv,
                                       .made = q,
                                       .from_q = h,
                                       .to_q = q + 2 * kv,
                                       .arrives = h,
                                       .divided = h * (q + 2 * kv) + q * h};
}

struct fr_attention_sizes fr_attention_of(const struct fr_transformer *t) {
    if (!fr_attention_is_latent(t)) return plain(t);
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
