#include "calibrate/harness/program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "calibrate/harness/bench.h"

static const char usage[] =
    "usage: mpirun -np N forerun-mpi calibrate --samples FILE [options]\n"
    "  --samples FILE    where the measurements go, a line each (required)\n"
    "  --max-size SIZE   largest message (default \"16 MiB\")\n"
    "  --quick           a quarter of the time\n"
    "  --seed N          order in which points are visited (default 1)\n"
    "  --reps N          at most so many repetitions of a point (default 120, quick 40)\n"
    "  --budget SECONDS  time for everything (default 60, quick 15)\n"
    "  --progress        say on stderr what is being measured\n";

static const char *const known[] = {"--samples", "--max-size", "--quick",    "--seed",
                                    "--reps",    "--budget",   "--progress", NULL};

static fr_status get_number(const char *option, const char *text, double min, double max,
                            bool whole, double *out, struct fr_error *err) {
    char *end = NULL;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= min && value <= max) ||
        (whole && value != floor(value)))
        return fr_fail(err, FR_ERR_USAGE, option, "\"%.32s\" is no %snumber from %g to %g",
                       text, whole ? "whole " : "", min, max);
    *out = value;
    return FR_OK;
}

static fr_status check_known(const char *option, struct fr_error *err) {
    for (int i = 0; known[i]; i++)
        if (strcmp(option, known[i]) == 0) return FR_OK;
    const char *near = fr_suggest(option, known);
    return fr_fail(err, FR_ERR_USAGE, option, "is not an option%s%s%s",
                   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* One option that takes a value. */
static fr_status set_option(const char *option, const char *value, struct fr_bench_options *o,
                            struct fr_error *err) {
    double number = 0;
    if (strcmp(option, "--samples") == 0) {
        o->samples = value;
        return FR_OK;
    }
    if (strcmp(option, "--max-size") == 0) {
        FR_TRY(fr_quantity_parse(value, FR_QUANTITY_SIZE, option, &o->max_size_B, err));
        if (o->max_size_B < 64 || o->max_size_B > 4e9)
            return fr_fail(err, FR_ERR_USAGE, option, "must lie between 64 B and 4 GB");
        return FR_OK;
    }
    if (strcmp(option, "--seed") == 0) {
        FR_TRY(get_number(option, value, 0, 9007199254740992.0, true, &number, err));
        o->seed = (uint64_t)number;
        return FR_OK;
    }
    if (strcmp(option, "--reps") == 0) {
        FR_TRY(get_number(option, value, 1, 10000, true, &number, err));
        o->reps = (int)number;
        return FR_OK;
    }
    return get_number(option, value, 0.1, 1e6, false, &o->budget_s, err); /* --budget */
}

static fr_status parse(int argc, char **argv, struct fr_bench_options *o,
                       struct fr_error *err) {
    *o = (struct fr_bench_options){.max_size_B = 16 << 20, .seed = 1};
    if (argc < 2 || strcmp(argv[1], "calibrate") != 0)
        return fr_fail(err, FR_ERR_USAGE, argc < 2 ? NULL : argv[1],
                       "expected the command \"calibrate\"");
    for (int i = 2; i < argc; i++) {
        const char *option = argv[i];
        FR_TRY(check_known(option, err));
        if (strcmp(option, "--quick") == 0)
            o->quick = true;
        else if (strcmp(option, "--progress") == 0)
            o->progress = true;
        else if (i + 1 >= argc)
            return fr_fail(err, FR_ERR_USAGE, option, "needs a value");
        else
            FR_TRY(set_option(option, argv[++i], o, err));
    }
    if (!o->samples) return fr_fail(err, FR_ERR_USAGE, "--samples", "is required");
    if (o->reps == 0) o->reps = o->quick ? 40 : 120;
    if (!(o->budget_s > 0)) o->budget_s = o->quick ? 15 : 60;
    o->progress = o->progress || isatty(STDERR_FILENO);
    return FR_OK;
}

static int report(const struct fr_error *err) {
    fprintf(stderr, "forerun-mpi: %s%s%s\n", err->where, *err->where ? ": " : "", err->detail);
    return fr_status_exit_code(err->status);
}

/* An error that every rank has is reported by rank 0 alone. */
static int report_once(const struct fr_error *err) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 0 ? report(err) : fr_status_exit_code(err->status);
}

/* After a failure of one rank the others wait in a call that will not end, so the job is ended;
 * what was measured until then is in the file. */
static int give_up(const struct fr_error *err) {
    int code = fr_status_exit_code(FR_ERR_PARTIAL);
    report(err);
    MPI_Abort(MPI_COMM_WORLD, code);
    return code;
}

static int calibrate(const struct fr_bench_options *options) {
    struct fr_error err = {.status = FR_OK};
    struct fr_bench bench;
    int code = 0;
    if (fr_bench_open(options, &bench, &err) != FR_OK)
        code = err.status == FR_ERR_IO ? report_once(&err) : give_up(&err);
    else if (fr_bench_run(&bench, &err) != FR_OK)
        code = give_up(&err);
    fr_bench_close(&bench);
    return code;
}

int fr_harness_main(int argc, char **argv) {
    struct fr_bench_options options;
    struct fr_error err = {.status = FR_OK};
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(usage, stdout);
        return 0;
    }
    /* Read by OpenBLAS when it would start its threads. */
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS) {
        fputs("forerun-mpi: MPI could not be started\n", stderr);
        return fr_status_exit_code(FR_ERR_EXTERNAL);
    }
    int code =
        parse(argc, argv, &options, &err) == FR_OK ? calibrate(&options) : report_once(&err);
    MPI_Finalize();
    return code;
}
