/* How fast the parts that work in bulk are.  One JSON object a line: name, value, unit, and
 * where a figure is compared with another, against and ratio.  Each is the best of several
 * rounds, or processor time: what the code can do, not what else the machine was doing. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/parallel.h"
#include "models/outcome/iteration.h"
#include "search/search.h"
#include "sim/run.h"
#include "sim/unfold.h"
#include "tests/bench/network.h"
#include "tests/bench/transformer.h"

static const struct fr_search_options options = {.objective = FR_OBJECTIVE_TIME,
                                                 .per_iteration = true,
                                                 .top = 10,
                                                 .max_lossy = 1,
                                                 .threads = 1};

struct space_case {
    const char *cluster, *model, *ranks;
    const char *vary[3];
    int n_vary;
};

/* Spaces of about a million plans, as users search them. */
static const struct space_case phantom = {
    "frontier",
    "ffn-16384",
    "8,16,32,64,128,256",
    {"method=phantom,tensor", "ghost=1..2000", "global_batch=64..1024+16"},
    3};
static const struct space_case grid = {
    "cori-knl",
    "alexnet",
    "8..4096*2",
    {"method=grid", "tp=1..64*2", "global_batch=64..1048576+64"},
    3};

struct loaded {
    struct fr_job job;
    struct fr_space space;
};

static fr_status load(const struct space_case *c, struct loaded *l, struct fr_error *err) {
    const struct fr_job_names names = {.cluster = c->cluster, .model = c->model};
    FR_TRY(fr_job_load(&names, &l->job, err));
    return fr_space_make(c->ranks, c->vary, c->n_vary, &l->job.plan, false, false, NULL,
                         &l->space, err);
}

static void unload(struct loaded *l) {
    fr_space_free(&l->space);
    fr_job_free(&l->job);
}

static fr_status search_rate(const struct loaded *l, int threads, double *per_s,
                             double *feasible_share, struct fr_error *err) {
    struct fr_search_options o = options;
    o.threads = threads;
    *per_s = 0;
    for (int round = 0; round < 5; round++) {
        struct fr_search_result result;
        FR_TRY(fr_search(&l->job, &l->space, &o, &result, err));
        double rate = (double)result.evaluated / result.elapsed_s;
        if (rate > *per_s) *per_s = rate;
        *feasible_share = (double)result.feasible / (double)result.evaluated;
        fr_search_result_free(&result);
    }
    return FR_OK;
}

/* The closed form alone, over feasible plans only: an infeasible one costs less. */
static double closed_form_s(const struct loaded *l) {
    enum { PLANS = 1024, REPEATS = 200 };
    static struct fr_plan plans[PLANS];
    int n = 0;
    double best_s = 1e9, sink = 0;
    struct fr_outcome out;
    for (int64_t i = 0; i < l->space.size && n < PLANS; i += l->space.size / 65521 + 1) {
        bool fits = false;
        if (!fr_space_plan(&l->space, &l->job.workload, i, &plans[n], &fits) || !fits) continue;
        fr_cost(&l->job, &plans[n], &out);
        if (!out.reasons) n++;
    }
    if (n == 0) return 0;
    for (int round = 0; round < 5; round++) {
        double start_s = fr_now_s();
        for (int r = 0; r < REPEATS; r++)
            for (int i = 0; i < n; i++) {
                fr_cost(&l->job, &plans[i], &out);
                sink += out.time_s;
            }
        double each_s = (fr_now_s() - start_s) / REPEATS / n;
        if (each_s < best_s) best_s = each_s;
    }
    return sink > 0 ? best_s : 0;
}

static void print(const char *name, const char *space, double value, const char *unit) {
    printf("{\"name\": \"%s\", \"space\": \"%s\", \"value\": %.6g, \"unit\": \"%s\"}\n", name,
           space, value, unit);
    fflush(stdout);
}

static fr_status measure(const char *name, const struct space_case *c, struct fr_error *err) {
    struct loaded l = {0};
    double per_s = 0, all_per_s = 0, share = 0;
    fr_status status = load(c, &l, err);
    if (status == FR_OK) {
        double each_s = closed_form_s(&l);
        print("closed_form_ns", name, 1e9 * each_s, "ns per feasible configuration");
        print("closed_form_configs_per_s", name, 1 / each_s,
              "feasible configurations/s, one core");
        status = search_rate(&l, 1, &per_s, &share, err);
    }
    if (status == FR_OK) {
        print("search_configs_per_s", name, per_s,
              "configurations/s, one core, ranking included");
        print("search_feasible_share", name, share, "1");
        status = search_rate(&l, fr_processors(), &all_per_s, &share, err);
    }
    if (status == FR_OK)
        printf("{\"name\": \"search_scaling\", \"space\": \"%s\", \"value\": %.6g, \"unit\": "
               "\"configurations/s, %d threads\", "
               "\"against\": \"one thread\", \"ratio\": %.4g}\n",
               name, all_per_s, fr_processors(), all_per_s / per_s);
    unload(&l);
    return status;
}

/* A pipeline of 64 stages and 512 micro-batches, laid out once and run many times, and the
 * recurrence over the same passes. */
static fr_status measure_pipeline(struct fr_error *err) {
    enum { STAGES = 64, MICRO = 512, ROUNDS = 40 };
    static struct fr_stage stage[STAGES];
    struct fr_pipeline p = {.schedule = &fr_schedule_one_f_one_b,
                            .args = {.stages = STAGES, .micro_batches = MICRO, .chunks = 1},
                            .stage = stage};
    struct fr_program program = {0};
    double engine_s = 1e9, recurrence_s = 1e9, event_time_s = 0;
    struct fr_pipeline_times closed = {0};
    for (int i = 0; i < STAGES; i++) {
        stage[i].forward.compute_s = 1e-3 * (1 + 0.01 * i);
        stage[i].backward.compute_s = 2 * stage[i].forward.compute_s;
        stage[i].message_s = 2e-6;
    }
    static struct fr_slot slots[STAGES * 2 * MICRO];
    fr_pipeline_order(&p, slots);
    FR_TRY(fr_program_make(&p, &program, err));
    double *class_s = malloc((size_t)program.n_classes * sizeof *class_s);
    double *end_s = malloc((size_t)program.n_tasks * sizeof *end_s);
    fr_status status =
        class_s && end_s ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int round = 0; round < ROUNDS && status == FR_OK; round++) {
        double start_s = fr_now_s();
        fr_price_classes(&p, &program, FR_WITH_ALL, class_s);
        event_time_s = fr_engine_run(&program, class_s, end_s);
        double between_s = fr_now_s();
        status = fr_pipeline_run(&p, FR_WITH_ALL, &closed, err);
        double end = fr_now_s();
        if (between_s - start_s < engine_s) engine_s = between_s - start_s;
        if (end - between_s < recurrence_s) recurrence_s = end - between_s;
    }
    double passes = 2.0 * STAGES * MICRO;
    if (status == FR_OK) {
        print("engine_events_per_s", "1f1b, P = 64, m = 512",
              (double)program.n_tasks / engine_s, "tasks and messages/s, one core");
        print("recurrence_tasks_per_s", "1f1b, P = 64, m = 512", passes / recurrence_s,
              "passes/s, one core");
        print("engine_over_recurrence_time", "1f1b, P = 64, m = 512",
              event_time_s / closed.makespan_s, "1, both predict the same");
    }
    free(class_s);
    free(end_s);
    fr_program_free(&program);
    return status;
}

#define CAPACITY                                                                               \
    "cluster.levels=[{\"name\": \"node\", \"ranks\": 8, \"latency\": \"2 us\", "               \
    "\"bandwidth\": \"300 GB/s\"},"                                                            \
    " {\"name\": \"system\", \"ranks\": 1048576, \"latency\": \"5 us\", \"bandwidth\": "       \
    "\"200 Gb/s\", \"shared_by\": 8}]"

/* gpt-9.2b over dp x pp x tp, from the files to the outcome of the event engine: the replicas of
 * a plan do the same at the same time, so one of each stage stands for all. */
static fr_status simulate_plan(const char *const *sets, int n_sets, double *time_s,
                               struct fr_error *err) {
    const struct fr_job_names names = {
        .cluster = "a100-hdr", .model = "gpt-9.2b", .sets = sets, .n_sets = n_sets};
    struct fr_job job;
    struct fr_simulation simulation = {0};
    double start_s = fr_now_s();
    fr_status status = fr_job_load(&names, &job, err);
    if (status == FR_OK) status = fr_simulate(&job, &job.plan, NULL, &simulation, err);
    *time_s = fr_now_s() - start_s;
    if (status == FR_OK && simulation.outcome.reasons & ~FR_BECAUSE(FR_REASON_MEMORY))
        status = fr_fail(err, FR_ERR_INFEASIBLE, NULL, "the plan is infeasible");
    fr_simulation_free(&simulation);
    fr_job_free(&job);
    return status;
}

static fr_status measure_million(struct fr_error *err) {
    static const char *const sets[] = {"dp=2048", "pp=64", "tp=8", "global_batch=1048576",
                                       CAPACITY};
    struct rusage use;
    double time_s = 0;
    fr_status status = simulate_plan(sets, 5, &time_s, err);
    getrusage(RUSAGE_SELF, &use);
    if (status != FR_OK) return status;
    print("million_ranks_s", "gpt-9.2b, 2048 x 64 x 8, 512 micro-batches", time_s,
          "s, files to outcome, event engine");
    print("million_ranks_MB", "peak of this program so far", (double)use.ru_maxrss / 1024,
          "MiB");
    return FR_OK;
}

/* 32 replicas of 64 stages and 512 micro-batches: folded, as any plan is run, and every replica
 * on its own. */
static fr_status measure_replicas(struct fr_error *err) {
    static const char *const sets[] = {"dp=32", "pp=64", "global_batch=16384", CAPACITY};
    enum { STAGES = 64, MICRO = 512, REPLICAS = 32 };
    static struct fr_stage stage[STAGES];
    static struct fr_slot slots[STAGES * 2 * MICRO];
    const struct fr_network_rank_map rank_map = {.tp = 1, .dp = REPLICAS};
    struct fr_pipeline p = {.schedule = &fr_schedule_one_f_one_b,
                            .args = {.stages = STAGES, .micro_batches = MICRO, .chunks = 1},
                            .stage = stage};
    struct fr_program folded = {0}, all = {0};
    double time_s = 0, *class_s = NULL, *end_s = NULL;
    for (int i = 0; i < STAGES; i++)
        stage[i] = (struct fr_stage){
            .forward = {.compute_s = 1e-3}, .backward = {.compute_s = 2e-3}, .message_s = 1e-5};
    FR_TRY(simulate_plan(sets, 4, &time_s, err));
    print("replicas_64x512x32_s", "gpt-9.2b, one replica stands for all", time_s,
          "s, files to outcome, event engine");
    fr_pipeline_order(&p, slots);
    fr_status status = fr_program_make(&p, &folded, err);
    if (status == FR_OK) status = fr_program_unfold(&folded, &rank_map, &all, err);
    if (status == FR_OK) {
        class_s = malloc((size_t)all.n_classes * sizeof *class_s);
        end_s = calloc((size_t)all.n_tasks, sizeof *end_s);
        if (!class_s || !end_s) status = fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    }
    if (status == FR_OK) {
        fr_price_classes(&p, &all, FR_WITH_ALL, class_s);
        double start_s = fr_now_s();
        fr_engine_run(&all, class_s, end_s);
        print("replicas_64x512x32_unfolded_s", "every replica on its own, one run",
              fr_now_s() - start_s, "s");
    }
    free(class_s);
    free(end_s);
    fr_program_free(&folded);
    fr_program_free(&all);
    return status;
}

int main(void) {
    struct fr_error err = {0};
    fr_status status = measure("phantom", &phantom, &err);
    if (status == FR_OK) status = measure("grid", &grid, &err);
    if (status == FR_OK) status = fr_bench_transformer(&err);
    if (status == FR_OK) status = measure_pipeline(&err);
    if (status == FR_OK) status = measure_million(&err);
    if (status == FR_OK) status = fr_bench_network(&err);
    if (status == FR_OK) status = measure_replicas(&err);
    if (status != FR_OK) fprintf(stderr, "forerun-bench: %s: %s\n", err.where, err.detail);
    return fr_status_exit_code(status);
}
