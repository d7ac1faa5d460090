#include "library/result.h"

#include <math.h>
#include <stdlib.h>

#include "answer/outcome/outcome_fact.h"
#include "answer/outcome/report.h"
#include "base/json.h"
#include "models/job/job.h"

forerun_result *fr_result_new(void) { return fr_calloc(1, sizeof(forerun_result)); }

void forerun_result_free(forerun_result *result) {
    if (!result) return;
    for (size_t i = 0; i < result->count; i++) {
        free((char *)result->outcomes[i].plan);
        free((char *)result->outcomes[i].plan_json);
        free((char *)result->outcomes[i].runtime);
    }
    free(result->outcomes);
    fr_text_free(&result->json);
    fr_text_free(&result->text);
    fr_text_free(&result->notes);
    free(result);
}

const char *forerun_json(const forerun_result *result) {
    return result ? fr_text_get(&result->json) : "";
}

const char *forerun_text(const forerun_result *result) {
    return result ? fr_text_get(&result->text) : "";
}

const char *forerun_notes(const forerun_result *result) {
    return result ? fr_text_get(&result->notes) : "";
}

size_t forerun_count(const forerun_result *result) { return result ? result->count : 0; }

const forerun_outcome *forerun_outcome_at(const forerun_result *result, size_t i) {
    return result && i < result->count ? &result->outcomes[i] : NULL;
}

/* ---- an outcome ------------------------------------------------------------------------------ */

/* A null of the document becomes NaN. */
static forerun_outcome numbers_of(const struct fr_job *job, const struct fr_outcome *out) {
    struct fr_outcome_view v;
    fr_outcome_view(job, out, &v);
    forerun_outcome o = {.feasible = out->reasons == 0,
                         .ranks = out->ranks,
                         .time_s = fr_outcome_number(&v, FR_OUTCOME_iteration_time_s),
                         .low_s = v.time.stated ? v.time.low : NAN,
                         .high_s = v.time.stated ? v.time.high : NAN,
                         .energy_J = fr_outcome_number(&v, FR_OUTCOME_iteration_energy_J),
                         .memory_B =
                             v.priced ? fr_outcome_number(&v, FR_OUTCOME_memory_peak) : NAN,
                         .parameters = fr_outcome_number(&v, FR_OUTCOME_parameters),
                         .iterations = fr_outcome_number(&v, FR_OUTCOME_iterations),
                         .total_time_s = fr_outcome_number(&v, FR_OUTCOME_total_time_s),
                         .total_energy_J = fr_outcome_number(&v, FR_OUTCOME_total_energy_J),
                         .fits = fr_outcome_number(&v, FR_OUTCOME_fits),
                         .probability_best = NAN,
                         .expected_regret = NAN};
#define FILL_PART(code, name) o.name##_s = out->part_s[code];
    FR_PART_LIST(FILL_PART)
#undef FILL_PART
    return o;
}

static char *plan_json(const struct fr_job *job, const struct fr_outcome *out) {
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    struct fr_plan plan_stated = fr_job_stated(job, &out->plan);
    fr_plan_write(&w, &plan_stated);
    if (text.failed) fr_text_free(&text);
    return text.data;
}

static bool grow(forerun_result *result) {
    if (result->count < result->capacity) return true;
    size_t capacity = result->capacity ? 2 * result->capacity : 1;
    forerun_outcome *grown = fr_realloc(result->outcomes, capacity, sizeof *grown);
    if (!grown) return false;
    result->outcomes = grown;
    result->capacity = capacity;
    return true;
}

fr_status fr_result_add(forerun_result *result, const struct fr_job *job,
                        const struct fr_outcome *out, struct fr_error *err) {
    char line[FR_PLAN_LINE];
    if (!grow(result)) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    forerun_outcome *o = &result->outcomes[result->count++];
    *o = numbers_of(job, out);
    o->plan = fr_strdup(fr_report_outcome_line(out, line, sizeof line));
    o->plan_json = plan_json(out->job ? out->job : job, out);
    o->runtime = fr_strdup((out->job ? out->job : job)->cluster.runtime);
    return o->plan && o->plan_json && o->runtime
               ? FR_OK
               : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
}

fr_status fr_result_infeasible(const struct fr_job *job, const struct fr_outcome *out,
                               struct fr_error *err) {
    struct fr_text text = {0};
    for (int i = 0; i < FR_REASON_COUNT; i++) {
        if (!(out->reasons & FR_BECAUSE(i))) continue;
        if (text.length) fr_text_add(&text, "; ", 2);
        fr_report_reason(out->job ? out->job : job, out, i, &text);
    }
    fr_fail(err, FR_ERR_INFEASIBLE, NULL, "%s", fr_text_get(&text));
    fr_text_free(&text);
    return FR_ERR_INFEASIBLE;
}
