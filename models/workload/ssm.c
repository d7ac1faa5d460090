#include "models/workload/ssm.h"

#include <inttypes.h>
#include <math.h>

enum { MOST = 1 << 26 };

/* The symbols of ssm.h. */
struct symbols {
    double h, d, heads, p, n, groups, gn, q, k, r;
};

static struct fr_ssm_sizes mamba2(const struct symbols *x) {
    double convolved = x->d + 2 * x->gn, in = 2 * x->d + 2 * x->gn + x->heads;
    return (struct fr_ssm_sizes){
        .inner = x->d,
        .convolved = convolved,
        .in = in,
        .shared = x->gn,
        .states = x->d * x->n / x->q,
        .squares = x->groups * x->q,
        .parameters = x->h * in + convolved * (x->k + 1) + 3 * x->heads + x->d + x->d * x->h,
        .forward = x->gn * x->q + x->d * x->q + 2 * x->d * x->n,
        .backward = 3 * x->gn * x->q + 3 * x->d * x->q + 5 * x->d * x->n};
}

/* Sizes of the scan of delta rules. */
static struct fr_ssm_sizes ruled(const struct symbols *x, double in, double parameters) {
    double again = x->heads * (x->q * (x->n + x->p) + 2 * x->n * x->p),
           forward =
               x->heads * (x->q * (3 * x->n + 2 * x->p) + 3 * x->n * x->p + x->q * x->q / 6);
    return (struct fr_ssm_sizes){.inner = x->d,
                                 .convolved = 2 * x->gn + x->d,
                                 .in = in,
                                 .shared = x->gn,
                                 .states = x->d * x->n / x->q,
                                 .squares = x->heads * x->q,
                                 .parameters = parameters + x->k * (2 * x->gn + x->d) + x->p +
                                               x->d * x->h,
                                 .forward = forward,
                                 .backward = 2 * forward + again};
}

static struct fr_ssm_sizes delta(const struct symbols *x) {
    double in = 2 * x->gn + 2 * x->d + 2 * x->heads;
    return ruled(x, in, x->h * in + 2 * x->heads);
}

static struct fr_ssm_sizes channel_delta(const struct symbols *x) {
    double in = 2 * x->gn + x->d + 2 * x->r + x->heads, narrow = x->r * (x->gn + x->d);
    struct fr_ssm_sizes s = ruled(x, in, x->h * in + narrow + x->gn + x->heads);
    s.narrow = narrow;
    return s;
}

static struct fr_ssm_sizes linear(const struct symbols *x) {
    double forward = x->heads * (x->q * (x->n + x->p) + 2 * x->n * x->p);
    return (struct fr_ssm_sizes){.inner = x->d,
                                 .in = 4 * x->d,
                                 .shared = x->gn,
                                 .states = x->d * x->n / x->q,
                                 .squares = x->heads * x->q,
                                 .parameters = 4 * x->h * x->d + x->d + x->d * x->h,
                                 .forward = forward,
                                 .backward = 2 * forward};
}

static struct fr_ssm_sizes mamba(const struct symbols *x) {
    double d = x->d, narrow = d * (x->r + 2 * x->n) + x->r * d, forward = 4.5 * d * x->n;
    return (struct fr_ssm_sizes){.inner = d,
                                 .convolved = d,
                                 .in = 2 * d,
                                 .narrow = narrow,
                                 .parameters = 2 * x->h * d + d * (x->k + 1) + narrow + d +
                                               d * x->n + d + d * x->h,
                                 .forward = forward,
                                 .backward = 3 * forward};
}

static struct fr_ssm_sizes convolution(const struct symbols *x) {
    double d = x->d;
    return (struct fr_ssm_sizes){.inner = d,
                                 .convolved = d,
                                 .in = 3 * d,
                                 .parameters = 3 * x->h * d + x->k * d + d * x->h,
                                 .forward = x->k * d,
                                 .backward = 2 * x->k * d};
}

static struct fr_ssm_sizes gated(const struct symbols *x) {
    double d = x->d, forward = 2 * d * x->p + 2 * d;
    return (struct fr_ssm_sizes){.inner = d,
                                 .convolved = d,
                                 .in = 2 * d,
                                 .parameters = 2 * x->h * d + 2 * d + d * (x->k + 1) +
                                               2 * (d * x->p + d) + d + d * x->h + x->h,
                                 .forward = forward,
                                 .backward = 2 * forward};
}

static struct fr_ssm_sizes (*const kinds[FR_SSM_KINDS])(const struct symbols *x) = {
    mamba2, delta, channel_delta, linear, mamba, convolution, gated};

struct fr_ssm_sizes fr_ssm_of(const struct fr_transformer *t) {
    if (t->ssm_heads == 0) return (struct fr_ssm_sizes){0};
    const struct symbols x = {.h = (double)t->hidden,
                              .d = (double)(t->ssm_heads * t->ssm_head_dim),
                              .heads = (double)t->ssm_heads,
                              .p = (double)t->ssm_head_dim,
                              .n = (double)t->ssm_state,
                              .groups = (double)t->ssm_groups,
                              .gn = (double)(t->ssm_groups * t->ssm_state),
                              .q = fmin((double)t->ssm_chunk, (double)t->sequence),
                              .k = (double)t->ssm_conv,
                              .r = (double)t->ssm_rank};
    return kinds[t->ssm_kind](&x);
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
