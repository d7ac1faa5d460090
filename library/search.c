#include "answer/search/search.h"

#include <math.h>
#include <stdlib.h>

#include "answer/outcome/report.h"
#include "library/job.h"
#include "library/options.h"
#include "library/result.h"

static fr_status read_options(const forerun_search_options *o, struct fr_search_options *out,
                              struct fr_error *err) {
    int objective = 0;
    if (!o->ranks) return fr_fail(err, FR_ERR_USAGE, "ranks", "is NULL");
    FR_TRY(fr_options_choice("objective", o->objective, fr_objective_names, &objective, err));
    if (o->top < 0 || o->top > 1000000)
        return fr_fail(err, FR_ERR_USAGE, "top", "must lie between 0 and 1000000");
    if (!(o->memory_limit_B >= 0 && isfinite(o->memory_limit_B)))
        return fr_fail(err, FR_ERR_USAGE, "memory_limit_B", "is no size; 0 is none");
    if (!(o->max_lossy == -1 || (o->max_lossy >= 0 && o->max_lossy <= 1)))
        return fr_fail(err, FR_ERR_USAGE, "max_lossy",
                       "must lie between 0 and 1; -1 is no limit");
    if (!(o->fit >= 0 && o->fit < 1))
        return fr_fail(err, FR_ERR_USAGE, "fit", "must lie between 0 and 1, below 1; 0 is any");
    if (o->threads < 0 || o->threads > 256)
        return fr_fail(err, FR_ERR_USAGE, "threads", "must lie between 0 and 256");
    *out = (struct fr_search_options){.objective = (fr_objective)objective,
                                      .per_iteration = o->per_iteration != 0,
                                      .top = (size_t)o->top,
                                      .memory_limit_B = o->memory_limit_B,
                                      .max_lossy = o->max_lossy < 0 ? 1 : o->max_lossy,
                                      .threads = o->threads};
    fr_search_ask_fit(out, o->fit);
    return FR_OK;
}

struct adding {
    const struct fr_searched *r;
    forerun_result *result;
    fr_status status;
    struct fr_error *err;
};

static bool add(void *context, size_t rank, const struct fr_outcome *out) {
    struct adding *a = context;
    a->status = fr_result_add(a->result, &a->r->job, out, a->err);
    if (a->status == FR_OK && rank < (size_t)a->r->n_odds) {
        a->result->outcomes[rank].probability_best = a->r->odds[rank].best;
        a->result->outcomes[rank].expected_regret = a->r->odds[rank].regret;
    }
    return a->status == FR_OK;
}

/* The reason that most plans are left out for; that ranks are no mesh, where it is the only one. */
static fr_status nothing_feasible(const struct fr_searched *r, struct fr_error *err) {
    struct fr_text text = {0};
    int most = FR_REASON_MESH;
    for (int i = 0; i < FR_REASON_COUNT; i++)
        if (i != FR_REASON_MESH && r->result.because[i] > 0 &&
            (most == FR_REASON_MESH || r->result.because[i] > r->result.because[most]))
            most = i;
    if (r->result.because[most])
        fr_report_reason(&r->job, &r->result.example[most].outcome, most, &text);
    for (int i = 0; i < r->n_nearby; i++) {
        fr_text_addf(&text, "; ");
        fr_nearby_say(r, &r->nearby[i], &text);
    }
    fr_fail(err, FR_ERR_INFEASIBLE, NULL, "none of %lld plans can be; of %lld e.g. %s",
            (long long)r->result.evaluated, (long long)r->result.because[most],
            fr_text_get(&text));
    fr_text_free(&text);
    return FR_ERR_INFEASIBLE;
}

static fr_status search(const forerun_job *job, const forerun_search_options *given,
                        struct fr_searched *r, forerun_result *result, struct fr_error *err) {
    forerun_search_options o = FORERUN_SEARCH_DEFAULTS;
    int n_vary = 0;
    FR_TRY(fr_library_needs_model(job, err));
    FR_TRY(fr_options_take(&o, sizeof o, given, "FORERUN_SEARCH_DEFAULTS", err));
    FR_TRY(read_options(&o, &r->options, err));
    r->explain = o.explain != 0;
    r->lossy = o.max_lossy > 0;
    r->advise = r->folds = true;
    while (o.vary && o.vary[n_vary]) n_vary++;
    struct fr_job_names names = fr_library_names(job);
    FR_TRY(fr_job_load(&names, &r->job, err));
    FR_TRY(fr_searched_make(o.ranks, o.vary, n_vary, &names, r, err));
    FR_TRY(fr_searched_json(&result->json, r, NULL, err));
    struct adding a = {.r = r, .result = result, .err = err};
    FR_TRY(fr_search_each(&r->job, &r->space, &r->options, &r->result, add, &a, err));
    FR_TRY(a.status);
    return result->count ? FR_OK : nothing_feasible(r, err);
}

forerun_status forerun_search(const forerun_job *job, const forerun_search_options *options,
                              forerun_result **result, forerun_error *error) {
    struct fr_call call;
    fr_call_begin(&call);
    forerun_result *made = fr_result_new();
    struct fr_searched *r = fr_calloc(1, sizeof *r);
    fr_status status =
        made && r ? search(job, options, r, made, &call.err) : (fr_status)FR_ERR_NOMEM;
    if (r) fr_searched_free(r);
    free(r);
    return fr_call_answer(&call, status, made, result, error);
}
