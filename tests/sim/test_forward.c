/* The forward pass alone: what a training step does forward, and nothing else of it; by both engines. */
#include <math.h>

#include "models/outcome/cost.h"
#include "models/outcome/iteration.h"
#include "models/outcome/rates.h"
#include "sim/run.h"
#include "tests/job.h"
#include "tests/pipeline_case.h"

static const struct row {
    const char *cluster, *model, *sets[8];
} rows[] = {
    {"frontier", "ffn-4096", {"tp=4", "dp=4"}},
    {"frontier", "ffn-4096", {"tp=4", "dp=4", "micro_batch=113", "method=phantom", "ghost=8"}},
    {"frontier", "ffn-4096", {"tp=4", "pp=2", "micro_batch=113"}},
    {"cori-knl", "alexnet", {"method=grid", "tp=4", "dp=8"}},
    {"cori-knl", "resnet-50", {"method=grid", "tp=4", "dp=8"}},
    {"cori-knl", "resnet-50", {"method=grid", "pp=4", "dp=2", "micro_batch=32"}},
    {"lassen", "attention-branches", {"method=subgraph", "tp=2", "dp=2", "common=subgrid"}},
    {"dgx-a100", "gpt-2.5b", {"tp=2", "dp=2", "pp=2", "micro_batch=2"}},
    {"dgx-a100", "gpt-2.5b", {"tp=2", "dp=2", "pp=2", "schedule=interleaved", "chunks=2"}},
    {"dgx-a100", "gpt-2.5b", {"tp=2", "pp=4", "schedule=zero-bubble"}},
    {"dgx-a100", "gpt-2.5b", {"pp=4", "schedule=zero-bubble-v", "chunks=2"}},
    {"dgx-a100", "gpt-2.5b", {"pp=4", "schedule=dualpipe-v", "chunks=2", "micro_batch=2"}},
    {"dgx-a100", "gpt-2.5b", {"tp=2", "dp=4", "zero=3"}},
    {"dgx-a100", "gpt-2.5b", {"dp=8", "zero=3", "zero_ranks=4"}},
    {"dgx-a100", "gpt-2.5b", {"tp=2", "cp=4", "attention=flash"}},
    {"dgx-a100", "gpt-2.5b", {"tp=2", "cp=2", "context=all-to-all"}},
    {"dgx-a100", "gpt-2.5b", {"tp=2", "dp=2", "method=grid"}},
    {"dgx-a100", "gpt-2.5b", {"dp=8", "method=grid", "layer_tp=[2, 4, 1]"}},
    {"cori-knl", "alexnet", {"dp=32", "method=grid", "layer_tp=[1, 1, 1, 1, 1, 8, 8, 8]"}},
    {"dgx-a100", "gpt-2.5b", {"tp=2", "dp=2", "method=subgraph"}},
    {"dgx-a100", "gpt-2.5b", {"tp=2", "dp=2", "method=phantom", "ghost=16"}},
    {"dgx-a100",
     "gpt-2.5b",
     {"tp=2", "dp=2", "method=phantom", "ghost=16", "phantom_parts=all"}},
    {"dgx-h100", "mixtral-8x7b", {"tp=2", "dp=4", "ep=4"}},
    {"frontier", FR_SOURCE_DIR "/tests/golden/in/stages.json", {"pp=4", "global_batch=16"}},
};

static void load(const struct row *row, bool forward, struct fr_job *job) {
    const char *sets[12];
    int n = 0;
    for (; n < 8 && row->sets[n]; n++) sets[n] = row->sets[n];
    if (forward) sets[n++] = "pass=forward";
    sets[n] = NULL;
    fr_test_job(row->cluster, row->model, sets, job);
}

static struct fr_pipeline pipeline_of(const struct fr_job *job) {
    struct fr_pipeline p;
    uint32_t extrapolated = 0;
    assert_int_equal(fr_pipeline_make(job, &job->plan, &p, &extrapolated, NULL), FR_OK);
    return p;
}

/* Each stage's forward pass is a training step's (but for ZeRO 3, whose gathers it also has), and there is no
 * other; what is sent is no more than in a step. */
static void the_forward_pass_of_a_step(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct fr_job job, step;
        struct fr_outcome out, whole;
        struct fr_simulation event;
        load(&rows[k], true, &job);
        load(&rows[k], false, &step);
        fr_cost(&job, &job.plan, &out);
        fr_cost(&step, &step.plan, &whole);
        FR_TRUE(out.reasons == 0, "row %zu: reasons %x", k, (unsigned)out.reasons);
        struct fr_pipeline p = pipeline_of(&job), q = pipeline_of(&step);
        for (int32_t i = 0; i < p.args.stages; i++) {
            const struct fr_stage *a = &p.stage[i], *b = &q.stage[i];
            FR_NEAR(fr_pass_s(&a->forward, FR_WITH_ALL), fr_pass_s(&b->forward, FR_WITH_ALL),
                    1e-12);
            FR_NEAR(a->message_s, b->message_s, 1e-15);
            assert_true(fr_pass_s(&a->backward, FR_WITH_ALL) == 0 && a->gradient_s == 0 &&
                        a->optimizer_s == 0 && a->beside_s == 0 &&
                        a->sent_B[FR_SENT_DP] <= b->sent_B[FR_SENT_DP] / 2 + 1e-9);
            for (int axis = 0; axis < FR_SENT_COUNT; axis++)
                FR_TRUE(a->sent_B[axis] <= b->sent_B[axis] * (1 + 1e-12), "row %zu, axis %d", k,
                        axis);
            if (p.args.stages > 1 && p.args.chunks == 1 && i < p.args.stages - 1)
                FR_NEAR(a->sent_B[FR_SENT_PP], p.args.micro_batches * a->message_B, 1e-12);
        }
        FR_TRUE(out.time_s < whole.time_s && !(out.energy_J >= whole.energy_J),
                "row %zu: %g s and %g J, a step %g s and %g J", k, out.time_s, out.energy_J,
                whole.time_s, whole.energy_J);
        assert_true(isnan(out.iterations) && isnan(out.total_time_s));
        assert_true(out.memory_B[FR_MEMORY_GRADIENTS] <= 0 &&
                    out.memory_B[FR_MEMORY_OPTIMIZER] <= 0 &&
                    out.memory_B[FR_MEMORY_ACTIVATIONS] <= 0);
        if (isfinite(out.parameters)) {
            assert_true(out.memory_peak_B < whole.memory_peak_B);
            assert_true(out.memory_B[FR_MEMORY_BUFFERS] > 0);
            FR_NEAR(out.parameters, whole.parameters, 1e-15);
        }
        struct fr_rates r = fr_rates_of(&job, &out), s = fr_rates_of(&step, &whole);
        if (isfinite(r.model_flop_per_s_per_device))
            FR_NEAR(r.model_flop_per_s_per_device * out.time_s * 3,
                    s.model_flop_per_s_per_device * whole.time_s, 1e-12);
        bool by_layer =
            job.workload.n_layers && job.plan.layer_tp; /* by the closed form only */
        assert_int_equal(fr_simulate(&job, &job.plan, NULL, &event, NULL), FR_OK);
        assert_int_equal(event.outcome.reasons != 0, by_layer);
        if (!by_layer) FR_NEAR(event.outcome.time_s, out.time_s, 1e-12);
        if (!by_layer && isfinite(out.energy_J))
            FR_NEAR(event.outcome.energy_J, out.energy_J, 1e-9);
        fr_simulation_free(&event);
        fr_pipeline_free(&p);
        fr_pipeline_free(&q);
        fr_job_free(&job);
        fr_job_free(&step);
    }
}

/* A step of generation, by both engines: tensor, phantom and a pipeline; its cache is in memory. */
static void a_token(void **state) {
    static const char *const plans[][6] = {
        {"tp=1", "global_batch=1"},
        {"tp=8", "global_batch=16", "micro_batch=16"},
        {"tp=2", "pp=4", "global_batch=16", "micro_batch=4"},
        {"tp=4", "pp=2", "dp=2", "global_batch=16", "micro_batch=1"},
        {"tp=4", "method=phantom", "ghost=16", "global_batch=4", "micro_batch=4"},
        {"tp=4", "method=phantom", "ghost=16", "phantom_parts=all", "pp=2", "global_batch=8"}};
    (void)state;
    for (size_t k = 0; k < sizeof plans / sizeof *plans; k++) {
        const char *sets[12] = {"model.sequence=1", "model.cached=2000", "pass=forward"};
        struct fr_job job;
        struct fr_outcome out;
        struct fr_simulation event;
        for (int i = 0; i < 6 && plans[k][i]; i++) sets[3 + i] = plans[k][i];
        fr_test_job("dgx-h100", "llama-3-8b", sets, &job);
        fr_cost(&job, &job.plan, &out);
        FR_TRUE(out.reasons == 0, "plan %zu: %x", k, (unsigned)out.reasons);
        assert_int_equal(fr_simulate(&job, &job.plan, NULL, &event, NULL), FR_OK);
        FR_NEAR(event.outcome.time_s, out.time_s, 1e-9);
        FR_NEAR(event.outcome.energy_J, out.energy_J, 1e-9);
        double held = (double)(job.plan.global_batch / job.plan.dp),
               layers = ceil(32.0 / (double)job.plan.pp),
               cache_B = held * layers * 2001 * 2 * 1024 / (double)job.plan.tp *
                         fr_dtype_size_B(job.workload.dtype);
        FR_NEAR(out.cache_B, cache_B, 1e-12);
        FR_NEAR(out.memory_B[FR_MEMORY_ACTIVATIONS], cache_B, 1e-12);
        FR_NEAR(event.outcome.memory_peak_B, out.memory_peak_B, 1e-9);
        fr_simulation_free(&event);
        fr_job_free(&job);
    }
}

/* Equal stages: m passes of the last after P - 1 of the others, and P - 1 messages:
 * (m + P - 1) F + (P - 1) c, c at most F; by both engines. */
static void a_pipeline_of_passes(void **state) {
    (void)state;
    for (int P = 1; P <= 6; P++)
        for (int m = 1; m <= 9; m++) {
            struct pipeline_case c;
            case_uniform(&c, &fr_schedule_one_f_one_b, P, m, 1, false, 1, 2, 0.25);
            c.p.forward = true;
            for (int i = 0; i < P; i++)
                c.stage[i].backward.compute_s = c.stage[i].weight.compute_s = 0;
            fr_pipeline_order(&c.p, c.slots);
            assert_int_equal(c.p.n_slots, m);
            FR_NEAR(case_closed_s(&c, true), m + P - 1 + 0.25 * (P - 1), 1e-12);
            FR_NEAR(case_event_s(&c, true), m + P - 1 + 0.25 * (P - 1), 1e-12);
        }
}

/* A key that a backward pass alone reads is refused. */
static void nothing_backward(void **state) {
    static const char *const keys[] = {"recompute=full",
                                       "overlap=gradient",
                                       "compression.gradient.stages=1",
                                       "compression.backward.scope=all",
                                       "compression.embedding=fused",
                                       "iterations=100"};
    (void)state;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const char *sets[] = {"pp=2", "dp=2", "pass=forward", keys[k], NULL};
        struct fr_job job;
        fr_test_job("a100-hdr", "gpt-2.5b", sets, &job);
        FR_TRUE(fr_pipeline_check(&job, &job.plan) & FR_BECAUSE(FR_REASON_IDLE_KEY), "%s",
                keys[k]);
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_forward_pass_of_a_step), cmocka_unit_test(a_token),
        cmocka_unit_test(a_pipeline_of_passes), cmocka_unit_test(nothing_backward)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
