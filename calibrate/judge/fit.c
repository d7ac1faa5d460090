#include "calibrate/judge/fit.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "calibrate/fit/links.h"
#include "calibrate/judge/check.h"
#include "models/job/cluster.h"
#include "models/job/preset.h"

/* Verdict and reasons, the worst first, from the document that forerun report reads too. */
static fr_status judge(struct fr_fitted *fitted, struct fr_error *err) {
    struct fr_text text = {0};
    struct fr_json_document *document = NULL;
    struct fr_checks *checks = fr_calloc(1, sizeof *checks);
    fr_fit_json(&text, &fitted->samples, &fitted->result);
    fr_status status =
        text.failed || !checks
            ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory")
            : fr_json_parse(fr_text_get(&text), text.length, "fit", &document, err);
    if (status == FR_OK) {
        struct fr_json root = fr_json_root(document);
        status = fr_calibration_check(&root, checks, err);
    }
    if (status == FR_OK) fr_calibration_judge(checks, &fitted->result.judged);
    fr_json_free(document);
    fr_text_free(&text);
    free(checks);
    return status;
}

/* Our writer and our reader must agree: the file goes through the reader before it is saved. */
fr_status fr_fitted_cluster(const struct fr_fitted *fitted, const char *name,
                            struct fr_text *text, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    struct fr_cluster cluster = {0};
    fr_fit_write_cluster(&fitted->result, text);
    fr_status status = text->failed ? fr_fail(err, FR_ERR_NOMEM, name, "out of memory") : FR_OK;
    if (status == FR_OK)
        status = fr_json_parse(fr_text_get(text), text->length, name, &document, err);
    if (status == FR_OK) status = fr_cluster_read(document, &cluster, err);
    fr_cluster_free(&cluster);
    fr_json_free(document);
    return status;
}

fr_status fr_fit_options_check_power(const struct fr_fit_options *options,
                                     struct fr_error *err) {
    double busy_W = options->busy_W, idle_W = options->idle_W;
    if (busy_W < 0 || idle_W < 0)
        return fr_fail(err, FR_ERR_USAGE, "--power-busy", "power cannot be negative");
    if (busy_W == 0 || idle_W > busy_W)
        return fr_fail(err, FR_ERR_USAGE, "--power-busy",
                       "is %.6g W; expected more than 0 W, and at least the %.6g W of "
                       "--power-idle: a rank that waits draws no more than one that computes",
                       busy_W, idle_W);
    return FR_OK;
}

/* Presets by what a driver calls their devices; longer names first. */
static const struct {
    const char *word, *preset;
} kinds[] = {{"GB300", "gb300-nvl72"}, {"GB200", "gb200-nvl72"}, {"GH200", "gh200"},
             {"B300", "dgx-b300"},     {"B200", "dgx-b200"},     {"H200", "dgx-h200"},
             {"H100", "dgx-h100"},     {"A100", "dgx-a100"},     {"V100", "dgx-v100"},
             {"A40", "a40"},           {"MI300X", "mi300x"},     {"MI325X", "mi325x"},
             {"MI350X", "mi350x"},     {"MI355X", "mi355x"}};

/* Values of an accelerator that are not measured are those of the preset of its kind. */
static fr_status find_base(const char *device, struct fr_json_document **base,
                           struct fr_error *err) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strstr(device, kinds[i].word))
            return fr_preset_or_file_read("cluster", kinds[i].preset, base, err);
    return fr_fail(
        err, FR_ERR_INPUT, NULL,
        "no preset is of the kind of a %.60s: name with --base the cluster file to whose "
        "form its products are fitted, and of which the rest is",
        device);
}

/* Others' collectives that the links of the base cannot carry. */
static fr_status drop_impossible(const struct fr_json_document *base,
                                 struct fr_samples *samples, size_t *dropped,
                                 struct fr_error *err) {
    struct fr_cluster cluster = {0};
    if (samples->n_source == 0)
        return FR_OK; /* of our own harness, which measured the links too */
    FR_TRY(fr_cluster_read(base, &cluster, err));
    size_t all = samples->n_collective;
    *dropped = fr_links_drop(samples, &cluster.levels);
    fr_cluster_free(&cluster);
    if (all == 0 || samples->n_collective > 0 || samples->n_gemm + samples->n_batched > 0)
        return FR_OK;
    return fr_fail(
        err, FR_ERR_INPUT, NULL,
        "all %zu collectives are faster than the links of --base allow: their sizes, "
        "ranks, nodes or --base are wrong",
        all);
}

fr_status fr_fitted_make(const char *const *paths, int n_paths,
                         const struct fr_fit_options *options, struct fr_fitted *fitted,
                         struct fr_error *err) {
    *fitted = (struct fr_fitted){0};
    for (int i = 0; i < n_paths; i++) FR_TRY(fr_samples_read(paths[i], &fitted->samples, err));
    struct fr_fit_options all = *options;
    const char *device = fitted->samples.provenance.device;
    if (*device && !options->base) FR_TRY(find_base(device, &fitted->base, err));
    if (fitted->base) all.base = fitted->base;
    size_t beyond_links = 0;
    if (all.base) FR_TRY(drop_impossible(all.base, &fitted->samples, &beyond_links, err));
    FR_TRY(fr_fit(&fitted->samples, &all, &fitted->result, err));
    fitted->result.beyond_links = beyond_links;
    return judge(fitted, err);
}

void fr_fitted_free(struct fr_fitted *fitted) {
    fr_fit_free(&fitted->result);
    fr_samples_free(&fitted->samples);
    fr_json_free(fitted->base);
}
