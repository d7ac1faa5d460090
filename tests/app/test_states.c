/* A rank computes, communicates, waits or is idle: outcome, stages and trace say how long alike, for
 * methods and axes together; and the trace's memory peaks where the outcome's does. */
#include <math.h>
#include <string.h>

#include "answer/simulate/simulation.h"
#include "base/json.h"
#include "models/outcome/cost.h"
#include "sim/run.h"
#include "tests/job.h"

#define POWER                                                                                  \
    "cluster.device.power.busy=700 W", "cluster.device.power.communicating=310 W",             \
        "cluster.device.power.idle=90 W"
#define BIG "cluster.device.memory=1e6 GB", "cluster.device.memory_margin=0.05"
#define DENSE "dgx-h100", "llama-3-8b"
#define MIXED "dgx-h100", "mixtral-8x7b"
#define PIPE "a100-hdr", "gpt-2.5b"
#define SMALL "micro_batch=1", "global_batch=16", "model.dtype=bf16"

static const struct {
    const char *cluster, *model, *sets[12];
} plans[] = {
    {DENSE, {SMALL, "dp=8"}},
    {DENSE, {SMALL, "dp=8", "zero=1"}},
    {DENSE, {SMALL, "dp=8", "zero=1", "overlap=gradient"}},
    {DENSE, {SMALL, "dp=8", "zero=2"}},
    {DENSE, {SMALL, "dp=8", "zero=2", "overlap=gradient", "cluster.device.interference=0.2"}},
    {DENSE, {SMALL, "dp=8", "zero=3"}},
    {DENSE, {SMALL, "dp=8", "zero=3", "recompute=full", "attention=flash"}},
    {DENSE, {SMALL, "dp=4", "cp=2", "zero=3", "attention=flash", "recompute=selective"}},
    {DENSE, {SMALL, "dp=2", "cp=2", "tp=2", "pp=2", "sequence_parallel=true"}},
    {DENSE, {SMALL, "dp=2", "pp=4", "zero=3"}},
    {DENSE, {SMALL, "dp=8", "zero=3", "cluster.levels.0.bandwidth=2 GB/s"}},
    {MIXED, {SMALL, "dp=8", "ep=8", "attention=flash"}},
    {MIXED, {SMALL, "dp=8", "ep=4", "zero=1", "recompute=full"}},
    {MIXED,
     {SMALL, "dp=4", "cp=2", "ep=4", "zero=3", "overlap_experts=true", "attention=flash"}},
    {MIXED, {SMALL, "dp=4", "tp=4", "ep=8", "etp=1", "sequence_parallel=true", "zero=2"}},
    {PIPE, {"dp=2", "tp=4", "pp=4", "micro_batch=4", "global_batch=64"}},
    {PIPE, {"dp=4", "tp=2", "pp=4", "micro_batch=4", "global_batch=64", "overlap=gradient"}},
    {PIPE,
     {"dp=4", "pp=2", "micro_batch=4", "global_batch=64", "overlap=gradient", "chunks=3",
      "schedule=interleaved", "cluster.levels.1.bandwidth=1 GB/s"}},
    {PIPE,
     {"dp=2", "tp=2", "pp=4", "micro_batch=4", "global_batch=64", "schedule=zero-bubble"}},
    {PIPE,
     {"dp=2", "tp=2", "pp=4", "micro_batch=4", "global_batch=64", "schedule=gpipe",
      "recompute=full"}},
    {PIPE, {"dp=2", "tp=2", "pp=4", "micro_batch=4", "global_batch=64", "p2p=duplex"}},
    {PIPE,
     {"dp=2", "tp=2", "pp=4", "micro_batch=4", "global_batch=64",
      "compression.backward.scope=epilogue", "compression.gradient.stages=2",
      "compression.embedding=fused"}},
    {PIPE,
     {"dp=2", "tp=4", "pp=2", "micro_batch=4", "global_batch=64", "method=phantom", "ghost=8"}},
    {"lassen", "transformer-base", {"method=subgraph", "tp=4", "dp=2", "global_batch=8"}},
    {"lassen",
     "transformer-base",
     {"method=subgraph", "tp=4", "dp=2", "global_batch=8", "common=subgrid"}},
    {"lassen", "attention-branches", {"method=subgraph", "tp=4", "dp=2", "global_batch=8"}},
    {"lassen",
     "attention-branches",
     {"method=subgraph", "tp=4", "dp=2", "global_batch=8", "common=subgrid"}},
    {"frontier", "ffn-4096", {"tp=4", "dp=2"}},
    {"frontier",
     "ffn-4096",
     {"tp=4", "dp=2", "pp=2", "method=phantom", "ghost=8", "micro_batch=1", "global_batch=8"}},
    {"cori-knl", "alexnet", {"method=grid", "tp=4", "dp=4"}},
};

static double number(const struct fr_json *object, const char *key) {
    double value = 0;
    assert_int_equal(fr_json_get_number(object, key, true, -1e18, 1e18, &value, NULL), FR_OK);
    return value;
}

enum { RANKS_MAX = 8 };

/* Energy under the power counters of one rank each [J], and the highest memory [B]. */
static void read_counters(const struct fr_simulation *s, const struct fr_text *text,
                          double energy_J[RANKS_MAX], double *peak_B) {
    struct fr_json_document *document = NULL;
    assert_int_equal(fr_json_parse(text->data, text->length, "trace", &document, NULL), FR_OK);
    struct fr_json root = fr_json_root(document), events = fr_json_member(&root, "traceEvents");
    double since_us[RANKS_MAX] = {0}, last_W[RANKS_MAX] = {0};
    for (int64_t i = 0; i < fr_json_array_length(&events); i++) {
        struct fr_json e = fr_json_element(&events, i), phase = fr_json_member(&e, "ph"),
                       args = fr_json_member(&e, "args"), watts = fr_json_member(&args, "W");
        const char *what = "";
        assert_int_equal(fr_json_text(&phase, &what, NULL), FR_OK);
        if (strcmp(what, "C") != 0) continue;
        int rank = (int)number(&e, "pid");
        assert_true(rank < RANKS_MAX);
        if (!fr_json_present(&watts)) {
            *peak_B = fmax(*peak_B, number(&args, "B"));
            continue;
        }
        double at_us = number(&e, "ts");
        energy_J[rank] += last_W[rank] * (at_us - since_us[rank]) * 1e-6;
        since_us[rank] = at_us, last_W[rank] = number(&args, "W");
    }
    for (int r = 0; r < s->timeline.n_ranks; r++)
        energy_J[r] += last_W[r] * (s->timeline.makespan_s - since_us[r] * 1e-6);
    fr_json_free(document);
}

static void near(int plan, const char *what, double got, double wanted, double tolerance) {
    if (!(fabs(got - wanted) <= tolerance * fmax(fabs(wanted), 1e-9)))
        fail_msg("plan %d (%s %s ...), %s: %.12g, not %.12g", plan, plans[plan].model,
                 plans[plan].sets[0], what, got, wanted);
}

static void check(int k) {
    const char *sets[20] = {POWER, BIG};
    int n = 5;
    struct fr_job job;
    struct fr_outcome closed;
    struct fr_simulation s;
    struct fr_text text = {0};
    double energy_J[RANKS_MAX] = {0}, peak_B = 0, all_J = 0, trace_J = 0;
    for (int i = 0; i < 12 && plans[k].sets[i]; i++) sets[n++] = plans[k].sets[i];
    fr_test_job(plans[k].cluster, plans[k].model, sets, &job);
    const struct fr_simulate_options options = {.timeline = true};
    assert_int_equal(fr_simulate(&job, &job.plan, &options, &s, NULL), FR_OK);
    if (s.outcome.reasons || s.n_stages == 0)
        fail_msg("plan %d: %#llx", k, (unsigned long long)s.outcome.reasons);
    fr_cost(&job, &s.outcome.plan, &closed);
    if (isfinite(closed.time_s)) { /* blocking exchanges have no closed form */
        near(k, "time of the closed form", closed.time_s, s.outcome.time_s, 1e-9);
        near(k, "energy of the closed form", closed.energy_J, s.outcome.energy_J, 1e-9);
        for (int axis = 0; axis < FR_SENT_COUNT; axis++)
            near(k, fr_sent_names[axis], closed.sent_B[axis], s.outcome.sent_B[axis], 1e-12);
    }
    double of_a_stage = (double)(s.outcome.ranks / s.n_stages);
    for (int i = 0; i < s.n_stages; i++) {
        const struct fr_stage_use *use = &s.stages[i];
        near(k, "sum of a rank's states",
             use->busy_s + use->comm_s + use->blocked_s + use->idle_s, s.outcome.time_s, 1e-9);
        all_J += of_a_stage * use->energy_J;
    }
    near(k, "energy of the stages", all_J, s.outcome.energy_part_J[FR_ENERGY_DEVICE], 1e-9);
    assert_int_equal(fr_simulation_trace(&job, &s, &fr_format_chrome, &text, NULL), FR_OK);
    read_counters(&s, &text, energy_J, &peak_B);
    for (int r = 0; r < s.timeline.n_ranks; r++)
        trace_J += of_a_stage * (energy_J[r] + 700 * job.cluster.device.fixed_s);
    near(k, "energy under the trace's counters", trace_J,
         s.outcome.energy_part_J[FR_ENERGY_DEVICE], 1e-5);
    if (s.stages[0].state_B > 0)
        near(k, "the trace's peak of memory", peak_B, s.outcome.memory_peak_B, 1e-9);
    fr_text_free(&text);
    fr_simulation_free(&s);
    fr_job_free(&job);
}

static void states_agree(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof plans / sizeof *plans; k++) check((int)k);
}

/* Where communicating draws what computing does, a sharded rank draws no less. */
static void sharded_ranks_draw_no_less(void **state) {
    double mean_W[2] = {0};
    (void)state;
    for (int k = 0; k < 2; k++) {
        const char *sets[] = {SMALL,
                              "cluster.device.power.communicating=665 W",
                              "cluster.levels.0.bandwidth=5 GB/s",
                              "dp=8",
                              k ? "zero=3" : "zero=0",
                              NULL};
        struct fr_job job;
        struct fr_outcome out;
        fr_test_job(DENSE, sets, &job);
        fr_cost(&job, &job.plan, &out);
        mean_W[k] = out.energy_part_J[FR_ENERGY_DEVICE] / out.time_s / 8;
        /* Neither is ever idle. */
        FR_NEAR(mean_W[k], 665, 1e-9);
        if (k) assert_true(out.part_s[FR_PART_DP_COMM] > out.time_s / 2);
        fr_job_free(&job);
    }
}

/* Two micro-batches by hand: of zero 0 the all-reduce after them, of zero 1 the scatter and the
 * gather, of zero 3 what its gathers and scatters show in the passes. */
static void exposed_gradients_communicate(void **state) {
    (void)state;
    for (int zero = 0; zero <= 3; zero++) {
        char text[16];
        const char *sets[] = {"micro_batch=1",
                              "global_batch=16",
                              "model.dtype=bf16",
                              POWER,
                              "dp=8",
                              text,
                              "cluster.device.fixed=0 s",
                              NULL};
        struct fr_job job;
        struct fr_pipeline p;
        struct fr_outcome out;
        uint32_t extrapolated = 0;
        snprintf(text, sizeof text, "zero=%d", zero);
        fr_test_job(DENSE, sets, &job);
        fr_cost(&job, &job.plan, &out);
        assert_int_equal(fr_pipeline_make(&job, &job.plan, &p, &extrapolated, NULL), FR_OK);
        const struct fr_stage *s = &p.stage[0];
        double comm_s = s->gradient_s + s->beside_s + 2 * (s->forward.dp_s + s->backward.dp_s);
        assert_true(comm_s > 0.01 * out.time_s);
        FR_NEAR(out.energy_part_J[FR_ENERGY_DEVICE],
                8 * (700 * (out.time_s - comm_s) + 310 * comm_s), 1e-9);
        FR_NEAR(out.part_s[FR_PART_DP_COMM], comm_s, 1e-9);
        fr_pipeline_free(&p);
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_agree),
        cmocka_unit_test(sharded_ranks_draw_no_less),
        cmocka_unit_test(exposed_gradients_communicate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
