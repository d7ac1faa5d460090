/* What recomputing leaves out of memory: of every attention, cross-attentions too, the scores. */
#include "models/outcome/cost.h"
#include "tests/job.h"

static double kept_B(const char *model, const char *recompute, const char *attention, int tp,
                     struct fr_transformer *t) {
    char ways[16];
    const char *const sets[] = {recompute,
                                attention,
                                ways,
                                "micro_batch=2",
                                "global_batch=4",
                                "model.dtype=fp32",
                                "model.dropout=true",
                                "cluster.device.memory_margin=0",
                                NULL};
    struct fr_job job;
    struct fr_outcome out;
    snprintf(ways, sizeof ways, "tp=%d", tp);
    fr_test_job("lassen", model, sets, &job);
    fr_cost(&job, &job.plan, &out);
    assert_int_equal(out.reasons & ~FR_BECAUSE(FR_REASON_MEMORY), 0);
    *t = job.workload.transformer;
    fr_job_free(&job);
    return out.memory_B[FR_MEMORY_ACTIVATIONS];
}

/* The same bytes a score in every model: of b heads / tp s^2 of each attention; a fused kernel keeps
 * none. */
static void scores_are_what_selective_saves(void **state) {
    static const char *const models[] = {"gpt-2", "t5-large-mod", "transformer-base",
                                         "gpt-2.5b"};
    double each_B = 0;
    (void)state;
    for (int m = 0; m < 4; m++)
        for (int tp = 1; tp <= 4; tp *= 2) {
            struct fr_transformer t;
            double none_B = kept_B(models[m], "recompute=none", "attention=plain", tp, &t),
                   some_B = kept_B(models[m], "recompute=selective", "attention=plain", tp, &t),
                   full_B = kept_B(models[m], "recompute=full", "attention=plain", tp, &t),
                   fused_B = kept_B(models[m], "recompute=none", "attention=flash", tp, &t);
            double scores = 2 * (double)t.heads / tp * (double)t.sequence * (double)t.sequence *
                            (double)(t.layers + t.cross_layers);
            if (each_B == 0) each_B = (none_B - some_B) / scores;
            FR_NEAR((none_B - some_B) / scores, each_B, 1e-9);
            FR_NEAR(fused_B, some_B, 1e-12);
            /* Of all that is done again every layer's input stays. */
            double inputs_B = (double)t.layers * 2 * (double)(t.sequence * t.hidden) * 4;
            assert_true(full_B < some_B && full_B >= inputs_B);
            FR_TRUE(m != 0 || t.cross_layers == 0, "%s", models[m]);
        }
    /* Scores before and after the softmax, of 4 B, and a mask of a byte. */
    FR_TRUE(each_B >= 4 && each_B <= 2 * 4 + 4 + 1, "%g B a score", each_B);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(scores_are_what_selective_saves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
