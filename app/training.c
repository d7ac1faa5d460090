/* The training, from the command line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/training.h"
#include "base/journal/keep.h"
#include "base/range.h"

static fr_status read_range(const struct fr_args *args, const char *option,
                            const char *standard, int64_t **values, size_t *count,
                            struct fr_error *err) {
    const char *text = fr_args_get(args, option);
    char where[32];
    snprintf(where, sizeof where, "--%s", option);
    if (!text) text = standard;
    return text ? fr_range_parse(text, false, 1, where, values, count, err) : FR_OK;
}

static fr_status read_options(const struct fr_args *args, struct fr_training_options *o,
                              int64_t *owned[2], struct fr_error *err) {
    *o = fr_training_defaults();
    long long width = o->width, layers = o->layers, batch = o->batch, seeds = o->seeds,
              most = o->most;
    FR_TRY(fr_args_integer(args, "width", 2, 1 << 16, &width, err));
    FR_TRY(fr_args_integer(args, "layers", 1, 1000, &layers, err));
    FR_TRY(fr_args_integer(args, "batch", 1, 1 << 20, &batch, err));
    FR_TRY(fr_args_integer(args, "seeds", 1, 1000, &seeds, err));
    FR_TRY(fr_args_integer(args, "most", 1, 1 << 30, &most, err));
    FR_TRY(fr_patience_read(args, &o->launch.patience_s, err));
    FR_TRY(fr_args_number(args, "loss", 0, 1e6, &o->loss, err));
    FR_TRY(fr_args_number(args, "rate", 0, 1e6, &o->rate, err));
    FR_TRY(read_range(args, "tp", "2,4,8", &owned[0], &o->n_tp, err));
    FR_TRY(read_range(args, "ghost", NULL, &owned[1], &o->n_ghost, err));
    o->tp = owned[0];
    o->ghost = owned[1];
    o->width = width;
    o->layers = layers;
    o->batch = batch;
    o->seeds = seeds;
    o->most = most;
    o->same_batch = fr_args_has(args, "same-batch");
    o->resume = fr_args_has(args, "resume");
    o->force = fr_args_has(args, "force");
    o->samples = fr_args_get(args, "samples");
    if (!o->samples) o->samples = "iterations.jsonl";
    if (strcmp(o->samples, "-") == 0)
        return fr_fail(err, FR_ERR_USAGE, "--samples", "must be a file: ranks append to it");
    o->launch.n_ranks = fr_launch_cores();
    o->progress = isatty(STDERR_FILENO);
    return fr_keep_measurements(o->samples, o->resume, o->force, err);
}

fr_status fr_training_request_read(const struct fr_args *args, const char *standard,
                                   struct fr_training_request *request, struct fr_error *err) {
    const char *cluster = fr_args_get(args, "cluster");
    const struct fr_job_names names = {.cluster = cluster ? cluster : standard};
    *request = (struct fr_training_request){0};
    FR_TRY(read_options(args, &request->o, request->owned, err));
    if (!names.cluster) return FR_OK;
    FR_TRY(fr_job_load(&names, &request->job, err));
    if (!request->job.cluster.device.power.known)
        return fr_fail(err, FR_ERR_INPUT, request->job.cluster_from,
                       "does not say what power a rank draws; calibrate with --power-busy and "
                       "--power-idle");
    request->o.cluster = &request->job.cluster;
    return FR_OK;
}

void fr_training_request_free(struct fr_training_request *request) {
    free(request->owned[0]);
    free(request->owned[1]);
    fr_job_free(&request->job);
}
