/* The real thing: an MPI job measures this machine for a few seconds, and what it writes can be
 * fitted and read as a cluster.  Bounds are wide: the machine may be busy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "calibrate/fit/fit.h"
#include "calibrate/measure/calibrate.h"
#include "models/job/cluster.h"
#include "tests/cmocka.h"

static const char *const program = FR_BIN_DIR "/forerun-mpi";

static void read_and_remove(const char *path, struct fr_samples *samples) {
    struct fr_error err = {.status = FR_OK};
    fr_status status = fr_samples_read(path, samples, &err);
    unlink(path);
    if (status != FR_OK) fail_msg("%s: %s", err.where, err.detail);
}

/* The most important points leave samples, and every sampled point says how it ended. */
static void check_rows(const struct fr_samples *s) {
    assert_true(s->n_collective && s->n_gemm && s->n_memory && s->n_kernel);
    assert_true(s->n_power && s->n_point);
    assert_int_equal(s->n_end, 1);
    assert_true(*s->provenance.pinning);
    assert_true(s->provenance.clock_resolution_s > 0 &&
                s->provenance.clock_resolution_s < 1e-4);
    assert_true(*s->provenance.hosts && *s->provenance.host_set);
    for (size_t i = 0; i < s->n_point; i++) assert_true(s->point[i].n_warm >= 2);
}

static void check_cluster(const struct fr_fit_result *fit, int64_t n_ranks) {
    struct fr_text text = {0};
    struct fr_error err = {.status = FR_OK};
    struct fr_json_document *document = NULL;
    struct fr_cluster cluster = {0};
    bool extrapolated = false;
    fr_fit_write_cluster(fit, &text);
    if (fr_json_parse(text.data, text.length, "fit", &document, &err) != FR_OK ||
        fr_cluster_read(document, &cluster, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    struct fr_group group = fr_group_make(&cluster.levels, n_ranks, 1);
    for (int op = 0; op < FR_OP_COUNT; op++) {
        if (n_ranks == 1 || (op == FR_OP_SEND_RECV && n_ranks != 2)) continue;
        double small_s = fr_comm_time_s(&cluster.price[op], &group, 64, &extrapolated);
        double large_s = fr_comm_time_s(&cluster.price[op], &group, 1 << 20, &extrapolated);
        if (!(small_s > 1e-9 && small_s < 0.5 && large_s > 1e-8 && large_s < 5))
            fail_msg("%s over %d ranks: %g s at 64 B, %g s at 1 MiB", fr_op_names[op],
                     (int)n_ranks, small_s, large_s);
    }
    assert_false(extrapolated);
    const struct fr_gemm_shape shape = {.m = 256, .n = 256, .k = 256};
    double rate =
        2.0 * 256 * 256 * 256 / fr_gemm_time_s(&cluster.device, FR_FP32, &shape, &extrapolated);
    if (!(rate > 1e8 && rate < 1e13)) fail_msg("sgemm at %g FLOP/s", rate);
    assert_true(cluster.device.memory_rate_B_per_s > 1e8);
    fr_cluster_free(&cluster);
    fr_json_free(document);
    fr_text_free(&text);
}

static void calibrate(int64_t n_ranks, const char *only) {
    char path[] = "/tmp/forerun-mpi-test-XXXXXX";
    close(mkstemp(path));
    const struct fr_calibrate_options options = {
        .launch = {.n_ranks = n_ranks, .program = program},
        .samples = path,
        .only = only,
        .sizes = fr_sample(1, 0) ? "8,64,512,4KiB,32KiB,256KiB,1MiB" : "8,512,32KiB,1MiB",
        .max_size_B = 1 << 20,
        .quick = true,
        .seed = 5,
        .reps = fr_sample(7, 3),
        .launches = 1,
        .budget_s = fr_sample(40, 20)};
    const struct fr_fit_options defaults = {.busy_W = -1, .idle_W = -1};
    struct fr_error err = {.status = FR_OK};
    struct fr_samples samples = {0};
    struct fr_fit_result fit;
    if (fr_calibrate_run(&options, &err) != FR_OK) {
        unlink(path);
        fail_msg("%s: %s", err.where, err.detail);
    }
    read_and_remove(path, &samples);
    assert_int_equal(samples.provenance.ranks, n_ranks);
    assert_int_equal(samples.provenance.nodes, 1);
    assert_int_equal(samples.provenance.seed, 5);
    assert_int_equal(samples.provenance.oversubscribed, n_ranks > fr_launch_cores());
    assert_int_equal(samples.n_cut, 0);
    if (fr_fit(&samples, &defaults, &fit, &err) != FR_OK) fail_msg("%s", err.detail);
    check_cluster(&fit, n_ranks);
    if (!only) check_rows(&samples);
    fr_fit_free(&fit);
    fr_samples_free(&samples);
}

static void two_ranks(void **state) {
    (void)state;
    calibrate(2, NULL);
}

/* Rows that come last where there is little time, by themselves. */
static void late_rows(void **state) {
    (void)state;
    char path[] = "/tmp/forerun-mpi-test-XXXXXX";
    close(mkstemp(path));
    const struct fr_calibrate_options options = {.launch = {.n_ranks = 2, .program = program},
                                                 .samples = path,
                                                 .only = "gemm_batched,codec,pairs,overlap",
                                                 .max_size_B = 1 << 16,
                                                 .quick = true,
                                                 .force = true,
                                                 .reps = 1,
                                                 .launches = 1,
                                                 .budget_s = 20};
    struct fr_error err = {.status = FR_OK};
    struct fr_samples samples = {0};
    if (fr_calibrate_run(&options, &err) != FR_OK) {
        unlink(path);
        fail_msg("%s: %s", err.where, err.detail);
    }
    read_and_remove(path, &samples);
    assert_true(samples.n_batched && samples.n_codec && samples.n_pairs && samples.n_overlap);
    fr_samples_free(&samples);
}

static void more_ranks_than_cores(void **state) {
    (void)state;
    calibrate(4, fr_sample(1, 0) ? "kernel,memory,gemm,broadcast,reduce,all_reduce,all_gather,"
                                   "reduce_scatter,all_to_all,send_recv,pairs,segmented"
                                 : "kernel,memory,gemm,all_reduce,all_to_all,send_recv");
}

/* One rank has nobody to talk to; what it measures still describes a device. */
static void one_rank(void **state) {
    (void)state;
    calibrate(1, "kernel,memory,gemm");
}

static void bad_command_lines_end_the_job(void **state) {
    (void)state;
    static const char *const cases[][5] = {{"calibrate", NULL},
                                           {"calibrate", "--sample", "x", NULL},
                                           {"calibrate", "--samples", NULL},
                                           {"calibrate", "--samples", "x", "--reps", NULL},
                                           {"frobnicate", NULL}};
    const struct fr_launch_options options = {.n_ranks = 2, .program = program};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fr_error err = {.status = FR_OK};
        fr_status status = fr_launch_mpi(&options, cases[i], &err);
        if (status != FR_ERR_USAGE) fail_msg("case %zu: %d, %s", i, (int)status, err.detail);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_rank),
        cmocka_unit_test(two_ranks),
        cmocka_unit_test(late_rows),
        cmocka_unit_test(more_ranks_than_cores),
        cmocka_unit_test(bad_command_lines_end_the_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
