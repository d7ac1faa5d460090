#include "tests/bench/network.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "models/outcome/cost.h"
#include "sim/run.h"

enum { STAGES = 64, MICRO = 512, ROUNDS = 20 };

struct runs {
    struct fr_network_work work;
    double *class_s, *start_s, *end_s;
    double makespan_s;
};

/* Best of several runs; of SimGrid one, and only while it simulates. */
static fr_status wall_s(const struct fr_network *network, struct runs *r, double *best_s,
                        struct fr_error *err) {
    void *state = NULL;
    fr_status status = network->open ? network->open(&r->work, &state, err) : FR_OK;
    *best_s = 1e9;
    for (int round = 0; round < (network->wall_s ? 1 : ROUNDS) && status == FR_OK; round++) {
        double began_s = fr_now_s();
        status = network->run(&r->work, state, r->class_s, r->start_s, r->end_s, &r->makespan_s,
                              err);
        double took_s = fr_now_s() - began_s;
        if (status == FR_OK && network->wall_s) took_s = network->wall_s(state);
        if (took_s < *best_s) *best_s = took_s;
    }
    if (network->close && state) network->close(state);
    return status;
}

static void print_ratio(const char *name, const char *plan, double value, const char *unit,
                        const char *against, double ratio) {
    printf("{\"name\": \"%s\", \"space\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", "
           "\"against\": \"%s\", \"ratio\": %.4g}\n",
           name, plan, value, unit, against, ratio);
    fflush(stdout);
}

static fr_status run_shared(struct runs *r, const char *plan, double *shared_s,
                            struct fr_error *err) {
    FR_TRY(wall_s(&fr_network_shared, r, shared_s, err));
    printf("{\"name\": \"engine_events_per_s\", \"space\": \"%s, shared network\", \"value\": "
           "%.6g, \"unit\": \"tasks and messages/s, one core\"}\n",
           plan, (double)r->work.program->n_tasks / *shared_s);
    fflush(stdout);
    return FR_OK;
}

/* 1F1B over 64 stages with 1 MB messages, on 16 nodes of 8 ranks: the same program by both of our
 * networks and by SimGrid. */
static fr_status run_all(struct runs *r, const char *plan, struct fr_error *err) {
    double tasks = (double)r->work.program->n_tasks, isolated_s, shared_s, simgrid_s;
    FR_TRY(wall_s(&fr_network_isolated, r, &isolated_s, err));
    FR_TRY(run_shared(r, plan, &shared_s, err));
    double ours_s = r->makespan_s;
    fr_status status = wall_s(&fr_network_simgrid, r, &simgrid_s, err);
    if (status == FR_ERR_EXTERNAL) { /* not built here */
        fprintf(stderr, "forerun-bench: %s: %s\n", err->where, err->detail);
        return FR_OK;
    }
    if (status != FR_OK) return status;
    char against[128];
    snprintf(against, sizeof against, "SimGrid 3.32, %.6g activities/s, while it simulates",
             tasks / simgrid_s);
    print_ratio("engine_over_simgrid", plan, tasks / isolated_s,
                "tasks and messages/s, isolated network", against, simgrid_s / isolated_s);
    print_ratio("shared_over_simgrid", plan, tasks / shared_s,
                "tasks and messages/s, shared network", against, simgrid_s / shared_s);
    printf("{\"name\": \"engine_over_simgrid_time\", \"space\": \"%s\", \"value\": %.9g, "
           "\"unit\": \"1, both predict the same\"}\n",
           plan, ours_s / r->makespan_s);
    return FR_OK;
}

/* Programs of 4,000 to 130,000 tasks: the smallest stays in a core's nearest cache. */
static fr_status measure_micro_batches(int32_t micro, struct fr_error *err) {
    static struct fr_stage stage[STAGES];
    static struct fr_slot slots[STAGES * 2 * MICRO];
    const struct fr_job_names names = {.cluster = "a100-hdr", .model = "gpt-8.3b"};
    struct fr_pipeline p = {.schedule = &fr_schedule_one_f_one_b,
                            .args = {.stages = STAGES, .micro_batches = micro, .chunks = 1},
                            .message_B = 1e6,
                            .stage = stage};
    struct fr_program program = {0};
    struct fr_job job = {0};
    FR_TRY(fr_job_load(&names, &job, err));
    for (int i = 0; i < STAGES; i++) {
        struct fr_group pair =
            fr_group_pairs(&job.cluster.levels, i, (i + 1) % STAGES, 1, 1, STAGES);
        stage[i].forward.compute_s = 1e-3 * (1 + 0.01 * i);
        stage[i].backward.compute_s = 2 * stage[i].forward.compute_s;
        stage[i].message_s = pair.outer.latency_s + 1e6 * pair.outer.s_per_B;
    }
    fr_pipeline_order(&p, slots);
    fr_status status = fr_program_make(&p, &program, err);
    struct runs r = {
        .work = {.cluster = &job.cluster, .program = &program, .rank_map = {1, 1, NULL}}};
    size_t classes = (size_t)program.n_classes, tasks = (size_t)program.n_tasks;
    r.class_s = calloc(2 * classes + 2 * tasks + 1, sizeof *r.class_s);
    if (status == FR_OK && !r.class_s)
        status = fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    if (status == FR_OK) {
        double *class_B = r.class_s + classes;
        r.start_s = class_B + classes;
        r.end_s = r.start_s + tasks;
        r.work.class_B = class_B;
        for (size_t c = 0; c < classes; c++) class_B[c] = 1e6;
        fr_price_classes(&p, &program, FR_WITH_ALL, r.class_s);
        char plan[64];
        double shared_s;
        snprintf(plan, sizeof plan, "1f1b, P = 64, m = %d, nodes of 8", (int)micro);
        status = micro == MICRO ? run_all(&r, plan, err) : run_shared(&r, plan, &shared_s, err);
    }
    free(r.class_s);
    fr_program_free(&program);
    fr_job_free(&job);
    return status;
}

/* Shapes of 100,000 ranks and more: files to outcome, closed form and shared network. */
static fr_status measure_topologies(struct fr_error *err) {
    static const char *const shapes[] = {
        "cluster.topology=rack:704 node:18 gpu:8",
        "cluster.topology=fat-tree down=32,32,13 up=16,32",
        "cluster.topology=torus size=24,24,24",
        "cluster.topology=dragonfly groups=49 routers=16 ports=16 global=8",
        "cluster.topology=rail pod=128 up=64 pods=98"};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const char *sets[] = {"tp=8",          "pp=16",  "dp=768", "global_batch=24576",
                              "micro_batch=1", shapes[k]};
        const struct fr_job_names names = {
            .cluster = "a100-hdr", .model = "gpt-9.2b", .sets = sets, .n_sets = 6};
        const struct fr_simulate_options how = {.network = &fr_network_shared};
        struct fr_simulation simulation = {0};
        struct fr_job job = {0};
        struct fr_outcome closed = {0};
        double began_s = fr_now_s(), closed_s = 0;
        fr_status status = fr_job_load(&names, &job, err);
        int64_t ranks = status == FR_OK ? fr_levels_capacity(&job.cluster.levels) : 0;
        if (status == FR_OK) fr_cost(&job, &job.plan, &closed);
        closed_s = fr_now_s() - began_s;
        if (status == FR_OK) status = fr_simulate(&job, &job.plan, &how, &simulation, err);
        double shared_s = fr_now_s() - began_s - closed_s;
        if (status == FR_OK && (closed.reasons || simulation.outcome.reasons))
            status = fr_fail(err, FR_ERR_INFEASIBLE, shapes[k], "the plan is infeasible");
        if (status == FR_OK)
            printf("{\"name\": \"topology_100k_ranks_s\", \"space\": \"%s, %lld ranks, plan of "
                   "98304\", \"value\": %.4g, \"unit\": \"s, files to closed form\", "
                   "\"shared_network_s\": %.4g}\n",
                   shapes[k] + sizeof "cluster.topology=" - 1, (long long)ranks, closed_s,
                   shared_s);
        fflush(stdout);
        fr_simulation_free(&simulation);
        fr_job_free(&job);
        if (status != FR_OK) return status;
    }
    return FR_OK;
}

fr_status fr_bench_network(struct fr_error *err) {
    for (int32_t micro = 16; micro < MICRO; micro *= 4)
        FR_TRY(measure_micro_batches(micro, err));
    FR_TRY(measure_micro_batches(MICRO, err));
    return measure_topologies(err);
}
