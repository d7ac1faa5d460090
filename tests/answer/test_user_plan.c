/* A user's plan beside the best: its rank by counting, how far behind by hand, and the laws of a
 * probability. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/search/search.h"
#include "models/outcome/cost.h"
#include "tests/job.h"

static const char *const small[] = {"global_batch=64", "micro_batch=1", "attention=flash",
                                    NULL};
static const char *const vary[] = {"tp=1,2,4,8", "pp=1,2", "zero=1,2,3"};

static void search(const char *const *include, int n, size_t top, struct fr_searched *r) {
    struct fr_error err = {0};
    *r = (struct fr_searched){
        .options = {.top = top, .max_lossy = 1}, .include = include, .n_user_plans = n};
    fr_test_job("dgx-h100", "llama-3-8b", small, &r->job);
    if (fr_searched_make("16", vary, 3, NULL, r, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
}

/* Every plan that a search found, handed back to it as a user's own, has the rank that counting gives;
 * and the list is as long as was asked for. */
static void ranks_are_counted(void **state) {
    enum { SOME = 12 };
    struct fr_searched all, r;
    struct fr_text text[SOME] = {{0}};
    const char *include[SOME];
    (void)state;
    search(NULL, 0, 0, &all);
    assert_true(all.result.ranked.count >= SOME);
    for (int i = 0; i < SOME; i++) {
        struct fr_json_writer w = {.text = &text[i]};
        fr_plan_write(&w, &all.result.top.items[i].outcome.plan);
        include[i] = fr_text_get(&text[i]);
    }
    search(include, SOME, 5, &r);
    assert_int_equal(r.result.ranked.count, 5);
    assert_int_equal(r.result.top.count, 5);
    for (int i = 0; i < SOME; i++) {
        int64_t faster = 0;
        double own_s = all.result.top.items[i].outcome.time_s;
        for (size_t k = 0; k < all.result.ranked.count; k++)
            faster += all.result.ranked.items[k].value < own_s * (1 - 1e-12);
        FR_TRUE(r.user_plan[i].faster == faster, "plan %d: %d are faster, not %d", i,
                (int)faster, (int)r.user_plan[i].faster);
        double slower = own_s / all.result.top.items[0].outcome.time_s - 1;
        FR_TRUE(fabs(r.user_plan[i].slower - slower) < 1e-12, "plan %d: %g, %g", i,
                r.user_plan[i].slower, slower);
        FR_TRUE(r.user_plan[i].as_good >= 0 && r.user_plan[i].as_good <= (i ? 1 : 1.0),
                "plan %d: %g", i, r.user_plan[i].as_good);
        fr_text_free(&text[i]);
    }
    FR_TRUE(r.user_plan[0].as_good == 1, "the best is as good as the best: %g",
            r.user_plan[0].as_good);
    FR_TRUE(r.user_plan[SOME - 1].as_good < r.user_plan[1].as_good, "%g, %g",
            r.user_plan[SOME - 1].as_good, r.user_plan[1].as_good);
    fr_searched_free(&r);
    fr_searched_free(&all);
}

/* One of two plans is as good as the other, or the other is better; a tenth of the time for as many samples is surely
 * better. */
static void a_probability(void **state) {
    struct fr_job job;
    struct fr_outcome a, b;
    struct fr_plan plan;
    (void)state;
    fr_test_job("dgx-h100", "llama-3-8b", small, &job);
    plan = job.plan;
    plan.tp = 2, plan.dp = 8, plan.zero = 1;
    fr_cost(&job, &plan, &a);
    plan.tp = 4, plan.dp = 4;
    fr_cost(&job, &plan, &b);
    double ab = fr_user_plan_as_good(&job, &a, &b), ba = fr_user_plan_as_good(&job, &b, &a);
    FR_TRUE(fabs(ab + ba - 1) < 0.05, "%g + %g", ab, ba); /* 4096 draws each */
    FR_TRUE(ab > 0.5 && a.time_s < b.time_s, "%g: %g, %g s", ab, a.time_s, b.time_s);
    /* Twice the batch in the same time is half the time for as many samples. */
    struct fr_outcome twice = a;
    twice.plan.global_batch = 128;
    FR_TRUE(fabs(fr_user_plan_slower(&job, &twice, &a) + 0.5) < 1e-12, "%g",
            fr_user_plan_slower(&job, &twice, &a));
    fr_job_free(&job);
}

static void words(void **state) {
    static const struct {
        const char *plan;
        fr_status status;
        const char *what;
    } cases[] = {{"{\"tp\": 3}", FR_ERR_USAGE, "cannot be divided"},
                 {"{\"tp\": 2, \"dp\": 2}", FR_ERR_USAGE, "4 ranks"},
                 {"{\"tq\": 2}", FR_ERR_INPUT, "unknown key"},
                 {"/no/such/plan.json", FR_ERR_INPUT, "no file"}};
    struct fr_job job;
    (void)state;
    fr_test_job("dgx-h100", "llama-3-8b", small, &job);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fr_user_plan user_plan;
        struct fr_error err = {0};
        fr_status status = fr_user_plan_read(&job, cases[i].plan, 16, &user_plan, &err);
        FR_TRUE(status == cases[i].status && strstr(err.detail, cases[i].what), "%s: %d %s",
                cases[i].plan, status, err.detail);
        fr_user_plan_free(&user_plan);
    }
    fr_job_free(&job);
}

static void differences(void **state) {
    struct fr_job job;
    char differs[200];
    (void)state;
    fr_test_job("dgx-h100", "llama-3-8b", small, &job);
    struct fr_plan a = job.plan, b = job.plan;
    a.dp = b.dp = 16;
    b.bucket_size_B = 1; /* nothing reads it */
    assert_string_equal(fr_user_plan_differs(&job, &a, &b, differs, sizeof differs), "");
    b.tp = 4, b.dp = 4, b.zero = 1;
    assert_string_equal(fr_user_plan_differs(&job, &a, &b, differs, sizeof differs),
                        "tp 1 (4), dp 16 (4), zero 0 (1)");
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_counted),
        cmocka_unit_test(a_probability),
        cmocka_unit_test(words),
        cmocka_unit_test(differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
