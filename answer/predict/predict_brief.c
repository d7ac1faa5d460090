#include "answer/predict/predict_brief.h"

#include <math.h>
#include <stdio.h>

#include "answer/brief/emitter.h"
#include "answer/brief/words.h"
#include "answer/outcome/outcome_fact.h"
#include "answer/predict/explain.h"
#include "answer/text/even.h"
#include "answer/text/fact_lines.h"
#include "base/text/readable.h"
#include "base/text/wrap.h"

/* The time, and of a plan that cannot run why. */
static void answer(struct fr_brief *brief, const struct fr_job *job,
                   const struct fr_outcome *out) {
    struct fr_text step = {0}, plan = {0}, fits = {0}, even = {0};
    char time[FR_READABLE], more[FR_READABLE], steps[80];
    fr_brief_reasons(brief, job, out);
    const bool priced = isfinite(out->time_s);
    if (priced) fr_brief_step(job, out, &step);
    fr_brief_words(brief, FR_BRIEF_MUST, out->reasons ? "would take" : "takes", &step);
    const double expected_s = fr_outcome_expected_s(out);
    if (priced && fabs(expected_s / out->time_s - 1) > FR_EXPECTED_DIFFERS)
        fr_brief_row(brief, FR_BRIEF_SHOULD, "",
                     "%s expected: runs of this model or plan took %s%s",
                     fr_readable(expected_s, FR_QUANTITY_TIME, time),
                     expected_s > out->time_s ? "+" : "",
                     fr_readable_percent(expected_s / out->time_s - 1, more));
    fr_brief_plan(out, 0, &plan);
    fr_brief_words(brief, FR_BRIEF_MUST, "plan", &plan);
    if (priced) fr_brief_fits(job, out, &fits);
    fr_brief_words(brief, FR_BRIEF_MUST, "memory", &fits);
    if (isfinite(out->total_time_s))
        fr_brief_row(brief, FR_BRIEF_MUST, "in all", "%s to target loss in %.6g steps%s",
                     fr_readable(out->total_time_s, FR_QUANTITY_TIME, time), out->iterations,
                     fr_even_steps(out, steps, sizeof steps));
    else if (priced && job->workload.n_iterations + job->workload.n_laws > 0)
        fr_brief_row(brief, FR_BRIEF_MAY, "in all", "%s", fr_iterations_note(out));
    fr_even_say(out, &even);
    fr_brief_words(brief, FR_BRIEF_SHOULD, "even", &even);
}

/* Effect of each change of the machine; those that change nothing are left out. */
static void changes(struct fr_brief *brief, const struct fr_job *job,
                    const struct fr_outcome *out) {
    static const double LEAST = 0.001;
    struct fr_text words = {0};
    char percent[FR_READABLE];
    for (int k = 0; k < FR_SCENARIOS; k++) {
        const double by = fr_scenario_s(job, &out->plan, k) / out->time_s - 1;
        if (!(fabs(by) >= LEAST)) continue;
        fr_text_addf(&words, "%s%s %s%s", words.length ? ", " : "", fr_scenarios[k].sentence,
                     by < 0 ? "" : "+", fr_readable_percent(by, percent));
    }
    if (!words.length)
        fr_text_addf(&words,
                     "little with links, launches or memory: its products take the time");
    fr_brief_words(brief, FR_BRIEF_SHOULD, "changes", &words);
}

/* The sources of its interval. */
static void sure(struct fr_brief *brief, const struct fr_job *job,
                 const struct fr_outcome *out) {
    static const char *const from[] = {
        [FR_INTERVAL_TUNING] = "from the runs that the cluster was tuned to",
        [FR_INTERVAL_CALIBRATION] = "from priors and the calibration's own errors",
        [FR_INTERVAL_UNCERTAINTY] =
            "from the cluster file's uncertainty; forerun tune narrows it",
        [FR_INTERVAL_PRIORS] = "from priors alone; forerun tune narrows it"};
    struct fr_outcome_view v;
    char steps[2 * FR_READABLE];
    fr_outcome_view(job, out, &v);
    if (out->high_s > out->low_s)
        fr_brief_row(brief, FR_BRIEF_SHOULD, "sure", "90 %% interval %s",
                     from[fr_cluster_interval_source(&job->cluster)]);
    else
        fr_brief_row(brief, FR_BRIEF_SHOULD, "sure",
                     "%s states no interval; forerun predict does, for the closed form",
                     out->engine ? out->engine : "the closed form");
    if (v.steps.high > v.steps.low)
        fr_brief_row(brief, FR_BRIEF_SPARE, "steps", "nine in ten take %s",
                     fr_readable_range(v.steps.low, v.steps.high, FR_QUANTITY_TIME, steps));
}

void fr_predict_rows(struct fr_brief *brief, const struct fr_job *job,
                     const struct fr_outcome *out, const struct fr_training *training) {
    fr_brief_question(brief, job, &out->plan, out->ranks, NULL);
    answer(brief, job, out);
    if (isfinite(out->time_s)) {
        if (training && fr_training_asked(training)) {
            const struct fr_training_cost cost = fr_training_cost_of(training, job, out);
            fr_brief_training(brief, training, &cost);
        }
        fr_brief_blank(brief);
        fr_brief_parts(brief, out);
        changes(brief, job, out);
        sure(brief, job, out);
    }
    fr_brief_caveats(brief, out);
    fr_brief_inputs(brief, job, out);
}

void fr_predict_brief(struct fr_text *text, const struct fr_job *job,
                      const struct fr_outcome *out, const struct fr_training *training,
                      const char *again, const char *search) {
    struct fr_brief brief = {0};
    char emit[40];
    const char *to = out->reasons || out->engine ? NULL : fr_brief_emitter(job, out);
    fr_predict_rows(&brief, job, out, training);
    fr_brief_blank(&brief);
    if (*search) fr_brief_command(&brief, "next", search, "");
    if (*again && to) {
        snprintf(emit, sizeof emit, "--emit %s", to);
        fr_brief_command(&brief, *search ? "" : "next", again, emit);
    }
    fr_brief_row(&brief, FR_BRIEF_MUST, *search || (*again && to) ? "" : "next",
                 "or with --explain, --all, --json");
    fr_brief_print(&brief, FR_COLUMNS, text);
}
