/* An encoder alone by hand: what BERT has that GPT-2 has not. */
#include <math.h>

#include "models/outcome/cost.h"
#include "models/price/pipeline.h"
#include "models/work/transformer.h"
#include "models/workload/flop.h"
#include "sim/run.h"
#include "tests/job.h"
#include "tests/work.h"

static struct fr_rank_work stage(const char *const *sets, struct fr_job *job) {
    struct fr_rank_work work;
    fr_test_job("dgx-h100", "gpt-2", sets, job);
    test_stage(&job->workload, &job->plan, 0, &work);
    return work;
}

#define PLAN                                                                                   \
    "model.dtype=bf16", "micro_batch=2", "global_batch=16", "attention=flash",                 \
        "model.sequence=512"
#define HEAD                                                                                   \
    "model.causal=false", "model.masked_head=true", "model.pooler=true", "model.token_types=2"

/* Twice a causal attention's flop; of model flop, which counts both whole, the head's alone. */
static void flop_by_hand(void **state) {
    (void)state;
    static const char *const gpt[] = {PLAN, NULL}, *const bert[] = {PLAN, HEAD, NULL};
    struct fr_job a, b;
    struct fr_rank_work decoder = stage(gpt, &a), encoder = stage(bert, &b);
    double T = 1024, h = 768, head = 2 * T * h * h;
    for (int pass = FR_PASS_FORWARD; pass <= FR_PASS_INPUT; pass++) {
        FR_NEAR(test_sum(&encoder, FR_WORK_ATTENTION, (fr_pass_kind)pass),
                2 * test_sum(&decoder, FR_WORK_ATTENTION, (fr_pass_kind)pass), 1e-12);
        FR_NEAR(test_flops(&encoder, (fr_pass_kind)pass) -
                    test_flops(&decoder, (fr_pass_kind)pass),
                head, 1e-9);
    }
    const struct fr_counted encoding = {.workload = &b.workload, .palm = true},
                            decoding = {.workload = &a.workload, .palm = true};
    FR_NEAR(fr_counted_flop(&encoding) - fr_counted_flop(&decoding), 3 * head / 2, 1e-9);
    /* the product's, the activation's and the norm's input; two values moved by each of these two */
    FR_NEAR(encoder.ends_B - decoder.ends_B, 3 * T * h * 2, 1e-9);
    FR_NEAR(test_sum(&encoder, FR_WORK_TRAFFIC, FR_PASS_FORWARD) -
                test_sum(&decoder, FR_WORK_TRAFFIC, FR_PASS_FORWARD),
            4 * T * h * 2, 1e-9);
    fr_job_free(&a);
    fr_job_free(&b);
}

/* On every rank of tp, but the logits' biases; with sequence parallel each of four makes it of a quarter of the tokens. */
static void divided_by_hand(void **state) {
    (void)state;
    static const char *const gpt[] = {PLAN, "tp=4", "sequence_parallel=true", NULL},
                             *const bert[] = {PLAN, HEAD, "tp=4", "sequence_parallel=true",
                                              NULL};
    struct fr_job a, b;
    struct fr_rank_work decoder = stage(gpt, &a), encoder = stage(bert, &b);
    double h = 768, whole = 2 * h + 2 * (h * h + h) + 2 * h + 2 * h + 2;
    FR_NEAR(encoder.parameters - decoder.parameters, whole + 50257, 0);
    FR_NEAR(encoder.parameters_rank - decoder.parameters_rank, whole + 50257.0 / 4, 1e-9);
    FR_NEAR(test_flops(&encoder, FR_PASS_WEIGHT) - test_flops(&decoder, FR_PASS_WEIGHT),
            2 * 256 * h * h, 1e-9);
    fr_job_free(&a);
    fr_job_free(&b);
}

/* Every method divides what is before the head, and the event engine agrees. */
static void beside_other_axes(void **state) {
    (void)state;
    static const char *const plans[][6] = {{"tp=4", "method=grid"},
                                           {"tp=2", "method=subgraph"},
                                           {"tp=2", "method=phantom", "ghost=4"},
                                           {"pp=4", "dp=2", "zero=1"},
                                           {"pp=2", "cp=2", "recompute=full"},
                                           {"tp=2", "dp=4", "zero=3", "recompute=selective"},
                                           {"model.lora_rank=8", "tp=2", "pp=2"},
                                           {"tp=2", "pp=2", "model.dtype=fp8"},
                                           {"model.document=128", "dp=2"},
                                           {"tp=2", "pass=forward"},
                                           {"model.pattern=*-", "pp=2"}};
    for (size_t k = 0; k < sizeof plans / sizeof *plans; k++) {
        const char *sets[20] = {PLAN, HEAD};
        struct fr_job job;
        struct fr_outcome out;
        struct fr_simulation event;
        int n = 0;
        while (sets[n]) n++;
        for (int i = 0; i < 6 && plans[k][i]; i++) sets[n++] = plans[k][i];
        fr_test_job("dgx-h100", "gpt-2", sets, &job);
        fr_cost(&job, &job.plan, &out);
        FR_TRUE(out.reasons == 0, "case %zu: %llx", k, (unsigned long long)out.reasons);
        assert_int_equal(fr_simulate(&job, &job.plan, NULL, &event, NULL), FR_OK);
        FR_NEAR(event.outcome.time_s, out.time_s, 1e-9);
        fr_simulation_free(&event);
        fr_job_free(&job);
    }
    static const struct {
        const char *model, *set, *detail;
    } bad[] = {{"t5-large-mod", "model.causal=false", "cross_layers"},
               {"gpt-2", "model.token_types=-1", "expected 0 to 1048576"},
               {"gpt-2", "model.causal=1", "true"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        struct fr_error err = fr_test_refused("dgx-h100", bad[k].model, bad[k].set);
        FR_TRUE(strstr(err.detail, bad[k].detail), "%s: %s", bad[k].set, err.detail);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(flop_by_hand),
                                       cmocka_unit_test(divided_by_hand),
                                       cmocka_unit_test(beside_other_axes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
