/* A cluster's coefficients are known so well: by the posterior where it was tuned, by the priors elsewhere. */
#include "trust/interval.h"

#include <math.h>
#include <stdio.h>

#include "tests/job.h"
#include "trust/correlated.h"

static int place_of(const struct fr_tune_result *r, int coefficient) {
    for (int k = 0; k < r->n_known; k++)
        if (r->index[k] == coefficient) return k;
    return -1;
}

static double covariance(const struct fr_tune_result *r, const char *a, const char *b) {
    int i = place_of(r, fr_coefficient_find(a)), j = place_of(r, fr_coefficient_find(b));
    assert_true(i >= 0 && j >= 0);
    return r->covariance[i * r->n_known + j];
}

/* Every coefficient that the cluster has, at the width of its prior and apart from the others, where it states none. */
static void untuned_is_as_wide_as_the_priors(void **state) {
    struct fr_job job;
    static struct fr_tune_result r;
    int there = 0;
    (void)state;
    fr_test_job("dgx-a100", "gpt-2.5b", (const char *const[]){"cluster.widths={}", NULL}, &job);
    fr_interval_known(&job.cluster, FR_FP16, &r);
    for (int j = 0; j < fr_coefficient_count(); j++) {
        bool has = fr_coefficient_at(j, &job.cluster, FR_FP16) != NULL;
        int at = place_of(&r, j);
        assert_true(has == (at >= 0));
        there += has;
        for (int k = 0; has && k < r.n_known; k++)
            FR_NEAR(r.covariance[at * r.n_known + k],
                    k == at ? pow(fr_coefficients[j].sigma, 2) : 0, 1e-12);
    }
    assert_true(there > 8 && r.n_known >= there && r.dtype == FR_FP16);
    assert_true(r.experts && r.sharded);
    /* model, plan, release, run */
    const double assumed = sqrt(0.05 * 0.05 + 0.05 * 0.05 + 0.041 * 0.041 + 0.02 * 0.02);
    FR_NEAR(r.spread, assumed, 1e-12);
    /* Presets count by sources of runs; a calibration, if errors are normal. */
    FR_NEAR(r.stretch, 1.25, 1e-12);
    snprintf(job.cluster.calibration.verdict, sizeof job.cluster.calibration.verdict, "PASS");
    fr_interval_known(&job.cluster, FR_FP16, &r);
    FR_NEAR(r.stretch, 1.645, 1e-12);
    job.cluster.calibration.verdict[0] = '\0';
    /* The calibration's own error counts, were errors normal, where that is more; and how much it
     * varied. */
    static const double held_out[] = {0, 0.05, 0.2};
    for (int i = 0; i < 3; i++) {
        job.cluster.calibration.held_out = held_out[i];
        job.cluster.calibration.variation = 0.03;
        fr_interval_known(&job.cluster, FR_FP16, &r);
        FR_NEAR(r.spread, hypot(i < 2 ? assumed : log(1.2) / 0.6745, 0.03), 1e-9);
        FR_NEAR(r.stretch, held_out[i] > 0 ? 1.645 : 1.25, 1e-12);
    }
    fr_job_free(&job);
}

/* A width as of the prior is as none; half of it makes the coefficient's own variance a quarter, and no other's; of a
 * value with a dtype only at that. */
static void a_stated_width_is_in_place_of_the_prior(void **state) {
    static struct fr_tune_result plain, r;
    struct fr_job job;
    double gradient[FR_KNOWN_MAX];
    (void)state;
    fr_test_job("dgx-a100", "gpt-2.5b", (const char *const[]){"cluster.widths={}", NULL}, &job);
    const struct fr_run run = {.workload = job.workload, .plan = job.plan};
    fr_interval_known(&job.cluster, FR_FP16, &plain);
    fr_tune_gradient(&plain, &run, gradient);
    double variance = pow(fr_tune_deviation(&plain, gradient), 2);
    for (int a = 0; a < plain.n_known && plain.index[a] < FR_COEFFICIENT_MAX; a++) {
        const struct fr_coefficient *c = &fr_coefficients[plain.index[a]];
        double *width = job.cluster.uncertainty.sigma[c->place];
        double own = pow(gradient[a] * c->sigma, 2);
        assert_true(fr_interval_stated(&job.cluster, plain.index[a], FR_FP16) == 0);
        for (int half = 0; half < 2; half++) {
            width[FR_FP16] = half ? c->sigma / 2 : c->sigma;
            width[FR_BF16] = 2;
            FR_NEAR(fr_interval_stated(&job.cluster, plain.index[a], FR_FP16), width[FR_FP16],
                    1e-12);
            fr_interval_known(&job.cluster, FR_FP16, &r);
            FR_NEAR(pow(fr_tune_deviation(&r, gradient), 2), variance - (half ? 0.75 * own : 0),
                    1e-9);
        }
        width[FR_FP16] = width[FR_BF16] = 0;
    }
    fr_job_free(&job);
}

/* Two values are known together, by hand: with variances v, w and a sum x + q y known to s, the old determinant and
 * the sum's own variance give each of theirs and what they share; others stay.  Nothing changes for another dtype. */
static void values_together_share_what_is_known(void **state) {
    static struct fr_tune_result r;
    struct fr_job job;
    (void)state;
    fr_test_job("dgx-a100", "gpt-2.5b",
                (const char *const[]){
                    "cluster.widths={\"device.gemm.fp16.efficiency\": 0.3, \"together\": "
                    "[{\"of\": {\"device.gemm.fp16.efficiency\": 1, "
                    "\"device.memory_bandwidth\": 0.5}, \"width\": 0.02}]}",
                    NULL},
                &job);
    const double v = 0.3 * 0.3, w = 0.2 * 0.2, q = 0.5, s = 0.02;
    const double of = v + q * q * w + s * s;
    fr_interval_known(&job.cluster, FR_FP16, &r);
    FR_NEAR(covariance(&r, "efficiency", "efficiency"), v * (q * q * w + s * s) / of, 1e-12);
    FR_NEAR(covariance(&r, "memory_bandwidth", "memory_bandwidth"), w * (v + s * s) / of,
            1e-12);
    FR_NEAR(covariance(&r, "efficiency", "memory_bandwidth"), -q * v * w / of, 1e-12);
    FR_NEAR(covariance(&r, "memory_bandwidth", "efficiency"), -q * v * w / of, 1e-12);
    FR_NEAR(covariance(&r, "launch", "launch"), 0.7 * 0.7, 1e-12);
    assert_true(covariance(&r, "launch", "efficiency") == 0);
    FR_NEAR(fr_interval_width(&job.cluster, fr_coefficient_find("efficiency"), FR_FP16),
            sqrt(v * (q * q * w + s * s) / of), 1e-12);
    fr_interval_known(&job.cluster, FR_BF16, &r);
    FR_NEAR(covariance(&r, "efficiency", "efficiency"), 0.2 * 0.2, 1e-12);
    FR_NEAR(covariance(&r, "memory_bandwidth", "memory_bandwidth"), w, 1e-12);
    /* The posterior knows all of a value that was tuned. */
    struct fr_tuning *t = &job.cluster.tuning;
    *t = (struct fr_tuning){.present = true, .n = 1, .covariance = {0.01}};
    snprintf(t->name[0], sizeof t->name[0], "memory_bandwidth");
    fr_interval_known(&job.cluster, FR_FP16, &r);
    FR_NEAR(covariance(&r, "efficiency", "efficiency"), v, 1e-12);
    FR_NEAR(covariance(&r, "memory_bandwidth", "memory_bandwidth"), 0.01, 1e-12);
    fr_job_free(&job);
}

/* Runs that brought one sum of what was independent: it is found again, with its width, but for what hardly moves it; and
 * the covariance that it makes is that of the runs, where the file's widths are those from before. */
static void what_runs_say_together_is_found_again(void **state) {
    static struct fr_tune_result r;
    static const char *const names[] = {"efficiency", "interference", "memory_bandwidth",
                                        "node_bandwidth", "launch"};
    static const double sigma[] = {0.2, 0.7, 0.25, 0.2, 0.5}, device = 0.5, network = 2,
                        width = 0.03;
    static const double power[] = {1, -0.1, 0.4, 0.3, 0.002};
    enum { N = 5 };
    double before[N], of = width * width;
    struct fr_correlated x;
    struct fr_error err = {0};
    (void)state;
    r = (struct fr_tune_result){.dtype = FR_BF16, .n_known = N};
    r.effect[FR_EFFECT_DEVICE] = device;
    r.effect[FR_EFFECT_NETWORK] = network;
    for (int a = 0; a < N; a++) {
        r.index[a] = fr_coefficient_find(names[a]);
        r.tuned[r.index[a]].sigma_prior = sigma[a];
        before[a] = sigma[a] * (a == 3 ? network : device);
        of += pow(power[a] * before[a], 2);
    }
    for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++)
            r.covariance[a * N + b] = (a == b) * before[a] * before[a] -
                                      power[a] * power[b] * pow(before[a] * before[b], 2) / of;
    if (fr_tune_correlated(&r, "efficiency", &x, &err) != FR_OK) fail_msg("%s", err.detail);
    assert_int_equal(x.n, N - 1);
    FR_NEAR(x.sigma, width, 1e-9);
    for (int a = 0; a < N - 1; a++) {
        FR_NEAR(fr_correlated_power(&x, fr_coefficients[r.index[a]].place), power[a], 1e-9);
        assert_true(x.of[a].dtype == (a == 0 ? FR_BF16 : FR_DTYPE_COUNT));
    }
    if (fr_tune_correlated(&r, "memory_bandwidth", &x, &err) != FR_OK)
        fail_msg("%s", err.detail);
    FR_NEAR(x.sigma, width / 0.4, 1e-9);
    FR_NEAR(fr_correlated_power(&x, FR_VALUE_EFFICIENCY), 1 / 0.4, 1e-9);
    assert_int_equal(fr_tune_correlated(&r, "tail", &x, &err), FR_ERR_NUMERIC);
    /* Nothing was said. */
    for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++)
            r.covariance[a * N + b] = 1.21 * (a == b) * before[a] * before[a];
    assert_int_equal(fr_tune_correlated(&r, "efficiency", &x, &err), FR_ERR_NUMERIC);
}

/* Fitted coefficients have the file's values, in its order; the others are as before; operations at one. */
static void tuned_is_what_the_file_says(void **state) {
    static const char *const sets[] = {
        "cluster.widths={\"device.launch\": 2, \"device.gemm.fp16.efficiency\": 2, "
        "\"levels.0.latency\": 0.3}",
        "cluster.tuning={\"spread\": 0.07, \"stretch\": 2.5, \"experts\": false, \"sharded\": "
        "true, \"covariance\": [[0.04, 0.01], [0.01, 0.09]], \"coefficients\": [{\"fitted\": "
        "true, \"name\": \"launch\"}, {\"fitted\": false}, {\"fitted\": true, \"name\": "
        "\"efficiency\"}]}",
        "cluster.collectives.all_reduce={\"form\": \"log\", \"c1\": \"20 us\", \"message\": "
        "\"total\", \"c2\": \"0.01 ns/B\", \"residuals\": {\"median\": 0, \"p90\": 0.3, "
        "\"points\": 9}}",
        "tp=2",
        "pp=2",
        "global_batch=32",
        "model.dtype=fp16",
        "cluster.device.launch=3 us",
        NULL};
    struct fr_job job;
    static struct fr_tune_result r;
    struct fr_interval of, wanted;
    (void)state;
    fr_test_job("dgx-a100", "gpt-2.5b", sets, &job);
    fr_interval_known(&job.cluster, FR_FP16, &r);
    FR_NEAR(covariance(&r, "launch", "launch"), 0.04, 1e-12);
    FR_NEAR(covariance(&r, "efficiency", "efficiency"), 0.09, 1e-12);
    FR_NEAR(covariance(&r, "efficiency", "launch"), 0.01, 1e-12);
    FR_NEAR(covariance(&r, "launch", "efficiency"), 0.01, 1e-12);
    FR_NEAR(covariance(&r, "node_latency", "node_latency"), 0.09, 1e-12);
    assert_true(covariance(&r, "node_latency", "launch") == 0);
    FR_NEAR(r.spread, 0.07, 1e-12); /* a file that does not tell effects apart: half and half */
    FR_NEAR(r.effect[FR_EFFECT_MODEL], r.effect[FR_EFFECT_PLAN], 1e-12);
    assert_true(r.stretch == 2.5 && !r.experts && r.sharded);
    int op = place_of(&r, FR_COEFFICIENT_MAX + FR_OP_ALL_REDUCE);
    assert_true(op >= 0);
    for (int k = 0; k < r.n_known; k++)
        FR_NEAR(r.covariance[op * r.n_known + k], k == op, 1e-12);
    fr_interval_plan(&r, &job.workload, &job.plan, &of);
    const struct fr_run run = {.workload = job.workload, .plan = job.plan};
    fr_tune_interval(&r, &run, &wanted);
    assert_true(of.expected_s == wanted.expected_s && of.low_s == wanted.low_s &&
                of.high_s == wanted.high_s && of.model_s == of.expected_s);
    assert_true(of.low_s < of.expected_s && of.expected_s < of.high_s);
    fr_job_free(&job);
}

/* An outcome's interval is as wide, relative to its time, as the plan's that the model prices, whatever engine said the
 * time; of no time nothing is stated. */
static void an_outcome_is_stated_in_proportion(void **state) {
    static const double times_s[] = {0.5, 7, 1e4, NAN};
    static struct fr_tune_result known;
    struct fr_job job;
    struct fr_interval of;
    (void)state;
    fr_test_job("dgx-a100", "gpt-2.5b", (const char *const[]){"tp=2", NULL}, &job);
    fr_interval_known(&job.cluster, FR_FP16, &known);
    known.model_error *= 1.25; /* so that the expected one is not the model's */
    fr_interval_plan(&known, &job.workload, &job.plan, &of);
    for (int i = 0; i < 4; i++) {
        struct fr_outcome out = {.plan = job.plan, .time_s = times_s[i], .low_s = -1};
        fr_interval_state(&known, &job.workload, &out);
        if (isnan(times_s[i])) {
            assert_true(out.low_s == -1 && out.high_s == 0 && out.expected_s == 0);
            continue;
        }
        FR_NEAR(out.expected_s / times_s[i], of.expected_s / of.model_s, 1e-12);
        FR_NEAR(out.low_s / times_s[i], of.low_s / of.model_s, 1e-12);
        FR_NEAR(out.high_s / times_s[i], of.high_s / of.model_s, 1e-12);
        assert_true(out.low_s < out.expected_s && out.expected_s < out.high_s);
    }
    fr_job_free(&job);
}

static double moved_s(const struct fr_tune_result *known, const struct fr_run *run, int k,
                      double by) {
    struct fr_cluster moved = known->cluster;
    *fr_coefficients[known->index[k]].at(&moved, known->dtype) *= by;
    return fr_run_predict_s(&moved, run);
}

/* A time is made of costs in proportion to a coefficient or its inverse: twice the coefficient, twice the time at most.
 * Messages that meet in another order on a shared link make it jump; no slope is beyond that law for such a plan. */
static void no_slope_is_beyond_proportion(void **state) {
    static const char *const plans[][9] = {
        {"tp=4", "pp=16", "dp=2", "recompute=mlp", "attention=flash", "micro_batch=1",
         "compression.embedding=fused"},
        {"tp=8", "pp=8", "dp=2", "recompute=full", "micro_batch=1"},
        {"tp=8", "pp=4", "dp=4", "recompute=full", "micro_batch=8"}};
    int jumps = 0;
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        static struct fr_tune_result known;
        struct fr_job job;
        double gradient[FR_KNOWN_MAX];
        fr_test_job("a100-hdr", "gpt-8.3b", plans[i], &job);
        const struct fr_run run = {.workload = job.workload, .plan = job.plan};
        fr_interval_known(&job.cluster, job.workload.dtype, &known);
        const double base_s = fr_tune_gradient(&known, &run, gradient);
        for (int k = 0; k < known.n_known && known.index[k] < FR_COEFFICIENT_MAX; k++) {
            const double step =
                log(moved_s(&known, &run, k, exp(FR_TUNE_STEP)) / base_s) / FR_TUNE_STEP;
            FR_TRUE(fabs(gradient[k]) <= 1, "plan %zu, %s: %g", i,
                    fr_coefficients[known.index[k]].name, gradient[k]);
            if (fabs(step) <= 1)
                FR_NEAR(gradient[k], step, 1e-9);
            else
                jumps++;
        }
        fr_job_free(&job);
    }
    assert_true(jumps > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(untuned_is_as_wide_as_the_priors),
        cmocka_unit_test(values_together_share_what_is_known),
        cmocka_unit_test(what_runs_say_together_is_found_again),
        cmocka_unit_test(a_stated_width_is_in_place_of_the_prior),
        cmocka_unit_test(tuned_is_what_the_file_says),
        cmocka_unit_test(an_outcome_is_stated_in_proportion),
        cmocka_unit_test(no_slope_is_beyond_proportion)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
