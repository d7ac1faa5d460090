/* A cluster, or a plan's program, for other tools to read. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/load.h"
#include "app/verb.h"
#include "base/file.h"
#include "models/outcome/report.h"
#include "sim/goal.h"
#include "sim/run.h"
#include "topology/platform.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    FR_OPTION_MODEL,
    FR_OPTION_PLAN,
    FR_OPTION_SET,
    {"ranks", "N", "simgrid: how many ranks (default: all of the cluster, at most 512)", 'n'},
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

/* ---- a plan's program ------------------------------------------------------------------------ */

static fr_status write_goal(void *context, const struct fr_network_work *work,
                            const double *class_s, struct fr_error *err) {
    return fr_goal_write(work, class_s, context, err);
}

/* A program that no memory holds is still one. */
static fr_status can_be(const struct fr_job *job, const struct fr_outcome *out,
                        struct fr_error *err) {
    struct fr_text words = {0};
    fr_status status = FR_OK;
    for (int r = 0; r < FR_REASON_COUNT && status == FR_OK; r++) {
        if (r == FR_REASON_MEMORY || !(out->reasons & FR_BECAUSE(r))) continue;
        fr_report_reason(job, out, r, &words);
        status = fr_fail(err, FR_ERR_INFEASIBLE, "plan", "%s", fr_text_get(&words));
    }
    fr_text_free(&words);
    return status;
}

/* Layers with their collectives spelt out, a pipeline a rank a stage. */
static fr_status goal(const struct fr_args *args, struct fr_job *job, struct fr_text *text,
                      struct fr_error *err) {
    struct fr_simulation simulation = {.n_stages = 0};
    FR_TRY(fr_app_load(args, true, job, err));
    const struct fr_simulate_options how = {.look = write_goal,
                                            .context = text,
                                            .spelt_out = !fr_job_is_pipeline(job, &job->plan)};
    fr_status status = fr_simulate(job, &job->plan, &how, &simulation, err);
    if (status == FR_OK) status = can_be(job, &simulation.outcome, err);
    fr_simulation_free(&simulation);
    return status;
}

/* ---- a cluster ------------------------------------------------------------------------------- */

static fr_status simgrid(const struct fr_args *args, struct fr_job *job, struct fr_text *text,
                         struct fr_error *err) {
    const struct fr_power *power = &job->cluster.device.power;
    long long ranks = 0;
    FR_TRY(fr_args_integer(args, "ranks", 1, FR_RANKS_MAX, &ranks, err));
    if (fr_args_has(args, "model") || fr_args_has(args, "plan"))
        return fr_fail(err, FR_ERR_USAGE, "--model", "is of a program, which goal writes");
    FR_TRY(fr_app_load(args, false, job, err));
    int64_t all = fr_levels_capacity(&job->cluster.levels);
    const struct fr_platform platform = {.name = job->cluster_from,
                                         .n_ranks = ranks ? ranks : all,
                                         .speed_flop_per_s =
                                             speed_flop_per_s(&job->cluster.device),
                                         .cores = 1,
                                         .idle_W = power->known ? power->idle_W : NAN,
                                         .all_cores_W = power->known ? power->busy_W : NAN,
                                         .n_pairs = -1};
    return fr_platform_write(&job->cluster.levels, &platform, text, err);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    fr_status (*write)(const struct fr_args *args, struct fr_job *job, struct fr_text *text,
                       struct fr_error *err);
} formats[] = {{"simgrid", simgrid}, {"goal", goal}};
enum { N_FORMATS = sizeof formats / sizeof *formats };

static const char *word(int i) { return i < N_FORMATS ? formats[i].name : NULL; }

static fr_status find_format(const struct fr_args *args, int *format, struct fr_error *err) {
    if (args->n_words == 0)
        return fr_fail(err, FR_ERR_USAGE, NULL, "no format given; known: simgrid, goal");
    for (*format = 0; *format < N_FORMATS; ++*format)
        if (strcmp(args->word[0], formats[*format].name) == 0) break;
    if (*format == N_FORMATS)
        return fr_fail(err, FR_ERR_USAGE, NULL, "no format \"%.40s\"; known: simgrid, goal",
                       args->word[0]);
    if (args->n_words > 1)
        return fr_fail(err, FR_ERR_USAGE, NULL, "unexpected word \"%.64s\"", args->word[1]);
    return FR_OK;
}

static fr_status export(const struct fr_args *args, struct fr_job *job, struct fr_error *err) {
    const char *out = fr_args_get(args, "out");
    struct fr_text text = {0};
    int format = 0;
    FR_TRY(find_format(args, &format, err));
    if (out) FR_TRY(fr_file_check_writable(out, err));
    struct fr_args rest = *args;
    rest.n_words = 0; /* the format is dealt with */
    fr_status status = formats[format].write(&rest, job, &text, err);
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

const struct fr_verb fr_verb_export = {
    .name = "export",
    .summary = "a cluster as a SimGrid platform, a plan's program as a GOAL schedule",
    .usage = "simgrid|goal --cluster C [--model M] [--ranks N] [--set KEY=VALUE]... [-o FILE]",
    .details =
        "goal: what each rank computes and sends, after what, for LogGOPSim (txt2bin). A pipeline's "
        "stages, once for all replicas; of layers all ranks, collectives as messages. Work is in "
        "nanoseconds, how long messages take is the reader's.\n"
        "  forerun export goal --cluster a100-hdr --model gpt-8.3b --set pp=4 > schedule.goal\n"
        "simgrid: one host a rank, every link one way, the route of every pair. Run it with\n"
        "  --cfg=network/model:CM02 --cfg=network/TCP-gamma:0 --cfg=network/crosstraffic:no\n"
        "since SimGrid's defaults stretch latencies and shrink bandwidths. Example:\n"
        "  forerun export simgrid --cluster a100-hdr --ranks 64 > platform.xml\n",
    .options = options,
    .outputs = outputs,
    .first_input = 1,
    .word = word,
    .run = run,
};
