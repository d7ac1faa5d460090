/** @file
 *  Random pipelines of all schedules whose messages take about as long as their passes. */
#ifndef FR_TESTS_SLOW_LINKS_H
#define FR_TESTS_SLOW_LINKS_H

#include <stdlib.h>
#include <unistd.h>

#include "tests/job.h"
#include "tests/plan_values.h"

static inline double slow_uniform(uint64_t *dice, double low, double high) {
    return low + (high - low) * (double)fr_test_random(dice, 1 << 20) / (1 << 20);
}

static inline void slow_write_times(FILE *file, const char *name, uint64_t *dice, int n,
                                    double mean_ms) {
    fprintf(file, ", \"%s\": [", name);
    for (int i = 0; i < n; i++)
        fprintf(file, "%s\"%.6g ms\"", i ? ", " : "", mean_ms * slow_uniform(dice, 0.6, 1.4));
    fprintf(file, "]");
}

/* Stages of about 1 ms forward, all alike or each its own; the caller removes the file. */
static inline const char *slow_stages_file(uint64_t *dice, int stages) {
    static char path[64];
    snprintf(path, sizeof path, "/tmp/forerun-test-slow-%d.json", (int)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "{\"kind\": \"stages\", \"message\": \"1 MB\"");
    if (fr_test_random(dice, 2)) {
        slow_write_times(file, "forward", dice, stages, 1);
        slow_write_times(file, "backward", dice, stages, 2);
        slow_write_times(file, "weight", dice, stages, 0.7);
    } else
        fprintf(file, ", \"forward\": \"1 ms\", \"backward\": \"2 ms\", \"weight\": \"1 ms\"");
    fprintf(file, "}");
    fclose(file);
    return path;
}

enum { SLOW_SETS = 24, SLOW_SET = 64 };

struct slow_sets {
    char word[SLOW_SETS][SLOW_SET];
    const char *list[SLOW_SETS + 1];
    int n;
};

static inline void slow_say(struct slow_sets *s, const char *key, const char *format, ...) {
    va_list values;
    char value[SLOW_SET];
    va_start(values, format);
    vsnprintf(value, sizeof value, format, values);
    va_end(values);
    assert_true(s->n < SLOW_SETS);
    snprintf(s->word[s->n], SLOW_SET, "%.30s=%.30s", key, value);
    s->list[s->n] = s->word[s->n];
    s->list[++s->n] = NULL;
}

#define SLOW_ONE_OF(dice, list) list[fr_test_random(dice, sizeof(list) / sizeof *(list))]

/* A message of 1 MB takes @p pass_ms times as long as a pass, by the replicas that share an adapter. */
static inline void slow_draw(uint64_t *dice, struct slow_sets *s, int *stages, double *pass) {
    static const char *const schedules[] = {"1f1b",        "gpipe",         "interleaved",
                                            "zero-bubble", "zero-bubble-v", "dualpipe-v",
                                            "1f1b-double"};
    static const char *const orders[] = {"tp-pp-dp", "tp-dp-pp"};
    static const char *const placements[] = {"linear", "linear", "linear", "round-robin",
                                             "by-axis:pp-dp-tp"};
    static const int many[] = {2, 3, 4, 6, 8, 16}, few[] = {1, 1, 2, 4}, nodes[] = {1, 2, 4, 8};
    const char *schedule = SLOW_ONE_OF(dice, schedules);
    bool two = strcmp(schedule, "zero-bubble-v") == 0 || strcmp(schedule, "dualpipe-v") == 0,
         more = strcmp(schedule, "interleaved") == 0;
    int m = 0, tp = SLOW_ONE_OF(dice, few), dp = SLOW_ONE_OF(dice, few),
        node = SLOW_ONE_OF(dice, nodes);
    *s = (struct slow_sets){.n = 0};
    *stages = SLOW_ONE_OF(dice, many);
    m = *stages * (1 + (int)fr_test_random(dice, 4));
    if (two) m += *stages;
    if (*stages <= 4 && fr_test_random(dice, 6) == 0) m *= 8;
    *pass = slow_uniform(dice, 0.1, 5);
    slow_say(s, "schedule", "%s", schedule);
    if (two || more) slow_say(s, "chunks", "%d", two ? 2 : 2 + (int)fr_test_random(dice, 2));
    slow_say(s, "pp", "%d", *stages);
    slow_say(s, "tp", "%d", tp);
    slow_say(s, "dp", "%d", dp);
    slow_say(s, "micro_batch", "1");
    slow_say(s, "global_batch", "%d", m * dp);
    slow_say(s, "rank_order", "%s", SLOW_ONE_OF(dice, orders));
    slow_say(s, "placement", "%s", SLOW_ONE_OF(dice, placements));
    if (fr_test_random(dice, 6) == 0) slow_say(s, "pass", "forward");
    slow_say(s, "cluster.levels.0.ranks", "%d", node);
    slow_say(s, "cluster.levels.1.ranks", "%d", 4096);
    slow_say(s, "cluster.levels.1.shared_by", "%d", fr_test_random(dice, 2) ? node : 1);
    slow_say(s, "cluster.levels.1.latency", "%.3g us", slow_uniform(dice, 0, 100));
    slow_say(s, "cluster.levels.1.bandwidth", "%.6g GB/s", 1 / *pass * tp);
    slow_say(s, "cluster.levels.0.bandwidth", "%.6g GB/s",
             fr_test_random(dice, 2) ? 300 : 1.5 / *pass);
}

/* The next pipeline as a job, and its settings in words.  Free the job with fr_job_free. */
static inline void slow_job(uint64_t *dice, struct fr_job *job,
                            char stated[SLOW_SETS * SLOW_SET]) {
    struct slow_sets sets;
    int stages;
    double pass;
    slow_draw(dice, &sets, &stages, &pass);
    const char *path = slow_stages_file(dice, stages);
    fr_test_job("a100-hdr", path, sets.list, job);
    unlink(path);
    stated[0] = 0;
    for (int i = 0; i < sets.n; i++)
        snprintf(stated + strlen(stated), SLOW_SETS * SLOW_SET - strlen(stated), "%s ",
                 sets.word[i]);
}

#endif
