/* Measurements into a cluster file. */
#include "app/fitting.h"
#include "app/verb.h"

static const struct fr_option options[] = {
    {"out", "FILE", "cluster file to write; - for standard output (default: none)", 'o'},
    FR_FITTING_OPTIONS,
    FR_OPTION_JSON,
    FR_OPTION_HELP,
    FR_OPTION_END};

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_fit_options fitting;
    if (args->n_words == 0) return fr_fail(err, FR_ERR_USAGE, NULL, "no samples given");
    FR_TRY(fr_fitting_options(args, &fitting, err));
    return fr_fitting_run(args->word, args->n_words, fr_args_get(args, "out"), &fitting,
                          fr_args_has(args, "json"), err);
}

const struct fr_verb fr_verb_fit = {
    .name = "fit",
    .summary = "fit measurements into a cluster file, and print the residuals",
    .usage = "SAMPLES... [--out cluster.json] [--form best|log|segments] [--json]",
    .details =
        "Prints how far each form is from what was measured, per operation and rank count, in "
        "percent and in\n"
        "log2 us. --json prints every point with both fits, the input of forerun plot fit.\n",
    .options = options,
    .run = run,
};
