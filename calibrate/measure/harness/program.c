#include "calibrate/measure/harness/program.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/duration.h"
#include "base/range.h"
#include "base/units.h"
#include "calibrate/measure/harness/bench.h"
#include "calibrate/measure/harness/stop.h"
#include "calibrate/measure/harness/watch.h"

static const char usage[] =
    "usage: mpirun -np N forerun-mpi calibrate --samples FILE [options]\n"
    "  --samples FILE    where the measurements go, a line each (required)\n"
    "  --resume          go on with that file; what is done is not repeated\n"
    "  --force           replace that file if it holds something\n"
    "  --launches N      how many launches the file is to hold (default 1)\n"
    "  --only ROW,...    what to measure: see below\n"
    "  --size RANGE      message sizes, e.g. 8..1MiB*4 (default: powers of two and some "
    "between)\n"
    "  --groups RANGE    collectives over these numbers of ranks only, e.g. 2,64\n"
    "  --max-size SIZE   largest message (default \"16 MiB\", of all-reduces \"64 MiB\")\n"
    "  --quick           fewer shapes, shorter warm-ups, a quarter of the time\n"
    "  --seed N          order in which points are visited (default 1)\n"
    "  --reps N          at most so many samples of a point in a launch (default 120, quick "
    "40)\n"
    "  --budget TIME     for everything, e.g. 90 or 10m (default 60, quick 15)\n"
    "  --limit TIME      for this and all later launches; what decides most may take it all\n"
    "  --since SECONDS   of the epoch, from which budget and limit count (default: from the "
    "first "
    "point)\n"
    "  --node-size N     ranks that count as a node (default: those that share memory)\n"
    "  --patience TIME   without a sign of life or progress before the job is given up "
    "(default " FR_PATIENCE_TEXT ")\n"
    "  --no-watch        do not look out for ranks that die or hang\n"
    "  --meter NAME      power meter (default: the first that works)\n"
    "  --clocks NAME     set the clock and measure power at some: cpufreq, nvidia\n"
    "  --device NAME     measure GPUs, one a rank, in place of processors: cuda, hip\n"
    "  --progress        say on stderr what is being measured\n"
    "\nrows of --only:\n";

enum option_kind { FLAG, TEXT, COUNT, TIME, SIZE, RANGE };

static const struct {
    const char *name;
    enum option_kind kind;
    size_t at; /* in struct fr_bench_options */
    double min, max;
} known[] = {
    {"--samples", TEXT, offsetof(struct fr_bench_options, samples), 0, 0},
    {"--resume", FLAG, offsetof(struct fr_bench_options, resume), 0, 0},
    {"--force", FLAG, offsetof(struct fr_bench_options, force), 0, 0},
    {"--launches", COUNT, offsetof(struct fr_bench_options, n_launches), 1, 1000},
    {"--only", TEXT, offsetof(struct fr_bench_options, only), 0, 0},
    {"--size", RANGE, 0, 0, 0},
    {"--groups", RANGE, 0, 0, 0},
    {"--max-size", SIZE, offsetof(struct fr_bench_options, max_size_B), 64, 4e9},
    {"--quick", FLAG, offsetof(struct fr_bench_options, quick), 0, 0},
    {"--reps", COUNT, offsetof(struct fr_bench_options, reps), 1, 10000},
    {"--budget", TIME, offsetof(struct fr_bench_options, budget_s), 0.1, 1e6},
    {"--limit", TIME, offsetof(struct fr_bench_options, limit_s), 0.1, 1e6},
    {"--since", TIME, offsetof(struct fr_bench_options, since_s), 0, 1e12},
    {"--node-size", COUNT, offsetof(struct fr_bench_options, node_size), 1, 1e6},
    {"--patience", TIME, offsetof(struct fr_bench_options, patience_s), 1, 1e6},
    {"--no-watch", FLAG, offsetof(struct fr_bench_options, watch), 0, 0},
    {"--meter", TEXT, offsetof(struct fr_bench_options, meter), 0, 0},
    {"--clocks", TEXT, offsetof(struct fr_bench_options, clocks), 0, 0},
    {"--device", TEXT, offsetof(struct fr_bench_options, device), 0, 0},
    {"--progress", FLAG, offsetof(struct fr_bench_options, progress), 0, 0},
    {"--seed", COUNT, 0, 0, 9007199254740992.0},
};
enum { N_KNOWN = sizeof known / sizeof *known };

static fr_status get_whole(const char *option, const char *text, double min, double max,
                           double *out, struct fr_error *err) {
    char *end = NULL;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= min && value <= max) || value != floor(value))
        return fr_fail(err, FR_ERR_USAGE, option, "\"%.32s\" is no whole number from %g to %g",
                       text, min, max);
    *out = value;
    return FR_OK;
}

static fr_status find_option(const char *option, int *index, struct fr_error *err) {
    const char *names[N_KNOWN + 1] = {NULL};
    for (*index = 0; *index < N_KNOWN; ++*index) {
        if (strcmp(option, known[*index].name) == 0) return FR_OK;
        names[*index] = known[*index].name;
    }
    const char *near = fr_suggest(option, names);
    return fr_fail(err, FR_ERR_USAGE, option, "is not an option%s%s%s",
                   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* Every word of --only must be a row. */
static fr_status check_rows(const char *only, struct fr_error *err) {
    const char *names[64] = {NULL};
    for (int i = 0; fr_bench_rows[i]; i++) names[i] = fr_bench_rows[i]->name;
    for (const char *at = only, *end; *at; at = *end ? end + 1 : end) {
        char word[32];
        int found = 0;
        end = at + strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)(end - at), at);
        for (int i = 0; names[i]; i++) found |= strcmp(names[i], word) == 0;
        if (found) continue;
        const char *near = fr_suggest(word, names);
        return fr_fail(err, FR_ERR_USAGE, "--only", "\"%s\" is measured by no row%s%s%s", word,
                       near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    }
    return FR_OK;
}

/* One option that takes a value. */
static fr_status set_option(int index, const char *value, struct fr_bench_options *o,
                            struct fr_error *err) {
    const char *name = known[index].name;
    void *at = (char *)o + known[index].at;
    double number = 0;
    switch (known[index].kind) {
    case TEXT:
        *(const char **)at = value;
        return strcmp(name, "--only") == 0 ? check_rows(value, err) : FR_OK;
    case TIME:
        return fr_duration_parse(value, name, known[index].min, known[index].max, at, err);
    case RANGE:
        if (strcmp(name, "--groups") == 0)
            return fr_range_parse(value, false, 2, name, &o->groups, &o->n_groups, err);
        return fr_range_parse(value, true, 4, name, &o->sizes, &o->n_sizes, err);
    case SIZE:
        FR_TRY(fr_quantity_parse(value, FR_QUANTITY_SIZE, name, &number, err));
        if (number < known[index].min || number > known[index].max)
            return fr_fail(err, FR_ERR_USAGE, name, "must lie between 64 B and 4 GB");
        *(double *)at = number;
        o->max_stated = true;
        return FR_OK;
    default:
        FR_TRY(get_whole(name, value, known[index].min, known[index].max, &number, err));
        if (strcmp(name, "--seed") == 0)
            o->seed = (uint64_t)number;
        else
            *(int *)at = (int)number;
        return FR_OK;
    }
}

/* The others have a main of their own (real/apps, app/ranks) and do not come here. */
static fr_status check_command(const char *word, struct fr_error *err) {
    static const char *const names[] = {"calibrate", "run", "train", "learn", "search", NULL};
    if (strcmp(word, names[0]) == 0) return FR_OK;
    const char *near = fr_suggest(word, names);
    return fr_fail(err, FR_ERR_USAGE, *word ? word : NULL,
                   "expected a command: calibrate, run, train, learn or search%s%s%s",
                   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static fr_status parse(int argc, char **argv, struct fr_bench_options *o,
                       struct fr_error *err) {
    *o = (struct fr_bench_options){.max_size_B = 16 << 20,
                                   .seed = 1,
                                   .n_launches = 1,
                                   .watch = true,
                                   .patience_s = FR_PATIENCE_S};
    FR_TRY(check_command(argc < 2 ? "" : argv[1], err));
    for (int i = 2, index; i < argc; i++) {
        FR_TRY(find_option(argv[i], &index, err));
        if (known[index].kind == FLAG)
            *(bool *)(void *)((char *)o + known[index].at) =
                strcmp(known[index].name, "--no-watch") != 0;
        else if (i + 1 >= argc)
            return fr_fail(err, FR_ERR_USAGE, argv[i], "needs a value");
        else {
            FR_TRY(set_option(index, argv[i + 1], o, err));
            i++;
        }
    }
    if (!o->samples) return fr_fail(err, FR_ERR_USAGE, "--samples", "is required");
    if (o->reps == 0) o->reps = o->quick ? 40 : 120;
    if (!(o->budget_s > 0)) o->budget_s = o->quick ? 15 : 60;
    o->progress = o->progress || isatty(STDERR_FILENO);
    return FR_OK;
}

const char *fr_harness_usage(void) { return usage; }

static void help(void) {
    fputs(usage, stdout);
    for (int i = 0; fr_bench_rows[i]; i++)
        printf("  %-17s %s\n                    -> %s\n", fr_bench_rows[i]->name,
               fr_bench_rows[i]->measures, fr_bench_rows[i]->feeds);
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

/* An error that all ranks found before anything was measured: one says it, all end. */
static bool is_common(const struct fr_error *err) {
    return err->status == FR_ERR_IO || err->status == FR_ERR_INPUT ||
           err->status == FR_ERR_USAGE;
}

/* After a failure of one rank the others wait in a call that will not end, so the job is ended;
 * what was measured until then is in the file. */
static int give_up(const struct fr_error *err) {
    int code = fr_status_exit_code(FR_ERR_PARTIAL);
    report(err);
    fr_watch_farewell(code);
    MPI_Abort(MPI_COMM_WORLD, code);
    return code;
}

static int calibrate(const struct fr_bench_options *options) {
    struct fr_error err = {.status = FR_OK};
    struct fr_bench bench;
    int code = 0;
    fr_status status;
    if (fr_bench_open(options, &bench, &err) != FR_OK)
        code = is_common(&err) || bench.refused ? report_once(&err) : give_up(&err);
    else if ((status = fr_bench_run(&bench, &err)) != FR_OK)
        code = status == FR_ERR_PARTIAL ? report_once(&err) : give_up(&err);
    fr_bench_close(&bench);
    return code;
}

int fr_harness_main(int argc, char **argv) {
    struct fr_bench_options options = {.samples = NULL};
    struct fr_error err = {.status = FR_OK};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") != 0) continue;
        help();
        return 0;
    }
    fr_watch_begin(argc, argv, FR_STOP_GRACE_S);
    /* Read by OpenBLAS when it would start its threads. */
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS) {
        fputs("forerun-mpi: MPI could not be started\n", stderr);
        return fr_status_exit_code(FR_ERR_EXTERNAL);
    }
    int code =
        parse(argc, argv, &options, &err) == FR_OK ? calibrate(&options) : report_once(&err);
    fr_watch_leave();
    MPI_Finalize();
    free(options.sizes);
    free(options.groups);
    return code;
}
