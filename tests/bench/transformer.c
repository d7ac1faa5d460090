/* gpt3-175b on 4096 ranks: twelve keys, and the seven million plans of fifteen. */
#include "tests/bench/transformer.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "models/outcome/bounded.h"
#include "search/search.h"

#define MESH "tp=1..8*2", "pp=1,2,4,8,16,32,64"
#define STATE                                                                                  \
    "recompute=none,selective,full", "sequence_parallel=false,true", "overlap=none,gradient",  \
        "zero=0..3", "attention=plain,flash"
#define MICRO "micro_batch=1,2,4,8"

static const char *const twelve[] = {MESH,
                                     "schedule=1f1b,interleaved",
                                     "chunks=1,2,4",
                                     "compression.gradient.stages=0,1,2,4",
                                     "compression.gradient.rank=32,128",
                                     STATE,
                                     MICRO};
static const char *const fifteen[] = {MESH,
                                      "rank_order=tp-pp-dp,tp-dp-pp",
                                      "schedule=1f1b,interleaved,zero-bubble",
                                      "chunks=1,2,3,4,6",
                                      "compression.backward.scope=none,all",
                                      "compression.backward.rank=16,64",
                                      "compression.gradient.stages=0,1,2,4,8,16,32",
                                      "compression.gradient.rank=16,32,64,128",
                                      STATE,
                                      MICRO};

struct loaded {
    struct fr_job job;
    struct fr_space space;
};

/* @p links: between nodes, or NULL */
static fr_status load_on(const char *links, const char *const *vary, int n_vary,
                         const char *memory, struct loaded *l, struct fr_error *err) {
    const char *sets[4] = {"global_batch=1536"};
    int n_sets = 1;
    if (memory) sets[n_sets++] = memory;
    if (links) sets[n_sets++] = links;
    if (links) sets[n_sets++] = "cluster.collectives={}"; /* messages at the links' rate */
    const struct fr_job_names names = {
        .cluster = "dgx-a100", .model = "gpt3-175b", .sets = sets, .n_sets = n_sets};
    *l = (struct loaded){.space = {.size = 0}};
    FR_TRY(fr_job_load(&names, &l->job, err));
    return fr_space_make("4096", vary, n_vary, &l->job.plan, false, false, NULL, &l->space,
                         err);
}

static fr_status load(const char *const *vary, int n_vary, const char *memory, struct loaded *l,
                      struct fr_error *err) {
    return load_on(NULL, vary, n_vary, memory, l, err);
}

static void unload(struct loaded *l) {
    fr_space_free(&l->space);
    fr_job_free(&l->job);
}

static void print(const char *name, const char *space, double value, const char *unit) {
    printf("{\"name\": \"%s\", \"space\": \"%s\", \"value\": %.6g, \"unit\": \"%s\"}\n", name,
           space, value, unit);
    fflush(stdout);
}

struct counts {
    double evaluated, feasible, processor_s, elapsed_s;
};

/* Processor time that this program has had. */
static double processor_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Its counts, and the processor time of the fastest of some rounds. */
static fr_status search(const struct loaded *l, int threads, bool exhaustive, int rounds,
                        struct counts *counts, struct fr_error *err) {
    const struct fr_search_options options = {.per_iteration = true,
                                              .top = 10,
                                              .max_lossy = 1,
                                              .threads = threads,
                                              .exhaustive = exhaustive};
    double least_s = 1e9;
    for (int round = 0; round < rounds; round++) {
        struct fr_search_result result;
        double start_s = processor_s();
        fr_status status = fr_search(&l->job, &l->space, &options, &result, err);
        least_s = fmin(least_s, processor_s() - start_s);
        *counts = (struct counts){(double)result.evaluated, (double)result.feasible, least_s,
                                  result.elapsed_s};
        fr_search_result_free(&result);
        if (status != FR_OK) return status;
    }
    return FR_OK;
}

static bool priced(const void *context, struct fr_outcome *out) {
    (void)context;
    return !out->reasons;
}

/* Feasible plans from all over the space, in stretches of its own order. */
enum { STRETCHES = 64, STRETCH = 64 };

static int draw(const struct loaded *l, struct fr_pricer *pricer, struct fr_plan *plans) {
    struct fr_outcome out;
    int n = 0;
    for (int s = 0; s < STRETCHES; s++) {
        int64_t i = l->space.size / STRETCHES * s, end = i + l->space.size / STRETCHES;
        for (int k = 0; k < STRETCH && i < end; i++) {
            bool fits = false;
            if (!fr_space_plan(&l->space, &l->job.workload, i, &plans[n], &fits) || !fits)
                continue;
            fr_cost_bounded(pricer, &plans[n], priced, NULL, &out);
            k += !out.reasons;
            n += !out.reasons;
        }
    }
    return n;
}

/* Each priced to the end; seconds a plan. */
static double closed_form_s(const struct loaded *l, struct fr_pricer *pricer) {
    static struct fr_plan plans[STRETCHES * STRETCH + 1];
    struct fr_outcome out;
    double best_s = 1e9;
    int n = draw(l, pricer, plans);
    for (int round = 0; round < 20 && n > 0; round++) {
        double start_s = processor_s();
        for (int i = 0; i < n; i++) fr_cost_bounded(pricer, &plans[i], priced, NULL, &out);
        best_s = fmin(best_s, (processor_s() - start_s) / n);
    }
    return best_s;
}

static fr_status measure_rates(struct fr_error *err) {
    enum { N = sizeof twelve / sizeof *twelve };
    struct loaded l;
    struct counts counts = {0};
    fr_status status = load(twelve, N, NULL, &l, err);
    if (status == FR_OK) status = search(&l, 1, false, 10, &counts, err);
    if (status == FR_OK)
        print("search_transformer_plans_per_s", "gpt3-175b, 4096 ranks, 12 keys, decided",
              counts.evaluated / counts.processor_s, "plans/s of one core's time");
    unload(&l);
    if (status == FR_OK) status = load(twelve, N, "cluster.device.memory=10 TB", &l, err);
    if (status == FR_OK) status = search(&l, 1, true, 5, &counts, err);
    struct fr_pricer *pricer = status == FR_OK ? fr_pricer_make(&l.job) : NULL;
    if (pricer) {
        print("search_transformer_plans_per_s",
              "gpt3-175b, 4096 ranks, 12 keys, every feasible plan priced",
              counts.feasible / counts.processor_s,
              "feasible plans/s of one core's time, the others decided besides");
        print("closed_form_configs_per_s", "transformer pipeline",
              1 / closed_form_s(&l, pricer),
              "feasible configurations/s of one core's time, as a search prices them");
    }
    fr_pricer_free(pricer);
    unload(&l);
    return status;
}

/* Plans/s of one core's time with links of some rate: decided, or every feasible one priced. */
static fr_status rate_on(const char *links, bool priced_all, double *per_s,
                         struct fr_error *err) {
    enum { N = sizeof twelve / sizeof *twelve };
    struct loaded l;
    struct counts counts = {0};
    fr_status status =
        load_on(links, twelve, N, priced_all ? "cluster.device.memory=10 TB" : NULL, &l, err);
    if (status == FR_OK) status = search(&l, 1, priced_all, 5, &counts, err);
    *per_s = (priced_all ? counts.feasible : counts.evaluated) / counts.processor_s;
    unload(&l);
    return status;
}

/* Where messages hold up one another, beside the same plans where links are fast. */
static fr_status measure_slow_links(struct fr_error *err) {
    static const char *const links[] = {"10 Gb/s", "2.4 Gb/s"};
    for (int all = 0; all < 2; all++) {
        double fast_per_s = 0, per_s = 0;
        FR_TRY(rate_on("cluster.levels.1.bandwidth=200 Gb/s", all, &fast_per_s, err));
        for (size_t k = 0; k < sizeof links / sizeof *links; k++) {
            char set[64];
            snprintf(set, sizeof set, "cluster.levels.1.bandwidth=%s", links[k]);
            FR_TRY(rate_on(set, all, &per_s, err));
            printf("{\"name\": \"search_slow_links_plans_per_s\", \"space\": \"gpt3-175b, 4096 "
                   "ranks, 12 keys, %s, %s\", \"value\": %.6g, \"unit\": \"plans/s of one "
                   "core's time\", \"against\": \"200 Gb/s\", \"ratio\": %.4g}\n",
                   links[k], all ? "every feasible plan priced" : "decided", per_s,
                   per_s / fast_per_s);
            fflush(stdout);
        }
    }
    return FR_OK;
}

fr_status fr_bench_transformer(struct fr_error *err) {
    enum { N = sizeof fifteen / sizeof *fifteen };
    struct loaded l;
    struct counts counts = {0};
    struct rusage before, after;
    FR_TRY(measure_rates(err));
    FR_TRY(measure_slow_links(err));
    fr_status status = load(fifteen, N, NULL, &l, err);
    getrusage(RUSAGE_SELF, &before);
    if (status == FR_OK) status = search(&l, 0, false, 1, &counts, err);
    getrusage(RUSAGE_SELF, &after);
    if (status == FR_OK) {
        print("search_175b_plans", "gpt3-175b, 4096 ranks, 15 keys", counts.evaluated,
              "plans that differ");
        print("search_175b_s", "gpt3-175b, 4096 ranks, 15 keys", counts.elapsed_s,
              "s, all cores");
        print("search_175b_processor_s", "gpt3-175b, 4096 ranks, 15 keys", counts.processor_s,
              "s of processor time");
        print("search_175b_MB", "gpt3-175b, 4096 ranks, 15 keys",
              (double)(after.ru_maxrss - before.ru_maxrss) / 1024,
              "MiB more than this program held before");
    }
    unload(&l);
    return status;
}
