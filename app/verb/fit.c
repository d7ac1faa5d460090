/* Measurements into a cluster file. */
#include "app/fitting.h"
#include "app/verb.h"
#include "models/job/preset.h"

static const struct fr_option options[] = {
    {"out", "FILE", "cluster file to write; - for standard output (default: none)", 'o'},
    {"base", "FILE|PRESET",
     "cluster file for what was not measured: device, levels, collectives", 0},
    FR_FITTING_OPTIONS,
    FR_OPTION_JSON,
    FR_OPTION_HELP,
    FR_OPTION_END};

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_fit_options fitting;
    if (args->n_words == 0) return fr_fail(err, FR_ERR_USAGE, NULL, "no samples given");
    struct fr_json_document *base = NULL;
    const char *from = fr_args_get(args, "base");
    FR_TRY(fr_fitting_options(args, &fitting, err));
    if (from) FR_TRY(fr_preset_or_file_read("cluster", from, &base, err));
    fitting.base = base;
    fr_status status = fr_fitting_run(
        args->word, args->n_words, fr_args_get(args, "out"), false, &fitting,
        fr_args_has(args, "json") ? FR_FITTING_JSON : FR_FITTING_WHOLE, args, err);
    fr_json_free(base);
    return status;
}

static const struct fr_output outputs[] = {{"out", NULL, NULL}, {NULL, NULL, NULL}};

const struct fr_verb fr_verb_fit = {
    .name = "fit",
    .summary = "fit measurements into a cluster file, and print the residuals",
    .usage =
        "SAMPLES... [--out cluster.json] [--base C] [--form NAME] [--series TEXT] [--json]",
    .details = "Fits every form (log, segments, algorithm, similarity) to each operation and "
               "prints its\n"
               "error per rank count. It also prints the error on points that were held out: "
               "every second\n"
               "size, and the largest rank count. The similarity table is written unless "
               "another form\n"
               "predicts held-out points clearly better. Samples of different tools, versions "
               "or setups\n"
               "are never pooled. Samples from one node say nothing about the network: --base "
               "supplies\n"
               "levels for several nodes. --json prints every point with all fits, for forerun "
               "plot fit.\n",
    .options = options,
    .outputs = outputs,
    .run = run,
};
