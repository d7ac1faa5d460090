/* Measure this machine, fit, and leave a cluster file. */
#include "calibrate/measure/calibrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/fitting.h"
#include "app/load.h"
#include "app/page/page.h"
#include "app/patience.h"
#include "app/result.h"
#include "app/text/next.h"
#include "app/verb.h"
#include "base/duration.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text/meant.h"
#include "calibrate/judge/drifted_text.h"
#include "calibrate/judge/recalibration.h"
#include "calibrate/measure/device/device.h"
#include "calibrate/measure/watch/stopped.h"
#include "models/job/preset.h"

static const struct fr_option options[] = {
    {"ranks", "N", "MPI ranks to start (default: processors, at least 2)", 'n'},
    {"out", "FILE", "cluster file to write (default cluster.json)", 'o'},
    {"samples", "FILE", "measurements to write (default samples.jsonl)", 0},
    {"launcher", "\"WORDS\"",
     "instead of mpirun: \"srun --mpi=pmix -n 64\", or \"smpi:PLATFORM.xml\" to simulate; run "
     "without a shell",
     0},
    {"resume", NULL, "go on with the samples file; what is done is not repeated", 0},
    FR_OPTION_FORCE,
    {"oversubscribe", NULL,
     "start more ranks than there are cores: what is measured is then the scheduler more than "
     "the network, and the verdict says so",
     0},
    {"check", NULL,
     "is the machine still as in the samples file?  Measures for about 45 s, writes "
     "nothing, exit code 0: as it was, 1: slower, faster or busier",
     0},
    {"refresh", NULL,
     "the same, then measure what has drifted again, replace it in the samples file, and fit",
     0},
    {"budget", "TIME", "about how long to measure: 90, 10m, 2h (default 60 s)", 0},
    {"launches", "N",
     "starts of the job that share the budget (default 3; simulated, or of GPUs, 1)", 0},
    {"only", "ROW,...", "what to measure (listed by forerun-mpi calibrate --help)", 0},
    {"groups", "RANGE", "collectives over these numbers of ranks only (default: 2, 4, ... all)",
     0},
    {"size", "RANGE", "message sizes, e.g. 8..1MiB*4 (default: powers of two, some between)",
     0},
    {"max-size", "Q", "largest message (default \"16 MiB\", of all-reduces \"64 MiB\")", 0},
    {"quick", NULL, "fewer shapes and repetitions, about 15 s", 0},
    {"seed", "N", "of the order of measurements (default 1)", 0},
    {"reps", "N", "samples of a point and launch at most (default 120)", 0},
    {"node-size", "N", "ranks that count as a node (default: those that share memory)", 0},
    FR_OPTION_PATIENCE,
    {"meter", "NAME", "power meter (default: the first that works)", 0},
    {"clocks", "NAME", "set the clock and measure power at some: cpufreq, nvidia", 0},
    {"device", "NAME", "measure GPUs in place of processors, one a rank (default 1): cuda, hip",
     0},
    {"base", "FILE|PRESET",
     "of GPUs: cluster file for what is not measured (default: the preset of their kind)", 0},
    FR_FITTING_OPTIONS,
    FR_OPTION_ALL,
    FR_OPTION_JSON_PAGE,
    FR_OPTION_HELP,
    FR_OPTION_END};

/* More ranks than cores measure the scheduler.  Two there are on any machine: it takes two to send a message.  A
 * launcher knows its own cores. */
static fr_status check_cores(const struct fr_args *args, const struct fr_launch_options *launch,
                             struct fr_error *err) {
    int cores = fr_launch_cores();
    if (launch->launcher || fr_args_has(args, "oversubscribe")) return FR_OK;
    if (launch->n_ranks <= (cores > 2 ? cores : 2)) return FR_OK;
    return fr_fail(err, FR_ERR_USAGE, "--ranks",
                   "%lld are more than the %d core%s found here, and would measure the "
                   "scheduler; give at most %d, a --launcher of several hosts, or "
                   "--oversubscribe if that is meant",
                   (long long)launch->n_ranks, cores, cores == 1 ? "" : "s",
                   cores > 2 ? cores : 2);
}

/* Rank 0 of a job that mpirun or srun started us in; alone we are it too. */
static bool first_rank(void) { return fr_rank_own() <= 0; }

/* Is it there?  Those of other hosts their launcher's ranks look for. */
static fr_status check_device(const struct fr_calibrate_options *o, struct fr_error *err) {
    const char *names[16] = {NULL};
    int n = 0;
    if (!o->device) return FR_OK;
    for (int i = 0; fr_device_drivers[i]; i++) names[i] = fr_device_drivers[i]->name;
    const struct fr_device_driver *driver = fr_device_find(o->device);
    char tail[200];
    if (!driver)
        return fr_fail(err, FR_ERR_USAGE, "--device", "\"%.32s\" is no device%s", o->device,
                       fr_meant_tail(o->device, names, tail, sizeof tail));
    if (!driver->count || o->launch.launcher) return FR_OK;
    FR_TRY(driver->count(&n, err));
    if (o->launch.n_ranks <= n) return FR_OK;
    return fr_fail(err, FR_ERR_EXTERNAL, "--ranks",
                   "%lld are more than the %d GPU%s of this host: a rank measures one",
                   (long long)o->launch.n_ranks, n, n == 1 ? "" : "s");
}

static fr_status read_max_size(const struct fr_args *args, double *size_B,
                               struct fr_error *err) {
    const char *text = fr_args_get(args, "max-size");
    if (!text) return FR_OK;
    FR_TRY(fr_quantity_parse(text, FR_QUANTITY_SIZE, "--max-size", size_B, err));
    if (*size_B >= 64 && *size_B <= 4e9) return FR_OK;
    return fr_fail(err, FR_ERR_USAGE, "--max-size", "\"%.32s\" is not between 64 B and 4 GB",
                   text);
}

static fr_status read_options(const struct fr_args *args, const char *samples,
                              struct fr_calibrate_options *out, struct fr_error *err) {
    struct fr_calibrate_options o = {.samples = samples,
                                     .quick = fr_args_has(args, "quick"),
                                     .resume = fr_args_has(args, "resume"),
                                     .force = fr_args_has(args, "force"),
                                     .sizes = fr_args_get(args, "size"),
                                     .only = fr_args_get(args, "only"),
                                     .groups = fr_args_get(args, "groups"),
                                     .meter = fr_args_get(args, "meter"),
                                     .clocks = fr_args_get(args, "clocks"),
                                     .device = fr_args_get(args, "device")};
    bool gpus = o.device && strcmp(o.device, "cpu") != 0;
    long long ranks = gpus                    ? 1
                      : fr_launch_cores() > 2 ? fr_launch_cores()
                                              : 2,
              seed = 1, reps = 0, launches = 0, node_size = 0;
    const char *budget = fr_args_get(args, "budget");
    FR_TRY(fr_args_integer(args, "ranks", 1, 1 << 24, &ranks, err));
    FR_TRY(fr_args_integer(args, "seed", 0, 1LL << 53, &seed, err));
    FR_TRY(fr_args_integer(args, "reps", 1, 10000, &reps, err));
    FR_TRY(fr_args_integer(args, "launches", 1, 1000, &launches, err));
    FR_TRY(fr_args_integer(args, "node-size", 1, 1 << 20, &node_size, err));
    if (budget) FR_TRY(fr_duration_parse(budget, "--budget", 1, 1e6, &o.budget_s, err));
    FR_TRY(fr_patience_read(args, &o.patience_s, err));
    FR_TRY(read_max_size(args, &o.max_size_B, err));
    o.launch.n_ranks = ranks;
    o.launch.launcher = fr_args_get(args, "launcher");
    /* Inside a job every rank becomes a rank of the harness: env(1) runs it unchanged. */
    if (fr_launch_inside_mpi()) o.launch.launcher = "env";
    FR_TRY(check_cores(args, &o.launch, err));
    FR_TRY(check_device(&o, err));
    o.seed = seed;
    o.reps = reps;
    o.launches = launches;
    o.node_size = node_size;
    o.progress = isatty(STDERR_FILENO);
    *out = o;
    return FR_OK;
}

/* Exit code 0 says that the machine is as it was, 1 that it is not. */
static fr_status verdict_of(const struct fr_drifted *drifted, const char *samples,
                            struct fr_error *err) {
    struct fr_text text = {0};
    if (fr_drifted_is_as_before(drifted)) return FR_OK;
    fr_drifted_sentence(drifted, &text);
    fr_status status = fr_fail(err, FR_ERR_EXTERNAL, samples, "%s", fr_text_get(&text));
    fr_text_free(&text);
    return status;
}

static fr_fitting_form form_of(const struct fr_args *args) {
    return fr_args_has(args, "json")  ? FR_FITTING_JSON
           : fr_args_has(args, "all") ? FR_FITTING_WHOLE
                                      : FR_FITTING_BRIEF;
}

/* Rows that have drifted are measured again where that was asked for. */
static fr_status recalibrate(const struct fr_args *args, struct fr_calibrate_options *o,
                             const char *out, const struct fr_fit_options *fitting,
                             struct fr_error *err) {
    const double CHECK_S = 45;
    struct fr_calibrate_options check = *o;
    struct fr_drifted drifted;
    struct fr_text text = {0}, page = {0};
    char names[512];
    if (!fr_file_exists(o->samples))
        return fr_fail(
            err, FR_ERR_INPUT, o->samples,
            "is not there: run forerun calibrate first, which writes it, or name the "
            "file with --samples");
    check.launches = 1;
    if (!(check.budget_s > 0)) check.budget_s = CHECK_S;
    FR_TRY(fr_recalibration_check(&check, &drifted, err));
    if (fr_args_has(args, "json"))
        fr_recalibration_json(&drifted, &text);
    else
        fr_drifted_print(&drifted, &text);
    if (fr_app_paged(args)) fr_recalibration_json(&drifted, &page);
    FR_TRY(fr_app_answer(args, &text, &page, err));
    fr_drifted_names(&drifted, names, sizeof names);
    if (!fr_args_has(args, "refresh")) return verdict_of(&drifted, o->samples, err);
    if (!*names) return FR_OK;
    FR_TRY(fr_recalibration_refresh(o, names, err));
    return fr_fitting_run(&o->samples, 1, out, false, fitting,
                          fr_args_has(args, "all") ? FR_FITTING_WHOLE : FR_FITTING_BRIEF, NULL,
                          err);
}

static fr_status measure_and_fit(const struct fr_args *args,
                                 const struct fr_json_document *base, struct fr_error *err) {
    const char *samples = fr_args_get(args, "samples"), *out = fr_args_get(args, "out");
    if (!samples) samples = "samples.jsonl";
    if (!out) out = "cluster.json";
    if (args->n_words)
        return fr_fail(err, FR_ERR_USAGE, NULL, "unexpected word \"%.64s\"", args->word[0]);
    if (strcmp(samples, "-") == 0)
        return fr_fail(err, FR_ERR_USAGE, "--samples", "must be a file: ranks append to it");
    struct fr_fit_options fitting;
    FR_TRY(fr_fitting_options(args, &fitting, err));
    fitting.base = base;
    if (fr_args_has(args, "base") && !fr_args_has(args, "device"))
        return fr_fail(err, FR_ERR_USAGE, "--base",
                       "belongs to --device: of processors all is measured");
    struct fr_calibrate_options o;
    FR_TRY(read_options(args, samples, &o, err));
    if (fr_args_has(args, "check") || fr_args_has(args, "refresh"))
        return recalibrate(args, &o, out, &fitting, err);
    FR_TRY(fr_file_check_writable(out, err));
    fr_status measured = fr_calibrate_run(&o, err);
    if (measured != FR_OK && measured != FR_ERR_PARTIAL) return measured;
    if (!first_rank() || fr_launch_was_stopped()) return measured;
    /* Samples of a job that ended early are worth fitting; the exit code still says that it
     * ended early. */
    struct fr_error early = {.status = measured}, fit_error = {0};
    if (measured != FR_OK) early = *err;
    early.status = measured;
    fr_status fitted = fr_fitting_run(&samples, 1, out, measured != FR_OK, &fitting,
                                      form_of(args), args, &fit_error);
    if (measured != FR_OK && fitted != FR_OK && fitted != FR_ERR_PARTIAL) return measured;
    if (fitted != FR_OK) *err = fit_error;
    return fr_result_end(fitted, &early, err);
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_json_document *base = NULL;
    const char *from = fr_args_get(args, "base");
    if (from) FR_TRY(fr_preset_or_file_read("cluster", from, &base, err));
    fr_status status = measure_and_fit(args, base, err);
    fr_json_free(base);
    return status;
}

static const struct fr_output outputs[] = {{"out", "cluster.json", "check"},
                                           {"samples", "samples.jsonl", "check"},
                                           {NULL, NULL, NULL}};

const struct fr_verb fr_verb_calibrate = {
    .name = "calibrate",
    .summary = "measure this machine into a cluster file",
    .usage = "[--ranks N | under mpirun or srun] [--out cluster.json] [--samples FILE] "
             "[--launcher \"...\"]",
    .details =
        "Measures collectives, matrix products, memory and call cost with real MPI and "
        "BLAS, then fits.  Samples are written as they are taken: after a crash, a kill or a\n"
        "time limit, --resume goes on where it ended (exit code 5 says that it is to).\n"
        "  forerun calibrate --ranks 4\n"
        "  forerun calibrate --ranks 16 --budget 10m --resume\n"
        "  forerun calibrate --ranks 64 --launcher smpi:platform.xml --size 8..1MiB*4\n"
        "  forerun calibrate --ranks 4 --check\n"
        "  forerun calibrate --device cuda --base dgx-h100\n"
        "  srun --mpi=pmix -n 64 forerun calibrate --out cluster.json --samples "
        "/shared/samples.jsonl\n",
    .options = options,
    .words = FR_WORDS_OPTIONS,
    .outputs = outputs,
    .run = run,
};
