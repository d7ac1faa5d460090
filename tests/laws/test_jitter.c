/* How far steps are apart: by hand, by sampling what the law is made of, and where nothing is known. */
#include "models/device/jitter.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

#include "tests/job.h"

/* 0.2 ms x sqrt(400 x 4 s) = 8 ms; nine in ten within exp(+-1.645 x 8 ms / 4 s). */
static void by_hand(void **state) {
    struct fr_device device = {.jitter_s = 0.2e-3};
    double low_s = 0, high_s = 0;
    (void)state;
    FR_NEAR(fr_jitter_s(&device, 400, 4), 8e-3, 1e-12);
    assert_true(fr_jitter_steps(&device, 400, 4, &low_s, &high_s));
    FR_NEAR(low_s, 4 * exp(-1.645 * 0.002), 1e-12);
    FR_NEAR(high_s, 4 * exp(1.645 * 0.002), 1e-12);
    FR_NEAR(low_s * high_s, 16, 1e-12);
    /* A stated value goes before a found one. */
    device.interruptions = (struct fr_interruptions){.every_s = 0.25, .length_s = 1};
    FR_NEAR(fr_jitter_s(&device, 400, 4), 8e-3, 1e-12);
    device.jitter_s = 0;
    FR_NEAR(fr_jitter_s(&device, 100, 4), 2 * 20, 1e-12);
}

/* The root of the ranks, and of the time; of one step as of its halves, which are independent. */
static void grows_as_the_root(void **state) {
    const struct fr_device device = {.jitter_s = 1e-3};
    (void)state;
    for (double ranks = 1; ranks < 1e5; ranks *= 7)
        for (double time_s = 1e-3; time_s < 1e3; time_s *= 11) {
            double one = fr_jitter_s(&device, ranks, time_s);
            FR_NEAR(fr_jitter_s(&device, 4 * ranks, time_s), 2 * one, 1e-12);
            FR_NEAR(hypot(fr_jitter_s(&device, ranks, time_s / 3),
                          fr_jitter_s(&device, ranks, 2 * time_s / 3)),
                    one, 1e-12);
        }
}

/* Hold-ups drawn one by one: of 64 ranks in steps of 2 s, one in 16 s each, 5 ms long. */
static void as_hold_ups_make_it(void **state) {
    enum { STEPS = 20000, RANKS = 64 };
    const double step_s = 2, every_s = 16, length_s = 5e-3;
    struct fr_device device = {.interruptions = {.every_s = every_s, .length_s = length_s}};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    double sum = 0, squares = 0;
    (void)state;
    for (int i = 0; i < STEPS; i++) {
        double late_s = 0;
        for (int r = 0; r < RANKS; r++)
            late_s += length_s * gsl_ran_poisson(rng, step_s / every_s);
        sum += late_s;
        squares += late_s * late_s;
    }
    double mean_s = sum / STEPS, sd_s = sqrt(squares / STEPS - mean_s * mean_s);
    FR_NEAR(fr_jitter_s(&device, RANKS, step_s), sd_s, 0.02);
    gsl_rng_free(rng);
}

/* Interruptions that all ranks have at once are a share at any scale, and independent of each rank's own. */
static void a_share_is_of_any_scale(void **state) {
    const struct fr_device shared = {.jitter_share = 0.004},
                           both = {.jitter_share = 0.004, .jitter_s = 1e-3};
    (void)state;
    for (double ranks = 1; ranks < 1e5; ranks *= 7)
        for (double time_s = 1e-3; time_s < 1e3; time_s *= 11) {
            FR_NEAR(fr_jitter_s(&shared, ranks, time_s), 0.004 * time_s, 1e-12);
            FR_NEAR(fr_jitter_s(&both, ranks, time_s),
                    hypot(0.004 * time_s, 1e-3 * sqrt(ranks * time_s)), 1e-12);
        }
}

/* Steps of MLPerf Training's logs of GPT-3 and Llama 3.1 405B, rounds v3.0 to v5.0: ranks, time, and (p95 - p05) /
 * 3.29 of it.  The presets' values are within a factor of three of each, and of 1.3 in the mean; steps fifty times
 * shorter on a thousand ranks stay within what any such log shows. */
static void as_logs_have_it(void **state) {
    static const struct {
        const char *cluster;
        double ranks, time_s, share;
    } runs[] = {{"dgx-h100", 512, 12.074, 0.0020},    {"dgx-h100", 768, 12.127, 0.0014},
                {"dgx-h100", 1536, 6.340, 0.0038},    {"dgx-h100", 3584, 2.600, 0.0098},
                {"dgx-h100", 768, 12.305, 0.0041},    {"dgx-h100", 10752, 0.945, 0.0259},
                {"dgx-h100", 4096, 1.608, 0.0100},    {"dgx-h100", 512, 11.054, 0.0011},
                {"dgx-h100", 256, 18.374, 0.0004},    {"dgx-h100", 2048, 14.221, 0.0030},
                {"dgx-b200", 64, 36.234, 0.0002},     {"gb200-nvl72", 512, 19.278, 0.0040},
                {"gb200-nvl72", 256, 19.168, 0.0052}, {"gb200-nvl72", 512, 19.432, 0.0059}};
    enum { RUNS = sizeof runs / sizeof *runs };
    double mean = 0;
    (void)state;
    for (size_t i = 0; i < RUNS; i++) {
        struct fr_job job;
        fr_test_job(runs[i].cluster, NULL, NULL, &job);
        const struct fr_device *device = &job.cluster.device;
        double stated = fr_jitter_s(device, runs[i].ranks, runs[i].time_s) / runs[i].time_s,
               off = log(stated / runs[i].share);
        FR_TRUE(fabs(off) < log(3), "%s, %g ranks, %g s: %g told, %g logged", runs[i].cluster,
                runs[i].ranks, runs[i].time_s, stated, runs[i].share);
        double low_s = 0, high_s = 0;
        assert_true(fr_jitter_steps(device, 1024, 0.05, &low_s, &high_s));
        FR_TRUE(high_s < 0.05 * 1.06, "%s: %g s of 0.05", runs[i].cluster, high_s);
        mean += off / RUNS;
        fr_job_free(&job);
    }
    FR_TRUE(fabs(mean) < log(1.3), "a factor of %g in the mean", exp(mean));
}

static void nothing_known_is_not_told(void **state) {
    struct fr_device device = {.jitter_s = 0};
    double low_s, high_s;
    (void)state;
    assert_true(fr_jitter_s(&device, 8, 1) == 0);
    assert_false(fr_jitter_steps(&device, 8, 1, &low_s, &high_s));
    device.jitter_s = 1e-3;
    assert_false(fr_jitter_steps(&device, 8, 0, &low_s, &high_s));
    assert_false(fr_jitter_steps(&device, 8, NAN, &low_s, &high_s));
    assert_false(fr_jitter_steps(&device, 8, INFINITY, &low_s, &high_s));
    device.jitter_s = 3600;
    assert_false(fr_jitter_steps(&device, 1e18, 1e-9, &low_s, &high_s)); /* past all numbers */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand),
                                       cmocka_unit_test(grows_as_the_root),
                                       cmocka_unit_test(as_hold_ups_make_it),
                                       cmocka_unit_test(a_share_is_of_any_scale),
                                       cmocka_unit_test(as_logs_have_it),
                                       cmocka_unit_test(nothing_known_is_not_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
