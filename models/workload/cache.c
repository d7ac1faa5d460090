#include "models/workload/cache.h"

#include <math.h>

#include "models/workload/attention.h"
#include "models/workload/hybrid.h"

enum { MOST = 1 << 26 };

/* Mean over layers of min(@p tokens, window). */
static double in_window(const struct fr_transformer *t, double tokens) {
    double share =
        t->window > 0 ? (double)t->window_layers / fr_block_counts_of(t).attention : 0;
    return (1 - share) * tokens + share * fmin(tokens, (double)t->window);
}

struct fr_cache_sizes fr_cache_of(const struct fr_transformer *t) {
    if (t->cached == 0) return (struct fr_cache_sizes){0};
    const struct fr_attention_sizes a = fr_attention_of(t);
    double cached = (double)t->cached, heads = (double)t->heads;
    struct fr_cache_sizes c = {.kept = in_window(t, cached + (double)t->sequence),
                               .seen = in_window(t, cached)};
    if (fr_attention_is_latent(t)) {
        c.whole = a.kv_latent;
        c.pair = heads * (a.kv_latent + a.from_kv);
    } else {
        c.divided = a.keys + a.values;
        c.pair = a.queries + a.made;
    }
    if (t->index_heads == 0) return c;
    c.index = (double)t->index_dim;
    c.whole += c.index;
    c.scored = a.index_q * cached;
    c.seen = fmin(c.seen, (double)t->index_tokens);
    return c;
}

fr_status fr_cache_read(const struct fr_json *object, struct fr_transformer *t,
                        struct fr_error *err) {
    return fr_json_get_integer(object, "cached", false, 0, MOST, &t->cached, err);
}

const char *fr_cache_refused(const struct fr_transformer *t) {
    if (t->cached == 0) return NULL;
    return t->cross_layers > 0
               ? "an encoder's tokens, of which cross-attention has a cache of its own"
           : t->both_ways        ? "attention in both directions, which generates nothing"
           : t->predicted > 0    ? "predicted_tokens (speculative decoding); 0 is priced"
           : t->document > 0     ? "packed documents"
           : t->other_layers > 0 ? "layers with other heads"
           : fr_block_counts_of(t).ssm > 0
               ? "state-space blocks, whose state is no cache of tokens"
               : NULL;
}
