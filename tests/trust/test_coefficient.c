/* The table of coefficients: each lies where its path says, under its bounds. */
#include "trust/coefficient.h"

#include <stdio.h>

#include "tests/job.h"

/* The coefficient is the file's value there, and nothing else. */
static void each_lies_where_its_path_says(void **state) {
    (void)state;
    assert_true(fr_coefficient_count() <= FR_COEFFICIENT_MAX);
    for (int j = 0; j < fr_coefficient_count(); j++) {
        const struct fr_coefficient *c = &fr_coefficients[j];
        char path[FR_VALUE_PATH], set[160];
        const char *sets[] = {set, NULL};
        struct fr_job job, plain;
        bool rate = !c->plain && c->quantity == FR_QUANTITY_RATE;
        double wanted = c->plain ? c->least + 0.5 : rate ? 7e9 : 3e-6;
        fr_test_job("dgx-a100", "gpt-2.5b", NULL, &plain);
        assert_non_null(fr_value_path(c->place, FR_FP16, &plain.cluster.levels, path));
        snprintf(set, sizeof set, "cluster.%s=%g%s", path, wanted,
                 c->plain ? ""
                 : rate   ? " B/s"
                          : " s");
        fr_test_job("dgx-a100", "gpt-2.5b", sets, &job);
        double *at = fr_coefficient_at(j, &job.cluster, FR_FP16);
        if (!at) fail_msg("%s: %s is not there", c->name, set);
        FR_NEAR(*at, wanted, 1e-12);
        for (int k = 0; k < fr_coefficient_count(); k++) {
            double *one = fr_coefficients[k].at(&job.cluster, FR_FP16),
                   *other = fr_coefficients[k].at(&plain.cluster, FR_FP16);
            if (k != j && one && other)
                FR_TRUE(*one == *other, "%s moves %s", set, fr_coefficients[k].name);
        }
        assert_int_equal(fr_coefficient_find(c->name), j);
        assert_int_equal(c->place, j); /* each value is one coefficient's */
        fr_job_free(&job);
        fr_job_free(&plain);
    }
    assert_int_equal(fr_coefficient_find("no such thing"), -1);
}

/* Shares are at most all; a factor that lengthens is at least one; times and rates have no end. */
static void bounds_are_those_of_what_it_is(void **state) {
    static const char *const shares[] = {"efficiency",        "attention",
                                         "flash_attention",   "flash_2_attention",
                                         "flash_1_attention", "interference"};
    (void)state;
    for (int j = 0; j < fr_coefficient_count(); j++) {
        const struct fr_coefficient *c = &fr_coefficients[j];
        bool share = false;
        for (size_t k = 0; k < sizeof shares / sizeof *shares; k++)
            share = share || strcmp(c->name, shares[k]) == 0;
        FR_TRUE(c->most == (share ? 1 : 0), "%s: at most %g", c->name, c->most);
        FR_TRUE(c->least == (strcmp(c->name, "odd") == 0 ? 1 : 0), "%s: at least %g", c->name,
                c->least);
        FR_TRUE(c->sigma >= 0.2 && c->sigma <= 1, "%s: prior of %g", c->name, c->sigma);
    }
    /* The efficiency of products is fitted to any run; a network's rate only to many. */
    assert_int_equal(fr_coefficients[fr_coefficient_find("efficiency")].rows_needed, 1);
    assert_int_equal(fr_coefficients[fr_coefficient_find("network_bandwidth")].rows_needed, 10);
    for (int j = 1; j < fr_coefficient_count(); j++)
        assert_true(fr_coefficients[j].rows_needed >= 4);
}

/* A number at its least is as good as none; another form of products has neither tiles nor half. */
static void what_a_cluster_does_not_say_is_not_there(void **state) {
    static const char *const none[] = {"cluster.device.gemm.fp16.odd=1", NULL};
    static const char *const rate[] = {
        "cluster.device.gemm={\"fp16\": {\"peak\": \"1 TFLOP/s\", \"half_dim\": 3}}", NULL};
    struct fr_job job;
    (void)state;
    fr_test_job("dgx-a100", "gpt-2.5b", none, &job);
    assert_null(fr_coefficient_at(fr_coefficient_find("odd"), &job.cluster, FR_FP16));
    assert_null(fr_coefficient_at(fr_coefficient_find("efficiency"), &job.cluster, FR_FP8));
    job.cluster.levels.count = 1;
    assert_null(
        fr_coefficient_at(fr_coefficient_find("network_latency"), &job.cluster, FR_FP16));
    assert_null(
        fr_coefficient_at(fr_coefficient_find("network_bandwidth"), &job.cluster, FR_FP16));
    job.cluster.levels.count = 2;
    fr_job_free(&job);
    fr_test_job("dgx-a100", "gpt-2.5b", rate, &job);
    FR_NEAR(*fr_coefficient_at(fr_coefficient_find("efficiency"), &job.cluster, FR_FP16), 1e12,
            1e-12);
    static const char *const tiled[] = {"half_k", "tail", "odd"};
    for (int k = 0; k < 3; k++)
        assert_null(fr_coefficient_at(fr_coefficient_find(tiled[k]), &job.cluster, FR_FP16));
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_lies_where_its_path_says),
        cmocka_unit_test(bounds_are_those_of_what_it_is),
        cmocka_unit_test(what_a_cluster_does_not_say_is_not_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
