/* A plan of a search is completed as the plan alone: a search of one plan prices what predict prices, and so does every plan
 * of a space whose keys are stated one by one. */
#include <math.h>
#include <stdio.h>

#include "models/job/assume.h"
#include "models/outcome/cost.h"
#include "search/space.h"
#include "tests/job.h"
#include "tests/plan_values.h"

static void load(const char *cluster, const char *model, const char *const *sets, int n,
                 struct fr_job *job) {
    const struct fr_job_names names = {
        .cluster = cluster, .model = model, .sets = sets, .n_sets = n};
    struct fr_error err = {0};
    if (fr_job_load(&names, job, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
}

/* The space of a job whose keys @p vary names. */
static void open_space(struct fr_job *job, const char *ranks, const char *const *vary, int n,
                       struct fr_space *space) {
    struct fr_plan base = job->plan;
    struct fr_error err = {0};
    fr_job_forget(job, job->open, &base);
    if (fr_space_make(ranks, vary, n, &base, fr_job_plan_says(job, "dp"),
                      fr_job_plan_says(job, "tp"), NULL, space, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    fr_space_complete(space, job);
}

static void as_predicted(const struct fr_plan *found, const struct fr_job *job,
                         const struct fr_job *alone, const char *model) {
    char ours[FR_PLAN_LINE], theirs[FR_PLAN_LINE];
    struct fr_outcome one, other;
    fr_cost(job, found, &one);
    fr_cost(alone, &alone->plan, &other);
    FR_TRUE(memcmp(&one.time_s, &other.time_s, sizeof one.time_s) == 0 ||
                (isnan(one.time_s) && isnan(other.time_s)) ||
                (!isfinite(one.time_s) && !isfinite(other.time_s)),
            "%s: %.17g s in a space, %.17g s alone\n%s\n%s", model, one.time_s, other.time_s,
            fr_plan_line(&one.plan, 0, ours, sizeof ours),
            fr_plan_line(&other.plan, 0, theirs, sizeof theirs));
}

static void spaces_complete_as_predict_does(void **state) {
    static const char *const clusters[] = {"dgx-h100", "gb300-nvl72"}, *const models[] = {
                                                                           "llama-3-8b",
                                                                           "deepseek-v3",
                                                                           "qwen3-30b-a3b"};
    static const char *const vary[] = {"tp=1,2,4", "pp=1,2,4", "ep=1,4", "zero=0,1,3",
                                       "micro_batch=1,2"};
    uint64_t dice = 77;
    int compared = 0;
    (void)state;
    for (int k = 0; k < 12; k++) {
        const char *cluster = clusters[k % 2], *model = models[k / 2 % 3];
        const char *stated[] = {"global_batch=256", "model.vocabulary=32768",
                                k % 3 ? "model.dtype=bf16" : "model.dtype=fp8"};
        bool dense = k / 2 % 3 == 0;
        const char *ways[5];
        int n = 0;
        for (int i = 0; i < 5; i++)
            if (!(dense && i == 2) && fr_test_random(&dice, 3)) ways[n++] = vary[i];
        struct fr_job job;
        struct fr_space space;
        load(cluster, model, stated, 3, &job);
        open_space(&job, "32", ways, n, &space);
        for (int64_t i = 0; i < space.size; i++) {
            struct fr_plan plan;
            bool fits;
            char text[16][64];
            const char *sets[20];
            int m = 0;
            if (!fr_space_plan(&space, &job.workload, i, &plan, &fits) || !fits) continue;
            for (; m < 3; m++) sets[m] = stated[m];
            const struct {
                const char *key;
                int64_t value;
                fr_plan_key_set varied;
            } keys[] = {
                {"tp", plan.tp, ~UINT64_C(0)},
                {"pp", plan.pp, ~UINT64_C(0)},
                {"dp", plan.dp, ~UINT64_C(0)},
                {"ep", plan.ep, FR_PLAN_KEY_BIT(FR_PLAN_KEY_ep)},
                {"zero", plan.zero, FR_PLAN_KEY_BIT(FR_PLAN_KEY_zero)},
                {"micro_batch", plan.micro_batch, FR_PLAN_KEY_BIT(FR_PLAN_KEY_micro_batch)}};
            for (size_t j = 0; j < sizeof keys / sizeof *keys; j++) {
                if (j > 2 && !(space.varied & keys[j].varied)) continue;
                snprintf(text[j], sizeof *text, "%s=%lld", keys[j].key,
                         (long long)keys[j].value);
                sets[m++] = text[j];
            }
            struct fr_job alone;
            load(cluster, model, sets, m, &alone);
            as_predicted(&plan, &job, &alone, model);
            compared++;
            fr_job_free(&alone);
        }
        fr_space_free(&space);
        fr_job_free(&job);
    }
    FR_TRUE(compared > 100, "%d plans", compared);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(spaces_complete_as_predict_does)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
