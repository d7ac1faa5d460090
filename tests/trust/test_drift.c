/* Software beyond the releases that are known: wider with time, never narrower, and no preset is. */
#include "models/job/drift.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/job/job.h"
#include "models/job/preset.h"
#include "models/job/runtime.h"
#include "tests/cmocka.h"
#include "trust/interval.h"

static void load(const char *runtime, const char *const *sets, int n, struct fr_job *job) {
    const struct fr_job_names names = {.cluster = "dgx-h100",
                                       .model = "llama-3-8b",
                                       .runtime = runtime,
                                       .sets = sets,
                                       .n_sets = n};
    struct fr_error err = {0};
    if (fr_job_load(&names, job, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
}

static struct fr_interval interval_of(const char *runtime, const char *const *sets, int n) {
    struct fr_tune_result *known = calloc(1, sizeof *known);
    struct fr_interval of;
    struct fr_job job;
    load(runtime, sets, n, &job);
    fr_interval_known(&job.cluster, job.workload.dtype, known);
    fr_interval_plan(known, &job.workload, &job.plan, &of);
    fr_job_free(&job);
    free(known);
    return of;
}

static double half(const struct fr_interval *of) { return log(of->high_s / of->low_s) / 2; }

static void presets_have_not_drifted(void **state) {
    (void)state;
    for (const struct fr_preset *p = fr_presets; p->name; p++) {
        struct fr_job job;
        char line[FR_DRIFT_LINE];
        if (strcmp(p->kind, "runtime") != 0) continue;
        load(p->name, NULL, 0, &job);
        FR_TRUE(job.cluster.drift.years == 0, "%s: %g", p->name, job.cluster.drift.years);
        assert_string_equal(fr_drift_line(&job.cluster.drift, line, sizeof line), "");
        fr_job_free(&job);
    }
}

/* The same to the last bit without any fact of drift: what it adds to a preset is nothing. */
static void no_number_of_a_preset_moves(void **state) {
    static const char *const none[] = {"runtime.drift=null"}, *const moved[] = {
                                                                  "runtime.drift=-0.2"};
    (void)state;
    const struct fr_interval plain = interval_of("megatron-bridge-26.06", NULL, 0),
                             with = interval_of("megatron-bridge-26.06", none, 1),
                             more = interval_of("megatron-bridge-26.06", moved, 1);
    assert_memory_equal(&plain, &with, sizeof plain);
    assert_memory_equal(&plain, &more, sizeof plain);
}

static void it_is_wider_with_time(void **state) {
    static const char *const dates[] = {"2026-06",    "2026-07", "2026-08-20", "2026-12",
                                        "2027-03-15", "2028-01", "2029",       "2036"};
    double before = -1, years = -1;
    (void)state;
    const struct fr_interval preset = interval_of("megatron-bridge-26.06", NULL, 0);
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
        char set[64];
        const char *const sets[] = {set};
        struct fr_job job;
        snprintf(set, sizeof set, "runtime.date=%s", dates[i]);
        const struct fr_interval of = interval_of("megatron-bridge-26.06", sets, 1);
        assert_true(of.model_s == preset.model_s && of.expected_s == preset.expected_s);
        FR_TRUE(half(&of) > before || (i == 0 && half(&of) == half(&preset)), "%s: %g after %g",
                dates[i], half(&of), before);
        assert_true(half(&of) >= half(&preset));
        load("megatron-bridge-26.06", sets, 1, &job);
        FR_TRUE(job.cluster.drift.years > years, "%s: %g", dates[i], job.cluster.drift.years);
        double wanted = hypot(half(&preset), 1.645 * 0.11 * sqrt(job.cluster.drift.years));
        FR_NEAR(half(&of) / wanted, 1, 1e-3);
        before = half(&of), years = job.cluster.drift.years;
        fr_job_free(&job);
    }
}

/* A user's own, with and without a date, with and without what it comes from. */
static void own_software_says_so(void **state) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{\"name\": \"mine\", \"from\": \"megatron-bridge-26.06\"}", "without a date"},
        {"{\"name\": \"mine\"}", "without a date"},
        {"{\"name\": \"mine\", \"from\": \"megatron-bridge-26.06\", \"date\": \"2027-03\"}",
         "software of 2027-03 is 0.8 years beyond megatron-bridge-26.06: interval wider by 10 "
         "%"},
        {"{\"name\": \"mine\", \"from\": \"nemo-25.04\", \"date\": \"2025-01\"}",
         "0.2 years before nemo-25.04"},
        {"{\"name\": \"mine\", \"date\": \"2027-03\"}", "beyond megatron-bridge-26.06"},
        {"{\"name\": \"mine\", \"from\": \"megatron-bridge-26.06\", \"date\": \"2026-06\"}",
         ""},
        {"{\"name\": \"mine\", \"date\": \"2027-03\", \"facts\": [{\"key\": \"drift\", "
         "\"value\": 0, "
         "\"width\": 0.3, \"source\": \"ours\", \"date\": \"2027-03\"}]}",
         "wider by 30 %"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fr_job job;
        char line[FR_DRIFT_LINE];
        load(cases[i].text, NULL, 0, &job);
        fr_drift_line(&job.cluster.drift, line, sizeof line);
        if (!strstr(line, cases[i].says) || (!*cases[i].says && *line))
            fail_msg("%s: \"%s\"", cases[i].text, line);
        fr_job_free(&job);
    }
}

/* Who states a drift moves what is expected by it, and no model's own time. */
static void a_stated_drift_moves(void **state) {
    static const char *const sets[] = {"runtime.date=2027-06", "runtime.drift=-0.1"};
    (void)state;
    const struct fr_interval plain = interval_of("megatron-bridge-26.06", NULL, 0),
                             of = interval_of("megatron-bridge-26.06", sets, 2);
    FR_NEAR(of.expected_s / plain.expected_s, exp(-0.1), 1e-9);
    assert_true(of.model_s == plain.model_s);
}

static void dates_are_checked(void **state) {
    static const char *const bad[] = {"runtime.date=", "runtime.date=soon",
                                      "runtime.date=2026-6", "runtime.drift=9"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct fr_job_names names = {
            .cluster = "dgx-h100", .model = "llama-3-8b", .sets = &bad[i], .n_sets = 1};
        struct fr_job job;
        struct fr_error err = {0};
        FR_TRUE(fr_job_load(&names, &job, &err) == FR_ERR_USAGE, "%s", bad[i]);
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(presets_have_not_drifted),
                                       cmocka_unit_test(no_number_of_a_preset_moves),
                                       cmocka_unit_test(it_is_wider_with_time),
                                       cmocka_unit_test(own_software_says_so),
                                       cmocka_unit_test(a_stated_drift_moves),
                                       cmocka_unit_test(dates_are_checked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
