/* Every pair of a method and an axis: priced, and then the event engine agrees; or refused with a
 * sentence.  docs/reference/compositions.md says the same. */
#include <math.h>
#include <stdlib.h>

#include "answer/outcome/report.h"
#include "answer/search/compositions.h"
#include "sim/run.h"
#include "tests/document.h"

static void agrees(const struct fr_job *job, const struct fr_outcome *closed,
                   const char *axis) {
    struct fr_simulation event;
    struct fr_error err = {0};
    if (fr_simulate(job, &job->plan, NULL, &event, &err) != FR_OK)
        fail_msg("%s, %s: %s", job->plan.method->name, axis, err.detail);
    FR_TRUE(fabs(event.outcome.time_s - closed->time_s) <= 1e-9 * closed->time_s,
            "%s, %s: event %.17g s, closed %.17g s", job->plan.method->name, axis,
            event.outcome.time_s, closed->time_s);
    FR_TRUE(fabs(event.outcome.energy_J - closed->energy_J) <= 1e-9 * closed->energy_J,
            "%s, %s: event %.17g J, closed %.17g J", job->plan.method->name, axis,
            event.outcome.energy_J, closed->energy_J);
    fr_simulation_free(&event);
}

static void explained(const struct fr_job *job, const struct fr_outcome *out,
                      const char *axis) {
    for (int i = 0; i < FR_REASON_COUNT; i++) {
        struct fr_text text = {0};
        if (!(out->reasons & FR_BECAUSE(i))) continue;
        fr_report_reason(job, out, i, &text);
        FR_TRUE(text.length > 20 && !strstr(fr_text_get(&text), "inf"),
                "%s, %s: %s says \"%s\"", job->plan.method->name, axis, fr_reason_names[i],
                fr_text_get(&text));
        fr_text_free(&text);
    }
}

static void every_pair(void **state) {
    int priced = 0, refused = 0;
    (void)state;
    for (const struct fr_composition *c = fr_compositions; c->axis; c++) {
        struct fr_text row = {0};
        fr_text_addf(&row, "| %s |", c->axis);
        for (const struct fr_method *const *m = fr_methods; *m; m++) {
            struct fr_job job;
            struct fr_error err = {0};
            struct fr_outcome out;
            if (fr_composition_load(c, *m, &job, &err) != FR_OK)
                fail_msg("%s, %s: %s: %s", (*m)->name, c->axis, err.where, err.detail);
            fr_cost(&job, &job.plan, &out);
            if (out.reasons) {
                explained(&job, &out, c->axis);
                refused++;
            } else {
                FR_TRUE(out.time_s > 0 && isfinite(out.energy_J) && out.memory_peak_B > 0,
                        "%s, %s", (*m)->name, c->axis);
                if (!job.plan.layer_tp) agrees(&job, &out, c->axis); /* closed form only */
                priced++;
            }
            fr_text_addf(&row, " %s |", fr_composition_verdict(&out));
            fr_job_free(&job);
        }
        fr_test_documented("reference/compositions.md", &row);
    }
    assert_true(priced > 70 && refused > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_pair)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
