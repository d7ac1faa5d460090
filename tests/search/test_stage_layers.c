/* Uneven stages: what is chosen against every division of small pipelines. */
#include <math.h>

#include "models/outcome/fits/fits.h"
#include "models/outcome/memory.h"
#include "search/chosen.h"
#include "search/stage_layers.h"
#include "tests/job.h"

static void divided(const struct fr_job *job, const int64_t *layers, struct fr_outcome *out) {
    struct fr_plan plan = job->plan;
    plan.stage_layers = layers;
    plan.n_stage_layers = (int)plan.pp;
    plan.stage_layers_best = false;
    fr_cost(job, &plan, out);
}

static double time_of(const struct fr_job *job, const int64_t *layers) {
    struct fr_outcome out;
    divided(job, layers, &out);
    return out.reasons || out.memory_spare < FR_FITS_SURE ? INFINITY : out.time_s;
}

/* Returns the least of `of` over all divisions of n layers. */
static double least_of(const struct fr_job *job, int64_t *layers, int64_t i, int64_t n,
                       double (*of)(const struct fr_job *, const int64_t *)) {
    double least = INFINITY;
    if (i == job->plan.pp - 1) {
        layers[i] = n;
        return of(job, layers);
    }
    for (layers[i] = 1; layers[i] <= n - (job->plan.pp - 1 - i);) {
        int64_t here = layers[i];
        least = fmin(least, least_of(job, layers, i + 1, n - here, of));
        layers[i] = here + 1;
    }
    return least;
}

static void against_all(void **state) {
    (void)state;
    static const char *const plans[][8] = {
        {"pp=2", "model.layers=12"},
        {"pp=3", "model.layers=9", "recompute=full"},
        {"pp=4", "model.layers=10", "schedule=zero-bubble", "tp=2"},
        {"pp=3", "model.layers=11", "schedule=gpipe", "dp=2", "overlap=gradient"},
        {"pp=4", "model.layers=9", "schedule=zero-bubble-v", "chunks=2"}};
    int uneven = 0;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        const char *sets[12] = {"global_batch=16", "micro_batch=1", "stage_layers=best"};
        struct fr_job job;
        struct fr_error err = {0};
        int64_t layers[4], tried[4];
        for (int k = 0; k < 8; k++) sets[3 + k] = plans[i][k];
        fr_test_job("a100-hdr", "gpt-2", sets, &job);
        assert_true(job.plan.stage_layers_best);
        if (fr_stage_layers_best(&job, &job.plan, layers, &err) != FR_OK)
            fail_msg("%s", err.detail);
        int64_t n = job.workload.transformer.layers;
        double least_s = least_of(&job, tried, 0, n, time_of);
        FR_NEAR(time_of(&job, layers), least_s, 1e-12);
        /* priced as such: the same, and left to be chosen again */
        struct fr_outcome out;
        assert_true(fr_plan_chooses(&job.plan));
        fr_cost_chosen(&job, &job.plan, &out);
        FR_NEAR(out.time_s, least_s, 1e-12);
        assert_true(out.plan.stage_layers_best && !out.plan.stage_layers &&
                    out.plan.n_stage_layers == 0);
        for (int64_t k = 0; k < job.plan.pp; k++)
            uneven += layers[k] != n / job.plan.pp + (k < n % job.plan.pp);
        assert_int_equal(fr_stage_layers_choose(&job, &err), FR_OK);
        FR_NEAR(time_of(&job, job.plan.stage_layers), least_s, 1e-12);
        assert_int_equal(job.plan.n_stage_layers, job.plan.pp);
        assert_memory_equal(job.plan.stage_layers, layers,
                            (size_t)job.plan.pp * sizeof *layers);
        fr_cost(&job, &job.plan, &out);
        FR_NEAR(out.time_s, least_s, 1e-12);
        fr_job_free(&job);
    }
    assert_true(uneven > 0); /* GPT-2's logits are worth layers */
}

/* ---- where memory is short ---------------------------------------------------------------------- */

static double peak_of(const struct fr_job *job, const int64_t *layers) {
    struct fr_outcome out;
    divided(job, layers, &out);
    return out.memory_peak_B;
}

/* A device that holds the leanest division alone gets it, one that holds the equal one gets the quickest of those
 * that it holds, and where nothing fits the division nearest to fitting is reported. */
static void short_of_memory(void **state) {
    (void)state;
    static const char *const plans[][4] = {{"pp=2", "model.layers=12"},
                                           {"pp=3", "model.layers=10", "micro_batch=2"},
                                           {"pp=4", "model.layers=9", "recompute=full"}};
    int moved = 0;
    for (size_t k = 0; k < sizeof plans / sizeof *plans; k++)
        for (int memory = 0; memory < 3; memory++) {
            const char *sets[8] = {"global_batch=16", "stage_layers=best"};
            struct fr_job job;
            int64_t layers[4], tried[4], equal[4];
            for (int i = 0; i < 4; i++) sets[2 + i] = plans[k][i];
            fr_test_job("a100-hdr", "gpt-2", sets, &job);
            int64_t n = job.workload.transformer.layers, pp = job.plan.pp;
            for (int64_t i = 0; i < pp; i++) equal[i] = n / pp + (i < n % pp);
            double least_B = least_of(&job, tried, 0, n, peak_of),
                   equal_B = peak_of(&job, equal);
            FR_TRUE(least_B < equal_B, "%zu: %g, %g", k, least_B, equal_B);
            double sure = (1 + FR_FITS_SURE * FR_MEMORY_SPREAD) * (1 + 1e-9);
            job.cluster.device.memory_B = memory == 0   ? 0.5 * least_B
                                          : memory == 1 ? sure * least_B
                                                        : sure * equal_B;
            assert_int_equal(fr_stage_layers_best(&job, &job.plan, layers, NULL), FR_OK);
            int64_t sum = 0;
            for (int64_t i = 0; i < pp; i++) sum += layers[i];
            assert_int_equal(sum, n);
            if (memory < 2) FR_NEAR(peak_of(&job, layers), least_B, 1e-12);
            if (memory > 0) {
                FR_NEAR(time_of(&job, layers), least_of(&job, tried, 0, n, time_of), 1e-12);
                assert_true(isfinite(time_of(&job, layers)));
            }
            moved += memcmp(layers, equal, (size_t)pp * sizeof *equal) != 0;
            fr_job_free(&job);
        }
    assert_true(moved >= 6);
}

static void as_many_layers_as_stages(void **state) {
    (void)state;
    const char *const sets[] = {"pp=4", "model.layers=4", "stage_layers=best", "global_batch=8",
                                NULL};
    struct fr_job job;
    int64_t layers[4];
    fr_test_job("a100-hdr", "gpt-2", sets, &job);
    assert_int_equal(fr_stage_layers_best(&job, &job.plan, layers, NULL), FR_OK);
    for (int i = 0; i < 4; i++) assert_int_equal(layers[i], 1);
    fr_job_free(&job);
}

static void fewer_layers_than_stages(void **state) {
    (void)state;
    const char *const sets[] = {"pp=4", "model.layers=3", "stage_layers=best", "global_batch=8",
                                NULL};
    struct fr_job job;
    struct fr_error err = {0};
    fr_test_job("a100-hdr", "gpt-2", sets, &job);
    assert_int_equal(fr_stage_layers_choose(&job, &err), FR_ERR_INFEASIBLE);
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_all), cmocka_unit_test(short_of_memory),
        cmocka_unit_test(as_many_layers_as_stages), cmocka_unit_test(fewer_layers_than_stages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
