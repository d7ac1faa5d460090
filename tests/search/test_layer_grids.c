/* Per-layer grids: dynamic programming against every assignment. */
#include <math.h>

#include "models/outcome/cost.h"
#include "search/chosen.h"
#include "search/layer_grids.h"
#include "tests/job.h"

static double time_with(const struct fr_job *job, int64_t ranks, const int64_t *tp, int n) {
    struct fr_plan plan = job->plan;
    struct fr_outcome out;
    plan.method = &fr_method_grid;
    plan.dp = ranks;
    plan.layer_tp = tp;
    plan.n_layer_tp = n;
    fr_cost(job, &plan, &out);
    return out.reasons ? INFINITY : out.time_s;
}

static void against_every_assignment(void **state) {
    (void)state;
    static const char *const nets[] = {"model.layers=[{\"in\": 4096, \"out\": 64}, {\"out\": "
                                       "8192}, {\"out\": 256}, {\"out\": 4096}]",
                                       "model.layers=[{\"in\": 64, \"out\": 64}, {\"out\": "
                                       "64}, {\"out\": 16384}, {\"out\": 16384}]"};
    for (size_t net = 0; net < 2; net++)
        for (int64_t ranks = 1; ranks <= 24; ranks += ranks < 8 ? 1 : 8) {
            char batch[40];
            snprintf(batch, sizeof batch, "global_batch=%d", (int)(ranks * 8));
            const char *sets[] = {nets[net], batch, NULL};
            struct fr_job job;
            fr_test_job("cori-knl", FR_SOURCE_DIR "/tests/search/mlp.json", sets, &job);
            struct fr_plan plan = job.plan;
            plan.method = &fr_method_grid;
            plan.dp = ranks;
            int64_t chosen[4], grids[32], tp[4];
            int n = 0;
            double least_s = INFINITY;
            for (int64_t d = 1; d <= ranks; d++)
                if (ranks % d == 0) grids[n++] = d;
            assert_int_equal(fr_layer_grids_best(&job, &plan, chosen, NULL), FR_OK);
            for (int a = 0; a < n * n * n * n; a++) {
                for (int l = 0, rest = a; l < 4; l++, rest /= n) tp[l] = grids[rest % n];
                double time_s = time_with(&job, ranks, tp, 4);
                if (time_s < least_s) least_s = time_s;
            }
            FR_NEAR(time_with(&job, ranks, chosen, 4), least_s, 1e-12);
            fr_job_free(&job);
        }
}

/* One layer has a grid of its own, too: the best of the divisors. */
static void of_one_layer(void **state) {
    const char *sets[] = {"model.layers=[{\"in\": 4096, \"out\": 8192}]", "global_batch=64",
                          NULL};
    struct fr_job job;
    (void)state;
    fr_test_job("cori-knl", FR_SOURCE_DIR "/tests/search/mlp.json", sets, &job);
    struct fr_plan plan = job.plan;
    int64_t chosen = 0;
    double least_s = INFINITY;
    plan.method = &fr_method_grid;
    plan.dp = 8;
    assert_int_equal(fr_layer_grids_best(&job, &plan, &chosen, NULL), FR_OK);
    for (int64_t tp = 1; tp <= 8; tp *= 2) least_s = fmin(least_s, time_with(&job, 8, &tp, 1));
    FR_NEAR(time_with(&job, 8, &chosen, 1), least_s, 1e-12);
    fr_job_free(&job);
}

/* Grids of a transformer's three groups: none of all combinations takes less. */
static void groups_against_every_combination(void **state) {
    static const char *const plans[][5] = {
        {"tp=4", "dp=1", "model.sequence=512"},
        {"tp=2", "dp=3", "model.sequence=4096"},
        {"tp=8", "dp=1", "pp=2", "model.sequence=1024"},
        {"tp=2", "dp=4", "model.vocabulary=1024", "micro_batch=4"},
        {"tp=4", "dp=4", "cluster.levels.0.bandwidth=10 GB/s"},
        {"tp=4", "dp=1", "model.layers=1", "model.sequence=512"},
        {"tp=8", "dp=1", "model.vocabulary=2000000", "model.sequence=128", "global_batch=8"}};
    bool differ = false;
    (void)state;
    for (size_t k = 0; k < sizeof plans / sizeof *plans; k++) {
        const char *sets[12] = {"method=grid", "layer_tp=best", "model.layers=4",
                                "cluster.device.memory=0 B", "global_batch=48"};
        struct fr_job job;
        int64_t chosen[3], grid[16];
        int n = 0;
        for (int i = 0; i < 5 && plans[k][i]; i++) sets[5 + i] = plans[k][i];
        fr_test_job("dgx-h100", "llama-3-8b", sets, &job);
        int64_t own = job.plan.tp * job.plan.dp;
        for (int64_t d = 1; d <= own; d++)
            if (own % d == 0) grid[n++] = d;
        assert_int_equal(fr_layer_grids_best(&job, &job.plan, chosen, NULL), FR_OK);
        double least_s = INFINITY, chosen_s = NAN;
        for (int a = 0; a < n * n * n; a++) {
            const int64_t tp[3] = {grid[a / n / n], grid[a / n % n], grid[a % n]};
            struct fr_plan plan = job.plan;
            struct fr_outcome out;
            plan.layer_tp = tp;
            plan.n_layer_tp = 3;
            plan.layer_tp_best = false;
            fr_cost(&job, &plan, &out);
            if (!out.reasons) least_s = fmin(least_s, out.time_s);
            if (memcmp(tp, chosen, sizeof tp) == 0) chosen_s = out.time_s;
        }
        FR_NEAR(chosen_s, least_s, 1e-12);
        struct fr_outcome priced; /* chosen, and left to be chosen again */
        fr_cost_chosen(&job, &job.plan, &priced);
        FR_NEAR(priced.time_s, least_s, 1e-12);
        assert_true(priced.plan.layer_tp_best && !priced.plan.layer_tp &&
                    priced.plan.n_layer_tp == 0);
        differ = differ || chosen[0] != chosen[1];
        fr_job_free(&job);
    }
    assert_true(differ);
}

/* A transformer has three groups, of however few layers. */
static void one_layer_has_three_groups(void **state) {
    (void)state;
    static const char *const deep[] = {"model.layers=1", "model.layers=2"};
    for (int l = 0; l < 2; l++) {
        const char *const sets[] = {deep[l], "method=grid", "tp=2", "layer_tp=[2,2,1]", NULL};
        const char *const wrong[] = {"method=grid", "tp=2", "layer_tp=[2,2]", deep[l], NULL};
        struct fr_job job;
        fr_test_job("dgx-h100", "llama-3-8b", sets, &job);
        assert_int_equal(job.plan.n_layer_tp, 3);
        fr_job_free(&job);
        struct fr_job_names names = {
            .cluster = "dgx-h100", .model = "llama-3-8b", .sets = wrong, .n_sets = 4};
        struct fr_error err = {0};
        struct fr_outcome out;
        assert_int_equal(fr_job_load(&names, &job, &err), FR_OK);
        fr_cost(&job, &job.plan, &out);
        assert_true(out.reasons & FR_BECAUSE(FR_REASON_LAYER_TP));
        fr_job_free(&job);
    }
}

/* A number that cannot be divided is refused in words that say how many ranks and samples were tried. */
static void without_a_grid(void **state) {
    static const struct {
        const char *cluster, *model, *sets[7], *words;
    } of[] = {
        {"dgx-h100",
         "llama-3-8b",
         {"tp=4", "dp=2", "pp=2", "global_batch=16", "cluster.device.memory=1 MB"},
         "no grids of the 8 ranks of a stage fit"},
        {"dgx-h100",
         "llama-3-8b",
         {"tp=3", "pp=4", "global_batch=16", "cluster.device.memory=1 MB"},
         "no grids of the 3 ranks of a stage fit"},
        {"cori-knl",
         FR_SOURCE_DIR "/tests/search/mlp.json",
         {"tp=1", "dp=6", "global_batch=1",
          "model.layers=[{\"in\": 2, \"out\": 2}, {\"out\": 2}]"},
         "no grid of 6 ranks fits every layer and the batch of 1"},
        {"frontier",
         FR_SOURCE_DIR "/tests/golden/in/stages.json",
         {"pp=2"},
         "has no layers to divide"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        struct fr_job job;
        struct fr_error err = {0};
        int64_t chosen[64];
        fr_test_job(of[k].cluster, of[k].model, of[k].sets, &job);
        job.plan.method = &fr_method_grid;
        fr_status status = fr_layer_grids_best(&job, &job.plan, chosen, &err);
        FR_TRUE(status == FR_ERR_INFEASIBLE, "%zu: %d", k, (int)status);
        FR_TRUE(strstr(err.detail, of[k].words), "%s, not %s", err.detail, of[k].words);
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_every_assignment), cmocka_unit_test(of_one_layer),
        cmocka_unit_test(groups_against_every_combination), cmocka_unit_test(without_a_grid),
        cmocka_unit_test(one_layer_has_three_groups)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
