/* Images that ranks divide by height.  Halos: against every pair of rows that a window joins, and against convolutions and
 * poolings of real numbers whose ranks see their own rows and halos alone.  Bytes, flop, memory and gradients of random
 * networks: against sums over those pairs, and against one rank that has the whole images. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/outcome/cost.h"
#include "models/price/layers.h"
#include "models/work/domain.h"
#include "models/workload/halo.h"
#include "tests/job.h"
#include "tests/plan_values.h"

enum { HEIGHT_MOST = 40, RANKS_MOST = 8, WIDTH = 5, CHANNELS = 3, FILTERS = 4, FAR = 9 };

static int64_t random_to(uint64_t *dice, int64_t most) {
    return 1 + (int64_t)fr_test_random(dice, (uint64_t)most);
}

/* A kernel that the image holds, with at most as many rows of zeros as leave each window a row of it. */
static struct fr_window random_window(uint64_t *dice) {
    struct fr_window w = {.channels = CHANNELS,
                          .height = random_to(dice, HEIGHT_MOST),
                          .width = WIDTH,
                          .stride = random_to(dice, 3)};
    w.kernel = random_to(dice, w.height < WIDTH ? w.height : WIDTH);
    w.padding = (int64_t)fr_test_random(dice, (uint64_t)w.kernel);
    return w;
}

/* ---- pairs of rows ------------------------------------------------------------------------------- */

static bool joins(const struct fr_window *w, int64_t made, int64_t row) {
    int64_t first = made * w->stride - w->padding;
    return row >= first && row < first + w->kernel;
}

static int owner(int64_t height, int64_t p, int64_t row) {
    for (int r = 0; r < p; r++) {
        const struct fr_rows own = fr_rows_of(height, p, r);
        if (row >= own.from && row < own.to) return r;
    }
    fail_msg("row %d of %d has no owner", (int)row, (int)height);
    return -1;
}

static void widen(int64_t *most, int64_t rows) {
    if (rows > *most) *most = rows;
}

/* Distance of the farthest row that rank @p r needs of those above it ([0]) and below it ([1]). */
static void count_pairs(const struct fr_window *w, int64_t p, int64_t r, int64_t halo[2],
                        bool *near) {
    const int64_t rows = fr_window_rows(w);
    const struct fr_rows image = fr_rows_of(w->height, p, r);
    halo[0] = halo[1] = 0;
    for (int64_t j = 0; j < rows; j++)
        for (int64_t i = 0; i < w->height; i++) {
            int made_by = owner(rows, p, j), had_by = owner(w->height, p, i);
            if (!joins(w, j, i) || made_by != r) continue;
            *near = *near && abs(made_by - had_by) <= 1;
            if (i < image.from) widen(&halo[0], image.from - i);
            if (i >= image.to) widen(&halo[1], i - image.to + 1);
        }
}

static void halos_are_the_rows_that_windows_join(void **state) {
    uint64_t dice = 43;
    int refused = 0, n = fr_sample(4000, 1000);
    (void)state;
    for (int k = 0; k < n; k++) {
        struct fr_window w = random_window(&dice);
        int64_t p = random_to(&dice, RANKS_MOST), want[2];
        bool near = p <= w.height && p <= fr_window_rows(&w);
        for (int64_t r = 0; near && r < p; r++) {
            count_pairs(&w, p, r, want, &near);
            const struct fr_halo halo = fr_halo_of(&w, p, r);
            FR_TRUE(halo.above == want[0] && halo.below == want[1],
                    "%d rows, kernel %d each %d, %d zeros, rank %d of %d: %d %d, not %d %d",
                    (int)w.height, (int)w.kernel, (int)w.stride, (int)w.padding, (int)r, (int)p,
                    (int)halo.above, (int)halo.below, (int)want[0], (int)want[1]);
        }
        FR_TRUE(fr_halo_fits(&w, p) == near, "%d rows, kernel %d each %d, %d zeros, %d ranks",
                (int)w.height, (int)w.kernel, (int)w.stride, (int)w.padding, (int)p);
        refused += !near;
    }
    assert_in_range(refused, n / 20, n / 2);
}

/* floor(k / 2) above and below, where a window moves by one row and zeros keep the height; nothing for 1 x 1. */
static void same_windows_have_half_a_kernel(void **state) {
    (void)state;
    for (int64_t k = 1; k <= 11; k += 2)
        for (int64_t p = 2; p <= 4; p++) {
            const struct fr_window w = {.channels = 1,
                                        .height = 12 * p,
                                        .width = 48,
                                        .kernel = k,
                                        .stride = 1,
                                        .padding = k / 2};
            assert_int_equal(fr_halo_most(&w, p).above, k / 2);
            assert_int_equal(fr_halo_most(&w, p).below, k / 2);
            assert_int_equal(fr_halo_held(&w, p), 12 + (p > 2 ? 2 : 1) * (k / 2));
        }
}

/* ---- real numbers -------------------------------------------------------------------------------- */

/* A convolution or, with @p pools, the largest of each window, and its backward pass. */
struct pass {
    struct fr_window w;
    bool pools;
    double weight[FILTERS][CHANNELS][WIDTH][WIDTH], d_weight[FILTERS][CHANNELS][WIDTH][WIDTH];
    double x[CHANNELS][HEIGHT_MOST][WIDTH], dx[CHANNELS][HEIGHT_MOST][WIDTH];
    double y[FILTERS][2 * HEIGHT_MOST][FAR], dy[FILTERS][2 * HEIGHT_MOST][FAR];
};

static int filters_of(const struct pass *c) { return c->pools ? CHANNELS : FILTERS; }

/* One value of y from the rows of x that it reads. */
static void forward_at(struct pass *c, int f, int j, int v) {
    const struct fr_window *w = &c->w;
    double sum = 0, most = -INFINITY;
    for (int ch = 0; ch < CHANNELS; ch++)
        for (int a = 0; a < w->kernel; a++)
            for (int b = 0; b < w->kernel; b++) {
                int i = j * (int)w->stride - (int)w->padding + a,
                    u = v * (int)w->stride - (int)w->padding + b;
                if (i < 0 || i >= w->height || u < 0 || u >= WIDTH) continue;
                sum += c->weight[f][ch][a][b] * c->x[ch][i][u];
                if (ch == f) most = isnan(c->x[ch][i][u]) ? NAN : fmax(most, c->x[ch][i][u]);
            }
    c->y[f][j][v] = c->pools ? most : sum;
}

/* One value of dy adds this to gradients. */
static void backward_at(struct pass *c, int f, int j, int v) {
    const struct fr_window *w = &c->w;
    for (int ch = 0; ch < CHANNELS; ch++)
        for (int a = 0; a < w->kernel; a++)
            for (int b = 0; b < w->kernel; b++) {
                int i = j * (int)w->stride - (int)w->padding + a,
                    u = v * (int)w->stride - (int)w->padding + b;
                if (i < 0 || i >= w->height || u < 0 || u >= WIDTH) continue;
                double d = c->dy[f][j][v];
                bool taken = ch == f && !(c->x[ch][i][u] < c->y[f][j][v]);
                if (!c->pools) c->d_weight[f][ch][a][b] += d * c->x[ch][i][u];
                c->dx[ch][i][u] += c->pools ? (taken ? d : 0) : d * c->weight[f][ch][a][b];
            }
}

static double number(uint64_t *dice) {
    return (double)fr_test_random(dice, 1 << 20) / (1 << 19) - 1;
}

static void fill(struct pass *c, uint64_t *dice) {
    for (size_t k = 0; k < sizeof c->weight / sizeof(double); k++)
        (&c->weight[0][0][0][0])[k] = number(dice);
    for (size_t k = 0; k < sizeof c->x / sizeof(double); k++)
        (&c->x[0][0][0])[k] = number(dice);
    for (size_t k = 0; k < sizeof c->dy / sizeof(double); k++)
        (&c->dy[0][0][0])[k] = number(dice);
}

static void run_whole(struct pass *c) {
    int rows = (int)fr_window_rows(&c->w), columns = (int)fr_window_columns(&c->w);
    for (int f = 0; f < filters_of(c); f++)
        for (int j = 0; j < rows; j++)
            for (int v = 0; v < columns; v++) {
                forward_at(c, f, j, v);
                backward_at(c, f, j, v);
            }
}

/* Rows of @p x outside from .. to become no numbers. */
static void hide(double *x, int rows, int columns, int channels, int64_t from, int64_t to) {
    for (int ch = 0; ch < channels; ch++)
        for (int i = 0; i < rows; i++)
            for (int u = 0; u < columns && (i < from || i >= to); u++)
                x[(ch * rows + i) * columns + u] = NAN;
}

/* Rank @p r of @p p, which sees its rows with their halo alone.  Gradients of the halo go back: here they are added to
 * their owners' at once. */
static void run_rank(struct pass *c, int64_t p, int64_t r, struct pass *sum) {
    int rows = (int)fr_window_rows(&c->w), columns = (int)fr_window_columns(&c->w);
    const struct fr_rows image = fr_rows_of(c->w.height, p, r), own = fr_rows_of(rows, p, r);
    const struct fr_halo halo = fr_halo_of(&c->w, p, r);
    hide(&c->x[0][0][0], HEIGHT_MOST, WIDTH, CHANNELS, image.from - halo.above,
         image.to + halo.below);
    for (int f = 0; f < filters_of(c); f++)
        for (int64_t j = own.from; j < own.to; j++)
            for (int v = 0; v < columns; v++) {
                forward_at(c, f, (int)j, v);
                backward_at(c, f, (int)j, v);
                sum->y[f][j][v] = c->y[f][j][v];
            }
    for (size_t k = 0; k < sizeof c->dx / sizeof(double); k++)
        (&sum->dx[0][0][0])[k] += (&c->dx[0][0][0])[k];
    for (size_t k = 0; k < sizeof c->d_weight / sizeof(double); k++)
        (&sum->d_weight[0][0][0][0])[k] += (&c->d_weight[0][0][0][0])[k];
}

static void same_numbers(const struct pass *got, const struct pass *want) {
    for (int f = 0; f < filters_of(want); f++)
        for (int j = 0; j < fr_window_rows(&want->w); j++)
            for (int v = 0; v < fr_window_columns(&want->w); v++)
                FR_NEAR(got->y[f][j][v] + 100, want->y[f][j][v] + 100, 1e-14);
    for (size_t k = 0; k < sizeof want->dx / sizeof(double); k++)
        FR_NEAR((&got->dx[0][0][0])[k] + 100, (&want->dx[0][0][0])[k] + 100, 1e-14);
    for (size_t k = 0; k < sizeof want->d_weight / sizeof(double); k++)
        FR_NEAR((&got->d_weight[0][0][0][0])[k] + 1000, (&want->d_weight[0][0][0][0])[k] + 1000,
                1e-14);
}

static void ranks_with_halos_compute_the_whole(void **state) {
    uint64_t dice = 44;
    int tried = 0;
    struct pass *whole = malloc(sizeof *whole), *part = malloc(sizeof *part),
                *sum = malloc(sizeof *sum), *given = malloc(sizeof *given);
    (void)state;
    assert_true(whole && part && sum && given);
    while (tried < 60) {
        memset(given, 0, sizeof *given);
        given->w = random_window(&dice);
        given->pools = tried % 3 == 2;
        int64_t p = 1 + random_to(&dice, RANKS_MOST - 1);
        if (given->pools) given->w.padding = given->w.kernel / 2; /* each window has a value */
        if (!fr_halo_fits(&given->w, p) || fr_window_columns(&given->w) > FAR) continue;
        fill(given, &dice);
        *whole = *given;
        run_whole(whole);
        memset(sum, 0, sizeof *sum);
        for (int64_t r = 0; r < p; r++) {
            *part = *given;
            run_rank(part, p, r, sum);
        }
        same_numbers(sum, whole);
        tried++;
    }
    free(whole);
    free(part);
    free(sum);
    free(given);
}

/* ---- work ---------------------------------------------------------------------------------------- */

static struct fr_rank_work work_of(const struct fr_job *job, int entry) {
    struct fr_layers l = fr_layers_of_stage(job, &job->plan, 0);
    struct fr_rank_work work = {0};
    while (l.entry < entry && fr_layers_next(&l)) continue;
    fr_layers_lower(&l, &work);
    return work;
}

static double sent_B(const struct fr_rank_work *work, fr_op op, fr_axis axis,
                     fr_pass_kind pass) {
    double sum = 0;
    for (int k = 0; k < work->n_ops; k++)
        if (work->op[k].kind == FR_WORK_COLLECTIVE && work->op[k].op == op &&
            work->op[k].axis == axis && work->op[k].pass == pass)
            sum += work->op[k].times * work->op[k].size;
    return sum;
}

static double flop_of(const struct fr_rank_work *work) {
    double sum = 0;
    for (int k = 0; k < work->n_ops; k++) {
        const struct fr_operation *o = &work->op[k];
        if (o->kind == FR_WORK_PRODUCT)
            sum += o->times * 2 * o->shape.m * o->shape.n * o->shape.k;
    }
    return sum;
}

/* Convolutions of random sizes, then one layer for all; @return how many convolutions. */
static int random_network(uint64_t *dice, char *out, size_t capacity) {
    int n = (int)random_to(dice, 4);
    int64_t size = 16 + (int64_t)fr_test_random(dice, 40);
    size_t at =
        (size_t)snprintf(out, capacity,
                         "{\"kind\": \"cnn\", \"dtype\": \"fp32\", \"global_batch\": 24, "
                         "\"input\": [%d, %d, %d], \"layers\": [",
                         (int)random_to(dice, 5), (int)size, (int)size);
    for (int k = 0; k < n; k++) {
        int kernel = (int)random_to(dice, 5), pool = fr_test_random(dice, 3) == 0;
        at += (size_t)snprintf(
            out + at, capacity - at,
            "{\"type\": \"conv\", \"filters\": %d, \"kernel\": %d, \"stride\": %d, "
            "\"padding\": %d, \"norm\": %s%s}, ",
            8 * (int)random_to(dice, 4), kernel, k == 0 ? (int)random_to(dice, 2) : 1,
            kernel / 2, fr_test_random(dice, 2) ? "true" : "false",
            pool && k == 0 ? ", \"pool\": {\"kernel\": 3, \"stride\": 2, \"padding\": 1}" : "");
    }
    snprintf(out + at, capacity - at, "{\"type\": \"full\", \"outputs\": 16}]}");
    return n;
}

/* The most that a rank takes from above and from below, in rows, added up. */
static int64_t most_pairs(const struct fr_window *w, int64_t p) {
    int64_t most[2] = {0, 0}, halo[2];
    bool near = true;
    for (int64_t r = 0; r < p; r++) {
        count_pairs(w, p, r, halo, &near);
        for (int k = 0; k < 2; k++) widen(&most[k], halo[k]);
    }
    return most[0] + most[1];
}

static void check_layer(const struct fr_job *job, const struct fr_job *one, int k, int n) {
    const struct fr_layer *layer = &job->workload.layers[k];
    const struct fr_window *w = &layer->window, *pool = &layer->pool;
    const int64_t p = job->plan.tp;
    const double value_B = 4, b = 24. / (double)job->plan.dp;
    struct fr_rank_work work = work_of(job, k), whole = work_of(one, k);
    double values = (double)(most_pairs(w, p) * w->width * w->channels);
    if (pool->kernel > 0) values += (double)(most_pairs(pool, p) * pool->width) * layer->rows;
    for (int pass = FR_PASS_FORWARD; pass <= FR_PASS_INPUT; pass++)
        FR_NEAR(1 + sent_B(&work, FR_OP_SEND_RECV, FR_AXIS_TP, (fr_pass_kind)pass),
                1 + b * value_B * values, 1e-12);
    FR_NEAR(sent_B(&work, FR_OP_ALL_REDUCE, FR_AXIS_COMMON, FR_PASS_ONCE),
            (layer->weights + layer->biases) * 4, 1e-12);
    double gathered = sent_B(&work, FR_OP_ALL_GATHER, FR_AXIS_TP, FR_PASS_FORWARD);
    FR_NEAR(1 + gathered, 1 + (k == n - 1 ? b * value_B * job->workload.layers[n].inputs : 0),
            1e-12);
    double rows = (double)fr_window_rows(w), share = ceil(rows / (double)p) / rows;
    FR_NEAR(flop_of(&work), flop_of(&whole) * share, 1e-12);
    if (fmod(rows, (double)p) == 0) FR_NEAR((double)p * flop_of(&work), flop_of(&whole), 1e-12);
    assert_true(work.parameters_rank == whole.parameters_rank);
    assert_true(work.activation_B < whole.activation_B);
    assert_true(work.activation_B > whole.activation_B / (double)p * (1 - 1e-12));
}

static void networks_are_counted(void **state) {
    uint64_t dice = 45;
    int checked = 0;
    (void)state;
    for (int round = 0; round < 200; round++) {
        char text[2048], tp[16], dp[16], domain[24], out_of[24];
        int n = random_network(&dice, text, sizeof text);
        static const int all[] = {1, 2, 3, 4, 6, 8};
        snprintf(tp, sizeof tp, "tp=%d", (int)random_to(&dice, RANKS_MOST - 1) + 1);
        snprintf(dp, sizeof dp, "dp=%d", all[fr_test_random(&dice, 6)]);
        snprintf(domain, sizeof domain, "domain=%d", n);
        snprintf(out_of, sizeof out_of, "domain=%d", n + 1);
        struct fr_job job, one, more;
        fr_test_job("frontier", text, (const char *[]){"method=grid", tp, dp, domain, NULL},
                    &job);
        fr_test_job("frontier", text, (const char *[]){"method=grid", dp, NULL}, &one);
        fr_test_job("frontier", text, (const char *[]){"method=grid", tp, dp, out_of, NULL},
                    &more);
        struct fr_outcome out, beyond;
        fr_cost(&job, &job.plan, &out);
        fr_cost(&more, &more.plan, &beyond);
        assert_true(beyond.reasons & FR_BECAUSE(FR_REASON_DOMAIN));
        bool fits = !(out.reasons & FR_BECAUSE(FR_REASON_DOMAIN)),
             wide = out.reasons & FR_BECAUSE(FR_REASON_TOO_WIDE);
        for (int k = 0; fits && k < n; k++) check_layer(&job, &one, k, n);
        checked += fits && !wide;
        fr_job_free(&job);
        fr_job_free(&one);
        fr_job_free(&more);
    }
    assert_in_range(checked, 60, 200);
}

/* On one rank the key has nothing to divide. */
static void one_rank_divides_nothing(void **state) {
    struct fr_job with, without;
    struct fr_outcome a, b;
    (void)state;
    fr_test_job("cori-knl", "resnet-50",
                (const char *[]){"method=grid", "dp=8", "domain=53", NULL}, &with);
    fr_test_job("cori-knl", "resnet-50", (const char *[]){"method=grid", "dp=8", NULL},
                &without);
    fr_cost(&with, &with.plan, &a);
    fr_cost(&without, &without.plan, &b);
    assert_true(a.time_s == b.time_s && a.memory_peak_B == b.memory_peak_B);
    fr_job_free(&with);
    fr_job_free(&without);
}

/* ResNet-50's first two blocks on four ranks, 8 samples each in fp32.  Its first convolution, 7 each 2 with 3 zeros, reads
 * three rows above and two below; the pooling, 3 each 2 with one, one row above.  The block's 3 x 3 reads one of 56 x 64
 * either way, the projection none.  The second stage's 3 x 3 each 2 reads one above. */
static void resnet_50_by_hand(void **state) {
    static const double forward[] = {5 * 224 * 3 + 112 * 64, 0, 2 * 56 * 64, 0, 0};
    struct fr_job job;
    (void)state;
    fr_test_job(
        "cori-knl", "resnet-50",
        (const char *[]){"method=grid", "tp=4", "dp=2", "domain=15", "global_batch=16", NULL},
        &job);
    for (int k = 0; k < 5; k++) {
        struct fr_rank_work work = work_of(&job, k);
        FR_NEAR(1 + sent_B(&work, FR_OP_SEND_RECV, FR_AXIS_TP, FR_PASS_FORWARD),
                1 + forward[k] * 8 * 4, 1e-12);
    }
    struct fr_rank_work strided = work_of(&job, 12);
    assert_int_equal(job.workload.layers[12].window.stride, 2);
    FR_NEAR(sent_B(&strided, FR_OP_SEND_RECV, FR_AXIS_TP, FR_PASS_FORWARD), 56. * 128 * 8 * 4,
            1e-12);
    struct fr_rank_work last = work_of(&job, 14), first = work_of(&job, 0);
    FR_NEAR(sent_B(&last, FR_OP_ALL_GATHER, FR_AXIS_TP, FR_PASS_FORWARD),
            512. * 28 * 28 * 8 * 4, 1e-12);
    /* 56 rows of the image and five of halo; 28 of the output, twice with a norm before the pooling, whose halo is one. */
    FR_NEAR(first.activation_B, 8 * 4 * (61. * 224 * 3 + 2 * (28. * 112 * 64 + 112 * 64)),
            1e-12);
    fr_job_free(&job);
}

/* A mean adds up one value a channel and leaves nothing to gather; statistics are of all ranks where asked. */
static void means_and_statistics(void **state) {
    struct fr_job job;
    struct fr_outcome out;
    (void)state;
    fr_test_job("cori-knl", "resnet-50",
                (const char *[]){"method=grid", "tp=7", "dp=2", "domain=53", "global_batch=16",
                                 "model.sync_norms=true", NULL},
                &job);
    fr_cost(&job, &job.plan, &out);
    assert_true(out.reasons == 0);
    struct fr_rank_work last = work_of(&job, 52);
    FR_NEAR(sent_B(&last, FR_OP_ALL_REDUCE, FR_AXIS_TP, FR_PASS_FORWARD), 2048. * 8 * 4, 1e-12);
    assert_true(sent_B(&last, FR_OP_ALL_GATHER, FR_AXIS_TP, FR_PASS_FORWARD) == 0);
    FR_NEAR(sent_B(&last, FR_OP_ALL_GATHER, FR_AXIS_COMMON, FR_PASS_FORWARD),
            14. * (2 * 2048 + 1) * 4, 1e-12);
    FR_NEAR(sent_B(&last, FR_OP_ALL_REDUCE, FR_AXIS_COMMON, FR_PASS_INPUT), 2. * 2048 * 4,
            1e-12);
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halos_are_the_rows_that_windows_join),
        cmocka_unit_test(same_windows_have_half_a_kernel),
        cmocka_unit_test(ranks_with_halos_compute_the_whole),
        cmocka_unit_test(networks_are_counted),
        cmocka_unit_test(one_rank_divides_nothing),
        cmocka_unit_test(resnet_50_by_hand),
        cmocka_unit_test(means_and_statistics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
