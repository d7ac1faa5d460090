#include "real/apps/learn/observe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

fr_status fr_observed_open(const struct fr_kernels *k, int n_micro, int hidden, int tokens,
                           struct fr_observed *o, struct fr_error *err) {
    int64_t values = (int64_t)hidden * tokens, square = (int64_t)hidden * hidden;
    *o = (struct fr_observed){.n_micro = n_micro, .hidden = hidden, .tokens = tokens};
    const struct fr_real_buffer all[] = {{&o->eps, values},      {&o->before, values},
                                         {&o->room, values},     {&o->exact, square},
                                         {&o->sum_kept, square}, {&o->sum_lazy, square}};
    o->micro = fr_calloc((size_t)n_micro, sizeof *o->micro);
    bool whole = fr_real_alloc_all(k, all, sizeof all / sizeof *all);
    return whole && o->micro ? FR_OK
                             : fr_fail(err, FR_ERR_NOMEM, NULL, "what compression does");
}

void fr_observed_close(struct fr_observed *o) {
    void *const owned[] = {o->micro, o->eps,      o->before,  o->room,
                           o->exact, o->sum_kept, o->sum_lazy};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    *o = (struct fr_observed){0};
}

static double norm(const struct fr_kernels *k, size_t n, const void *x) {
    return sqrt(k->dot(n, x, x));
}

static double over(double a, double b) { return b > 0 ? a / b : 0; }

/* Mean over root mean square. */
static double mean_share(const struct fr_kernels *k, size_t n, const void *x) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += k->get(x, i);
    return over(sum / sqrt((double)n), norm(k, n, x));
}

/* sum += alpha x y^T of h x T matrices. */
static void add_product(const struct fr_kernels *k, const struct fr_observed *o, double alpha,
                        const void *x, const void *y, void *sum) {
    int h = o->hidden, t = o->tokens;
    k->gemm(false, true, h, h, t, alpha, x, t, y, t, 1, sum, h);
}

void fr_observe_begin(const struct fr_kernels *k, struct fr_observed *o) {
    size_t size_B = (size_t)o->hidden * (size_t)o->hidden * k->size_B;
    void *const sums[] = {o->exact, o->sum_kept, o->sum_lazy};
    for (int i = 0; i < 3; i++) memset(sums[i], 0, size_B);
}

/* What the next micro-batch says of the error before it. */
static void look_back(const struct fr_kernels *k, struct fr_observed *o,
                      struct fr_observation *sum, const void *y, const void *y_before) {
    size_t n = (size_t)o->hidden * (size_t)o->tokens;
    k->scale(n, 1, y, o->room);
    k->subtract(n, y_before, o->room); /* y_before - y */
    sum->cosine += over(k->dot(n, o->before, o->room), o->norm_before * norm(k, n, o->room));
    sum->alike += over(k->dot(n, o->before, o->eps), o->norm_before * norm(k, n, o->eps));
    sum->pairs++;
    sum->difference_mean += mean_share(k, n, o->room);
    add_product(k, o, -1, o->before, y, o->sum_lazy);
}

void fr_observe(const struct fr_kernels *k, struct fr_observed *o, int m, const void *encoded,
                const void *decoded, const void *y, const void *y_before) {
    size_t n = (size_t)o->hidden * (size_t)o->tokens;
    k->scale(n, 1, decoded, o->eps);
    k->subtract(n, encoded, o->eps);
    double lost = norm(k, n, o->eps);
    o->micro[m].error += over(lost, norm(k, n, encoded));
    o->micro[m].coded++;
    o->micro[m].error_mean += mean_share(k, n, o->eps);
    add_product(k, o, 1, encoded, y, o->exact);
    add_product(k, o, 1, o->eps, y, o->sum_kept);
    add_product(k, o, 1, o->eps, y, o->sum_lazy);
    if (y_before) look_back(k, o, &o->micro[m - 1], y, y_before);
    void *swapped = o->before;
    o->before = o->eps;
    o->eps = swapped;
    o->norm_before = lost;
}

void fr_observe_end(const struct fr_kernels *k, struct fr_observed *o) {
    size_t square = (size_t)o->hidden * (size_t)o->hidden;
    o->kept += over(norm(k, square, o->sum_kept), norm(k, square, o->exact));
    o->lazy += over(norm(k, square, o->sum_lazy), norm(k, square, o->exact));
    o->passes++;
}
