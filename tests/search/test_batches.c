/* Does a space hold plans of several batches? */
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_plan_or_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
