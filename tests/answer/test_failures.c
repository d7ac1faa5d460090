/* Checkpoints and failures: the expectation against trainings that fail by lot, the best interval
 * against all others, and the textbooks' formulas where they hold. */
#include <math.h>
#include <stdint.h>

#include "answer/predict/failures.h"
#include "answer/predict/training.h"
#include "models/outcome/cost.h"
#include "tests/job.h"

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014). */
static double uniform(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return ((double)(z >> 11) + 0.5) * 0x1p-53;
}

/* One interval lived through: work and its checkpoint, begun again after each failure; a failure while
 * starting again begins that again. */
static double lived_s(const struct fr_failures *f, double work_s, uint64_t *state) {
    double passed_s = 0, need_s = work_s + f->checkpoint_s;
    for (bool restarting = false;;) {
        double until_s = -f->mtbf_s * log(uniform(state)),
               want_s = restarting ? f->restart_s : need_s;
        if (until_s >= want_s) {
            passed_s += want_s;
            if (!restarting) return passed_s;
            restarting = false;
        } else {
            passed_s += until_s;
            restarting = true;
        }
    }
}

/* 200,000 intervals: the mean lies within four standard errors. */
static void expectation_by_lot(void **state) {
    static const struct fr_failures cases[] = {
        {10000, 60, 300}, {10000, 0.001, 0}, {500, 100, 400}, {3600, 30, 1800}};
    static const double works_s[] = {1, 300, 2000};
    enum { LIVES = 200000 };
    uint64_t seed = 17;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < sizeof works_s / sizeof *works_s; k++) {
            double sum = 0, squares = 0;
            for (int n = 0; n < LIVES; n++) {
                double s = lived_s(&cases[i], works_s[k], &seed);
                sum += s;
                squares += s * s;
            }
            double mean = sum / LIVES, error = sqrt((squares / LIVES - mean * mean) / LIVES);
            double expected = fr_failures_expected_s(&cases[i], works_s[k]);
            FR_TRUE(fabs(mean - expected) <= 4 * error + 1e-9 * expected,
                    "case %zu, %g s: lived %g +- %g, expected %g", i, works_s[k], mean, error,
                    expected);
        }
}

/* No other interval leaves more; it solves its equation; whole iterations are the best two beside it. */
static void the_best_interval(void **state) {
    static const double deltas_s[] = {0.1, 10, 600, 5000}, means_s[] = {300, 10000, 3e6};
    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 3; k++) {
            const struct fr_failures f = {means_s[k], deltas_s[i], 120};
            double best = fr_failures_best_s(&f), most = fr_failures_goodput(&f, best);
            double x = best / f.mtbf_s;
            FR_TRUE(fabs((1 - x) * exp(x + f.checkpoint_s / f.mtbf_s) - 1) < 1e-6 ||
                        x > 1 - 1e-9,
                    "M %g, delta %g: %g", f.mtbf_s, f.checkpoint_s, best);
            for (double step = -0.9; step < 3; step += 0.05)
                FR_TRUE(fr_failures_goodput(&f, best * (1 + step)) <= most * (1 + 1e-12),
                        "M %g, delta %g: %g is better than %g", f.mtbf_s, f.checkpoint_s,
                        best * (1 + step), best);
            double n = fr_failures_iterations(&f, 7);
            for (double m = fmax(1, n - 3); m <= n + 3; m++)
                FR_TRUE(fr_failures_goodput(&f, 7 * m) <= fr_failures_goodput(&f, 7 * n),
                        "%g iterations, not %g", m, n);
        }
}

/* Where failures are rare, Young and Daly find it: sqrt(2 x 60 x 86400) = 3219.9 s. */
static void textbooks(void **state) {
    const struct fr_failures f = {86400, 60, 0};
    (void)state;
    FR_TRUE(fabs(fr_failures_young_s(&f) - 3219.938) < 1e-3, "%g", fr_failures_young_s(&f));
    FR_TRUE(fabs(fr_failures_daly_s(&f) / fr_failures_best_s(&f) - 1) < 1e-4, "%g, %g",
            fr_failures_daly_s(&f), fr_failures_best_s(&f));
    FR_TRUE(fabs(fr_failures_young_s(&f) / fr_failures_best_s(&f) - 1) < 0.02, "%g, %g",
            fr_failures_young_s(&f), fr_failures_best_s(&f));
    const struct fr_failures hopeless = {10, 100, 0};
    assert_true(fr_failures_daly_s(&hopeless) == 10);
}

/* 64 devices of 64,000 h fail once in 1000 h; 8.03e9 parameters of 2 + 12 B over 10 GB/s take 11.24 s. */
static void of_a_training(void **state) {
    static const char *const sets[] = {"global_batch=512", "dp=64", NULL};
    struct fr_job job;
    struct fr_training t, plain;
    struct fr_error err = {0};
    const struct fr_training_words words = {.tokens = "1T",
                                            .price = "2.5 USD/h",
                                            .pue = "1.5",
                                            .mtbf = "64000 h",
                                            .storage = "10 GB/s",
                                            .restart = "10 min"},
                                   less = {.tokens = "1T", .price = "2.5 USD/h"};
    (void)state;
    fr_test_job("dgx-h100", "llama-3-8b", sets, &job);
    assert_int_equal(fr_training_read(&words, &t, &err), FR_OK);
    assert_int_equal(fr_training_read(&less, &plain, &err), FR_OK);
    const struct fr_outcome out = {.plan = job.plan,
                                   .ranks = 64,
                                   .time_s = 2,
                                   .low_s = 1,
                                   .high_s = 4,
                                   .energy_J = 1e5,
                                   .parameters = 8.03e9};
    struct fr_training_cost with = fr_training_cost_of(&t, &job, &out),
                            without = fr_training_cost_of(&plain, &job, &out);
    double state_B = 2 + job.workload.optimizer_state_B;
    FR_TRUE(with.failures.mtbf_s == 3.6e6 && with.checkpoint_B == 8.03e9 * state_B,
            "%g s, %g B", with.failures.mtbf_s, with.checkpoint_B);
    FR_TRUE(with.goodput > 0.99 && with.goodput < 1, "%g", with.goodput);
    FR_TRUE(fabs(with.time_s * with.goodput / without.time_s - 1) < 1e-12, "%g", with.time_s);
    FR_TRUE(fabs(with.energy_J * with.goodput / without.energy_J - 1) < 1e-12, "%g",
            with.energy_J);
    FR_TRUE(fabs(with.price * with.goodput / without.price - 1) < 1e-12, "%g", with.price);
    FR_TRUE(fabs(with.n_failures - with.time_s / 3.6e6) < 1e-9, "%g", with.n_failures);
    FR_TRUE(with.interval_s == 2 * with.interval_iterations, "%g", with.interval_s);
    fr_job_free(&job);
}

/* A building's own draw belongs to the iteration as to the training, with --tokens or without, in place of the
 * cluster's own: energy of the training is that of its iterations. */
static void a_building_is_of_every_iteration(void **state) {
    static const char *const clusters[] = {"dgx-h100", "gb200-nvl72", "dgx-a100", "mi300x"};
    static const double pues[] = {1, 1.1, 1.3, 2.5};
    (void)state;
    for (size_t k = 0; k < 16; k++) {
        const char *sets[] = {"tp=8", "global_batch=512", "cluster.pue=1.7"};
        struct fr_job_names names = {
            .cluster = clusters[k / 4], .model = "llama-3-8b", .sets = sets, .n_sets = 3};
        struct fr_training_words words = {.tokens = "1T"};
        struct fr_training t;
        struct fr_job job, bare;
        struct fr_outcome out, one;
        struct fr_error err = {0};
        names.pue = pues[k % 4];
        assert_int_equal(fr_job_load(&names, &job, &err), FR_OK);
        names.pue = 1;
        assert_int_equal(fr_job_load(&names, &bare, &err), FR_OK);
        assert_int_equal(fr_training_read(&words, &t, &err), FR_OK);
        fr_cost(&job, &job.plan, &out);
        fr_cost(&bare, &bare.plan, &one);
        struct fr_training_cost c = fr_training_cost_of(&t, &job, &out);
        FR_NEAR(out.energy_J, pues[k % 4] * one.energy_J, 1e-12);
        FR_NEAR(c.energy_J, c.iterations * out.energy_J, 1e-12);
        FR_TRUE(fabs(out.energy_part_J[FR_ENERGY_FACILITY] -
                     (pues[k % 4] - 1) * one.energy_J) <= 1e-12 * out.energy_J,
                "%g J", out.energy_part_J[FR_ENERGY_FACILITY]);
        fr_job_free(&job);
        fr_job_free(&bare);
    }
    const struct fr_training_words alone = {.pue = "1.2"};
    struct fr_training t;
    struct fr_error err = {0};
    assert_int_equal(fr_training_read(&alone, &t, &err), FR_OK);
    assert_true(t.pue == 1.2 && !fr_training_asked(&t));
}

static void words_refused(void **state) {
    static const struct fr_training_words bad[] = {
        {.mtbf = "1000 h"},
        {.tokens = "1T", .pue = "0.9"},
        {.tokens = "1T", .mtbf = "1000 h"},
        {.tokens = "1T", .storage = "1 GB/s"},
        {.tokens = "1T", .mtbf = "1000", .storage = "1 GB/s"},
        {.tokens = "1T", .mtbf = "0 h", .storage = "1 GB/s"},
        {.tokens = "1T", .mtbf = "9 h", .storage = "1 GB"},
        {.tokens = "1T", .pue = "1.2x"}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fr_training t;
        struct fr_error err = {0};
        FR_TRUE(fr_training_read(&bad[i], &t, &err) == FR_ERR_USAGE && *err.detail, "%zu: %s",
                i, err.detail);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expectation_by_lot),
        cmocka_unit_test(the_best_interval),
        cmocka_unit_test(textbooks),
        cmocka_unit_test(of_a_training),
        cmocka_unit_test(a_building_is_of_every_iteration),
        cmocka_unit_test(words_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
