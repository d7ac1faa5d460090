#include "models/workload/ssm.h"

#include <inttypes.h>
#include <math.h>

enum { MOST = 1 << 26 };

struct fr_ssm_sizes fr_ssm_of(const struct fr_transformer *t) {
    if (t->ssm_heads == 0) return (struct fr_ssm_sizes){0};
    double heads = (double)t->ssm_heads, d = heads * (double)t->ssm_head_dim,
           n = (double)t->ssm_state, groups = (double)t->ssm_groups, h = (double)t->hidden,
           q = fmin((double)t->ssm_chunk, (double)t->sequence), shared = groups * n,
           convolved = d + 2 * shared, in = 2 * d + 2 * shared + heads;
    return (struct fr_ssm_sizes){.inner = d,
                                 .convolved = convolved,
                                 .in = in,
                                 .shared = shared,
                                 .states = d * n / q,
                                 .squares = groups * q,
                                 .parameters = h * in + convolved * ((double)t->ssm_conv + 1) +
                                               3 * heads + d + d * h,
                                 .forward = shared * q + d * q + 2 * d * n,
                                 .backward = 3 * shared * q + 3 * d * q + 5 * d * n};
}

static const char *const keys[] = {"ssm_heads",  "ssm_head_dim", "ssm_state",
                                   "ssm_groups", "ssm_chunk",    "ssm_conv"};

fr_status fr_ssm_refuse(const struct fr_json *object, struct fr_error *err) {
    for (int i = 0; i < 6; i++) {
        struct fr_json node = fr_json_member(object, keys[i]);
        if (fr_json_present(&node))
            return fr_json_fail(&node, err, "has no effect without an M in pattern");
    }
    return FR_OK;
}

fr_status fr_ssm_check(const struct fr_json *node, const struct fr_transformer *t,
                       struct fr_error *err) {
    if (t->ssm_heads % t->ssm_groups == 0) return FR_OK;
    return fr_json_fail(node, err, "%" PRId64 " groups do not divide %" PRId64 " heads",
                        t->ssm_groups, t->ssm_heads);
}

/* Group, state, filter and chunk as Dao and Gu's models have them. */
fr_status fr_ssm_read(const struct fr_json *object, struct fr_transformer *t,
                      struct fr_error *err) {
    struct fr_json groups = fr_json_member(object, "ssm_groups");
    t->ssm_head_dim = 64;
    t->ssm_state = 128;
    t->ssm_groups = 1;
    t->ssm_chunk = 256;
    t->ssm_conv = 4;
    int64_t *const values[] = {&t->ssm_heads,  &t->ssm_head_dim, &t->ssm_state,
                               &t->ssm_groups, &t->ssm_chunk,    &t->ssm_conv};
    for (int i = 0; i < 6; i++)
        FR_TRY(fr_json_get_integer(object, keys[i], i == 0, 1, MOST, values[i], err));
    return fr_ssm_check(&groups, t, err);
}
