#include <string.h>

#include "answer/simulate/simulation.h"
#include "library/job.h"
#include "library/options.h"
#include "library/result.h"
#include "search/chosen.h"

/* Which network; SimGrid's runs in another program, which a library does not start. */
static fr_status find_network(const char *name, const struct fr_network **network,
                              struct fr_error *err) {
    int i = 0;
    if (!name) return FR_OK;
    FR_TRY(fr_options_choice("network", name, fr_network_names, &i, err));
    *network = fr_networks[i];
    return *network == &fr_network_simgrid
               ? fr_fail(err, FR_ERR_USAGE, "network",
                         "\"simgrid\" is a program of its own, which a library does not "
                         "start; forerun simulate does")
               : FR_OK;
}

static fr_status show(const struct fr_job *job, const struct fr_simulation *s,
                      const struct fr_format *format, forerun_result *result,
                      struct fr_error *err) {
    fr_simulation_json(&result->json, job, s);
    FR_TRY(fr_result_add(result, job, &s->outcome, err));
    if (s->outcome.reasons) return fr_result_infeasible(job, &s->outcome, err);
    return format ? fr_simulation_trace(job, s, format, &result->text, err) : FR_OK;
}

static fr_status simulate(const forerun_job *job, const forerun_simulate_options *given,
                          forerun_result *result, struct fr_error *err) {
    forerun_simulate_options o = FORERUN_SIMULATE_DEFAULTS;
    struct fr_simulate_options how = {.timeline = true};
    const struct fr_format *format = NULL;
    struct fr_simulation s = {.n_stages = 0};
    FR_TRY(fr_library_needs_model(job, err));
    FR_TRY(fr_options_take(&o, sizeof o, given, "FORERUN_SIMULATE_DEFAULTS", err));
    FR_TRY(find_network(o.network, &how.network, err));
    if (o.trace) FR_TRY(fr_format_find(o.trace, &format, err));
    how.as_messages = o.messages != 0;
    struct fr_job copy = fr_library_copy(job);
    fr_reasons lacks = 0;
    fr_status status = fr_job_choose(&copy, &lacks, err);
    if (status == FR_OK) status = fr_simulate(&copy, &copy.plan, &how, &s, err);
    if (status == FR_OK) fr_chosen_refuse(lacks, &s.outcome);
    if (status == FR_OK) status = show(&copy, &s, format, result, err);
    fr_simulation_free(&s);
    fr_library_forget(&copy);
    return status;
}

forerun_status forerun_simulate(const forerun_job *job, const forerun_simulate_options *options,
                                forerun_result **result, forerun_error *error) {
    struct fr_call call;
    fr_call_begin(&call);
    forerun_result *made = fr_result_new();
    fr_status status = made ? simulate(job, options, made, &call.err) : (fr_status)FR_ERR_NOMEM;
    return fr_call_answer(&call, status, made, result, error);
}
