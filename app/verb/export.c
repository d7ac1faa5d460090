/* What a cluster file says, for other tools to read. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/load.h"
#include "app/verb.h"
#include "base/file.h"
#include "topology/platform.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    FR_OPTION_SET,
    {"ranks", "N", "how many ranks (default: all of the cluster, at most 512)", 'n'},
    {"out", "FILE", "where it goes (default: standard output)", 'o'},
    FR_OPTION_HELP,
    FR_OPTION_END};

/* A core is as fast as its products are when they are large, in the dtype that is fastest. */
static double speed_flop_per_s(const struct fr_device *device) {
    const double n = 8192;
    const struct fr_gemm_shape large = {n, n, n, n};
    double fastest = 0;
    for (int d = 0; d < FR_DTYPE_COUNT; d++) {
        const struct fr_gemm_model *gemm = &device->gemm[d];
        bool outside = false;
        if (gemm->form)
            fastest = fmax(fastest, 2 * n * n * n / gemm->form->time_s(gemm, &large, &outside));
    }
    return fastest > 0 ? fastest : 1e9;
}

static fr_status export(const struct fr_args *args, struct fr_job *job, struct fr_error *err) {
    const struct fr_power *power = &job->cluster.device.power;
    const char *out = fr_args_get(args, "out");
    struct fr_text text = {0};
    long long ranks = 0;
    if (args->n_words == 0)
        return fr_fail(err, FR_ERR_USAGE, NULL, "no format given; known: simgrid");
    if (strcmp(args->word[0], "simgrid") != 0)
        return fr_fail(err, FR_ERR_USAGE, NULL, "no format \"%.40s\"; known: simgrid",
                       args->word[0]);
    if (args->n_words > 1)
        return fr_fail(err, FR_ERR_USAGE, NULL, "unexpected word \"%.64s\"", args->word[1]);
    FR_TRY(fr_args_integer(args, "ranks", 1, FR_RANKS_MAX, &ranks, err));
    if (out) FR_TRY(fr_file_check_writable(out, err));
    struct fr_args rest = *args;
    rest.n_words = 0; /* the format is dealt with */
    FR_TRY(fr_app_load(&rest, false, job, err));
    int64_t all = fr_levels_capacity(&job->cluster.levels);
    const struct fr_platform platform = {.name = job->cluster_from,
                                         .n_ranks = ranks ? ranks : all,
                                         .speed_flop_per_s =
                                             speed_flop_per_s(&job->cluster.device),
                                         .cores = 1,
                                         .idle_W = power->known ? power->idle_W : NAN,
                                         .all_cores_W = power->known ? power->busy_W : NAN,
                                         .n_pairs = -1};
    fr_status status = fr_platform_write(&job->cluster.levels, &platform, &text, err);
    if (status == FR_OK && out)
        status = fr_file_write_last(out, fr_text_get(&text), text.length, err);
    else if (status == FR_OK)
        return fr_app_print(&text, err);
    fr_text_free(&text);
    return status;
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_job job = {0};
    fr_status status = export(args, &job, err);
    fr_job_free(&job);
    return status;
}

static const struct fr_output outputs[] = {{"out", NULL, NULL}, {NULL, NULL, NULL}};

static const char *word(int i) { return i == 0 ? "simgrid" : NULL; }

const struct fr_verb fr_verb_export = {
    .name = "export",
    .summary = "a cluster as a SimGrid platform",
    .usage = "simgrid --cluster C [--ranks N] [--set KEY=VALUE]... [-o FILE]",
    .details =
        "One host a rank, every link one way, the route of every pair. Run it with\n"
        "  --cfg=network/model:CM02 --cfg=network/TCP-gamma:0 --cfg=network/crosstraffic:no\n"
        "since SimGrid's defaults stretch latencies and shrink bandwidths. Example:\n"
        "  forerun export simgrid --cluster a100-hdr --ranks 64 > platform.xml\n",
    .options = options,
    .outputs = outputs,
    .first_input = 1,
    .word = word,
    .run = run,
};
