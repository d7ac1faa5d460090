#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit/fit.h"
#include "calibrate/fit/parts.h"
#include "models/network/segment_fit.h"
#include "tests/calibrate/near.h"
#include "tests/calibrate/written.h"

static double uniform(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

/* 3 % of normal noise; one in ten is slow by a factor of up to 5. */
static double noisy(double time_s, uint64_t *state) {
    double normal = sqrt(-2 * log(uniform(state))) * cos(6.283185307179586 * uniform(state));
    double slow = uniform(state) < 0.1 ? 1 + 4 * uniform(state) : 1;
    return time_s * (1 + 0.03 * normal) * slow;
}

static double log_time_s(double p, double m) { return 12e-6 * log2(p) + 0.4e-9 * m + 6e-6; }
static double eager_time_s(double p, double m) {
    (void)p;
    return m <= 4096 ? 1e-6 + 0.2e-9 * m : 5e-6 + 0.08e-9 * m;
}

static void add_op(struct fr_samples *s, fr_op op, int64_t max_ranks,
                   double (*time_s)(double p, double m), uint64_t *random) {
    for (int64_t p = 2; p <= max_ranks; p *= 2)
        for (double m = 8; m <= 16 << 20; m *= 2)
            for (int rep = 0; rep < 61; rep++) {
                struct fr_sample_collective c = {
                    .op = op, .n_ranks = p, .n_groups = 1, .size_B = m, .rep = rep};
                c.time_s = noisy(time_s((double)p, m), random);
                assert_int_equal(fr_samples_add_collective(s, &c), FR_OK);
            }
}

static double gemm_time_s(double m, double n, double k) { return 1e-7 + 2 * m * n * k / 1e11; }

static void add_device(struct fr_samples *s, int64_t missing) {
    for (int64_t m = 2; m <= 32; m *= 2)
        for (int64_t n = 2; n <= 32; n *= 2)
            for (int64_t k = 2; k <= 32; k *= 2)
                for (int rep = 0; rep < 3; rep++) {
                    struct fr_sample_gemm g = {
                        .dtype = FR_FP32, .m = m, .n = n, .k = k, .batch = 1, .rep = rep};
                    g.time_s = gemm_time_s((double)m, (double)n, (double)k) * (1 + 0.01 * rep);
                    if (m * n * k != missing) fr_samples_add_gemm(s, &g);
                }
    for (int rep = 0; rep < 5; rep++) {
        fr_samples_add_memory(s, &(struct fr_sample_memory){
                                     .size_B = 1e9, .rep = rep, .time_s = 0.1 + 0.002 * rep});
        fr_samples_add_kernel(
            s, &(struct fr_sample_kernel){.rep = rep, .time_s = 2e-9 + 2e-11 * rep});
    }
}

static struct fr_samples machine(void) {
    return (struct fr_samples){.provenance = {.host = "test",
                                              .memory_B = 64e9,
                                              .cores = 16,
                                              .ranks = 16,
                                              .ranks_per_node = 16,
                                              .nodes = 1}};
}

static const struct fr_fit_options defaults = {.busy_W = -1, .idle_W = -1};

static const struct fr_fit_speed unknown = {.usual_products = 1, .usual_memory = 1};

static void within(const char *what, double got, double wanted, double tolerance) {
    if (!(fabs(got / wanted - 1) <= tolerance))
        fail_msg("%s: got %g, wanted %g within %g", what, got, wanted, tolerance);
}

static void log_coefficients_are_recovered(void **state) {
    (void)state;
    struct fr_samples s = machine();
    struct fr_fit_result r;
    struct fr_error err = {.status = FR_OK};
    uint64_t random = 42;
    add_op(&s, FR_OP_ALL_REDUCE, 16, log_time_s, &random);
    add_device(&s, 0);
    if (fr_fit(&s, &defaults, &r, &err) != FR_OK) fail_msg("%s", err.detail);
    const struct fr_fit_op *op = &r.ops[FR_OP_ALL_REDUCE];
    assert_int_equal(op->n_curves, 4);
    assert_int_equal(op->n_points, 88);
    within("c1", op->candidate[FR_FIT_LOG].price.c1_s, 12e-6, 0.01);
    within("c2", op->candidate[FR_FIT_LOG].price.c2_s_per_B, 0.4e-9, 0.01);
    within("c3", op->candidate[FR_FIT_LOG].price.c3_s, 6e-6, 0.02);
    assert_true(op->candidate[FR_FIT_LOG].quality.median < 0.01);
    assert_int_equal(op->chosen,
                     FR_FIT_LOG); /* the form that is true predicts left-out sizes best */
    for (int i = 0; i < op->n_points; i++) {
        assert_int_equal(op->points[i].n, 61);
        assert_true(op->points[i].n_slow >= 0 && op->points[i].n_slow < 20);
    }
    fr_fit_free(&r);
    fr_samples_free(&s);
}

/* A price holds from the least to the most that was measured of ranks and of bytes, in a node and between nodes,
 * whatever came first. */
static void a_price_holds_where_it_was_measured(void **state) {
    static const struct {
        int level;
        int64_t p, nodes;
        double from_B;
    } rows[][4] = {{{0, 4, 1, 64}, {0, 8, 1, 8}, {1, 2, 2, 32}, {1, 16, 2, 16}},
                   {{0, 2, 1, 8}, {0, 16, 1, 16}, {1, 4, 2, 64}, {1, 8, 4, 32}},
                   {{1, 8, 2, 16}, {1, 4, 2, 8}, {1, 16, 4, 64}, {1, 12, 2, 32}},
                   {{0, 8, 1, 32}, {0, 4, 1, 64}, {0, 16, 1, 16}, {0, 2, 1, 32}}};
    (void)state;
    for (int order = 0; order < 4; order++)
        for (size_t r = 0; r < 4; r++) {
            struct fr_samples s = machine();
            struct fr_fit_result result;
            struct fr_error err = {.status = FR_OK};
            int64_t least = INT64_MAX, most = 0;
            double least_B = HUGE_VAL;
            bool node = false, system = false;
            for (int k = 0; k < 4; k++) {
                int i = order & 1 ? 3 - k : k;
                int64_t p = rows[r][i].p;
                for (int step = 0; step < 12; step++) {
                    int octave = order & 2 ? 11 - step : step;
                    struct fr_sample_collective c = {.op = FR_OP_ALL_REDUCE,
                                                     .level = rows[r][i].level,
                                                     .n_ranks = p,
                                                     .n_nodes = rows[r][i].nodes,
                                                     .n_groups = 1,
                                                     .size_B =
                                                         ldexp(rows[r][i].from_B, octave)};
                    for (c.rep = 0; c.rep < 5; c.rep++) {
                        c.time_s = log_time_s((double)p, c.size_B) * (1 + 1e-3 * (double)c.rep);
                        assert_int_equal(fr_samples_add_collective(&s, &c), FR_OK);
                    }
                }
                least = p < least ? p : least, most = p > most ? p : most;
                least_B = fmin(least_B, rows[r][i].from_B);
                node = node || rows[r][i].level == 0;
                system = system || rows[r][i].level > 0;
            }
            add_device(&s, 0);
            if (fr_fit(&s, &defaults, &result, &err) != FR_OK) fail_msg("%s", err.detail);
            const struct fr_fit_op *op = &result.ops[FR_OP_ALL_REDUCE];
            int fitted = 0;
            for (int form = 1; form < FR_FIT_FORMS; form++) {
                const struct fr_price_domain *d = &op->candidate[form].price.domain;
                if (!op->candidate[form].price.form || !d->stated) continue;
                fitted++;
                assert_int_equal(d->min_ranks, least);
                assert_int_equal(d->max_ranks, most);
                ASSERT_NEAR(d->min_B, least_B, 0);
                ASSERT_NEAR(d->max_B, ldexp(64, 11), 0);
                assert_int_equal(d->one_node, node);
                assert_int_equal(d->several_nodes, system);
            }
            assert_true(fitted > 0);
            fr_fit_free(&result);
            fr_samples_free(&s);
        }
}

static void eager_threshold_is_found(void **state) {
    (void)state;
    struct fr_samples s = machine();
    struct fr_fit_result r;
    struct fr_error err = {.status = FR_OK};
    uint64_t random = 7;
    add_op(&s, FR_OP_SEND_RECV, 2, eager_time_s, &random);
    add_device(&s, 0);
    if (fr_fit(&s, &defaults, &r, &err) != FR_OK) fail_msg("%s", err.detail);
    const struct fr_fit_op *op = &r.ops[FR_OP_SEND_RECV];
    const struct fr_segment_fit *fit = op->candidate[FR_FIT_SEGMENTS].price.fits;
    assert_true(op->chosen != FR_FIT_LOG);
    assert_int_equal(fit->count, 2);
    within("breakpoint", fit->segments[0].up_to_B, 4096, 1);
    assert_true(fit->segments[0].up_to_B >= 2048);
    within("eager latency", fit->segments[0].latency_s, 1e-6, 0.02);
    within("rendezvous latency", fit->segments[1].latency_s, 5e-6, 0.02);
    within("rendezvous per byte", fit->segments[1].s_per_B, 0.08e-9, 0.02);
    ASSERT_NEAR(fit->segments[1].up_to_B, 16 << 20, 0);
    within("level latency", r.levels.level[0].latency_s, 1e-6, 0.05);
    within("level bandwidth", r.levels.level[0].rate_B_per_s, 1 / 0.08e-9, 0.05);
    fr_fit_free(&r);
    fr_samples_free(&s);
}

/* The file that is written is read by the models, and prices what was measured. */
static void written_cluster_prices_like_the_fit(void **state) {
    (void)state;
    struct fr_samples s = machine();
    struct fr_fit_result r;
    struct fr_error err = {.status = FR_OK};
    struct fr_text table = {0};
    uint64_t random = 3;
    bool extrapolated = false;
    add_op(&s, FR_OP_BROADCAST, 4, eager_time_s, &random);
    add_op(&s, FR_OP_ALL_REDUCE, 16, log_time_s, &random);
    add_device(&s, 0);
    if (fr_fit(&s, &defaults, &r, &err) != FR_OK) fail_msg("%s", err.detail);
    fr_fit_print(&r, &table);
    assert_non_null(strstr(fr_text_get(&table), "all_reduce"));
    struct fr_cluster cluster = fr_test_written(&r);
    for (int64_t p = 2; p <= 4; p *= 2)
        for (double m = 8; m <= 16 << 20; m *= 2) {
            struct fr_group group = fr_group_make(&cluster.levels, p, 1);
            double got =
                fr_comm_time_s(&cluster.price[FR_OP_BROADCAST], &group, m, &extrapolated);
            within("broadcast", got, eager_time_s((double)p, m), 0.05);
            got = fr_comm_time_s(&cluster.price[FR_OP_ALL_REDUCE], &group, m, &extrapolated);
            within("all-reduce", got, log_time_s((double)p, m), 0.05);
        }
    assert_false(extrapolated);
    const struct fr_gemm_shape shape = {.m = 8, .n = 16, .k = 32};
    within("product", fr_gemm_time_s(&cluster.device, FR_FP32, &shape, &extrapolated),
           gemm_time_s(8, 16, 32) * 1.01, 1e-3);
    within("memory", cluster.device.memory_B, 4e9, 1e-9);
    within("bandwidth", cluster.device.memory_rate_B_per_s, 1e9 / 0.104, 1e-3);
    within("launch", cluster.device.launch_s, 2.04e-9, 1e-3);
    assert_string_equal(cluster.device.power.quality, "estimated");
    fr_cluster_free(&cluster);
    fr_text_free(&table);
    fr_fit_free(&r);
    fr_samples_free(&s);
}

/* ---- interruptions --------------------------------------------------------------------------- */

/* Own time t with 2 % of scatter, interrupted at @p rate per second on each of two ranks for
 * @p length_s; the slower rank's time counts. */
static double interrupted_s(double t, double rate, double length_s, uint64_t *random) {
    double slowest_s = 0;
    for (int rank = 0; rank < 2; rank++) {
        double s = t * (1 + 0.02 * (uniform(random) - 0.5));
        for (double at = -log(uniform(random)) / rate; at < t;
             at -= log(uniform(random)) / rate)
            s += length_s;
        slowest_s = fmax(slowest_s, s);
    }
    return slowest_s;
}

static struct fr_samples disturbed(double rate, double length_s, int reps, bool shared) {
    struct fr_samples s = machine();
    uint64_t random = 5;
    s.provenance.ranks = s.provenance.ranks_per_node = 2;
    s.provenance.oversubscribed = shared;
    add_op(&s, FR_OP_BROADCAST, 2, eager_time_s, &random);
    for (int64_t m = 64; m <= 16384; m *= m < 1024 ? 2 : 16)
        for (int rep = 0; rep < reps; rep++)
            fr_samples_add_gemm(
                &s, &(struct fr_sample_gemm){
                        .dtype = FR_FP32,
                        .m = m,
                        .n = 8,
                        .k = 8,
                        .batch = 1,
                        .rep = rep,
                        .time_s = interrupted_s(1e-5 * (double)m, rate, length_s, &random)});
    fr_samples_add_memory(&s, &(struct fr_sample_memory){.size_B = 1e9, .time_s = 0.1});
    return s;
}

/* A product's own time, the rate of each rank and the length of what interrupts it come back, on a
 * quiet machine and on one that loses a third of its time. */
static void interruptions_are_told_apart(void **state) {
    static const double rates[] = {2, 20, 80}, lengths_s[] = {1e-3, 4e-3};
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 2; j++) {
            struct fr_samples s = disturbed(rates[i], lengths_s[j], 2000, false);
            struct fr_fit_result r;
            struct fr_error err = {.status = FR_OK};
            if (fr_fit(&s, &defaults, &r, &err) != FR_OK) fail_msg("%s", err.detail);
            within("rate", 1 / r.speed.interruptions.every_s, rates[i], 0.15);
            within("length", r.speed.interruptions.length_s, lengths_s[j], 0.15);
            for (int k = 0; k < r.gemm[FR_FP32].n_m; k++)
                within("own time", r.gemm[FR_FP32].time_s[k],
                       1e-5 * (double)r.gemm[FR_FP32].m[k], 0.02);
            fr_fit_free(&r);
            fr_samples_free(&s);
        }
}

/* A few stalls of a hundred times a product's time, all in one stretch, leave the length of what interrupts
 * all the while as it is. */
static void one_stall_is_no_usual_loss(void **state) {
    (void)state;
    struct fr_samples s = disturbed(20, 1e-3, 2000, false);
    struct fr_fit_result r;
    struct fr_error err = {.status = FR_OK};
    for (size_t i = 2000; i < 2020; i++) s.gemm[i].time_s *= 60;
    if (fr_fit(&s, &defaults, &r, &err) != FR_OK) fail_msg("%s", err.detail);
    within("rate", 1 / r.speed.interruptions.every_s, 20, 0.15);
    within("length", r.speed.interruptions.length_s, 1e-3, 0.15);
    fr_fit_free(&r);
    fr_samples_free(&s);
}

/* Timings that scatter to one side: the own time lies low among them, and what it is lengthened by gives
 * their mean again. */
static void usual_times_are_means(void **state) {
    (void)state;
    struct fr_samples s = machine();
    struct fr_fit_result r;
    struct fr_error err = {.status = FR_OK};
    uint64_t random = 11;
    double sum_s = 0;
    enum { REPS = 4000 };
    s.provenance.ranks = s.provenance.ranks_per_node = 2;
    add_op(&s, FR_OP_BROADCAST, 2, eager_time_s, &random);
    for (int rep = 0; rep < REPS; rep++) {
        double t = 1e-3 * (1 - 0.06 * log(uniform(&random)));
        sum_s += t;
        fr_samples_add_gemm(
            &s,
            &(struct fr_sample_gemm){
                .dtype = FR_FP32, .m = 8, .n = 8, .k = 8, .batch = 1, .rep = rep, .time_s = t});
    }
    fr_samples_add_memory(&s, &(struct fr_sample_memory){.size_B = 1e9, .time_s = 0.1});
    if (fr_fit(&s, &defaults, &r, &err) != FR_OK) fail_msg("%s", err.detail);
    double own_s = r.gemm[FR_FP32].time_s[0];
    double share = fr_interruptions_share(&r.speed.interruptions, 2, own_s);
    within("mean", own_s * r.speed.usual_products * (1 + share), sum_s / REPS, 0.01);
    fr_fit_free(&r);
    fr_samples_free(&s);
}

static void ranks_that_share_cores_interrupt_each_other(void **state) {
    (void)state;
    struct fr_samples s = disturbed(20, 1e-3, 100, true);
    struct fr_fit_result r;
    struct fr_error err = {.status = FR_OK};
    if (fr_fit(&s, &defaults, &r, &err) != FR_OK) fail_msg("%s", err.detail);
    ASSERT_NEAR(r.speed.interruptions.every_s, 0, 0);
    fr_fit_free(&r);
    fr_samples_free(&s);
}

/* However long the machine is away, what is written is read again: short products that take a
 * thousand times as long were worth a noise of 20, which the reader refused. */
static void a_badly_disturbed_calibration_is_written_and_read(void **state) {
    (void)state;
    struct fr_samples s = disturbed(20, 1, 20, false);
    struct fr_fit_result r;
    struct fr_error err = {.status = FR_OK};
    if (fr_fit(&s, &defaults, &r, &err) != FR_OK) fail_msg("%s", err.detail);
    struct fr_cluster cluster = fr_test_written(&r);
    assert_true(cluster.device.noise > 1);
    fr_cluster_free(&cluster);
    fr_fit_free(&r);
    fr_samples_free(&s);
}

/* Products of any one width and a stream of memory make a device; operands in memory are no stream. */
static void a_device_is_products_and_a_stream(void **state) {
    (void)state;
    for (int dtype = 0; dtype < FR_DTYPE_COUNT; dtype++)
        for (int stream = 0; stream < 2; stream++) {
            struct fr_samples s = machine();
            struct fr_fit_result r;
            struct fr_error err = {.status = FR_OK};
            fr_samples_add_gemm(&s, &(struct fr_sample_gemm){.dtype = (fr_dtype)dtype,
                                                             .m = 8,
                                                             .n = 8,
                                                             .k = 8,
                                                             .batch = 1,
                                                             .time_s = 1e-6});
            fr_samples_add_memory(
                &s, &(struct fr_sample_memory){.kernel = stream ? FR_TRAFFIC_STREAM
                                                                : FR_TRAFFIC_OPERANDS,
                                               .size_B = 1e6,
                                               .time_s = 1e-4});
            if (fr_fit(&s, &defaults, &r, &err) != FR_OK) fail_msg("%d: %s", dtype, err.detail);
            FR_TRUE(r.has_device == stream, "%s", fr_dtype_names[dtype]);
            fr_fit_free(&r);
            fr_samples_free(&s);
        }
}

/* A calibration that ended before it had measured everything is fitted all the same, says what it lacks,
 * and what is written is read. */
static void what_was_not_measured_is_named(void **state) {
    (void)state;
    for (int have = 0; have < 8; have++) {
        struct fr_samples s = machine();
        struct fr_fit_result r;
        struct fr_error err = {.status = FR_OK};
        uint64_t random = 1;
        bool messages = have & 1, products = have & 2, memory = have & 4;
        fr_samples_add_kernel(&s, &(struct fr_sample_kernel){.time_s = 1e-9});
        if (messages) add_op(&s, FR_OP_BROADCAST, 16, eager_time_s, &random);
        if (products)
            fr_samples_add_gemm(
                &s, &(struct fr_sample_gemm){
                        .dtype = FR_FP32, .m = 8, .n = 8, .k = 8, .batch = 1, .time_s = 1e-6});
        if (memory)
            fr_samples_add_memory(&s,
                                  &(struct fr_sample_memory){.size_B = 1e6, .time_s = 1e-4});
        if (fr_fit(&s, &defaults, &r, &err) != FR_OK) fail_msg("%d: %s", have, err.detail);
        assert_int_equal(r.n_missing, !messages + !products + !memory);
        assert_int_equal(r.has_device, products && memory);
        struct fr_cluster cluster = fr_test_written(&r);
        fr_cluster_free(&cluster);
        fr_fit_free(&r);
        fr_samples_free(&s);
    }
}

/* Measured products are reported for values of any kind. */
static void products_of_any_values_are_told(void **state) {
    (void)state;
    for (int i = 0; i < FR_DTYPE_COUNT; i++) {
        struct fr_samples s = machine();
        struct fr_fit_result r;
        struct fr_error err = {.status = FR_OK};
        struct fr_text text = {0};
        char wanted[64];
        fr_samples_add_gemm(
            &s,
            &(struct fr_sample_gemm){
                .dtype = (fr_dtype)i, .m = 8, .n = 16, .k = 32, .batch = 1, .time_s = 1e-6});
        if (fr_fit(&s, &defaults, &r, &err) != FR_OK) fail_msg("%s", err.detail);
        fr_fit_print(&r, &text);
        snprintf(wanted, sizeof wanted, "products %s: 1 x 1 x 1 shapes", fr_dtype_names[i]);
        FR_TRUE(strstr(fr_text_get(&text), wanted), "%s", fr_text_get(&text));
        fr_text_free(&text);
        fr_fit_free(&r);
        fr_samples_free(&s);
    }
}

/* Tables of others without one time that an operation is fitted to are refused, one file or several; a
 * calibration of one's own has more to say than operations. */
static void foreign_tables_of_nothing_are_refused(void **state) {
    (void)state;
    for (size_t files = 0; files < 3; files++) {
        struct fr_samples s = machine();
        struct fr_fit_result r;
        struct fr_error err = {.status = FR_OK};
        s.source = calloc(files + 1, sizeof *s.source);
        s.n_source = files;
        assert_non_null(s.source);
        fr_samples_add_gemm(
            &s, &(struct fr_sample_gemm){
                    .dtype = FR_FP32, .m = 8, .n = 8, .k = 8, .batch = 1, .time_s = 1e-6});
        fr_status status = fr_fit(&s, &defaults, &r, &err);
        FR_TRUE(status == (files ? FR_ERR_INPUT : FR_OK), "%zu files: %s", files, err.detail);
        if (files) FR_TRUE(strstr(err.detail, "nothing to fit"), "%s", err.detail);
        fr_fit_free(&r);
        fr_samples_free(&s);
    }
}

/* The machine is 1.3 times slower in the second half: two products of which each was measured in one
 * half alone come out as on the fast machine, and "usual" lies between. */
static void drift_is_taken_out(void **state) {
    (void)state;
    struct fr_samples s = machine();
    struct fr_fit_result r;
    struct fr_error err = {.status = FR_OK};
    uint64_t random = 7;
    add_op(&s, FR_OP_BROADCAST, 4, eager_time_s, &random);
    for (int i = 0; i < 100; i++) {
        double slow = i < 50 ? 1 : 1.3;
        fr_samples_add_probe(&s, &(struct fr_sample_probe){.rep = i,
                                                           .product_s = 1e-4 * slow,
                                                           .stream_s = 2e-4 * slow});
        fr_samples_add_gemm(&s, &(struct fr_sample_gemm){.dtype = FR_FP32,
                                                         .m = i < 50 ? 8 : 16,
                                                         .n = 8,
                                                         .k = 8,
                                                         .batch = 1,
                                                         .rep = i,
                                                         .probe = i + 1,
                                                         .time_s = 1e-3 * slow});
        fr_samples_add_memory(
            &s, &(struct fr_sample_memory){
                    .size_B = 1e9, .rep = i, .probe = i + 1, .time_s = 0.1 * slow});
    }
    if (fr_fit(&s, &defaults, &r, &err) != FR_OK) fail_msg("%s", err.detail);
    for (int k = 0; k < 2; k++) within("product", r.gemm[FR_FP32].time_s[k], 1e-3, 1e-9);
    within("memory", r.memory_rate_B_per_s, 1e10, 1e-9);
    assert_true(r.speed.usual_products >= 1 && r.speed.usual_products <= 1.3);
    assert_true(r.speed.usual_memory >= 1 && r.speed.usual_memory <= 1.3);
    assert_true(r.speed.variation > 0.1);
    fr_fit_free(&r);
    fr_samples_free(&s);
}

static void add_traffic(struct fr_samples *s, fr_traffic kernel, double size_B, double moved_B,
                        int64_t m, double time_s) {
    for (int rep = -2; rep <= 2; rep++)
        fr_samples_add_memory(s,
                              &(struct fr_sample_memory){.kernel = kernel,
                                                         .size_B = size_B,
                                                         .moved_B = moved_B,
                                                         .m = m,
                                                         .n = m,
                                                         .k = m,
                                                         .time_s = time_s * (1 + 0.01 * rep)});
}

/* Planted rates come back: streams, the optimiser's, norms over the smaller sets alone, and what operands add in the
 * median of three shapes; below the smallest set that was rotated through they add nothing.  A stream that was not
 * measured is as slow as the next smaller set. */
static void rates_by_working_set_come_back(void **state) {
    (void)state;
    static const double sizes_B[] = {1 << 20, 4 << 20, 16 << 20, 64 << 20};
    static const double stream[] = {80e9, 30e9, 20e9, 10e9}, update[] = {60e9, 25e9, 18e9, 9e9};
    static const double operands[] = {0, 40e9, 20e9, 8e9};
    struct fr_samples s = machine();
    struct fr_fit_working_sets sets;
    for (int i = 3; i >= 0; i--) { /* in any order */
        add_traffic(&s, FR_TRAFFIC_STREAM, sizes_B[i], sizes_B[i], 0, sizes_B[i] / stream[i]);
        add_traffic(&s, FR_TRAFFIC_UPDATE, sizes_B[i], 1.75 * sizes_B[i], 0,
                    1.75 * sizes_B[i] / update[i]);
        if (i < 2)
            add_traffic(&s, FR_TRAFFIC_NORM, sizes_B[i], sizes_B[i], 0, sizes_B[i] / 15e9);
    }
    assert_int_equal(fr_fit_working_sets(&s, &unknown, &sets), FR_OK);
    assert_false(sets.selects);
    for (int i = 0; i < 3; i++)
        add_traffic(&s, FR_TRAFFIC_SELECT, sizes_B[i], 3 * sizes_B[i], 0,
                    3 * sizes_B[i] / (9e9 - i * 1e9));
    for (int64_t m = 128; m <= 512; m *= 2) {
        double moved_B = 12.0 * (double)(m * m), alone_s = 2e-11 * (double)(m * m * m);
        add_traffic(&s, FR_TRAFFIC_OPERANDS, moved_B, moved_B, m, alone_s);
        for (int i = 1; i < 4; i++)
            add_traffic(&s, FR_TRAFFIC_OPERANDS, sizes_B[i], moved_B, m,
                        alone_s + moved_B / operands[i] * (m == 256 ? 3 : 1));
    }
    assert_int_equal(fr_fit_working_sets(&s, &unknown, &sets), FR_OK);
    assert_int_equal(sets.n, 4);
    for (int i = 0; i < 4; i++) {
        within("set", sets.size_B[i], sizes_B[i], 1e-12);
        within("stream", sets.s_per_B[FR_TRAFFIC_STREAM][i], 1 / stream[i], 1e-9);
        within("update", sets.s_per_B[FR_TRAFFIC_UPDATE][i], 1 / update[i], 1e-9);
        within("norm", sets.s_per_B[FR_TRAFFIC_NORM][i], 1 / (i < 3 ? 15e9 : 10e9), 1e-9);
        within("softmax", sets.s_per_B[FR_TRAFFIC_SOFTMAX][i], 1 / stream[i], 1e-9);
        within("select", sets.s_per_B[FR_TRAFFIC_SELECT][i], 1 / (i < 3 ? 9e9 - i * 1e9 : 7e9),
               1e-9);
        if (i > 0)
            within("operands", sets.s_per_B[FR_TRAFFIC_OPERANDS][i], 1 / operands[i], 1e-9);
    }
    assert_true(sets.s_per_B[FR_TRAFFIC_OPERANDS][0] == 0);
    assert_true(sets.selects);
    fr_samples_free(&s);
}

/* The harness's shapes, reading and writing each at a price of its own: both come back, and no shape's
 * own time decides.  One shape that was disturbed decides nothing either. */
static void what_products_read_and_write_is_told_apart(void **state) {
    (void)state;
    static const int64_t shape[][3] = {
        {256, 32, 256}, {256, 256, 32}, {256, 128, 256}, {512, 32, 512}, {512, 512, 32}};
    struct fr_samples s = machine();
    struct fr_fit_working_sets sets;
    double set_B = 64 << 20;
    add_traffic(&s, FR_TRAFFIC_STREAM, 1 << 20, 1 << 20, 0, 1e-3);
    add_traffic(&s, FR_TRAFFIC_STREAM, set_B, set_B, 0, 1e-2);
    for (int i = 0; i < 5; i++) {
        double m = (double)shape[i][0], n = (double)shape[i][1], k = (double)shape[i][2],
               read_B = 4 * k * (m + n), written_B = 4 * m * n, alone_s = 1e-11 * m * n * k;
        for (int there = 0; there < 2; there++) {
            double beyond_s = 60e-12 * read_B + 15e-12 * written_B;
            struct fr_sample_memory sample = {.kernel = FR_TRAFFIC_OPERANDS,
                                              .size_B = there ? set_B : read_B + written_B,
                                              .moved_B = read_B + written_B,
                                              .m = shape[i][0],
                                              .n = shape[i][1],
                                              .k = shape[i][2],
                                              .time_s = alone_s +
                                                        there * beyond_s * (i == 2 ? 3 : 1)};
            for (int rep = 0; rep < 9; rep++) fr_samples_add_memory(&s, &sample);
        }
    }
    assert_int_equal(fr_fit_working_sets(&s, &unknown, &sets), FR_OK);
    within("read", sets.s_per_B[FR_TRAFFIC_OPERANDS][1], 60e-12, 1e-6);
    within("written", sets.s_per_B[FR_TRAFFIC_RESULTS][1], 15e-12, 1e-6);
    fr_samples_free(&s);
}

/* ---- products whose operands come from memory ----------------------------------------------------- */

/* A machine known by its law: products that compute, and beside it wait for every byte that a cache of 24 MB
 * does not hold, ranks sharing what memory gives. */
static const double CACHE_B = 24e6, READ_S_PER_B = 60e-12, WRITTEN_S_PER_B = 90e-12;

static double law_s(const double s[3], bool from_memory) {
    double m = s[0], n = s[1], k = s[2], written_B = 4 * m * n, read_B = 4 * (m + n) * k;
    bool held = read_B + written_B <= CACHE_B && !from_memory;
    return 2 * m * n * k / 80e9 +
           (held ? 0 : READ_S_PER_B * read_B + WRITTEN_S_PER_B * written_B);
}

static void add_operands(struct fr_samples *s, const double shape[3], double set_B,
                         bool from_memory) {
    double own_B = 4 * (shape[0] * shape[1] + (shape[0] + shape[1]) * shape[2]);
    struct fr_sample_memory sample = {.kernel = FR_TRAFFIC_OPERANDS,
                                      .size_B = set_B > 0 ? set_B : own_B,
                                      .moved_B = own_B,
                                      .m = (int64_t)shape[0],
                                      .n = (int64_t)shape[1],
                                      .k = (int64_t)shape[2],
                                      .time_s = law_s(shape, from_memory)};
    for (int rep = 0; rep < 8; rep++) fr_samples_add_memory(s, &sample);
}

/* As the harness measures it: rows gemm, memory's stream, and operands. */
static struct fr_samples machine_with_caches(bool with_grid) {
    static const double sizes[] = {4, 32, 256, 512, 1024, 2048}, FROM_B = 128 << 20;
    static const double turning[][3] = {{256, 32, 256}, {512, 512, 32}};
    struct fr_samples s = machine();
    for (int i = 0; i < 216; i++) {
        const double shape[3] = {sizes[i / 36], sizes[i / 6 % 6], sizes[i % 6]};
        bool large = shape[0] >= FR_SAMPLE_LARGE && shape[1] >= FR_SAMPLE_LARGE &&
                     shape[2] >= FR_SAMPLE_LARGE;
        struct fr_sample_gemm g = {.dtype = FR_FP32,
                                   .m = (int64_t)shape[0],
                                   .n = (int64_t)shape[1],
                                   .k = (int64_t)shape[2],
                                   .batch = 1,
                                   .time_s = law_s(shape, false)};
        for (int rep = 0; rep < 8; rep++) fr_samples_add_gemm(&s, &g);
        if (with_grid && !large) add_operands(&s, shape, FROM_B, true);
    }
    for (double set_B = 1 << 20; set_B <= FROM_B; set_B *= 2) {
        struct fr_sample_memory stream = {.kernel = FR_TRAFFIC_STREAM,
                                          .size_B = set_B,
                                          .moved_B = set_B,
                                          .time_s = set_B * 40e-12};
        for (int rep = 0; rep < 8; rep++) fr_samples_add_memory(&s, &stream);
        for (int i = 0; i < 2; i++) add_operands(&s, turning[i], set_B, set_B > CACHE_B);
    }
    for (int i = 0; i < 2; i++) add_operands(&s, turning[i], 0, false);
    return s;
}

static double product_s(const struct fr_cluster *c, const double s[3], double set_B,
                        bool *extrapolated) {
    const struct fr_gemm_shape shape = {s[0], s[1], s[2], 1, 0};
    return fr_device_product_s(&c->device, FR_FP32, &shape, set_B, (struct fr_gemm_use){0},
                               extrapolated);
}

/* The law comes back at every measured shape, from caches and from memory, and holds for shapes held out
 * beyond the largest: as often the work of the edge, of which a thin operand, here below 1 %, is no part. */
static void products_from_memory_are_predicted(void **state) {
    static const double inside[][3] = {{2048, 4, 2048},   {2048, 2048, 4}, {4, 1024, 2048},
                                       {1024, 32, 512},   {256, 256, 32},  {512, 512, 512},
                                       {2048, 512, 2048}, {32, 4, 256}};
    static const double beyond[][3] = {
        {4096, 4, 2048}, {4096, 4, 4096}, {2048, 8192, 4}, {4, 4096, 2048}, {8192, 4, 8192}};
    struct fr_samples s = machine_with_caches(true);
    struct fr_fit_result r;
    struct fr_error err = {.status = FR_OK};
    bool outside = false;
    (void)state;
    assert_int_equal(fr_fit(&s, &defaults, &r, &err), FR_OK);
    struct fr_cluster cluster = fr_test_written(&r);
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        const double *at = inside[i];
        bool large = at[0] >= 512 && at[1] >= 512 && at[2] >= 512;
        double own_B = 4 * (at[0] * at[1] + (at[0] + at[1]) * at[2]);
        within("alone", product_s(&cluster, at, 0, &outside), law_s(at, false), 1e-3);
        if (!large)
            within("from memory", product_s(&cluster, at, 1e9, &outside), law_s(at, true),
                   1e-3);
        if (own_B <= 8e6)
            within("from a cache", product_s(&cluster, at, 16 << 20, &outside),
                   law_s(at, false), 1e-3);
    }
    assert_false(outside);
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        within("beyond", product_s(&cluster, beyond[i], 1e9, &outside), law_s(beyond[i], true),
               0.01);
        assert_true(outside);
        outside = false;
    }
    fr_cluster_free(&cluster);
    fr_fit_free(&r);
    fr_samples_free(&s);
}

/* A machine on which thin products with B transposed take twice as long, and those with A half as long again where
 * the rows are long; weight gradients that add from memory cost no more for what they add to. */
static double turned(const double s[3], fr_transposed transposed) {
    bool large = s[0] >= FR_SAMPLE_PLAIN && s[1] >= FR_SAMPLE_PLAIN && s[2] >= FR_SAMPLE_PLAIN;
    if (large || transposed <= FR_TRANSPOSED_NONE) return 1;
    return transposed == FR_TRANSPOSED_B ? 2 : s[0] >= 1024 ? 1.5 : 1;
}

/* No line from size to size. */
static double bump(int64_t n) { return n == 1024 ? 1.3 : 1; }

static double adding_s(const double s[3]) {
    return turned(s, FR_TRANSPOSED_B) * law_s(s, false) + 1e-12 * s[0] * s[1];
}

/* A calibration had no time for these. */
static bool cut(const struct fr_sample_gemm *g) {
    return g->m == 4 && g->n == 1024 && g->k == 32 && g->transposed == FR_TRANSPOSED_B;
}

static void add_ways(struct fr_samples *s) {
    static const int sizes[] = {4, 32, 256, 512, 1024, 2048};
    for (size_t i = 0; i < s->n_gemm; i++)
        if (s->gemm[i].dtype == FR_FP32) {
            s->gemm[i].transposed = FR_TRANSPOSED_NONE;
            s->gemm[i].time_s *= bump(s->gemm[i].n);
        }
    for (int i = 0; i < 216; i++) {
        const double at[3] = {sizes[i / 36], sizes[i / 6 % 6], sizes[i % 6]};
        struct fr_sample_gemm g = {.dtype = FR_FP32,
                                   .m = (int64_t)at[0],
                                   .n = (int64_t)at[1],
                                   .k = (int64_t)at[2],
                                   .batch = 1};
        struct fr_sample_memory adds = {.kernel = FR_TRAFFIC_OPERANDS,
                                        .size_B = 128 << 20,
                                        .moved_B =
                                            4 * (at[0] * at[1] + (at[0] + at[1]) * at[2]),
                                        .m = g.m,
                                        .n = g.n,
                                        .k = g.k,
                                        .adds = true,
                                        .time_s = adding_s(at)};
        bool large = g.m >= FR_SAMPLE_PLAIN && g.n >= FR_SAMPLE_PLAIN && g.k >= FR_SAMPLE_PLAIN;
        for (int t = FR_TRANSPOSED_A; t <= FR_TRANSPOSED_B && !large; t++) {
            g.transposed = t;
            g.time_s = turned(at, (fr_transposed)t) * law_s(at, false) * bump(g.n);
            for (int rep = 0; rep < 8 && !cut(&g); rep++) fr_samples_add_gemm(s, &g);
        }
        for (int rep = 0; rep < 8 && g.m >= 32 && g.n >= 32 && g.k <= 256; rep++)
            fr_samples_add_memory(s, &adds);
    }
}

static double used_s(const struct fr_cluster *c, const double s[3], double set_B,
                     fr_transposed transposed, bool adds) {
    const struct fr_gemm_shape shape = {s[0], s[1], s[2], 1, 0};
    bool outside = false;
    return fr_device_product_s(&c->device, FR_FP32, &shape, set_B,
                               (struct fr_gemm_use){.adds = adds, .transposed = transposed},
                               &outside);
}

/* Planted values come back through the cluster file: the table of none transposed as without the others, each
 * operand's own, both the same where no side is short, where none was measured as much longer as around it; from
 * memory as much more whichever is transposed; and an adding product's own time. */
static void transposed_products_come_back(void **state) {
    static const double at[][3] = {{2048, 4, 2048}, {1024, 32, 512}, {4, 2048, 32},
                                   {256, 256, 32},  {512, 512, 512}, {32, 4, 256},
                                   {2048, 2048, 4}};
    struct fr_samples plain = machine_with_caches(true), s = machine_with_caches(true);
    struct fr_fit_result r, before;
    struct fr_error err = {.status = FR_OK};
    bool outside = false;
    (void)state;
    add_ways(&s);
    assert_int_equal(fr_fit(&plain, &defaults, &before, &err), FR_OK);
    assert_int_equal(fr_fit(&s, &defaults, &r, &err), FR_OK);
    assert_int_equal(before.transposed[FR_TRANSPOSED_B].n_m, 0);
    assert_int_equal(before.adds.n_m, 0);
    struct fr_cluster old = fr_test_written(&before), cluster = fr_test_written(&r);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        const double *x = at[i], none_s = law_s(x, false), there_s = law_s(x, true);
        within("none", product_s(&cluster, x, 0, &outside), none_s, 1e-3);
        for (int t = FR_TRANSPOSED_NONE; t <= FR_TRANSPOSED_B; t++) {
            double want_s = turned(x, (fr_transposed)t) * none_s;
            within("transposed", used_s(&cluster, x, 0, (fr_transposed)t, false), want_s, 2e-3);
            if (x[0] * x[1] * x[2] < 512. * 512 * 512)
                within("from memory", used_s(&cluster, x, 1e9, (fr_transposed)t, false),
                       want_s + there_s - none_s, 4e-3);
            assert_true(used_s(&old, x, 1e9, (fr_transposed)t, false) ==
                        product_s(&old, x, 1e9, &outside));
        }
        if (x[0] < 32 || x[1] < 32 || x[2] > 256) continue;
        within("adds", used_s(&cluster, x, 1e9, FR_TRANSPOSED_B, true), adding_s(x), 4e-3);
        within("adds in cache", used_s(&cluster, x, 0, FR_TRANSPOSED_B, true),
               turned(x, FR_TRANSPOSED_B) * none_s, 4e-3);
    }
    const double hole[] = {4, 1024, 32};
    within("a hole", used_s(&cluster, hole, 0, FR_TRANSPOSED_B, false),
           2 * 1.3 * law_s(hole, false), 2e-3);
    fr_cluster_free(&cluster), fr_cluster_free(&old);
    fr_fit_free(&r), fr_fit_free(&before);
    fr_samples_free(&s), fr_samples_free(&plain);
}

/* A file of before has no such grid: bytes are charged at what they were seen to cost, of a shape beyond the
 * table at what they cost its edge. */
static void without_a_grid_bytes_are_charged(void **state) {
    static const double at[3] = {4096, 4, 1024}, edge[3] = {2048, 4, 1024};
    struct fr_samples s = machine_with_caches(false);
    struct fr_fit_result r;
    struct fr_error err = {.status = FR_OK};
    bool outside = false;
    (void)state;
    assert_int_equal(fr_fit(&s, &defaults, &r, &err), FR_OK);
    assert_int_equal(r.from_memory.n_m, 0);
    struct fr_cluster cluster = fr_test_written(&r);
    assert_false(cluster.device.gemm[FR_FP32].memory.present);
    within("edge", product_s(&cluster, edge, 1e9, &outside), law_s(edge, true), 1e-2);
    within("beyond", product_s(&cluster, at, 1e9, &outside),
           2 * product_s(&cluster, edge, 1e9, &outside), 1e-9);
    fr_cluster_free(&cluster);
    fr_fit_free(&r);
    fr_samples_free(&s);
}

/* Pages that a launch draws at its start, for products: the median launch's, not the fastest's, and what one
 * launch is slower than another is no interruption. */
static void a_launch_keeps_its_products(void **state) {
    static const double slower[] = {1, 1.6, 1.5};
    struct fr_samples s = machine();
    struct fr_fit_result r;
    struct fr_error err = {.status = FR_OK};
    (void)state;
    add_device(&s, 0);
    for (int launch = 0; launch < 3; launch++)
        for (int rep = 0; rep < 8; rep++)
            fr_samples_add_gemm(&s, &(struct fr_sample_gemm){.dtype = FR_FP64,
                                                             .m = 2048,
                                                             .n = 4,
                                                             .k = 2048,
                                                             .batch = 1,
                                                             .launch = launch,
                                                             .rep = rep,
                                                             .time_s = 1e-3 * slower[launch]});
    assert_int_equal(fr_fit(&s, &defaults, &r, &err), FR_OK);
    assert_int_equal(r.gemm[FR_FP64].n_m, 1);
    within("product", r.gemm[FR_FP64].time_s[0], 1.5e-3, 1e-9);
    assert_true(r.speed.lost < 1e-9);
    fr_fit_free(&r);
    fr_samples_free(&s);
}

/* Times that grow by the power 1 + x of a dimension are off by x for each nat that they are told from the size
 * before; and by that spread intervals of what is extrapolated widen, and of nothing else. */
static void what_lies_beyond_widens(void **state) {
    const double POWER = 0.2, NORMAL_MEDIAN = 0.6745;
    struct fr_samples s = machine();
    struct fr_fit_result r;
    struct fr_error err = {.status = FR_OK};
    bool outside = false;
    (void)state;
    add_device(&s, 0);
    for (size_t i = 0; i < s.n_gemm; i++) {
        struct fr_sample_gemm *g = &s.gemm[i];
        g->time_s = 1e-9 * pow((double)(g->m * g->n * g->k), 1 + POWER);
    }
    assert_int_equal(fr_fit(&s, &defaults, &r, &err), FR_OK);
    double octave = POWER * log(2) / NORMAL_MEDIAN;
    within("octave", r.gemm[FR_FP32].beyond_octave, octave, 1e-9);
    struct fr_cluster cluster = fr_test_written(&r);
    struct fr_gemm_model *model = &cluster.device.gemm[FR_FP32];
    const struct fr_gemm_shape inside = {32, 16, 32, 1, 0}, beyond = {128, 32, 64, 1, 0};
    double inside_s = fr_gemm_time_s(&cluster.device, FR_FP32, &inside, &outside),
           beyond_s = fr_gemm_time_s(&cluster.device, FR_FP32, &beyond, &outside);
    model->shift = 1;
    within("inside", fr_gemm_time_s(&cluster.device, FR_FP32, &inside, &outside), inside_s,
           1e-12);
    within("beyond", fr_gemm_time_s(&cluster.device, FR_FP32, &beyond, &outside),
           beyond_s * exp(3 * octave), 1e-3);
    fr_cluster_free(&cluster);
    fr_fit_free(&r);
    fr_samples_free(&s);
}

/* Messages whose time per byte triples beyond 4 MiB, the last two octaves of what was measured: their error widens
 * intervals beyond 16 MiB with every doubling, and nothing below. */
static double tripled_s(double p, double m) {
    (void)p;
    return 1e-6 + 1e-10 * fmin(m, 4 << 20) + 3e-10 * fmax(0, m - (4 << 20));
}

static void larger_messages_are_less_sure(void **state) {
    struct fr_samples s = machine();
    struct fr_fit_result r;
    struct fr_error err = {.status = FR_OK};
    const struct fr_group group = {.n_ranks = 2, .ranks_per_node = 2};
    double low_s, with_s, without_s;
    (void)state;
    add_device(&s, 0);
    for (double m = 8; m <= 16 << 20; m *= 2)
        for (int rep = 0; rep < 9; rep++)
            fr_samples_add_collective(
                &s, &(struct fr_sample_collective){.op = FR_OP_ALL_REDUCE,
                                                   .n_ranks = 2,
                                                   .n_groups = 1,
                                                   .size_B = m,
                                                   .rep = rep,
                                                   .time_s = tripled_s(2, m)});
    assert_int_equal(fr_fit(&s, &defaults, &r, &err), FR_OK);
    struct fr_cluster cluster = fr_test_written(&r);
    const struct fr_price *price = &cluster.price[FR_OP_ALL_REDUCE];
    /* From 4 MiB as it was up to there: 8 MiB take twice as long for it, 16 MiB 10/4. */
    double once = log(tripled_s(2, 8 << 20) / (2 * tripled_s(2, 4 << 20))),
           twice = log(tripled_s(2, 16 << 20) / (4 * tripled_s(2, 4 << 20))) / 2;
    within("octave", price->beyond_octave, (once + twice) / 2 / 0.6745, 0.02);
    struct fr_price sure = *price;
    sure.beyond_octave = 0;
    for (int i = -1; i <= 2; i++) {
        double size_B = (16 << 20) * pow(2, i),
               reach = 1.645 * price->beyond_octave * fmax(0, i);
        fr_price_interval(price, &group, size_B, 1, &low_s, &with_s);
        fr_price_interval(&sure, &group, size_B, 1, &low_s, &without_s);
        within("doublings", log(with_s), hypot(log(without_s), reach), 1e-9);
    }
    fr_cluster_free(&cluster);
    fr_fit_free(&r);
    fr_samples_free(&s);
}

/* Timings of memory are of the machine under typical load.  The table is of the fast machine, since predictions
 * multiply by the usual slowdown. */
static void memory_is_not_slowed_twice(void **state) {
    (void)state;
    struct fr_samples s = machine();
    struct fr_fit_working_sets sets;
    const struct fr_fit_speed slow = {
        .usual_products = 1, .usual_memory = 1.25, .streams = 1.25};
    add_traffic(&s, FR_TRAFFIC_STREAM, 1 << 20, 1 << 20, 0, (1 << 20) / 80e9);
    assert_int_equal(fr_fit_working_sets(&s, &slow, &sets), FR_OK);
    within("slow", slow.usual_memory * sets.s_per_B[FR_TRAFFIC_STREAM][0], 1 / 80e9, 1e-9);
    fr_samples_free(&s);
}

/* Pages that a launch draws at its start make it as fast as it stays: of three launches the middle one is
 * what the next may be, not the fastest; within each the fastest timings are, not those interrupted. */
static void a_launch_keeps_its_memory(void **state) {
    static const double slower[] = {1, 1.6, 2};
    struct fr_samples s = machine();
    struct fr_fit_working_sets sets;
    (void)state;
    for (int launch = 0; launch < 3; launch++)
        for (int rep = 0; rep < 8; rep++)
            fr_samples_add_memory(
                &s, &(struct fr_sample_memory){.size_B = 1e8,
                                               .moved_B = 1e8,
                                               .launch = launch,
                                               .rep = rep,
                                               .time_s = 1e-2 * slower[(launch + 2) % 3] *
                                                         (rep < 5 ? 1 : 1.5)});
    assert_int_equal(fr_fit_working_sets(&s, &unknown, &sets), FR_OK);
    within("stream", sets.s_per_B[FR_TRAFFIC_STREAM][0], 1.6e-10, 1e-9);
    fr_samples_free(&s);
}

/* Probes: launches that stream at different rates throughout are steady, each as it is; those whose
 * products are faster in one launch are not. */
static void speed_is_told_from_the_draw_of_a_launch(void **state) {
    enum { PROBES = 30 };
    struct fr_samples s = {0};
    struct fr_fit_speed speed;
    (void)state;
    for (int launch = 0; launch < 2; launch++)
        for (int rep = 0; rep < PROBES; rep++)
            fr_samples_add_probe(&s,
                                 &(struct fr_sample_probe){.launch = launch,
                                                           .rep = rep,
                                                           .product_s = 1e-5 * (1 + launch),
                                                           .stream_s = 1e-4 * (1 + launch)});
    assert_int_equal(fr_fit_speed_make(&s, &speed), FR_OK);
    within("stream, first", fr_fit_slowness(&speed, speed.memory, 5), 1, 1e-12);
    within("stream, second", fr_fit_slowness(&speed, speed.memory, PROBES + 5), 1, 1e-12);
    within("product, first", fr_fit_slowness(&speed, speed.products, 5), 1, 1e-12);
    within("product, second", fr_fit_slowness(&speed, speed.products, PROBES + 5), 2, 1e-12);
    within("usual memory", speed.usual_memory, 1, 1e-12);
    fr_fit_speed_free(&speed);
    fr_samples_free(&s);
}

/* Power laws along every axis are what is interpolated exactly: a table with holes inside is filled to
 * the last digit, loses no shape, and is judged by what was measured alone. */
static void holes_are_filled_from_around_them(void **state) {
    struct fr_samples s = machine();
    struct fr_fit_gemm gemm = {0};
    int measured = 0;
    (void)state;
    for (int64_t m = 2; m <= 32; m *= 2)
        for (int64_t n = 2; n <= 32; n *= 2)
            for (int64_t k = 2; k <= 32; k *= 2) {
                bool rim = m == 2 || m == 32, hole = !rim && (n * k) % (m * 2) == 0;
                if (hole) continue;
                measured++;
                fr_samples_add_gemm(
                    &s, &(struct fr_sample_gemm){.dtype = FR_FP32,
                                                 .m = m,
                                                 .n = n,
                                                 .k = k,
                                                 .batch = 1,
                                                 .time_s = 1e-9 * pow((double)m, 0.9) *
                                                           pow((double)n, 1.1) * (double)k});
            }
    assert_int_equal(fr_fit_gemm_table(&s, &unknown, FR_FP32, &gemm), FR_OK);
    assert_int_equal(gemm.n_m * gemm.n_n * gemm.n_k, 125);
    assert_int_equal(gemm.n_dropped, 0);
    assert_int_equal(gemm.n_filled, 125 - measured);
    assert_true(gemm.n_filled > 20 && gemm.quality.n <= measured);
    for (int i = 0; i < 125; i++)
        within("time", gemm.time_s[i],
               1e-9 * pow((double)gemm.m[i / 25], 0.9) * pow((double)gemm.n[i / 5 % 5], 1.1) *
                   (double)gemm.k[i % 5],
               1e-9);
    within("error", 1 + gemm.quality.p90, 1, 1e-9);
    fr_fit_gemm_free(&gemm);
    fr_samples_free(&s);
}

static void an_incomplete_grid_is_cut_to_a_full_one(void **state) {
    (void)state;
    struct fr_samples s = machine();
    struct fr_fit_gemm gemm = {0};
    add_device(&s, 32 * 32 * 32); /* one corner is missing */
    assert_int_equal(fr_fit_gemm_table(&s, &unknown, FR_FP32, &gemm), FR_OK);
    assert_int_equal(gemm.n_m * gemm.n_n * gemm.n_k, 4 * 5 * 5);
    assert_int_equal(gemm.n_dropped, 24);
    for (int i = 0; i < gemm.n_m * gemm.n_n * gemm.n_k; i++) {
        double m = (double)gemm.m[i / 25], n = (double)gemm.n[i / 5 % 5],
               k = (double)gemm.k[i % 5];
        within("time", gemm.time_s[i], gemm_time_s(m, n, k) * 1.01, 1e-9);
    }
    fr_fit_gemm_free(&gemm);
    fr_samples_free(&s);
}

/* Products that differ along one axis alone are a full grid, whichever axis it is. */
static void a_sweep_along_one_axis_is_kept(void **state) {
    (void)state;
    for (int axis = 0; axis < 3; axis++) {
        struct fr_samples s = machine();
        struct fr_fit_gemm gemm = {0};
        for (int64_t size = 4; size <= 64; size *= 2)
            fr_samples_add_gemm(&s, &(struct fr_sample_gemm){.dtype = FR_FP32,
                                                             .m = axis == 0 ? size : 1,
                                                             .n = axis == 1 ? size : 1,
                                                             .k = axis == 2 ? size : 1,
                                                             .batch = 1,
                                                             .time_s = 1e-6 * (double)size});
        assert_int_equal(fr_fit_gemm_table(&s, &unknown, FR_FP32, &gemm), FR_OK);
        assert_int_equal(gemm.n_m * gemm.n_n * gemm.n_k, 5);
        assert_int_equal(gemm.n_dropped, 0);
        for (int i = 0; i < 5; i++) within("time", gemm.time_s[i], 4e-6 * (1 << i), 1e-9);
        fr_fit_gemm_free(&gemm);
        fr_samples_free(&s);
    }
}

static void coefficients_are_never_negative(void **state) {
    (void)state;
    uint64_t random = 11;
    for (int round = 0; round < 200; round++) {
        struct fr_fit_point points[12];
        struct fr_fit_log log;
        struct fr_segment_fit fit;
        for (int i = 0; i < 12; i++)
            points[i] = (struct fr_fit_point){.n_ranks = 2,
                                              .size_B = pow(4, i),
                                              .time_s = 1e-6 * (0.1 + 10 * uniform(&random))};
        assert_int_equal(fr_fit_segments(points, 12, -1, &fit), FR_OK);
        ASSERT_NEAR(fit.segments[fit.count - 1].up_to_B, fit.max_B, 0);
        for (int i = 0; i < fit.count; i++) {
            assert_true(fit.segments[i].latency_s >= 0 && fit.segments[i].s_per_B >= 0);
            assert_true(i == 0 || fit.segments[i].up_to_B > fit.segments[i - 1].up_to_B);
        }
        assert_int_equal(fr_fit_log_form(points, 12, true, -1, &log), FR_OK);
        assert_true(log.present && log.c1_s >= 0 && log.c2_s_per_B >= 0 && log.c3_s == 0);
        free(fit.segments);
    }
}

static void few_points_give_what_they_can(void **state) {
    (void)state;
    const struct fr_fit_point points[] = {{.n_ranks = 2, .size_B = 8, .time_s = 1e-6},
                                          {.n_ranks = 2, .size_B = 16, .time_s = 2e-6}};
    struct fr_fit_log log;
    struct fr_segment_fit fit;
    assert_int_equal(fr_fit_log_form(points, 2, true, -1, &log), FR_OK);
    assert_false(log.present); /* as many coefficients as points: no form is offered */
    assert_int_equal(fr_fit_segments(points, 1, -1, &fit), FR_OK);
    assert_int_equal(fit.count, 1);
    within("one point", fr_segment_fit_s(&fit, 8), 1e-6, 1e-12);
    free(fit.segments);
}

static void device_and_levels_need_their_samples(void **state) {
    (void)state;
    struct fr_samples s = machine();
    struct fr_fit_result r;
    struct fr_error err = {.status = FR_OK};
    uint64_t random = 1;
    add_op(&s, FR_OP_BROADCAST, 2, log_time_s, &random);
    assert_int_equal(fr_fit(&s, &defaults, &r, &err),
                     FR_OK); /* nothing but collectives asked */
    assert_false(r.has_device);
    fr_fit_free(&r);
    fr_samples_add_memory(&s, &(struct fr_sample_memory){.size_B = 1e9, .time_s = 0.1});
    assert_int_equal(fr_fit(&s, &defaults, &r, &err), FR_OK); /* killed before products */
    assert_false(r.has_device);
    assert_non_null(strstr(r.missing[0], "matrix products"));
    fr_fit_free(&r);
    fr_samples_free(&s);

    s = machine(); /* as a run leaves it that was killed before its collectives */
    add_device(&s, 0);
    assert_int_equal(fr_fit(&s, &defaults, &r, &err), FR_OK);
    assert_non_null(strstr(r.missing[0], "messages within level node"));
    fr_fit_free(&r);
    s.provenance.ranks = s.provenance.ranks_per_node = 1;
    assert_int_equal(fr_fit(&s, &defaults, &r, &err), FR_OK);
    assert_int_equal(r.n_missing, 0);
    fr_fit_free(&r);
    fr_samples_free(&s);
}

/* Two ranks a node: half of what the meter saw is a rank's, with the worst of the tags. */
static void metered_power_is_written_with_its_tag(void **state) {
    (void)state;
    static const double watts[FR_POWER_STATES] = {40, 120, 60, 90, 70};
    struct fr_samples samples = {0};
    struct fr_fit_result fit = {.busy_W = 0};
    const struct fr_fit_options unstated = {.busy_W = -1, .idle_W = -1},
                                stated = {.busy_W = 9, .idle_W = 3};
    assert_int_equal(fr_fit_power(&samples, &unstated, &fit), FR_OK);
    assert_int_equal(fit.power_quality, FR_QUALITY_ESTIMATED);
    assert_non_null(strstr(fit.power_source, "assumed"));
    for (int s = 0; s < FR_POWER_STATES; s++)
        for (int rep = 0; rep < 3; rep++) {
            const struct fr_sample_power sample = {.state = s,
                                                   .quality = rep == 1 ? FR_QUALITY_SAMPLED
                                                                       : FR_QUALITY_MEASURED,
                                                   .meter = "nvml",
                                                   .n_ranks = 2,
                                                   .power_W = watts[s] + rep - 1,
                                                   .time_s = 1};
            assert_int_equal(fr_samples_add_power(&samples, &sample), FR_OK);
        }
    assert_int_equal(fr_fit_power(&samples, &unstated, &fit), FR_OK);
    ASSERT_NEAR(fit.idle_W, 20, 1e-12);
    ASSERT_NEAR(fit.busy_W, 60, 1e-12);
    ASSERT_NEAR(fit.communicating_W, 30, 1e-12);
    ASSERT_NEAR(fit.work_W[FR_POWER_MEMORY], 45, 1e-12);
    ASSERT_NEAR(fit.work_W[FR_POWER_AWAITING], 50, 1e-12); /* one of two sleeps, at 20 W */
    assert_int_equal(fit.power_quality, FR_QUALITY_SAMPLED);
    assert_non_null(strstr(fit.power_source, "nvml"));
    const struct fr_fit_options at_rest = {.busy_W = -1,
                                           .idle_W = 3}; /* no reason not to meter */
    assert_int_equal(fr_fit_power(&samples, &at_rest, &fit), FR_OK);
    ASSERT_NEAR(fit.busy_W, 60, 1e-12);
    ASSERT_NEAR(fit.idle_W, 20, 1e-12);
    assert_int_equal(fr_fit_power(&samples, &stated, &fit), FR_OK);
    ASSERT_NEAR(fit.busy_W, 9, 0);
    ASSERT_NEAR(fit.idle_W, 3, 0);
    assert_int_equal(fit.power_quality, FR_QUALITY_ESTIMATED);
    fr_samples_free(&samples);
}

/* Eight ranks a node, pairs of four at once: alone 1 ms; with one, two and four links a node. */
static void links_are_shared_by_as_many_as_pairs_show(void **state) {
    (void)state;
    static const struct {
        double together_s;
        int64_t wanted;
    } cases[] = {{4e-3, 8}, {2.05e-3, 4}, {1.02e-3, 2}, {0.9e-3, 2}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct fr_samples samples = {0};
        int64_t shared_by = 8;
        assert_int_equal(fr_fit_shared_by(&samples, FR_SAMPLE_SYSTEM, 8, &shared_by), FR_OK);
        assert_int_equal(shared_by, 8); /* nothing measured: as it was */
        for (int n = 1; n <= 4; n *= 2)
            for (int large = 0; large < 2; large++) {
                struct fr_sample_pairs s = {.level = FR_SAMPLE_SYSTEM,
                                            .n_pairs = n,
                                            .size_B = large ? 1 << 20 : 8,
                                            .time_s = !large   ? 1e-6
                                                      : n == 4 ? cases[c].together_s
                                                               : 1e-3};
                assert_int_equal(fr_samples_add_pairs(&samples, &s), FR_OK);
            }
        /* Neither pairs of another level nor those of another direction say anything of it. */
        for (int n = 1; n <= 8; n *= 8)
            for (int inside = 0; inside < 2; inside++) {
                struct fr_sample_pairs s = {.level = inside ? FR_SAMPLE_NODE : FR_SAMPLE_SYSTEM,
                                            .direction = !inside,
                                            .n_pairs = n,
                                            .size_B = 1 << 24,
                                            .time_s = n};
                assert_int_equal(fr_samples_add_pairs(&samples, &s), FR_OK);
            }
        assert_int_equal(fr_fit_shared_by(&samples, FR_SAMPLE_SYSTEM, 8, &shared_by), FR_OK);
        assert_int_equal(shared_by, cases[c].wanted);
        fr_samples_free(&samples);
    }
}

/* A run of one node and measurements over three, of more ranks a node than the run had: the levels
 * hold what was measured, in every form, and the cluster file is read back. */
static void levels_hold_what_was_measured(void **state) {
    (void)state;
    for (int form = 0; form < FR_FIT_FORMS; form++) {
        struct fr_fit_options options = defaults;
        struct fr_samples s = machine();
        struct fr_fit_result r;
        struct fr_error err = {.status = FR_OK};
        s.provenance.ranks = s.provenance.ranks_per_node = 2;
        s.provenance.nodes = 1;
        options.form = (fr_fit_form)form;
        for (int64_t nodes = 2; nodes <= 3; nodes++)
            for (double m = 8; m <= 1 << 20; m *= 4) {
                struct fr_sample_collective c = {.op = FR_OP_ALL_REDUCE,
                                                 .n_ranks = 4 * nodes,
                                                 .n_nodes = nodes,
                                                 .level = 1,
                                                 .n_groups = 1,
                                                 .size_B = m};
                c.time_s = log_time_s(4.0 * (double)nodes, m);
                assert_int_equal(fr_samples_add_collective(&s, &c), FR_OK);
            }
        add_device(&s, 0);
        if (fr_fit(&s, &options, &r, &err) != FR_OK) fail_msg("%s", err.detail);
        assert_int_equal(r.levels.count, 2);
        assert_int_equal(r.levels.level[0].ranks, 4);
        assert_int_equal(r.levels.level[1].ranks, 12);
        struct fr_cluster cluster = fr_test_written(&r);
        fr_cluster_free(&cluster);
        fr_fit_free(&r);
        fr_samples_free(&s);
    }
}

/* Meters err: who communicates is written no lower than who waits, as a cluster file must say. */
static void metered_power_is_in_order(void **state) {
    (void)state;
    struct fr_samples s = machine();
    struct fr_fit_result r = {0};
    static const double power_W[] = {
        [FR_POWER_IDLE] = 40, [FR_POWER_BUSY] = 100, [FR_POWER_COMMUNICATING] = 36};
    for (int i = 0; i < 3; i++) {
        struct fr_sample_power p = {.state = i, .n_ranks = 1, .power_W = power_W[i]};
        snprintf(p.meter, sizeof p.meter, "rapl");
        assert_int_equal(fr_samples_add_power(&s, &p), FR_OK);
    }
    assert_int_equal(fr_fit_power(&s, &defaults, &r), FR_OK);
    assert_true(r.idle_W == 40 && r.busy_W == 100 && r.communicating_W == 40);
    fr_samples_free(&s);
}

/* A table that no cluster file may state is not begun: as many sizes as it holds are taken, one more is refused. */
static void more_sizes_than_a_table_holds_are_refused(void **state) {
    (void)state;
    for (int more = 0; more < 2; more++) {
        struct fr_samples samples = machine();
        struct fr_fit_options options = defaults;
        struct fr_fit_result result;
        struct fr_error err = {0};
        options.form = FR_FIT_SIMILARITY;
        for (int i = 1; i <= 4096 + more; i++) {
            struct fr_sample_collective c = {.op = FR_OP_ALL_REDUCE,
                                             .n_ranks = 2,
                                             .n_groups = 1,
                                             .size_B = 8 * i,
                                             .time_s = 1e-6 + 1e-9 * 8 * i};
            assert_int_equal(fr_samples_add_collective(&samples, &c), FR_OK);
        }
        fr_status status = fr_fit(&samples, &options, &result, &err);
        assert_int_equal(status, more ? FR_ERR_INPUT : FR_OK);
        if (more)
            assert_non_null(strstr(err.detail, "all_reduce over 2 ranks was measured at"));
        fr_fit_free(&result);
        options.form = FR_FIT_LOG; /* keeps no table */
        assert_int_equal(fr_fit(&samples, &options, &result, &err), FR_OK);
        fr_fit_free(&result);
        fr_samples_free(&samples);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_sizes_than_a_table_holds_are_refused),
        cmocka_unit_test(links_are_shared_by_as_many_as_pairs_show),
        cmocka_unit_test(metered_power_is_written_with_its_tag),
        cmocka_unit_test(metered_power_is_in_order),
        cmocka_unit_test(levels_hold_what_was_measured),
        cmocka_unit_test(log_coefficients_are_recovered),
        cmocka_unit_test(a_price_holds_where_it_was_measured),
        cmocka_unit_test(eager_threshold_is_found),
        cmocka_unit_test(written_cluster_prices_like_the_fit),
        cmocka_unit_test(interruptions_are_told_apart),
        cmocka_unit_test(one_stall_is_no_usual_loss),
        cmocka_unit_test(a_launch_keeps_its_memory),
        cmocka_unit_test(speed_is_told_from_the_draw_of_a_launch),
        cmocka_unit_test(holes_are_filled_from_around_them),
        cmocka_unit_test(usual_times_are_means),
        cmocka_unit_test(ranks_that_share_cores_interrupt_each_other),
        cmocka_unit_test(a_badly_disturbed_calibration_is_written_and_read),
        cmocka_unit_test(a_device_is_products_and_a_stream),
        cmocka_unit_test(what_was_not_measured_is_named),
        cmocka_unit_test(foreign_tables_of_nothing_are_refused),
        cmocka_unit_test(products_of_any_values_are_told),
        cmocka_unit_test(drift_is_taken_out),
        cmocka_unit_test(rates_by_working_set_come_back),
        cmocka_unit_test(what_products_read_and_write_is_told_apart),
        cmocka_unit_test(products_from_memory_are_predicted),
        cmocka_unit_test(transposed_products_come_back),
        cmocka_unit_test(without_a_grid_bytes_are_charged),
        cmocka_unit_test(a_launch_keeps_its_products),
        cmocka_unit_test(what_lies_beyond_widens),
        cmocka_unit_test(larger_messages_are_less_sure),
        cmocka_unit_test(memory_is_not_slowed_twice),
        cmocka_unit_test(an_incomplete_grid_is_cut_to_a_full_one),
        cmocka_unit_test(a_sweep_along_one_axis_is_kept),
        cmocka_unit_test(coefficients_are_never_negative),
        cmocka_unit_test(few_points_give_what_they_can),
        cmocka_unit_test(device_and_levels_need_their_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
