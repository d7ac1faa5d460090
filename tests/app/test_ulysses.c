/* Context parallel by all-to-all (Ulysses): traffic, products and times by hand. */
#include <math.h>

#include "models/outcome/cost.h"
#include "models/work/transformer.h"
#include "sim/run.h"
#include "tests/job.h"
#include "tests/work.h"

/* LLaMA-3-8B: 32 heads of 128, 8 of keys and values; cp 4, tp 2.  A rank sends (cp-1)/cp of (q + 2 kv)/tp values for
 * each of its 2048 of 8192 tokens before the attention and q/tp after it, both again backward; a ring sends 2 kv/tp
 * values of 3/4 of all 8192 tokens, three times. */
static void by_hand(void **state) {
    (void)state;
    const char *ulysses[] = {"tp=2",
                             "cp=4",
                             "dp=2",
                             "context=all-to-all",
                             "model.sequence=8192",
                             "model.dtype=bf16",
                             "global_batch=4",
                             NULL},
               *ring[] = {"tp=2",
                          "cp=4",
                          "dp=2",
                          "context=ring",
                          "model.sequence=8192",
                          "model.dtype=bf16",
                          "global_batch=4",
                          NULL};
    double T = 2048, q = 32 * 128 / 2, kv = 8 * 128 / 2, layers = 32, m = 2, f = 3. / 4;
    struct fr_job job;
    struct fr_rank_work w[2];
    struct fr_outcome out[2];
    for (int k = 0; k < 2; k++) {
        fr_test_job("dgx-h100", "llama-3-8b", k ? ring : ulysses, &job);
        fr_transformer_stage(&job.workload, &job.plan, 0, &w[k]);
        fr_cost(&job, &job.plan, &out[k]);
        assert_int_equal(out[k].reasons & ~FR_BECAUSE(FR_REASON_MEMORY), 0);
        fr_job_free(&job);
    }
    FR_NEAR(out[0].sent_B[FR_SENT_CP], m * layers * 2 * f * T * (2 * q + 2 * kv) * 2, 1e-12);
    FR_NEAR(out[1].sent_B[FR_SENT_CP], m * layers * 3 * f * 4 * T * 2 * kv * 2, 1e-12);
    /* Both multiply and keep the same; heads of all tokens against a share of all heads' tokens. */
    for (int pass = 0; pass < FR_PASS_ONCE; pass++)
        FR_NEAR(test_flops(&w[0], (fr_pass_kind)pass), test_flops(&w[1], (fr_pass_kind)pass),
                1e-12);
    FR_NEAR(w[0].activation_B, w[1].activation_B, 1e-12);
    for (int k = 0; k < w[0].n_ops; k++)
        if (w[0].op[k].kind == FR_WORK_SCORES && w[0].op[k].pass == FR_PASS_FORWARD &&
            w[0].op[k].shape.n == 8192) {
            assert_true(w[0].op[k].shape.m == 8192);
            assert_true(w[0].op[k].times == layers * 32 / 2 / 4);
        }
}

/* On the way, not beside the attention: as long as its four exchanges, each by the group's own price. */
static void time_by_hand(void **state) {
    (void)state;
    const char *const sets[] = {"cp=4",           "context=all-to-all", "attention=flash",
                                "global_batch=1", "model.dtype=bf16",   NULL};
    struct fr_job job;
    struct fr_outcome out;
    uint32_t extrapolated = 0;
    fr_test_job("dgx-h100", "llama-3-8b", sets, &job);
    fr_cost(&job, &job.plan, &out);
    double T = (double)job.workload.transformer.sequence / 4, q = 4096, kv = 1024;
    struct fr_group four = fr_group_make(&job.cluster.levels, 4, 1);
    double in_s = fr_cluster_comm_s(&job.cluster, FR_OP_ALL_TO_ALL, &four, T * (q + 2 * kv) * 2,
                                    &extrapolated),
           back_s = fr_cluster_comm_s(&job.cluster, FR_OP_ALL_TO_ALL, &four, T * q * 2,
                                      &extrapolated);
    FR_NEAR(out.part_s[FR_PART_CP_COMM], 32 * 2 * (in_s + back_s), 1e-9);
    fr_job_free(&job);
}

static void goes_with_everything(void **state) {
    (void)state;
    static const char *const plans[][8] = {
        {"tp=2", "pp=2", "recompute=full", "zero=1"},
        {"tp=2", "sequence_parallel=true", "zero=3", "attention=flash"},
        {"method=grid", "tp=2", "recompute=selective", "overlap=gradient"},
        {"pp=2", "schedule=zero-bubble", "zero=2", "zero_ranks=2"}};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        const char *sets[14] = {"cp=2", "dp=4", "context=all-to-all", "global_batch=16",
                                "model.dtype=bf16"};
        struct fr_job job;
        struct fr_outcome out;
        struct fr_simulation event;
        for (int k = 0; k < 8; k++) sets[5 + k] = plans[i][k];
        fr_test_job("dgx-h100", "gpt-2", sets, &job);
        fr_cost(&job, &job.plan, &out);
        assert_int_equal(out.reasons, 0);
        assert_int_equal(fr_simulate(&job, &job.plan, NULL, &event, NULL), FR_OK);
        FR_NEAR(event.outcome.time_s, out.time_s, 1e-9);
        FR_NEAR(event.outcome.energy_J, out.energy_J, 1e-9);
        fr_simulation_free(&event);
        fr_job_free(&job);
    }
}

/* GPT-2 has 12 heads: 4 x 3 ranks attend to one each, 4 x 2 cannot; LLaMA's 8 key-value heads take 8. */
static void heads_divide(void **state) {
    (void)state;
    static const struct {
        const char *model, *cp, *tp;
        bool refused;
    } cases[] = {{"gpt-2", "cp=4", "tp=3", false},
                 {"gpt-2", "cp=4", "tp=2", true},
                 {"llama-3-8b", "cp=8", "tp=1", false},
                 {"llama-3-8b", "cp=8", "tp=2", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const sets[] = {cases[i].cp,       cases[i].tp,      "context=all-to-all",
                                    "model.ffn=12288", "global_batch=4", NULL};
        struct fr_job job;
        struct fr_outcome out;
        fr_test_job("dgx-h100", cases[i].model, sets, &job);
        fr_cost(&job, &job.plan, &out);
        assert_int_equal((out.reasons & FR_BECAUSE(FR_REASON_HEADS)) != 0, cases[i].refused);
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand), cmocka_unit_test(time_by_hand),
        cmocka_unit_test(goes_with_everything), cmocka_unit_test(heads_divide)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
