/* A plan and its model start from these where nothing is stated: each key where something reads it, none that was
 * stated; the assumed values are printed, and stating them gives the same number. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "models/job/assume.h"
#include "models/job/condition.h"
#include "models/job/release.h"
#include "models/outcome/cost.h"
#include "models/plan/key.h"
#include "tests/job.h"
#include "tests/plan_values.h"

static void load(const char *const *sets, struct fr_job *job) {
    fr_test_job("dgx-h100", FR_SOURCE_DIR "/tests/models/hf/llama-3-8b.json", sets, job);
}

static void each_where_it_is_read(void **state) {
    (void)state;
#define SEQUENCE "model.sequence 8192, model.gradient_dtype bf16, "
    static const struct {
        const char *sets[5];
        bool sequence, overlap;
        const char *wanted;
    } want[] = {
        {{NULL}, false, false, SEQUENCE "attention flash, loss fused"},
        {{"tp=8", NULL},
         true,
         false,
         SEQUENCE "sequence_parallel true, attention flash, loss fused"},
        {{"dp=8", NULL},
         false,
         true,
         SEQUENCE "attention flash, overlap gradient, bucket 80 MB, loss fused"},
        {{"dp=8", "pp=2", NULL},
         false,
         true,
         SEQUENCE "rank_order tp-dp-pp, attention flash, overlap gradient, bucket 80 MB, "
                  "loss fused"},
        {{"dp=8", "zero=3", NULL}, false, false, SEQUENCE "attention flash, loss fused"},
        {{"dp=8", "model.sequence=8192", "model.gradient_dtype=fp32", NULL},
         false,
         true,
         "attention flash, overlap gradient, bucket 160 MB, loss fused"},
        {{"tp=8", "dp=2", "compression.gradient.stages=1", NULL},
         true,
         false,
         SEQUENCE "sequence_parallel true, attention flash, loss fused"},
    };
#undef SEQUENCE
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct fr_job job;
        char line[FR_ASSUMED];
        load(want[i].sets, &job);
        assert_int_equal(job.plan.attention, FR_ATTENTION_FLASH);
        assert_int_equal(job.plan.sequence_parallel, want[i].sequence);
        assert_int_equal(job.plan.overlap, want[i].overlap);
        assert_string_equal(fr_job_assumed(&job, NULL, line, sizeof line), want[i].wanted);
        fr_job_free(&job);
    }
}

static void what_is_said_stays(void **state) {
    (void)state;
    static const char *const wanted[] = {"tp=4",
                                         "dp=2",
                                         "pp=2",
                                         "zero=1",
                                         "loss=unfused",
                                         "attention=plain",
                                         "overlap=none",
                                         "rank_order=tp-pp-dp",
                                         "sequence_parallel=false",
                                         "model.sequence=4096",
                                         "model.gradient_dtype=fp32",
                                         NULL};
    static const char *const old[] = {
        "tp=4", "dp=2", "zero=1", "model.sequence=4096", "pp=2", "model.defaults=2019", NULL};
    const char *const *sets[] = {wanted, old};
    for (int i = 0; i < 2; i++) {
        struct fr_job job;
        char line[FR_ASSUMED];
        load(sets[i], &job);
        assert_int_equal(job.plan.attention, FR_ATTENTION_PLAIN);
        assert_false(job.plan.sequence_parallel || job.plan.overlap);
        assert_int_equal(job.plan.rank_order, FR_ORDER_TP_PP_DP);
        assert_int_equal(job.workload.gradient_dtype, FR_FP32);
        assert_string_equal(fr_job_assumed(&job, NULL, line, sizeof line), "");
        fr_job_free(&job);
    }
}

/* Models of layers, of the papers, and methods that divide otherwise are left as they were. */
static void others_are_left_alone(void **state) {
    (void)state;
    static const char *const grid[] = {"method=grid", "tp=4", "dp=2", NULL}, *const plain[] = {
                                                                                 "tp=4", "dp=2",
                                                                                 NULL};
    struct fr_job job;
    load(grid, &job);
    assert_int_equal(job.assumed, 0);
    fr_job_free(&job);
    fr_test_job("dgx-h100", "gpt3-175b", plain, &job);
    assert_int_equal(job.assumed, 0);
    fr_job_free(&job);
    fr_test_job("frontier", "ffn-16384", plain, &job);
    assert_int_equal(job.assumed, 0);
    fr_job_free(&job);
}

/* ---- random partial plans --------------------------------------------------------------------------- */

enum { SETS_MAX = 48, SET_MAX = 160 };

struct drawn {
    const char *cluster, *model;
    char text[SETS_MAX][SET_MAX];
    int n;
};

static void add(struct drawn *d, const char *key, const char *value) {
    assert_true(d->n < SETS_MAX);
    snprintf(d->text[d->n++], SET_MAX, "%s=%s", key, value);
}

static void add_number(struct drawn *d, const char *key, int64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    add(d, key, text);
}

static void draw(uint64_t *dice, struct drawn *d) {
    static const char *const clusters[] = {"dgx-h100", "gb300-nvl72", "dgx-b200", "dgx-a100"},
                             *const models[] = {"llama-3-8b", "deepseek-v3", "qwen3-30b-a3b",
                                                FR_SOURCE_DIR
                                                "/tests/models/hf/mixtral-8x7b.json"},
                             *const stated[][2] = {{"attention", "plain"},
                                                   {"zero", "0"},
                                                   {"overlap", "none"},
                                                   {"rank_order", "tp-pp-dp"},
                                                   {"sequence_parallel", "false"},
                                                   {"dispatch_ranks", "1"},
                                                   {"graphs", "none"},
                                                   {"overlap_experts", "false"},
                                                   {"recompute", "full"},
                                                   {"model.gradient_dtype", "fp32"}};
    int model = (int)fr_test_random(dice, 4);
    int64_t tp = 1 << fr_test_random(dice, 4), pp = 1 << fr_test_random(dice, 4),
            dp = 1 << fr_test_random(dice, 5), micro = 1 << fr_test_random(dice, 3);
    d->n = 0;
    d->cluster = clusters[fr_test_random(dice, 4)];
    d->model = models[model];
    add_number(d, "tp", tp);
    add_number(d, "pp", pp);
    add_number(d, "dp", dp);
    if (fr_test_random(dice, 2)) add_number(d, "micro_batch", micro);
    add_number(d, "global_batch", dp * micro << fr_test_random(dice, 3));
    if (model > 0) add_number(d, "ep", 1 << fr_test_random(dice, 4));
    if (pp > 1 && fr_test_random(dice, 2)) {
        add(d, "schedule", "interleaved");
        add_number(d, "chunks", 1 + (int64_t)fr_test_random(dice, 3));
    }
    if (fr_test_random(dice, 2)) add(d, "runtime.date", "2026-08");
    if (strcmp(d->cluster, "dgx-a100") != 0 && fr_test_random(dice, 2))
        add(d, "model.dtype", "fp8");
    else
        add(d, "model.dtype", "bf16");
    if (model == 1 && fr_test_random(dice, 2)) add(d, "model.predicted_tokens", "1");
    if (model == 0 && fr_test_random(dice, 3) == 0) {
        add(d, "model.lora_rank", "16");
        if (fr_test_random(dice, 2)) add(d, "model.sequence", "4096");
    }
    for (size_t i = 0; i < sizeof stated / sizeof *stated; i++)
        if ((model > 0 || i < 5) && fr_test_random(dice, 6) == 0)
            add(d, stated[i][0], stated[i][1]);
}

/* NULL where the documents are refused. */
static bool try_load(const struct drawn *d, struct fr_job *job) {
    const char *sets[SETS_MAX];
    for (int i = 0; i < d->n; i++) sets[i] = d->text[i];
    const struct fr_job_names names = {
        .cluster = d->cluster, .model = d->model, .sets = sets, .n_sets = d->n};
    if (fr_job_load(&names, job, NULL) == FR_OK) return true;
    fr_job_free(job);
    return false;
}

static struct fr_runtime newest;

/* Words and formulas that stand for what depends on the plan. */
static bool of_rule(const char *value) {
    return strcmp(value, "domain") == 0 || strcmp(value, "lighter") == 0 ||
           strncmp(value, "max(", 4) == 0;
}

static int row_of(const char *key, const char *value) {
    struct fr_assumption a;
    for (int i = 0; fr_assumption_at(&newest, i, &a); i++)
        if (strcmp(a.key, key) == 0 && (of_rule(a.value) || strcmp(a.value, value) == 0))
            return i;
    return -1;
}

/* The line, as --set takes it; of stage_layers the list. */
static void state(const struct fr_job *job, struct drawn *d, int *seen) {
    char line[FR_ASSUMED], *rest = NULL;
    fr_job_assumed(job, NULL, line, sizeof line);
    for (char *one = strtok_r(line, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        while (*one == ' ') one++;
        char *value = strchr(one, ' '), list[SET_MAX] = "[";
        size_t used = 1;
        assert_non_null(value);
        *value++ = '\0';
        if (strcmp(one, "stage_layers") == 0) {
            for (int i = 0; i < job->plan.n_stage_layers; i++)
                used += (size_t)snprintf(list + used, sizeof list - used, "%s%lld",
                                         i ? ", " : "", (long long)job->plan.stage_layers[i]);
            snprintf(list + used, sizeof list - used, "]");
            value = list;
        }
        int row = row_of(one, value);
        if (strcmp(one, "model.sequence") != 0) {
            FR_TRUE(row >= 0, "%s %s is of no row", one, value);
            seen[row]++;
        }
        add(d, one, value);
    }
}

/* A law of 1,500 partial plans, every day of 400: what was taken, stated, gives the same number and leaves nothing to take, with the defaults of
 * 2019 too; it never makes a plan impossible; and every row of the table is taken and printed somewhere. */
static void stated_is_taken(void **state_) {
    uint64_t dice = 340;
    int seen[64] = {0}, priced = 0, n = 0;
    (void)state_;
    const int draws = fr_sample(1500, 400);
    for (int k = 0; k < draws; k++) {
        struct drawn d;
        struct fr_job job, again;
        struct fr_outcome one, other, bare;
        char line[FR_ASSUMED];
        draw(&dice, &d);
        /* Software of 2019 holds nothing of its own. */
        add(&d, "cluster.device.dummy_gradients", "0");
        add(&d, "cluster.device.workspace", "0 B");
        add(&d, "cluster.device.grouped_workspace", "0 B");
        if (!try_load(&d, &job)) continue;
        fr_cost(&job, &job.plan, &one);
        struct fr_plan without = job.plan;
        fr_job_forget(&job, job.open, &without);
        fr_cost(&job, &without, &bare);
        fr_reasons more = one.reasons & ~bare.reasons & ~FR_BECAUSE(FR_REASON_MEMORY);
        FR_TRUE(more == 0, "case %d: impossible by %llx", k, (unsigned long long)more);
        state(&job, &d, seen);
        if (job.workload.kind && !strchr(d.model, '/')) add(&d, "model.defaults", "2019");
        assert_true(try_load(&d, &again));
        fr_cost(&again, &again.plan, &other);
        FR_TRUE(memcmp(&one.time_s, &other.time_s, sizeof one.time_s) == 0 ||
                    (isnan(one.time_s) && isnan(other.time_s)),
                "case %d: %.17g s, stated %.17g s", k, one.time_s, other.time_s);
        FR_TRUE(memcmp(&one.memory_peak_B, &other.memory_peak_B, sizeof one.memory_peak_B) ==
                        0 ||
                    isnan(one.memory_peak_B),
                "case %d: %.17g B, stated %.17g B", k, one.memory_peak_B, other.memory_peak_B);
        assert_string_equal(fr_job_assumed(&again, NULL, line, sizeof line), "");
        priced += isfinite(one.time_s);
        fr_job_free(&job);
        fr_job_free(&again);
    }
    struct fr_assumption a;
    for (; fr_assumption_at(&newest, n, &a); n++)
        FR_TRUE(seen[row_of(a.key, a.value)] > 0, "%s was never taken", a.key);
    FR_TRUE(priced > draws / 3, "%d were priced", priced);
}

/* docs/reference/runtime-keys.md has the table. */
static void every_row_is_documented(void **state_) {
    struct fr_assumption a;
    char *docs = NULL, line[512];
    size_t length = 0;
    (void)state_;
    assert_int_equal(fr_file_read(FR_SOURCE_DIR "/docs/reference/runtime-keys.md",
                                  FR_FILE_MAX_B, &docs, &length, NULL),
                     FR_OK);
    for (int i = 0; fr_assumption_at(&newest, i, &a); i++) {
        snprintf(line, sizeof line, "| `%s` | %s | %s | %s |", a.key, a.value, a.when, a.why);
        FR_TRUE(strstr(docs, line) != NULL,
                "docs/reference/runtime-keys.md does not have the line\n%s", line);
    }
    free(docs);
}

/* docs/reference/runtime-keys.md has them; of facts: tests/documents. */
static void every_condition_is_documented(void **state_) {
    char *docs = NULL, line[512];
    size_t length = 0;
    (void)state_;
    assert_int_equal(fr_file_read(FR_SOURCE_DIR "/docs/reference/runtime-keys.md",
                                  FR_FILE_MAX_B, &docs, &length, NULL),
                     FR_OK);
    for (int i = 0; fr_condition_names[i]; i++) {
        snprintf(line, sizeof line, "`%s`", fr_condition_names[i]);
        FR_TRUE(strstr(docs, line) != NULL,
                "docs/reference/runtime-keys.md has no condition %s", line);
    }
    free(docs);
}

/* A runtime that says lighter is taken at its word for models without further tokens, too.  Stage i has the layers from
 * i c on, at most c = ceil(L / pp), where that leaves the last stage some and fewer. */
static void any_model_may_have_lighter_stages(void **state) {
    enum { LAYERS = 32 };
    (void)state;
    for (int pp = 1; pp <= LAYERS; pp++) {
        char stages[16];
        snprintf(stages, sizeof stages, "pp=%d", pp);
        const char *sets[] = {stages, "runtime.stage_layers=lighter", NULL};
        int c = (LAYERS + pp - 1) / pp, last = LAYERS - (pp - 1) * c;
        struct fr_job job;
        load(sets, &job);
        if (last < 1 || last == c)
            FR_TRUE(job.plan.n_stage_layers == 0, "pp %d", pp);
        else
            for (int i = 0; i < pp; i++)
                assert_int_equal(job.plan.stage_layers[i], i < pp - 1 ? c : last);
        fr_job_free(&job);
    }
}

static int read_newest(void **state) {
    char name[FR_RUNTIME_NAME];
    (void)state;
    fr_release_newest(true, "hopper", NULL, name);
    return fr_runtime_read(name, &newest, NULL) != FR_OK;
}

static int free_newest(void **state) {
    (void)state;
    fr_runtime_free(&newest);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_where_it_is_read),
                                       cmocka_unit_test(what_is_said_stays),
                                       cmocka_unit_test(others_are_left_alone),
                                       cmocka_unit_test(stated_is_taken),
                                       cmocka_unit_test(any_model_may_have_lighter_stages),
                                       cmocka_unit_test(every_row_is_documented),
                                       cmocka_unit_test(every_condition_is_documented)};
    return cmocka_run_group_tests(tests, read_newest, free_newest);
}
