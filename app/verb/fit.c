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
    fr_status status = fr_fitting_run(args->word, args->n_words, fr_args_get(args, "out"),
                                      false, &fitting, args, err);
    fr_json_free(base);
    return status;
}

static const struct fr_output outputs[] = {{"out", NULL, NULL}, {NULL, NULL, NULL}};

const struct fr_verb fr_verb_fit = {
    .name = "fit",
    .summary = "fit measurements into a cluster file, and print the residuals",
    .usage =
        "SAMPLES... [--out cluster.json] [--base C] [--form NAME] [--series TEXT] [--json]",
    .details =
        "Fits every form (log, segments, algorithm, similarity) and prints how far each is "
        "from "
        "what was measured,\n"
        "per operation and rank count, and from what it was fitted without: every second size, "
        "and the largest rank\n"
        "count. Written is the similarity table, unless another form predicts these clearly "
        "better. Samples of different tools, "
        "versions or setups are\n"
        "never pooled. What was measured inside one node says nothing of the network: several "
        "nodes are priced only\n"
        "with levels of --base. --json prints every point with all fits, the input of forerun "
        "plot fit.\n",
    .options = options,
    .outputs = outputs,
    .run = run,
};
