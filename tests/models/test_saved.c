/* Recomputing leaves out of memory the scores of every attention, cross-attentions too. */
#include "models/outcome/cost.h"
#include "tests/job.h"

static double stored_B(const char *model, const char *recompute, const char *attention, int tp,
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
            double none_B = stored_B(models[m], "recompute=none", "attention=plain", tp, &t),
                   some_B =
                       stored_B(models[m], "recompute=selective", "attention=plain", tp, &t),
                   full_B = stored_B(models[m], "recompute=full", "attention=plain", tp, &t),
                   fused_B = stored_B(models[m], "recompute=none", "attention=flash", tp, &t);
            double scores = 2 * (double)t.heads / tp * (double)t.sequence * (double)t.sequence *
                            (double)(t.layers + t.cross_layers);
            if (each_B == 0) each_B = (none_B - some_B) / scores;
            FR_NEAR((none_B - some_B) / scores, each_B, 1e-9);
            /* A sum of 4 B a query. */
            FR_NEAR(fused_B - some_B, 4 * scores / (double)t.sequence, 1e-9);
            /* Every layer's input stays, though all else is recomputed. */
            double inputs_B = (double)t.layers * 2 * (double)(t.sequence * t.hidden) * 4;
            assert_true(full_B < some_B && full_B >= inputs_B);
            FR_TRUE(m != 0 || t.cross_layers == 0, "%s", models[m]);
        }
    /* Scores before and after the softmax, of 4 B, and a mask of a byte. */
    FR_TRUE(each_B >= 4 && each_B <= 2 * 4 + 4 + 1, "%g B a score", each_B);
}

/* The MLP's activation function reads T values of each of its width, twice where it is gated, at one byte in place of
 * @p value_B; whatever tp is, a rank has its share. */
static void what_activations_read_may_be_narrow(void **state) {
    static const char *const models[] = {"gpt-2.5b", "llama-3-8b", "t5-large-mod"};
    (void)state;
    for (int m = 0; m < 3; m++)
        for (int tp = 1; tp <= 4; tp *= 2) {
            struct fr_transformer t;
            double wide_B = stored_B(models[m], "model.activation_store=computed",
                                     "attention=plain", tp, &t),
                   narrow_B = stored_B(models[m], "model.activation_store=fp8",
                                       "attention=plain", tp, &t),
                   full_B = stored_B(models[m], "recompute=full", "attention=plain", tp, &t);
            double values =
                (t.gated ? 2 : 1) * 2 * (double)(t.sequence * t.ffn * t.layers) / tp;
            FR_NEAR(wide_B - narrow_B, values * (4 - 1), 1e-9);
            FR_TRUE(full_B < narrow_B, "%s", models[m]);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_what_selective_saves),
        cmocka_unit_test(what_activations_read_may_be_narrow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
