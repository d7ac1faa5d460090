/* Tables of products from samples: every shape in its place, errors of interpolation, grids with holes. */
#include <math.h>
#include <stdlib.h>

#include "calibrate/fit/parts.h"
#include "tests/cmocka.h"

enum { M = 3, N = 4, K = 5, REPEATS = 3 };
static const int64_t m_of[M] = {16, 128, 256}, n_of[N] = {8, 32, 64, 512},
                     k_of[K] = {4, 8, 64, 128, 4096};

/* A power law: linear in logarithms on every axis. */
static double law_s(int i, int j, int k) {
    return 1e-9 * pow((double)m_of[i], 0.9) * pow((double)n_of[j], 0.8) *
           pow((double)k_of[k], 0.7);
}

struct made {
    struct fr_sample_gemm item[M * N * K * REPEATS];
    size_t count;
};

/* Shapes from the last to the first; those that @p hole says are not measured. */
static void make(struct made *made, bool (*hole)(int, int, int)) {
    made->count = 0;
    for (int c = M * N * K; c-- > 0;)
        for (int r = 0; r < REPEATS; r++) {
            int i = c / (N * K), j = c / K % N, k = c % K;
            if (hole && hole(i, j, k)) continue;
            made->item[made->count++] =
                (struct fr_sample_gemm){.dtype = FR_FP16,
                                        .m = m_of[i],
                                        .n = n_of[j],
                                        .k = k_of[k],
                                        .batch = 1,
                                        .rep = r,
                                        .time_s = law_s(i, j, k) * (1 + 0.01 * r)};
        }
}

static struct fr_fit_gemm table_of(struct made *made, fr_dtype dtype) {
    struct fr_samples samples = {.gemm = made->item, .n_gemm = made->count};
    const struct fr_fit_speed speed = {.usual_products = 1, .usual_memory = 1};
    struct fr_fit_gemm gemm = {.n_m = 0};
    assert_int_equal(fr_fit_gemm_table(&samples, &speed, dtype, &gemm), FR_OK);
    return gemm;
}

static void every_shape_is_in_its_place(void **state) {
    static struct made made;
    (void)state;
    make(&made, NULL);
    struct fr_fit_gemm g = table_of(&made, FR_FP16);
    assert_true(g.n_m == M && g.n_n == N && g.n_k == K && g.n_dropped == 0);
    for (int i = 0; i < M; i++) assert_int_equal(g.m[i], m_of[i]);
    for (int j = 0; j < N; j++) assert_int_equal(g.n[j], n_of[j]);
    for (int k = 0; k < K; k++) assert_int_equal(g.k[k], k_of[k]);
    /* Three repeats within a fiftieth: their median. */
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < K; k++)
                FR_NEAR(g.time_s[(i * N + j) * K + k], law_s(i, j, k) * 1.01, 1e-9);
    /* All but the eight corners lie between two on some axis, and a power law is read exactly. */
    assert_int_equal(g.quality.n, M * N * K - 8);
    FR_TRUE(g.quality.p90 < 1e-9 && g.quality.rmse_log2 < 1e-9, "%g", g.quality.p90);
    fr_fit_gemm_free(&g);
    g = table_of(&made, FR_BF16);
    assert_true(g.n_m == 0 && !g.time_s);
}

/* One shape that takes twice as long is predicted at half its time, and its neighbours err by its share in theirs:
 * half of log 2 beside the middle of one axis, over the axes that they have. */
static void a_bump_is_missed(void **state) {
    static struct made made;
    (void)state;
    make(&made, NULL);
    for (size_t s = 0; s < made.count; s++)
        if (made.item[s].m == 128 && made.item[s].n == 32 && made.item[s].k == 64)
            made.item[s].time_s *= 2;
    struct fr_fit_gemm g = table_of(&made, FR_FP16);
    double squares = 1; /* log2 of itself */
    /* Beside it on the axis of n: 64 reads between 32 and 512, a share log(512/64) / log(512/32) of the
     * way from it, in a mean over three axes; 8 is at the rim, and does not look there. */
    double share_n = 1 - log(64 / 32.) / log(512 / 32.),
           share_k = 1 - log(128 / 64.) / log(4096 / 64.), share_8 = log(8 / 4.) / log(64 / 4.);
    squares += pow(share_n / 3, 2) + pow(share_k / 3, 2) + pow(share_8 / 3, 2);
    FR_NEAR(g.quality.rmse_log2, sqrt(squares / g.quality.n), 1e-6);
    fr_fit_gemm_free(&g);
}

static bool last_k_half(int i, int j, int k) { return k == 4 && (i + j) % 2; }
static bool one_m(int i, int j, int k) { return i == 2 && !(j == 0 && k < 2); }
static bool inside(int i, int j, int k) { return i == 1 && j > 0 && k < 4; }
static bool all_but_one(int i, int j, int k) { return i + j + k > 0; }

/* A shape between measured ones follows from them; a plane at the rim with most holes goes, and its measured shapes
 * are counted. */
static void holes_take_planes(void **state) {
    static struct made made;
    (void)state;
    make(&made, last_k_half);
    struct fr_fit_gemm g = table_of(&made, FR_FP16);
    assert_true(g.n_m == M && g.n_n == N && g.n_k == K - 1);
    assert_int_equal(g.n_dropped, M * N / 2);
    for (int i = 0; i < M; i++)
        FR_NEAR(g.time_s[(i * N + 3) * (K - 1) + 2], law_s(i, 3, 2) * 1.01, 1e-9);
    fr_fit_gemm_free(&g);
    make(&made, one_m);
    g = table_of(&made, FR_FP16);
    assert_true(g.n_m == M - 1 && g.n_n == N && g.n_k == K && g.m[1] == 128);
    assert_int_equal(g.n_dropped, 2);
    FR_NEAR(g.time_s[(1 * N + 2) * K + 3], law_s(1, 2, 3) * 1.01, 1e-9);
    fr_fit_gemm_free(&g);
    make(&made, inside);
    g = table_of(&made, FR_FP16);
    assert_true(g.n_m == M && g.n_n == N && g.n_k == K && g.n_dropped == 0);
    for (int j = 0; j < N; j++)
        for (int k = 0; k < K; k++)
            FR_NEAR(g.time_s[(N + j) * K + k], law_s(1, j, k) * 1.01, 1e-9);
    fr_fit_gemm_free(&g);
    make(&made, all_but_one);
    g = table_of(&made, FR_FP16);
    assert_true(g.n_m == 1 && g.n_n == 1 && g.n_k == 1 && g.n_dropped == 0 && g.quality.n == 0);
    fr_fit_gemm_free(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_shape_is_in_its_place),
                                       cmocka_unit_test(a_bump_is_missed),
                                       cmocka_unit_test(holes_take_planes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
