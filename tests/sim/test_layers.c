/* Layers by tensor, phantom and grid: the closed form, the pipeline of one stage, the event program, and the program
 * with all ranks and every collective simulated by its messages are four ways to the same time on an idle network. */
#include <math.h>
#include <stdlib.h>

#include "models/outcome/cost.h"
#include "models/outcome/iteration.h"
#include "sim/layers.h"
#include "sim/run.h"
#include "tests/job.h"

static const char links[] =
    "cluster.levels=[{\"name\": \"node\", \"ranks\": 4, \"latency\": \"2 us\", \"bandwidth\": "
    "\"50 GB/s\"}, {\"name\": \"system\", \"ranks\": 4096, \"latency\": \"5 us\", "
    "\"bandwidth\": \"25 GB/s\", \"shared_by\": 2}]";
static const char collectives[] = "cluster.collectives={}"; /* algorithms from the levels */

/* Every way of pricing then takes its rates from the same working set. */
static const char rates[] =
    "cluster.device.working_sets={\"size\": [\"1 MB\", \"1 GB\"], \"stream\": [\"9 TB/s\", \"1 "
    "TB/s\"], \"update\": [\"8 TB/s\", \"1 TB/s\"], \"operands\": [\"1 PB/s\", \"2 TB/s\"]}";

/* Broadcasts and reductions along all adapters of the nodes, by name: `auto` takes others at these sizes. */
#define RAIL_CHAIN "{\"form\": \"algorithm\", \"name\": \"rail_chain\"}"
static const char rail_chains[] =
    "cluster.collectives={\"broadcast\": " RAIL_CHAIN ", \"reduce\": " RAIL_CHAIN "}";

static const char *const plans[][8] = {
    {"method=tensor", "tp=8", "dp=2", "global_batch=32", "model.layers=3"},
    {"method=phantom", "ghost=6", "tp=4", "dp=4", "global_batch=32", "model.layers=2"},
    {"method=phantom", "ghost=4", "tp=8", "dp=1", "micro_batch=8", "global_batch=32"},
    {"method=grid", "tp=4", "dp=4", "micro_batch=2", "global_batch=32"},
    {"method=grid", "tp=1", "dp=16", "global_batch=32"},
    {"method=grid", "tp=16", "dp=1", "global_batch=32"},
    {"method=grid", "tp=3", "dp=2", "global_batch=32"},
    {"method=grid", "tp=1", "dp=12", "global_batch=24"}, /* nodes of 8 and 4 */
    {"method=grid", "tp=2", "dp=6", "global_batch=24"},  /* of 8 + 4, and of 4 + 2 at once */
    {"method=tensor", "tp=2", "dp=4", "global_batch=32", "compression.gradient.stages=1",
     "compression.gradient.rank=8", "model.layers=2"},
    {"method=tensor", "tp=4", "dp=4", "global_batch=32", "placement=round-robin",
     "model.layers=2"},
    {"method=phantom", "ghost=6", "tp=4", "dp=2", "global_batch=32", "placement=by-axis:dp",
     "model.layers=1"},
    /* a host slower than the device; products beyond a table */
    {"method=tensor", "tp=2", "dp=2", "global_batch=32", "cluster.device.host_launch=30 us",
     "model.layers=2"},
    {"method=tensor", "tp=2", "dp=2", "global_batch=32", "model.layers=2",
     "cluster.device.gemm={\"fp32\":{\"table\":{\"m\":[64,1024],\"n\":[8,64],\"k\":[64,1024],"
     "\"unit\":\"us\",\"time\":[1,3,3,12,3,12,12,300]}}}"},
    {"method=tensor", "tp=8", "dp=2", "global_batch=32", "model.layers=2", rail_chains},
    {"method=subgraph", "common=subgrid", "tp=4", "dp=2", "global_batch=32", rail_chains},
    {"method=subgraph", "common=subgrid", "tp=2", "dp=3", "global_batch=24", rail_chains},
    /* images divided by height, also unequally, beside filters and fully connected layers */
    {"method=grid", "tp=4", "dp=4", "micro_batch=2", "global_batch=32", "domain=5"},
    {"method=grid", "tp=3", "dp=2", "global_batch=12", "domain=2"},
    /* residual blocks */
    {"method=grid", "tp=4", "dp=2", "global_batch=16", "domain=15", "model.sync_norms=true"},
    {"method=grid", "tp=7", "dp=2", "global_batch=14", "domain=53"},
    {"method=grid", "tp=4", "dp=4", "micro_batch=2", "global_batch=32"},
    {"method=grid", "tp=2", "dp=4", "global_batch=32", "model.sync_norms=true"},
};
enum { PLANS = sizeof plans / sizeof *plans };

static const char *model_of(int k) {
    if (strcmp(plans[k][0], "method=subgraph") == 0) return "attention-branches";
    if (k >= PLANS - 4) return "resnet-50";
    return k >= PLANS - 6 || k == 3 || k == 5 || k == 6 ? "alexnet" : "ffn-16384";
}

static void load(int k, const char *model, struct fr_job *job) {
    const char *sets[16] = {links, collectives, rates};
    int n = 3;
    for (int i = 0; plans[k][i]; i++) {
        if (strncmp(plans[k][i], "model.", 6) == 0 && strcmp(model, "alexnet") == 0) continue;
        sets[n++] = plans[k][i];
    }
    fr_test_job("frontier", model, sets, job);
}

static void same(const struct fr_outcome *got, const struct fr_outcome *want) {
    FR_NEAR(got->time_s, want->time_s, 1e-9);
    FR_NEAR(got->energy_J, want->energy_J, 1e-9);
    FR_NEAR(got->memory_peak_B, want->memory_peak_B, 1e-12);
    FR_NEAR(got->parameters, want->parameters, 1e-12);
    FR_NEAR(got->sent_B[FR_SENT_TP] + 1, want->sent_B[FR_SENT_TP] + 1, 1e-9);
    FR_NEAR(got->sent_B[FR_SENT_DP] + 1, want->sent_B[FR_SENT_DP] + 1, 1e-9);
    assert_true(got->extrapolated == want->extrapolated);
    for (int i = 0; i < FR_PART_COUNT; i++)
        FR_TRUE(fabs(got->part_s[i] - want->part_s[i]) <= 1e-9 * want->time_s,
                "part %s: %g, %g", fr_part_names[i], got->part_s[i], want->part_s[i]);
}

static void events_equal_the_closed_form(void **state) {
    (void)state;
    for (int k = 0; k < PLANS; k++) {
        const char *model = model_of(k);
        for (int as_messages = 0; as_messages < 2; as_messages++) {
            struct fr_job job;
            struct fr_outcome closed;
            struct fr_simulation event;
            struct fr_error err = {0};
            const struct fr_simulate_options how = {.as_messages = as_messages};
            load(k, model, &job);
            fr_cost(&job, &job.plan, &closed);
            FR_TRUE(closed.reasons == 0, "plan %d", k);
            if (fr_simulate(&job, &job.plan, &how, &event, &err) != FR_OK)
                fail_msg("plan %d: %s: %s", k, err.where, err.detail);
            same(&event.outcome, &closed);
            assert_int_equal(event.n_stages, as_messages ? closed.ranks : 1);
            fr_simulation_free(&event);
            fr_job_free(&job);
        }
    }
}

static fr_status recurrence(const void *p, int with, struct fr_pipeline_times *times,
                            struct fr_error *err) {
    return fr_pipeline_run(p, with, times, err);
}

static void one_stage_of(const struct fr_job *job, const struct fr_plan *plan, int *met) {
    struct fr_outcome closed, piped = {.plan = *plan, .ranks = fr_plan_ranks(plan)};
    struct fr_pipeline p;
    fr_cost(job, plan, &closed);
    if (closed.reasons & ~FR_BECAUSE(FR_REASON_MEMORY)) return;
    assert_int_equal(fr_pipeline_make(job, plan, &p, &piped.extrapolated, NULL), FR_OK);
    assert_int_equal(fr_pipeline_outcome(job, &p, recurrence, &p, &piped, NULL), FR_OK);
    same(&piped, &closed);
    assert_int_equal(piped.reasons, closed.reasons);
    fr_pipeline_free(&p);
    ++*met;
}

/* Layers on one stage have a formula of their own: it is the recurrence over that stage's passes,
 * for every method, mesh and micro-batch. */
static void one_stage_is_no_pipeline(void **state) {
    (void)state;
    static const struct {
        const char *model, *method;
        int64_t ghost_neurons;
        bool subgrid;
    } of[] = {{"ffn-16384", "tensor", 0, false},
              {"ffn-16384", "phantom", 3, false},
              {"ffn-16384", "grid", 0, false},
              {"alexnet", "grid", 0, false},
              {"resnet-50", "grid", 0, false},
              {"attention-branches", "subgraph", 0, false},
              {"attention-branches", "subgraph", 0, true}};
    int met = 0;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char method[32], subgrid[32];
        snprintf(method, sizeof method, "method=%s", of[i].method);
        snprintf(subgrid, sizeof subgrid, "common=%s", of[i].subgrid ? "subgrid" : "all");
        const char *sets[] = {links,  collectives,
                              rates,  "global_batch=512",
                              method, of[i].subgrid ? subgrid : NULL,
                              NULL};
        struct fr_job job;
        fr_test_job("frontier", of[i].model, sets, &job);
        struct fr_plan plan = job.plan;
        for (plan.tp = 1; plan.tp <= 64; plan.tp *= 2)
            for (plan.dp = 1; plan.dp <= 64; plan.dp *= 2)
                for (int64_t micro = 0; micro <= 32; micro = micro ? 2 * micro : 1) {
                    plan.micro_batch = micro;
                    plan.ghost = of[i].ghost_neurons;
                    one_stage_of(&job, &plan, &met);
                }
        fr_job_free(&job);
    }
    FR_TRUE(met > 1000, "%d plans are feasible", met);
}

/* With chunks the last stage sends to the first: what enters a layer, as across every other boundary; else it has
 * nobody to send to. */
static void chunks_come_round(void **state) {
    (void)state;
    for (int chunks = 1; chunks <= 2; chunks++) {
        const char *const sets[] = {"pp=4",
                                    "global_batch=8",
                                    "micro_batch=2",
                                    "model.layers=8",
                                    chunks > 1 ? "schedule=interleaved" : "schedule=1f1b",
                                    chunks > 1 ? "chunks=2" : NULL,
                                    NULL};
        struct fr_job job;
        struct fr_pipeline p;
        uint32_t extrapolated = 0;
        fr_test_job("frontier", "ffn-4096", sets, &job);
        assert_int_equal(fr_pipeline_make(&job, &job.plan, &p, &extrapolated, NULL), FR_OK);
        for (int i = 0; i < 4; i++)
            FR_NEAR(p.stage[i].message_B, i < 3 || chunks > 1 ? 2 * 4096 * 4 : 0, 1e-12);
        fr_pipeline_free(&p);
        fr_job_free(&job);
    }
}

/* Any method in a pipeline: both engines agree, the parameters are the model's, stages add up,
 * and without communication the time is (m + P - 1) passes of the equal stages. */
static void methods_in_pipelines(void **state) {
    (void)state;
    static const char *const sets[][8] = {
        {"method=phantom", "ghost=4", "tp=8", "pp=4", "dp=2", "micro_batch=4"},
        {"method=tensor", "tp=4", "pp=2", "dp=2", "schedule=zero-bubble", "overlap=gradient"},
        {"method=grid", "tp=2", "pp=4", "schedule=interleaved", "chunks=2", "micro_batch=8"},
        {"method=phantom", "ghost=4", "tp=4", "pp=3", "stage_layers=[2,3,3]", "p2p=duplex"}};
    for (int k = 0; k < 4; k++) {
        const char *all[16] = {"model.layers=8", "global_batch=64"};
        for (int i = 0; sets[k][i]; i++) all[2 + i] = sets[k][i];
        struct fr_job job;
        struct fr_outcome closed, flat;
        struct fr_simulation event;
        struct fr_error err = {0};
        fr_test_job("frontier", "ffn-16384", all, &job);
        if (fr_simulate(&job, &job.plan, NULL, &event, &err) != FR_OK)
            fail_msg("%s: %s", err.where, err.detail);
        FR_TRUE(event.outcome.reasons == 0, "plan %d: %llx", k,
                (unsigned long long)event.outcome.reasons);
        fr_cost(&job, &job.plan, &closed);
        if (!job.plan.duplex) same(&event.outcome, &closed);
        struct fr_plan one = job.plan; /* the same without pipeline */
        one.pp = one.chunks = 1;
        one.duplex = false;
        one.overlap = false;
        one.schedule = &fr_schedule_one_f_one_b;
        one.stage_layers = NULL;
        one.n_stage_layers = 0;
        fr_cost(&job, &one, &flat);
        FR_NEAR(event.outcome.parameters, flat.parameters, 1e-12);
        fr_simulation_free(&event);
        fr_job_free(&job);
    }
}

static void uniform_stages(void **state) {
    (void)state;
    const char *sets[] = {"model.layers=8",
                          "global_batch=64",
                          "method=phantom",
                          "ghost=4",
                          "tp=8",
                          "pp=4",
                          "micro_batch=4",
                          "cluster.levels=[{\"name\": \"all\", \"ranks\": 4096, \"latency\": "
                          "\"0 s\", \"bandwidth\": \"1000 PB/s\"}]",
                          "cluster.collectives={}",
                          "cluster.device.fixed=0 s",
                          NULL};
    struct fr_job job;
    struct fr_pipeline p;
    struct fr_outcome out;
    uint32_t extrapolated = 0;
    fr_test_job("frontier", "ffn-16384", sets, &job);
    fr_cost(&job, &job.plan, &out);
    assert_int_equal(fr_pipeline_make(&job, &job.plan, &p, &extrapolated, NULL), FR_OK);
    double pass_s = fr_pass_s(&p.stage[0].forward, FR_WITH_ALL) +
                    fr_pass_s(&p.stage[0].backward, FR_WITH_ALL);
    FR_NEAR(out.time_s, (16 + 3) * pass_s + p.stage[0].optimizer_s, 1e-6);
    /* Phantom's activations stay divided: each rank sends its n/p, and nobody gathers. */
    FR_NEAR(p.stage[0].message_B, 4 * 16384.0 / 8 * 4, 1e-15);
    assert_true(p.stage[0].gathered_B <= 0);
    fr_pipeline_free(&p);
    fr_job_free(&job);
}

/* A collective that cannot be simulated by messages is reported. */
static void refuses(void **state) {
    (void)state;
    const char *fitted[] = {"method=tensor", "tp=8", NULL};
    const char *layers[] = {"method=grid", "tp=2", "dp=2", "pp=9", "micro_batch=1", NULL};
    const struct fr_simulate_options how = {.as_messages = true};
    struct fr_job job;
    struct fr_simulation s;
    struct fr_error err = {0};
    fr_test_job("frontier", "ffn-16384", fitted, &job); /* prices collectives by a fit */
    assert_int_equal(fr_simulate(&job, &job.plan, &how, &s, &err), FR_ERR_UNSUPPORTED);
    FR_TRUE(strstr(err.detail, "has no messages"), "%s", err.detail);
    fr_simulation_free(&s);
    fr_job_free(&job);
    struct fr_outcome out;
    fr_test_job("cori-knl", "alexnet", layers, &job);
    fr_cost(&job, &job.plan, &out);
    assert_true(out.reasons & FR_BECAUSE(FR_REASON_STAGES));
    fr_job_free(&job);
}

/* Does @p task wait for @p before, by whatever way?  @p seen: capacity for a mark a task, all of them older. */
static bool waits_for(const struct fr_program *p, int32_t task, int32_t before, int32_t *seen,
                      int32_t mark) {
    if (task == before) return true;
    if (task < before || seen[task] == mark) return false;
    seen[task] = mark;
    for (int k = 0; k < FR_TASK_WAITS_MAX && p->tasks[task].after[k] >= 0; k++)
        if (waits_for(p, p->tasks[task].after[k], before, seen, mark)) return true;
    return false;
}

/* Returns the rank's task after the collective that @p message is of: the last of the tasks that only wait (a task
 * waits for three at most, and several rings end with more). */
static int32_t goes_on(const struct fr_program *p, int32_t message, int32_t rank) {
    int32_t found = -1;
    for (int32_t next = message + 1; next < p->n_tasks; next++) {
        fr_task_kind kind = p->classes[p->tasks[next].class_id].kind;
        if (p->tasks[next].rank != rank) continue;
        if (found >= 0 && kind != FR_TASK_COLLECTIVE) break;
        if (kind != FR_TASK_COLLECTIVE_MESSAGE) found = next;
    }
    return found;
}

/* Collectives by messages: a rank sends after all that it did, and its next work comes after all that it received and
 * sent. */
static void ranks_wait_for_their_messages(void **state) {
    (void)state;
    int messages = 0;
    for (int k = 0; k < PLANS; k++) {
        const char *model = model_of(k);
        struct fr_job job;
        struct fr_program p;
        struct fr_class_price *price = NULL;
        struct fr_error err = {0};
        load(k, model, &job);
        if (fr_layers_make(&job, &job.plan, true, &p, &price, &err) != FR_OK)
            fail_msg("plan %d: %s: %s", k, err.where, err.detail);
        int32_t *seen = calloc((size_t)p.n_tasks + 1, sizeof *seen), mark = 0;
        int32_t last[4096], stop = p.n_tasks < 1500 ? (int32_t)p.n_tasks : 1500;
        for (int r = 0; r < 4096; r++) last[r] = -1;
        for (int32_t m = 0; m < stop; m++) {
            const struct fr_task *task = &p.tasks[m];
            bool message = p.classes[task->class_id].kind == FR_TASK_COLLECTIVE_MESSAGE;
            if (!message) last[task->rank] = m;
            if (!message) continue;
            if (last[task->rank] >= 0)
                FR_TRUE(waits_for(&p, m, last[task->rank], seen, ++mark),
                        "plan %d: message %d of rank %d is before what it did", k, m,
                        task->rank);
            const int32_t ends[] = {task->rank, task->peer};
            int32_t next;
            for (int e = 0; e < 2; e++)
                if ((next = goes_on(&p, m, ends[e])) >= 0)
                    FR_TRUE(waits_for(&p, next, m, seen, ++mark),
                            "plan %d: rank %d goes on at %d without message %d", k, ends[e],
                            next, m);
            messages++;
        }
        free(seen);
        free(price);
        fr_program_free(&p);
        fr_job_free(&job);
    }
    FR_TRUE(messages > 1000, "%d", messages);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(chunks_come_round),
                                       cmocka_unit_test(events_equal_the_closed_form),
                                       cmocka_unit_test(ranks_wait_for_their_messages),
                                       cmocka_unit_test(one_stage_is_no_pipeline),
                                       cmocka_unit_test(methods_in_pipelines),
                                       cmocka_unit_test(uniform_stages),
                                       cmocka_unit_test(refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
