/* A cross-attention adds this to a layer's traffic, by hand: a norm that is read and written and a residual addition
 * that is read twice and written once, three times as much with the backward pass. */
#include "models/outcome/cost.h"
#include "tests/pipeline.h"

/* Time of a micro-batch's passes over memory alone: products take no time, a fused kernel keeps no scores. */
static double pass_s(int cross, double *tokens_B, double *rate) {
    double compute_s[2];
    for (int m = 1; m <= 2; m++) {
        char layers[48], batch[32];
        const char *const sets[] = {
            "cluster.device.gemm={\"fp32\": {\"peak\": \"1e24 FLOP/s\", \"half_dim\": 0}}",
            "attention=flash",
            "micro_batch=2",
            layers,
            batch,
            NULL};
        struct fr_job job;
        struct fr_outcome out;
        snprintf(layers, sizeof layers, "model.cross_layers=%d", cross);
        snprintf(batch, sizeof batch, "global_batch=%d", 2 * m);
        fr_test_job("lassen", "transformer-base", sets, &job);
        fr_cost(&job, &job.plan, &out);
        assert_int_equal(out.reasons & ~FR_BECAUSE(FR_REASON_MEMORY), 0);
        compute_s[m - 1] = out.part_s[FR_PART_COMPUTE];
        *tokens_B =
            2 * (double)(job.workload.transformer.sequence * job.workload.transformer.hidden) *
            4;
        *rate = job.cluster.device.memory_rate_B_per_s;
        fr_job_free(&job);
    }
    return compute_s[1] - compute_s[0];
}

static void each_moves_its_norm_and_residual(void **state) {
    double tokens_B, rate, none_s = pass_s(0, &tokens_B, &rate);
    (void)state;
    for (int cross = 1; cross <= 12; cross += 3)
        FR_NEAR(pass_s(cross, &tokens_B, &rate) - none_s, cross * 3 * (2 + 3) * tokens_B / rate,
                1e-6);
}

struct stages {
    struct fr_job job;
    struct fr_pipeline p;
};

/* Twelve layers on four stages, the last @p cross of a decoder. */
static void make(int cross, const char *const keys[2], struct stages *s) {
    char layers[48];
    const char *const sets[] = {
        "pp=4", "micro_batch=2", "global_batch=16", keys[0], keys[1], layers, NULL};
    snprintf(layers, sizeof layers, "model.cross_layers=%d", cross);
    fr_test_pipeline("lassen", "transformer-base", sets, &s->job, &s->p);
}

static void drop(struct stages *s) { fr_test_pipeline_free(&s->job, &s->p); }

/* Messages are T h values; above the ninth layer, inside a decoder of six, those of the encoder's output
 * besides, both ways, which the last stage keeps with each of its passes. */
static void the_encoder_travels(void **state) {
    static const char *const keys[][2] = {
        {"tp=1", "dp=1"}, {"tp=2", "sequence_parallel=true"}, {"tp=2", "dp=1"}};
    static const double sent[] = {1, 2, 3, 2};
    (void)state;
    for (int k = 0; k < 3; k++) {
        struct stages s, none;
        make(6, keys[k], &s);
        make(0, keys[k], &none);
        const struct fr_transformer *t = &s.job.workload.transformer;
        double tp = (double)s.job.plan.tp, values = 2 * (double)(t->sequence * t->hidden),
               whole_B = values * fr_dtype_saved_B(s.job.workload.dtype);
        for (int i = 0; i < 4; i++) {
            const struct fr_stage *stage = &s.p.stage[i];
            double stored_B = i == 3 ? whole_B / (k == 1 ? tp : 1) : 0;
            FR_NEAR(stage->sent_B[FR_SENT_PP], 8 * sent[i] * whole_B / tp, 1e-12);
            FR_NEAR(stage->gathered_B, k == 2 ? (i == 2 ? 2 : 1) * whole_B : 0, 1e-12);
            FR_NEAR(stage->ends_B - none.p.stage[i].ends_B, stored_B, 1e-12);
            assert_true(i != 2 ||
                        s.p.stage[3].activation_B - stage->activation_B == s.p.stage[3].ends_B);
        }
        drop(&s);
        drop(&none);
    }
}

/* A rank of tp sends this in an iteration of one micro-batch over tp 4, two samples. */
static double sent_B(int cross, const char *const keys[2], double *values_B) {
    char layers[48];
    const char *const sets[] = {
        "tp=4", "micro_batch=2", "global_batch=2", layers, keys[0], keys[1], NULL};
    struct fr_job job;
    struct fr_outcome out;
    snprintf(layers, sizeof layers, "model.cross_layers=%d", cross);
    fr_test_job("lassen", "transformer-base", sets, &job);
    fr_cost(&job, &job.plan, &out);
    assert_int_equal(out.reasons, 0);
    *values_B =
        2 * (double)(job.workload.transformer.sequence * job.workload.transformer.hidden) * 4;
    fr_job_free(&job);
    return out.sent_B[FR_SENT_TP];
}

/* A cross-attention has the exchanges of an attention, T h each, and those of a second input: its gradient is added
 * up; divided along the sequence or the width it is gathered, and its gradient scattered.  In units of (p - 1) / p T h. */
static void the_second_input_is_exchanged(void **state) {
    static const struct {
        const char *keys[2];
        double attention, second;
    } cases[] = {
        {{"method=tensor", NULL}, 2 + 2, 2}, /* all-reduces send twice */
        /* a gather and a scatter each way, and a gather for the weights' gradient */
        {{"method=tensor", "sequence_parallel=true"}, 2 + 2 + 1, 1 + 1 + 1},
        {{"method=grid", NULL}, 1 + 1 + 2 + 2, 2},
        {{"method=phantom", "ghost=4"}, 2 + 2, 1 + 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double values_B, none_B = sent_B(0, cases[i].keys, &values_B),
                         six_B = sent_B(6, cases[i].keys, &values_B);
        FR_NEAR(six_B - none_B, 6 * (cases[i].attention + cases[i].second) * 3 / 4 * values_B,
                1e-9);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_second_input_is_exchanged),
                                       cmocka_unit_test(each_moves_its_norm_and_residual),
                                       cmocka_unit_test(the_encoder_travels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
