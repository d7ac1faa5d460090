/* Repeated measurements become points: which may be fitted, and what of their times is, by hand. */
#include <math.h>
#include <stdlib.h>

#include "calibrate/fit/parts.h"
#include "calibrate/samples/series.h"
#include "tests/cmocka.h"

enum { CAPACITY = 64 };

struct made {
    struct fr_sample_collective item[CAPACITY];
    struct fr_samples samples;
};

static struct fr_sample_collective *add(struct made *m, fr_op op, double size_B,
                                        double time_s) {
    struct fr_sample_collective *s = &m->item[m->samples.n_collective++];
    *s = (struct fr_sample_collective){
        .op = op, .n_ranks = 4, .n_nodes = 1, .size_B = size_B, .time_s = time_s};
    m->samples.collective = m->item;
    return s;
}

static int points_of(struct made *m, struct fr_fit_point **points) {
    int n = 0;
    *points = NULL;
    assert_int_equal(fr_fit_medians(&m->samples, NULL, -1, points, &n), FR_OK);
    return n;
}

/* Failed, in place, or of nothing: none.  The operation of a send_recv counts, or the ping-pong where there is none;
 * other patterns never. */
static void what_may_be_fitted(void **state) {
    struct made m = {.samples.n_collective = 0};
    struct fr_fit_point *points;
    (void)state;
    add(&m, FR_OP_ALL_REDUCE, 8, 1);
    add(&m, FR_OP_ALL_REDUCE, 16, 2)->failed = true;
    add(&m, FR_OP_ALL_REDUCE, 32, 2)->in_place = true;
    add(&m, FR_OP_ALL_REDUCE, 0, 2);
    add(&m, FR_OP_SEND_RECV, 8, 5)->pattern = FR_PATTERN_PING_PONG;
    add(&m, FR_OP_SEND_RECV, 16, 6)->pattern = FR_PATTERN_STREAM;
    int n = points_of(&m, &points);
    assert_int_equal(n, 2);
    assert_true(points[0].op != points[1].op);
    for (int i = 0; i < n; i++) {
        FR_NEAR(points[i].size_B, 8, 0);
        FR_NEAR(points[i].time_s, points[i].op == FR_OP_SEND_RECV ? 5 : 1, 0);
    }
    free(points);
    add(&m, FR_OP_SEND_RECV, 64, 7)->pattern = FR_PATTERN_OP;
    n = points_of(&m, &points);
    assert_int_equal(n, 2);
    for (int i = 0; i < n; i++)
        if (points[i].op == FR_OP_SEND_RECV) FR_NEAR(points[i].size_B, 64, 0);
    free(points);
}

/* By op, level, ranks, nodes and size, each its own point, in that order. */
static void points_are_told_apart_and_in_order(void **state) {
    struct made m = {.samples.n_collective = 0};
    struct fr_fit_point *points;
    (void)state;
    for (int k = 31; k >= 0; k--) {
        struct fr_sample_collective *s =
            add(&m, k & 16 ? FR_OP_ALL_TO_ALL : FR_OP_ALL_REDUCE, k & 1 ? 64 : 8, k + 1);
        s->level = k & 8 ? 1 : 0;
        s->n_ranks = k & 4 ? 8 : 4;
        s->n_nodes = k & 2 ? 2 : 1;
    }
    assert_int_equal(points_of(&m, &points), 32);
    for (int k = 0; k < 32; k++) {
        /* the order of the two operations is that of their numbers */
        int at = FR_OP_ALL_REDUCE < FR_OP_ALL_TO_ALL ? k : k ^ 16;
        FR_NEAR(points[k].time_s, at + 1, 0);
        assert_int_equal(points[k].level, at & 8 ? 1 : 0);
        assert_int_equal(points[k].n_ranks, at & 4 ? 8 : 4);
        assert_int_equal(points[k].n_nodes, at & 2 ? 2 : 1);
        assert_true(points[k].n == 1 && points[k].n_launches == 1);
    }
    free(points);
}

static void of_times(const double *times_s, int n, int launches, struct fr_fit_point *point) {
    struct made m = {.samples.n_collective = 0};
    struct fr_fit_point *points;
    for (int i = 0; i < n; i++) {
        struct fr_sample_collective *s = add(&m, FR_OP_BROADCAST, 8, times_s[i]);
        s->launch = i % launches;
        s->rep = i / launches;
    }
    assert_int_equal(points_of(&m, &points), 1);
    *point = *points;
    free(points);
}

/* Slow ones are counted and left out of what is fitted; where most are, the fast ones are fitted. */
static void disturbed_samples_do_not_count(void **state) {
    static const double few[] = {1.00, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 9, 8, 1.02, 1.03},
                        most[] = {1, 1.1, 1.2, 5, 5, 5, 5, 5, 5, 5},
                        near[] = {1, 1.5, 2, 5, 5, 5, 5, 5}, even[] = {4, 1, 3, 2};
    struct fr_fit_point p;
    (void)state;
    of_times(few, 11, 1,
             &p); /* median 1.03, deviations of 0.02: up to 1.03 + 5 * 1.4826 * 0.02 */
    assert_true(p.n == 11 && p.n_slow == 2 && p.n_launches == 1);
    FR_NEAR(p.median_s, 1.03, 1e-12);
    FR_NEAR(p.time_s, 1.03, 1e-12); /* of the nine others */
    of_times(most, 10, 1, &p);
    FR_NEAR(p.median_s, 5, 1e-12);
    FR_NEAR(p.time_s, 1.1, 1e-12);
    of_times(near, 8, 1, &p); /* up to twice the tenth percentile, 1.35 */
    FR_NEAR(p.time_s, 1.5, 1e-12);
    of_times(even, 4, 1, &p);
    FR_NEAR(p.median_s, 2.5, 1e-12);
    FR_NEAR(p.uncertainty, 1e9, 0); /* four samples bound no median with 95 % */
}

/* Launches that differ say how sure a median is, more than samples that agree within them. */
static void launches_widen_the_interval(void **state) {
    double times_s[40];
    struct fr_fit_point one, four;
    (void)state;
    for (int i = 0; i < 40; i++) times_s[i] = 1 + 0.2 * (i % 4) + 1e-3 * (i / 4);
    of_times(times_s, 40, 1, &one);
    of_times(times_s, 40, 4, &four);
    assert_int_equal(one.n_launches, 1);
    assert_int_equal(four.n_launches, 4);
    FR_NEAR(four.median_s, one.median_s, 0);
    /* A resample's median lies between the slowest launch and the fastest, 0.6 apart. */
    FR_TRUE(four.uncertainty >= one.uncertainty && four.uncertainty > 0.15 &&
                four.uncertainty < 0.6 / 2 / 1.3 + 0.05,
            "%g, of one %g", four.uncertainty, one.uncertainty);
    for (int i = 0; i < 40; i++) times_s[i] = 1 + 1e-3 * (i / 4);
    of_times(times_s, 40, 4, &four);
    FR_TRUE(four.uncertainty < 0.01, "%g", four.uncertainty);
}

static int ascending(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* The 14th and the 27th of forty bound the median: 95 % of all medians lie between (binomial, by table). */
static double order_statistics(const double *times_s, int n) {
    double sorted[CAPACITY];
    memcpy(sorted, times_s, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    double median = (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    return fmax(sorted[26] - median, median - sorted[13]) / median;
}

/* Two hundred times as many launches drawn from those there are, by a congruential generator from a fixed
 * seed: half of what 95 % of their medians span, over the middle one. */
static void launches_are_drawn_with_replacement(void **state) {
    enum { LAUNCHES = 5, ROUNDS = 200 };
    static const double launch_s[LAUNCHES] = {1, 1.3, 1.1, 1.7, 1.2};
    double rounds[ROUNDS];
    uint64_t dice = 20240531;
    struct fr_fit_point p;
    (void)state;
    for (int r = 0; r < ROUNDS; r++) {
        double drawn[LAUNCHES];
        for (int i = 0; i < LAUNCHES; i++) {
            dice = dice * 6364136223846793005u + 1442695040888963407u;
            drawn[i] = launch_s[(dice >> 33) % LAUNCHES];
        }
        qsort(drawn, LAUNCHES, sizeof *drawn, ascending);
        rounds[r] = drawn[LAUNCHES / 2];
    }
    qsort(rounds, ROUNDS, sizeof *rounds, ascending);
    double low = rounds[4] + 0.975 * (rounds[5] - rounds[4]), /* 199 x 0.025 = 4.975 */
        high = rounds[194] + 0.025 * (rounds[195] - rounds[194]);
    double middle = (rounds[99] + rounds[100]) / 2, times_s[20];
    for (int i = 0; i < 20; i++) times_s[i] = launch_s[i % LAUNCHES];
    of_times(times_s, 20, LAUNCHES, &p);
    FR_TRUE(p.uncertainty >= (high - low) / 2 / middle * (1 - 1e-12), "%g, launches %g",
            p.uncertainty, (high - low) / 2 / middle);
    of_times(times_s, 5, LAUNCHES, &p); /* too few samples for order statistics */
    FR_NEAR(p.uncertainty, 1e9, 0);
    /* Fewer than three launches say nothing of themselves. */
    of_times(launch_s, 2, 2, &p);
    FR_NEAR(p.uncertainty, 1e9, 0);
    double even_s[40];
    for (int i = 0; i < 40; i++) even_s[i] = launch_s[i % LAUNCHES];
    of_times(even_s, 40, LAUNCHES, &p);
    FR_NEAR(p.uncertainty, fmax((high - low) / 2 / middle, order_statistics(even_s, 40)),
            1e-12);
}

/* A launch all of whose samples are three times as slow was not disturbed: of three the middle one is what the
 * next may be, whichever is slow; within each what is disturbed does not count. */
static void a_launch_keeps_its_state(void **state) {
    static const double slower[][3] = {{1, 3.1, 3}, {3, 1, 1.1}, {3, 3.2, 1}};
    static const double middle[] = {3, 1.1, 3};
    (void)state;
    for (int round = 0; round < 3; round++) {
        struct made m = {.samples.n_collective = 0};
        struct fr_fit_point *points;
        for (int i = 0; i < 24; i++) {
            double time_s = (i % 8 == 5 ? 40 : 1) * 1e-4 * slower[round][i / 8];
            add(&m, FR_OP_ALL_REDUCE, 4 << 20, time_s)->launch = i / 8;
        }
        assert_int_equal(points_of(&m, &points), 1);
        FR_NEAR(points[0].time_s, 1e-4 * middle[round], 1e-12);
        assert_int_equal(points[0].n_launches, 3);
        free(points);
    }
}

/* |predicted / measured - 1|: median, ninth decile, root mean square of log2. */
static void errors_by_hand(void **state) {
    static const double predicted[] = {1, 4, 3, 0}, measured[] = {1, 2, 4, 1};
    struct fr_fit_quality q;
    (void)state;
    assert_int_equal(fr_fit_measure(predicted, measured, 3, &q), FR_OK);
    assert_int_equal(q.n, 3);
    FR_NEAR(q.median, 0.25, 1e-12);
    FR_NEAR(q.p90, 0.25 + 0.8 * (1 - 0.25), 1e-12);
    FR_NEAR(q.rmse_log2, sqrt((1 + pow(log2(0.75), 2)) / 3), 1e-12);
    assert_int_equal(fr_fit_measure(predicted, measured, 4, &q), FR_OK);
    assert_true(isfinite(q.rmse_log2) && q.rmse_log2 > 10);
    assert_int_equal(fr_fit_measure(predicted, measured, 0, &q), FR_OK);
    assert_true(q.n == 0 && q.median == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_may_be_fitted),
                                       cmocka_unit_test(points_are_told_apart_and_in_order),
                                       cmocka_unit_test(disturbed_samples_do_not_count),
                                       cmocka_unit_test(launches_widen_the_interval),
                                       cmocka_unit_test(launches_are_drawn_with_replacement),
                                       cmocka_unit_test(a_launch_keeps_its_state),
                                       cmocka_unit_test(errors_by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
