/* Messages in order: the closed form's lines against the engine's queues, for random pipelines on slow links over all
 * schedules.  Where the closed form has each message alone, it may be 1 % too fast. */
#include <stdlib.h>
#include <unistd.h>

#include "models/outcome/cost.h"
#include "sim/run.h"
#include "tests/job.h"
#include "tests/plan_values.h"

static double uniform(uint64_t *dice, double low, double high) {
    return low + (high - low) * (double)fr_test_random(dice, 1 << 20) / (1 << 20);
}

static void write_times(FILE *file, const char *name, uint64_t *dice, int n, double mean_ms) {
    fprintf(file, ", \"%s\": [", name);
    for (int i = 0; i < n; i++)
        fprintf(file, "%s\"%.6g ms\"", i ? ", " : "", mean_ms * uniform(dice, 0.6, 1.4));
    fprintf(file, "]");
}

/* Stages of about 1 ms forward, all alike or each its own. */
static const char *stages_file(uint64_t *dice, int stages) {
    static char path[64];
    snprintf(path, sizeof path, "/tmp/forerun-test-lines-%d.json", (int)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "{\"kind\": \"stages\", \"message\": \"1 MB\"");
    if (fr_test_random(dice, 2)) {
        write_times(file, "forward", dice, stages, 1);
        write_times(file, "backward", dice, stages, 2);
        write_times(file, "weight", dice, stages, 0.7);
    } else
        fprintf(file, ", \"forward\": \"1 ms\", \"backward\": \"2 ms\", \"weight\": \"1 ms\"");
    fprintf(file, "}");
    fclose(file);
    return path;
}

enum { SETS = 24, SET = 64 };

struct sets {
    char word[SETS][SET];
    const char *list[SETS + 1];
    int n;
};

static void say(struct sets *s, const char *key, const char *format, ...) {
    va_list values;
    char value[SET];
    va_start(values, format);
    vsnprintf(value, sizeof value, format, values);
    va_end(values);
    assert_true(s->n < SETS);
    snprintf(s->word[s->n], SET, "%.30s=%.30s", key, value);
    s->list[s->n] = s->word[s->n];
    s->list[++s->n] = NULL;
}

#define ONE_OF(dice, list) list[fr_test_random(dice, sizeof(list) / sizeof *(list))]

/* A message of 1 MB takes @p pass_ms times as long as a pass, by the replicas that share an adapter. */
static void draw(uint64_t *dice, struct sets *s, int *stages, double *pass) {
    static const char *const schedules[] = {"1f1b",        "gpipe",         "interleaved",
                                            "zero-bubble", "zero-bubble-v", "dualpipe-v",
                                            "1f1b-double"};
    static const char *const orders[] = {"tp-pp-dp", "tp-dp-pp"};
    static const char *const placements[] = {"linear", "linear", "linear", "round-robin",
                                             "by-axis:pp-dp-tp"};
    static const int many[] = {2, 3, 4, 6, 8, 16}, few[] = {1, 1, 2, 4}, nodes[] = {1, 2, 4, 8};
    const char *schedule = ONE_OF(dice, schedules);
    bool two = strcmp(schedule, "zero-bubble-v") == 0 || strcmp(schedule, "dualpipe-v") == 0,
         more = strcmp(schedule, "interleaved") == 0;
    int m = 0, tp = ONE_OF(dice, few), dp = ONE_OF(dice, few), node = ONE_OF(dice, nodes);
    *s = (struct sets){.n = 0};
    *stages = ONE_OF(dice, many);
    m = *stages * (1 + (int)fr_test_random(dice, 4));
    if (two) m += *stages;
    *pass = uniform(dice, 0.1, 5);
    say(s, "schedule", "%s", schedule);
    if (two || more) say(s, "chunks", "%d", two ? 2 : 2 + (int)fr_test_random(dice, 2));
    say(s, "pp", "%d", *stages);
    say(s, "tp", "%d", tp);
    say(s, "dp", "%d", dp);
    say(s, "micro_batch", "1");
    say(s, "global_batch", "%d", m * dp);
    say(s, "rank_order", "%s", ONE_OF(dice, orders));
    say(s, "placement", "%s", ONE_OF(dice, placements));
    if (fr_test_random(dice, 6) == 0) say(s, "pass", "forward");
    say(s, "cluster.levels.0.ranks", "%d", node);
    say(s, "cluster.levels.1.ranks", "%d", 4096);
    say(s, "cluster.levels.1.shared_by", "%d", fr_test_random(dice, 2) ? node : 1);
    say(s, "cluster.levels.1.latency", "%.3g us", uniform(dice, 0, 100));
    say(s, "cluster.levels.1.bandwidth", "%.6g GB/s", 1 / *pass * tp);
    say(s, "cluster.levels.0.bandwidth", "%.6g GB/s",
        fr_test_random(dice, 2) ? 300 : 1.5 / *pass);
}

static void in_order_is_exact(void **state) {
    const int plans = fr_sample(20000, 700);
    uint64_t dice = 0x2545f4914f6cdd1du;
    int lined = 0, alone = 0;
    double worst_alone = 0;
    (void)state;
    for (int k = 0; k < plans; k++) {
        struct sets sets;
        struct fr_job job;
        struct fr_outcome closed;
        struct fr_simulation event, plain;
        int stages;
        double pass;
        const struct fr_simulate_options queues = {.network = &fr_network_shared};
        draw(&dice, &sets, &stages, &pass);
        const char *path = stages_file(&dice, stages);
        fr_test_job("a100-hdr", path, sets.list, &job);
        unlink(path);
        fr_cost(&job, &job.plan, &closed);
        if (closed.reasons) {
            fr_job_free(&job);
            continue;
        }
        char stated[SETS * SET] = "";
        for (int i = 0; i < sets.n; i++)
            snprintf(stated + strlen(stated), sizeof stated - strlen(stated), "%s ",
                     sets.word[i]);
        assert_int_equal(fr_simulate(&job, &job.plan, &queues, &event, NULL), FR_OK);
        assert_int_equal(fr_simulate(&job, &job.plan, NULL, &plain, NULL), FR_OK);
        double off = fabs(closed.time_s / event.outcome.time_s - 1);
        FR_TRUE(fabs(plain.outcome.time_s / closed.time_s - 1) <= 1e-9,
                "%s: %.17g s, by default %.17g s", stated, closed.time_s, plain.outcome.time_s);
        if (closed.messages == FR_MESSAGES_IN_ORDER) {
            lined++;
            FR_TRUE(off <= 1e-9, "%s: %.17g s, by queues %.17g s", stated, closed.time_s,
                    event.outcome.time_s);
        } else {
            alone++;
            worst_alone = fmax(worst_alone, off);
        }
        fr_simulation_free(&event);
        fr_simulation_free(&plain);
        fr_job_free(&job);
    }
    FR_TRUE(worst_alone <= 0.015, "each alone, off by %g", worst_alone);
    FR_TRUE(lined > plans / 4 && alone > plans / 50, "%d, %d", lined, alone);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_order_is_exact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
