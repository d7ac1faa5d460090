/* The plan that an outcome's document states, read back, makes the same document. */
#include <stdlib.h>

#include "answer/outcome/report.h"
#include "tests/job.h"
#include "tests/plan_values.h"

struct plan {
    struct fr_plan plan;
    struct fr_plan_lists lists;
};

static struct plan *draw(uint64_t *state, uint64_t one_in) {
    struct fr_json_document *document = NULL;
    struct plan *p = calloc(1, sizeof *p);
    struct fr_error err = {0};
    assert_non_null(p);
    assert_int_equal(fr_test_plan_document(state, one_in, &document), FR_OK);
    if (fr_plan_read(document, &p->plan, &p->lists, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    fr_json_free(document);
    return p;
}

static void drop(struct plan *p) {
    fr_plan_lists_free(&p->lists);
    free(p);
}

static void priced(const struct fr_job *job, const struct fr_plan *plan, struct fr_text *text) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    struct fr_outcome *out = calloc(1, sizeof *out);
    assert_non_null(out);
    fr_cost(job, plan, out);
    fr_report_json(&w, job, out);
    free(out);
}

/* The plan of an outcome, given back, makes the same outcome to the byte. */
static void given_back(const char *cluster, const char *model) {
    struct fr_job job;
    uint64_t dice = 362436069;
    fr_test_job(cluster, model, NULL, &job);
    int timed = 0;
    /* One of a thousand random plans of a network of convolutions can run. */
    const int n_plans = job.workload.n_layers > 0 ? 6000 : fr_sample(3600, 900);
    for (int n = 0; n < n_plans; n++) {
        struct plan *p = draw(&dice, 3 + (uint64_t)n % 8);
        struct fr_text first = {0}, second = {0};
        struct fr_json_document *document = NULL;
        struct fr_plan plan;
        struct fr_plan_lists lists;
        p->plan.layer_tp_best = false; /* chosen before a plan is priced */
        priced(&job, &p->plan, &first);
        assert_int_equal(
            fr_json_parse(fr_text_get(&first), first.length, "outcome", &document, NULL),
            FR_OK);
        struct fr_json root = fr_json_root(document), stated = fr_json_member(&root, "plan");
        assert_int_equal(fr_plan_read_object(&stated, &plan, &lists, NULL), FR_OK);
        priced(&job, &plan, &second);
        assert_string_equal(fr_text_get(&first), fr_text_get(&second));
        timed += strstr(fr_text_get(&first), "\"iteration_time_s\": null") == NULL;
        fr_text_free(&first);
        fr_text_free(&second);
        fr_plan_lists_free(&lists);
        fr_json_free(document);
        drop(p);
    }
    FR_TRUE(timed > 0, "%s: %d", model, timed);
    fr_job_free(&job);
}

static void of_dense_transformers(void **state) {
    (void)state;
    given_back("a100-hdr", "gpt-2.5b");
    given_back("lassen", "t5-large-mod");
}
static void of_experts_and_convolutions(void **state) {
    (void)state;
    given_back("dgx-h100", "mixtral-8x7b");
    given_back("cori-knl", "alexnet");
}
static void of_layers_and_stages(void **state) {
    (void)state;
    given_back("frontier", "ffn-4096");
    given_back("frontier", FR_SOURCE_DIR "/tests/golden/in/stages.json");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_dense_transformers),
                                       cmocka_unit_test(of_experts_and_convolutions),
                                       cmocka_unit_test(of_layers_and_stages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
