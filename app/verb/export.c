/* A cluster, or a plan's program, for other tools to read. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "answer/outcome/report.h"
#include "app/load.h"
#include "app/verb.h"
#include "base/file.h"
#include "base/file/folder.h"
#include "base/text/meant.h"
#include "sim/chakra.h"
#include "sim/goal.h"
#include "sim/run.h"
#include "topology/platform.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    FR_OPTION_MODEL,
    FR_OPTION_PLAN,
    FR_OPTION_SET,
    {"ranks", "N", "simgrid: how many ranks (default: all of the cluster, at most 512)", 'n'},
    {"out", "FILE", "where it goes (default: standard output); of chakra a folder", 'o'},
    {"collectives", "NAME",
     "goal, of a pipeline: operations (inside its passes, default) or messages of all ranks",
     0},
    {"json", NULL, "chakra: JSON, not protobuf", 0},
    FR_OPTION_HELP,
    FR_OPTION_END};

/* A core is as fast as its products are when they are large, in the dtype that is fastest. */
static double speed_flop_per_s(const struct fr_device *device) {
    const double n = 8192;
    const struct fr_gemm_shape large = {n, n, n, n, 0};
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

static fr_status no_json(const struct fr_args *args, struct fr_error *err) {
    return fr_args_has(args, "json")
               ? fr_fail(err, FR_ERR_USAGE, "--json", "is of chakra, which has such a form")
               : FR_OK;
}

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

static fr_status look_at(struct fr_job *job, const struct fr_simulate_options *how,
                         struct fr_error *err) {
    struct fr_simulation simulation = {.n_stages = 0};
    fr_status status = fr_simulate(job, &job->plan, how, &simulation, err);
    if (status == FR_OK) status = can_be(job, &simulation.outcome, err);
    fr_simulation_free(&simulation);
    return status;
}

/* Layers with explicit collectives; a pipeline with one rank a stage, unless all are asked for. */
static fr_status goal(const struct fr_args *args, struct fr_job *job, struct fr_text *text,
                      struct fr_error *err) {
    bool messages = false;
    FR_TRY(no_json(args, err));
    FR_TRY(fr_app_as_messages(args, &messages, err));
    FR_TRY(fr_app_load(args, true, job, err));
    const struct fr_simulate_options how = {
        .network = &fr_network_isolated,
        .look = write_goal,
        .context = text,
        .as_messages = messages || !fr_job_is_pipeline(job, &job->plan)};
    return look_at(job, &how, err);
}

/* ---- traces, a file a rank ------------------------------------------------------------------- */

struct traces {
    const struct fr_job *job;
    struct fr_chakra chakra;
};

static fr_status write_chakra(void *context, const struct fr_network_work *work,
                              const double *class_s, struct fr_error *err) {
    struct traces *t = context;
    t->chakra.layers = !fr_job_is_pipeline(t->job, &t->job->plan);
    t->chakra.scattered = t->job->plan.zero > 0;
    t->chakra.common_apart = t->job->plan.common_subgrid;
    return fr_chakra_write(work, class_s, &t->chakra, err);
}

/* A rank's, and the groups of all behind the last. */
static void chakra_file(void *context, int i, char *name, const char **data, size_t *length) {
    const struct fr_chakra *chakra = context;
    const struct fr_text *text = i < chakra->n_ranks ? &chakra->rank[i] : &chakra->groups;
    if (i < chakra->n_ranks)
        snprintf(name, FR_FILE_NAME_B, "chakra.%d.%s", i, chakra->json ? "jsonl" : "et");
    else
        snprintf(name, FR_FILE_NAME_B, "comm_groups.json");
    *data = text->data;
    *length = text->length;
}

static fr_status chakra(const struct fr_args *args, struct fr_job *job, struct fr_text *text,
                        struct fr_error *err) {
    const char *folder = fr_args_get(args, "out");
    struct traces t = {.job = job, .chakra = {.json = fr_args_has(args, "json")}};
    if (!folder || strcmp(folder, "-") == 0 || strlen(folder) > 4000)
        return fr_fail(err, FR_ERR_USAGE, "--out", "a folder is needed: a file a rank");
    const struct fr_simulate_options how = {
        .network = &fr_network_isolated, .look = write_chakra, .context = &t};
    FR_TRY(fr_app_load(args, true, job, err));
    fr_status status = look_at(job, &how, err);
    if (status == FR_OK)
        status =
            fr_file_write_folder(folder, t.chakra.n_ranks + 1, chakra_file, &t.chakra, err);
    if (status == FR_OK)
        fr_text_addf(text, "%s/chakra.RANK.%s: %" PRId32 " ranks, %" PRId64 " nodes\n", folder,
                     t.chakra.json ? "jsonl" : "et", t.chakra.n_ranks, t.chakra.n_nodes);
    fr_chakra_free(&t.chakra);
    return status;
}

/* A platform has links, and what a collective takes is what its messages do there: of fitted ones it says
 * that it does not hold them. */
static void tell_fits(const struct fr_cluster *cluster, struct fr_text *text) {
    bool any = false;
    for (int op = 0; op < FR_OP_COUNT; op++) {
        const struct fr_form *form = cluster->price[op].form;
        if (!form || form == &fr_form_algorithm) continue;
        fr_text_addf(text, "%s %s (%s)",
                     any ? "," : "<!-- Not in it, as links are all that a platform has:",
                     fr_op_names[op], form->name);
        any = true;
    }
    if (any) fr_text_addf(text, " as fitted -->\n");
}

/* ---- a cluster ------------------------------------------------------------------------------- */

static fr_status simgrid(const struct fr_args *args, struct fr_job *job, struct fr_text *text,
                         struct fr_error *err) {
    const struct fr_power *power = &job->cluster.device.power;
    long long ranks = 0;
    FR_TRY(no_json(args, err));
    FR_TRY(fr_args_integer(args, "ranks", 1, FR_RANKS_MAX, &ranks, err));
    if (fr_args_has(args, "model") || fr_args_has(args, "plan"))
        return fr_fail(err, FR_ERR_USAGE, "--model",
                       "is of a program, which goal and chakra write");
    FR_TRY(fr_app_load(args, false, job, err));
    int64_t all = fr_levels_largest(&job->cluster.levels);
    const struct fr_levels levels =
        fr_levels_take(&job->cluster.levels, ranks ? ranks : all, FR_UNITS_SEGMENTS);
    const struct fr_platform platform = {.name = job->cluster_from,
                                         .n_ranks = ranks ? ranks : all,
                                         .speed_flop_per_s =
                                             speed_flop_per_s(&job->cluster.device),
                                         .cores = 1,
                                         .idle_W = power->known ? power->idle_W : NAN,
                                         .all_cores_W = power->known ? power->busy_W : NAN,
                                         .n_pairs = -1};
    FR_TRY(fr_platform_write(&levels, &platform, text, err));
    tell_fits(&job->cluster, text);
    return FR_OK;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    bool folder; /* it writes its files itself; text is reported */
    fr_status (*write)(const struct fr_args *args, struct fr_job *job, struct fr_text *text,
                       struct fr_error *err);
} formats[] = {{"simgrid", false, simgrid}, {"goal", false, goal}, {"chakra", true, chakra}};
enum { N_FORMATS = sizeof formats / sizeof *formats };

static const char *word(int i) { return i < N_FORMATS ? formats[i].name : NULL; }

static fr_status unknown_format(const char *name, struct fr_error *err) {
    const char *known[N_FORMATS + 1] = {NULL};
    char tail[200];
    for (int i = 0; i < N_FORMATS; i++) known[i] = formats[i].name;
    return fr_fail(err, FR_ERR_USAGE, NULL, "no format \"%.40s\"%s", name,
                   fr_meant_tail(name, known, tail, sizeof tail));
}

static fr_status find_format(const struct fr_args *args, int *format, struct fr_error *err) {
    if (args->n_words == 0)
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "no format given; known: simgrid, goal, chakra");
    for (*format = 0; *format < N_FORMATS; ++*format)
        if (strcmp(args->word[0], formats[*format].name) == 0) break;
    if (*format == N_FORMATS) return unknown_format(args->word[0], err);
    if (args->n_words > 1)
        return fr_fail(err, FR_ERR_USAGE, NULL, "unexpected word \"%.64s\"", args->word[1]);
    return FR_OK;
}

static fr_status export(const struct fr_args *args, struct fr_job *job, struct fr_error *err) {
    const char *out = fr_args_get(args, "out");
    struct fr_text text = {0};
    int format = 0;
    FR_TRY(find_format(args, &format, err));
    if (formats[format].folder) {
        struct stat old;
        if (out && stat(out, &old) == 0 && !S_ISDIR(old.st_mode))
            return fr_fail(err, FR_ERR_IO, out, "is there, and is no folder");
        out = NULL;
    }
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

/* Traces have a form of the same name, but the answer is a text. */
static bool document(const struct fr_args *args) {
    (void)args;
    return false;
}

static const struct fr_output outputs[] = {{"out", NULL, NULL}, {NULL, NULL, NULL}};

const struct fr_verb fr_verb_export = {
    .name = "export",
    .summary = "a cluster as a SimGrid platform; a plan's program as GOAL, as Chakra traces",
    .usage = "simgrid|goal|chakra --cluster C [--model M] [--ranks N] [--set KEY=VALUE]... [-o "
             "FILE]",
    .details =
        "goal: what each rank computes and sends, after what, for LogGOPSim (txt2bin). A "
        "pipeline's "
        "stages, once for all replicas; of layers, or with --collectives messages, all ranks, "
        "collectives as messages. Work is in nanoseconds, how long messages take is the "
        "reader's.\n"
        "  forerun export goal --cluster a100-hdr --model gpt-8.3b --set pp=4 > schedule.goal\n"
        "chakra: execution traces of all ranks (Chakra 0.0.4, a file each), as ASTRA-sim reads "
        "them: work, messages, and the collectives of replicas with their process groups. "
        "Collectives inside a "
        "pass are part of its time. Times are whole microseconds.\n"
        "  forerun export chakra --cluster a100-hdr --model gpt-8.3b --set tp=8 --set pp=4 "
        "--set dp=4 -o traces\n"
        "simgrid: one host a rank, every link one way, the route of every pair. Run it with\n"
        "  --cfg=network/model:CM02 --cfg=network/TCP-gamma:0 --cfg=network/crosstraffic:no\n"
        "since SimGrid's defaults stretch latencies and shrink bandwidths. Fitted collectives "
        "are not in "
        "it, nor in goal, which refuses layers that have them; chakra has them with their "
        "times. Example:\n"
        "  forerun export simgrid --cluster a100-hdr --ranks 64 > platform.xml\n",
    .options = options,
    .outputs = outputs,
    .first_input = 1,
    .word = word,
    .document = document,
    .run = run,
};
