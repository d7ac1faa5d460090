/* Sizes of every recurrent block, of random heads, states, groups, filters and chunks, against sums over its matrices and over
 * the products of its scan (models/workload/ssm.h has the papers). */
#include <math.h>

#include "base/random.h"
#include "models/workload/ssm.h"
#include "tests/cmocka.h"

struct block {
    double h, H, P, N, G, Q, K, r;
};

/* Rows times columns of each matrix, up to a 0. */
static double matrices(const double *size) {
    double sum = 0;
    for (; *size > 0; size += 2) sum += size[0] * size[1];
    return sum;
}
#define MATRICES(...) matrices((const double[]){__VA_ARGS__, 0})

static struct fr_ssm_sizes by_hand(int kind, const struct block *b) {
    const double h = b->h, H = b->H, P = b->P, N = b->N, G = b->G, Q = b->Q, K = b->K, r = b->r,
                 d = H * P;
    const double keys = G * N; /* all of a token's */
    struct fr_ssm_sizes s = {.inner = d};
    bool rule = kind == FR_SSM_DELTA || kind == FR_SSM_CHANNEL_DELTA;
    if (rule) { /* a head: K K^T, inverse, W, U; W S, K^T U, Q S; Q K^T, that times U; then W, U and the states again */
        double chunk = MATRICES(Q, N, Q, N, Q, N, Q, P, Q, P) + Q * Q / 6, state = 3 * N * P;
        s.forward = H * (chunk + state);
        s.backward = 2 * s.forward + H * (MATRICES(Q, N, Q, P) + 2 * N * P);
    }
    switch (kind) {
    case FR_SSM_MAMBA2:
        s.convolved = d + keys + keys;
        s.in = d + d + keys + keys + H;
        s.forward = MATRICES(keys, Q, d, Q, d, N, d, N);
        s.backward = 2 * s.forward + MATRICES(keys, Q, d, Q, d, N);
        s.parameters = MATRICES(h, s.in, s.convolved, K, d, h) + s.convolved + 3 * H + d;
        break;
    case FR_SSM_DELTA:
        s.convolved = keys + keys + d;
        s.in = keys + keys + d + d + H + H;
        s.parameters = MATRICES(h, s.in, s.convolved, K, d, h) + 2 * H + P;
        break;
    case FR_SSM_CHANNEL_DELTA:
        s.convolved = keys + keys + d;
        s.in = keys + keys + d + r + r + H;
        s.narrow = MATRICES(r, keys, r, d);
        s.parameters = MATRICES(h, s.in, s.convolved, K, d, h) + s.narrow + keys + H + P;
        break;
    case FR_SSM_LINEAR:
        s.in = 4 * d;
        s.forward = H * MATRICES(Q, N, Q, P, N, P, N, P);
        s.backward = 2 * s.forward;
        s.parameters = MATRICES(h, s.in, d, h) + d;
        break;
    case FR_SSM_MAMBA:
        s.convolved = d;
        s.in = d + d;
        s.narrow = MATRICES(d, r, d, N, d, N, r, d);
        s.forward = 9 * d * N / 2; /* flop are two a multiplication */
        s.backward = 3 * s.forward;
        s.parameters = MATRICES(h, s.in, d, K, d, N, d, h) + s.narrow + d + d + d;
        break;
    case FR_SSM_CONVOLUTION:
        s.convolved = d;
        s.in = d + d + d;
        s.forward = K * d;
        s.backward = s.forward + s.forward;
        s.parameters = MATRICES(h, s.in, d, K, d, h);
        break;
    default: /* gated */
        s.convolved = d;
        s.in = d + d;
        s.forward = MATRICES(d, P, d, P) + d + d;
        s.backward = s.forward + s.forward;
        s.parameters = MATRICES(h, s.in, d, K, d, P, d, P, d, h) + 2 * d + d + 2 * d + d + h;
    }
    bool states = kind < FR_SSM_MAMBA;
    s.shared = states ? keys : 0;
    s.states = states ? d * N / Q : 0;
    s.squares = !states ? 0 : kind == FR_SSM_MAMBA2 ? G * Q : H * Q;
    return s;
}

static double drawn(uint64_t *dice, int n) {
    return 1 + (double)(fr_random_next(dice) % (uint64_t)n);
}

static void sizes_of_every_block(void **state) {
    uint64_t dice = 57;
    (void)state;
    for (int round = 0; round < 70; round++) {
        const int kind = round % FR_SSM_KINDS;
        struct block b = {.h = 8 * drawn(&dice, 500),
                          .G = drawn(&dice, 8),
                          .P = drawn(&dice, 128),
                          .N = drawn(&dice, 256),
                          .Q = 16 * drawn(&dice, 16),
                          .K = drawn(&dice, 7),
                          .r = drawn(&dice, 300)};
        b.H = b.G * drawn(&dice, 8);
        const struct fr_transformer t = {.hidden = (int64_t)b.h,
                                         .sequence = round % 3 ? 4096 : (int64_t)b.Q,
                                         .ssm_kind = kind,
                                         .ssm_heads = (int64_t)b.H,
                                         .ssm_head_dim = (int64_t)b.P,
                                         .ssm_state = (int64_t)b.N,
                                         .ssm_groups = (int64_t)b.G,
                                         .ssm_chunk = (int64_t)b.Q * (round % 3 ? 1 : 4),
                                         .ssm_conv = (int64_t)b.K,
                                         .ssm_rank = (int64_t)b.r};
        const struct fr_ssm_sizes got = fr_ssm_of(&t), want = by_hand(kind, &b);
        print_message("block of kind %d\n", (int)kind);
        FR_NEAR(got.inner, want.inner, 1e-12);
        FR_NEAR(got.convolved, want.convolved, 1e-12);
        FR_NEAR(got.in, want.in, 1e-12);
        FR_NEAR(got.shared, want.shared, 1e-12);
        FR_NEAR(got.states, want.states, 1e-12);
        FR_NEAR(got.squares, want.squares, 1e-12);
        FR_NEAR(got.narrow, want.narrow, 1e-12);
        FR_NEAR(got.parameters, want.parameters, 1e-12);
        FR_NEAR(got.forward, want.forward, 1e-12);
        FR_NEAR(got.backward, want.backward, 1e-12);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_of_every_block)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
