/* Measure this machine, fit, and leave a cluster file. */
#include "calibrate/calibrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/fitting.h"
#include "app/load.h"
#include "app/verb.h"
#include "base/file.h"

static const struct fr_option options[] = {
    {"ranks", "N", "MPI ranks to start (default: processors, at least 2)", 'n'},
    {"out", "FILE", "cluster file to write (default cluster.json)", 'o'},
    {"samples", "FILE", "measurements to write (default samples.jsonl)", 0},
    {"launcher", "\"WORDS\"",
     "instead of mpirun, e.g. \"srun --mpi=pmix -n 64\"; run without a shell", 0},
    {"max-size", "Q", "largest message (default \"16 MiB\")", 0},
    {"budget", "SECONDS", "about how long to measure (default 60)", 0},
    {"quick", NULL, "fewer shapes and repetitions, about 15 s", 0},
    {"seed", "N", "of the order of measurements (default 1)", 0},
    {"reps", "N", "repetitions of a point at most", 0},
    FR_FITTING_OPTIONS,
    FR_OPTION_JSON,
    FR_OPTION_HELP,
    FR_OPTION_END};

/* Rank 0 of a job that mpirun or srun started us in; alone we are it too. */
static bool first_rank(void) {
    static const char *const marks[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "SLURM_PROCID", NULL};
    for (int i = 0; marks[i]; i++)
        if (getenv(marks[i])) return strcmp(getenv(marks[i]), "0") == 0;
    return true;
}

static fr_status measure(const struct fr_args *args, const char *samples,
                         struct fr_error *err) {
    struct fr_calibrate_options o = {.samples = samples, .quick = fr_args_has(args, "quick")};
    long long ranks = fr_launch_cores() > 2 ? fr_launch_cores() : 2, seed = 1, reps = 0,
              budget = 0;
    const char *max_size = fr_args_get(args, "max-size");
    FR_TRY(fr_args_integer(args, "ranks", 1, 1 << 24, &ranks, err));
    FR_TRY(fr_args_integer(args, "seed", 0, 1LL << 62, &seed, err));
    FR_TRY(fr_args_integer(args, "reps", 1, 1 << 30, &reps, err));
    FR_TRY(fr_args_integer(args, "budget", 1, 1 << 30, &budget, err));
    if (max_size) {
        FR_TRY(fr_quantity_parse(max_size, FR_QUANTITY_SIZE, "--max-size", &o.max_size_B, err));
        if (o.max_size_B < 8) return fr_fail(err, FR_ERR_USAGE, "--max-size", "is below 8 B");
    }
    o.launch.n_ranks = ranks;
    o.launch.launcher = fr_args_get(args, "launcher");
    /* Inside a job every rank becomes a rank of the harness: env(1) runs it unchanged. */
    if (fr_launch_inside_mpi()) o.launch.launcher = "env";
    o.seed = seed;
    o.reps = reps;
    o.budget_s = (double)budget;
    o.progress = isatty(STDERR_FILENO);
    return fr_calibrate_run(&o, err);
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    const char *samples = fr_args_get(args, "samples"), *out = fr_args_get(args, "out");
    if (!samples) samples = "samples.jsonl";
    if (!out) out = "cluster.json";
    if (args->n_words)
        return fr_fail(err, FR_ERR_USAGE, NULL, "unexpected word \"%.64s\"", args->word[0]);
    if (strcmp(samples, "-") == 0)
        return fr_fail(err, FR_ERR_USAGE, "--samples", "must be a file: ranks append to it");
    struct fr_fit_options fitting;
    FR_TRY(fr_fitting_options(args, &fitting, err));
    FR_TRY(fr_file_check_writable(out, err));
    fr_status measured = measure(args, samples, err);
    if (measured != FR_OK && measured != FR_ERR_PARTIAL) return measured;
    if (!first_rank()) return measured;
    /* What an ended job left is worth fitting; the exit code still says that it ended early. */
    struct fr_error fit_error = {0};
    fr_status fitted =
        fr_fitting_run(&samples, 1, out, &fitting, fr_args_has(args, "json"), &fit_error);
    if (measured == FR_OK && fitted != FR_OK) *err = fit_error;
    return measured == FR_OK ? fitted : measured;
}

const struct fr_verb fr_verb_calibrate = {
    .name = "calibrate",
    .summary = "measure this machine into a cluster file",
    .usage = "[--ranks N | under mpirun or srun] [--out cluster.json] [--samples FILE] "
             "[--launcher \"...\"]",
    .details = "Measures collectives, matrix products, memory and call cost with real MPI and "
               "BLAS, then fits.\n"
               "  forerun calibrate --ranks 4\n"
               "  srun --mpi=pmix -n 64 forerun calibrate --out cluster.json --samples "
               "/shared/samples.jsonl\n",
    .options = options,
    .run = run,
};
