/** @file
 *  Random spaces of a search over all keys, of models of every kind. */
#ifndef FR_TESTS_DRAWN_SPACES_H
#define FR_TESTS_DRAWN_SPACES_H

#include "search/space.h"
#include "tests/job.h"
#include "tests/plan_values.h"

static const char *const fr_test_jobs[][2] = {
    {"frontier", "ffn-4096"},
    {"cori-knl", "alexnet"},
    {"a100-hdr", "gpt-2.5b"},
    {"dgx-h100", "mixtral-8x7b"},
    {"lassen", "t5-large-mod"},
    {"lassen", "attention-branches"},
    {"frontier", FR_SOURCE_DIR "/tests/golden/in/stages.json"}};
enum { FR_TEST_JOBS = sizeof fr_test_jobs / sizeof *fr_test_jobs };

/** A random space of six keys, three values each, of job @p n. */
static inline void fr_test_draw_space(uint64_t *dice, int n, char vary[6][512],
                                      struct fr_job *job, struct fr_space *space) {
    const char *varied[6];
    struct fr_error err = {0};
    fr_plan_key_set used = 0;
    fr_test_job(fr_test_jobs[n % FR_TEST_JOBS][0], fr_test_jobs[n % FR_TEST_JOBS][1], NULL,
                job);
    for (int n_vary = 0; n_vary < 6;) {
        char value[160];
        int k = (int)fr_test_random(dice, FR_PLAN_KEYS);
        if (used >> k & 1) continue;
        used |= FR_PLAN_KEY_BIT(k);
        size_t length =
            (size_t)snprintf(vary[n_vary], sizeof *vary, "%s=", fr_plan_keys[k].name);
        for (int v = 0; v < 3; v++)
            length += (size_t)snprintf(
                vary[n_vary] + length, sizeof *vary - length, "%s%s", v ? "," : "",
                fr_test_value(&fr_plan_keys[k], dice, value, sizeof value));
        varied[n_vary] = vary[n_vary];
        n_vary++;
    }
    if (fr_space_make("1,4,8", varied, 6, &job->plan, false, n % 2, NULL, space, &err) != FR_OK)
        fail_msg("%s", err.detail);
}

#endif
