/* Does a space hold plans of several batches, or with ghost neurons? */
#include <stdio.h>

#include "models/plan/method.h"
#include "search/space.h"
#include "tests/job.h"

static bool has(const char *vary, int64_t set) {
    const struct fr_job_names names = {.cluster = "dgx-h100", .model = "llama-3-8b"};
    struct fr_plan base = fr_plan_default();
    struct fr_space space;
    struct fr_error err = {0};
    base.global_batch = set;
    if (fr_space_make("8", &vary, 1, &base, false, false, &names, &space, &err) != FR_OK)
        fail_msg("%s: %s", vary, err.detail);
    bool batches = fr_space_has_batches(&space);
    fr_space_free(&space);
    return batches;
}

/* By the plan's key or the model's, unless the plan says one that goes before. */
static void by_plan_or_model(void **state) {
    (void)state;
    assert_true(has("global_batch=64,128", 0));
    assert_false(has("global_batch=64", 0));
    assert_true(has("model.global_batch=64,128", 0));
    assert_true(has("model.global_batch=64,64,128", 0));
    assert_false(has("model.global_batch=64,128", 32));
    assert_false(has("model.global_batch=64,128", 1));
    assert_false(has("model.sequence=2048,4096", 0));
    assert_false(has("pp=1,2", 0));
}

static bool ghosts(const char *const *vary, int n, const struct fr_method *method) {
    const struct fr_job_names names = {.cluster = "frontier", .model = "ffn-4096"};
    struct fr_plan base = fr_plan_default();
    struct fr_space space;
    struct fr_error err = {0};
    base.method = method;
    if (fr_space_make("8", vary, n, &base, false, false, &names, &space, &err) != FR_OK)
        fail_msg("%s: %s", vary[0], err.detail);
    bool has = fr_space_has_ghost(&space);
    fr_space_free(&space);
    return has;
}

/* Of one that names methods if one of these has them, whatever else is varied before or behind; else of its own. */
static void methods_with_ghosts(void **state) {
    (void)state;
    for (int a = 0; fr_methods[a]; a++) {
        const char *const others[] = {"micro_batch=1,2", "tp=2,4"};
        assert_int_equal(ghosts(others, 2, fr_methods[a]), fr_methods[a]->uses_ghost);
        for (int b = 0; fr_methods[b]; b++)
            for (int at = 0; a != b && at < 3; at++) {
                char said[80];
                const char *vary[3] = {others[0], others[1], others[1]};
                bool wanted = fr_methods[a]->uses_ghost || fr_methods[b]->uses_ghost;
                snprintf(said, sizeof said, "method=%s,%s", fr_methods[a]->name,
                         fr_methods[b]->name);
                vary[at] = said;
                if (at == 0) vary[1] = others[0];
                FR_TRUE(ghosts(vary, 3, fr_methods[(a + b) % 3]) == wanted, "%s", said);
                FR_TRUE(ghosts(vary + at, 1, fr_methods[b]) == wanted, "%s alone", said);
            }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_plan_or_model),
                                       cmocka_unit_test(methods_with_ghosts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
