#include "real/apps/program.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/duration.h"
#include "base/file.h"
#include "base/journal/journal.h"
#include "calibrate/measure/harness/memory.h"
#include "calibrate/measure/harness/program.h"
#include "calibrate/measure/harness/watch.h"
#include "real/apps/learn/learn.h"
#include "real/apps/resume.h"
#include "real/apps/run.h"
#include "real/apps/train.h"

static const char usage[] =
    "usage: mpirun -np N forerun-mpi train --cases FILE --out FILE [--progress]\n"
    "       mpirun -np N forerun-mpi learn --corpus NAME --cases FILE --out FILE [--progress]\n"
    "       mpirun -np N forerun-mpi run --cases FILE --out FILE [options]\n"
    "  --cases FILE      what to run, one JSON line a case\n"
    "  --out FILE        where samples go, a line each, appended; may be the same file, and "
    "what\n"
    "                    it holds already is not repeated\n"
    "  --corpus NAME     what is learnt: grammar, grammar:SEED, or a file of text\n"
    "  --passes N        every case so often, each time in a new order (default 3)\n"
    "  --visit SECONDS   about how long one visit of a case samples (default 0.15)\n"
    "  --budget SECONDS  begin no visit but the first after so long\n"
    "  --since SECONDS   of the epoch, from which that counts (default: from the first visit)\n"
    "  --seed N          of numbers and order (default 1)\n"
    "  --check           only ask every program whether it can run its cases, of any rank "
    "count\n"
    "  --each            with --check: those that it cannot run are written to --out, each "
    "with "
    "its\n"
    "                    reason, and left out when the cases run\n"
    "  --patience TIME   without a sign of life or progress before the job is given up "
    "(default " FR_PATIENCE_TEXT ")\n"
    "  --progress        say on stderr what is running\n"
    "  --fail-rank N --fail-visit N  this rank ends itself then (for tests)\n";

static const char *const known[] = {
    "--corpus",     "--cases", "--out",  "--passes",   "--visit",
    "--budget",     "--since", "--seed", "--progress", "--fail-rank",
    "--fail-visit", "--check", "--each", "--patience", NULL};

struct arguments {
    const char *cases, *corpus;
    bool check, each;
    double patience_s;
    struct fr_real_job job;
};

static fr_status number(const char *option, const char *text, double min, double max,
                        double *out, struct fr_error *err) {
    char *end = NULL;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= min && value <= max))
        return fr_fail(err, FR_ERR_USAGE, option, "\"%.32s\" is no number from %g to %g", text,
                       min, max);
    *out = value;
    return FR_OK;
}

static fr_status set(const char *option, const char *value, struct arguments *a,
                     struct fr_error *err) {
    double x = 0;
    if (strcmp(option, "--cases") == 0) return a->cases = value, FR_OK;
    if (strcmp(option, "--corpus") == 0) return a->corpus = value, FR_OK;
    if (strcmp(option, "--out") == 0) return a->job.out = value, FR_OK;
    if (strcmp(option, "--patience") == 0)
        return fr_duration_parse(value, option, 1, 1e6, &a->patience_s, err);
    if (strcmp(option, "--visit") == 0)
        return number(option, value, 0, 1e6, &a->job.visit_s, err);
    if (strcmp(option, "--budget") == 0)
        return number(option, value, 0, 1e9, &a->job.budget_s, err);
    if (strcmp(option, "--since") == 0)
        return number(option, value, 0, 1e11, &a->job.since_s, err);
    FR_TRY(number(option, value, 0, 1e9, &x, err));
    if (strcmp(option, "--passes") == 0) a->job.passes = x < 1 ? 1 : (int)x;
    if (strcmp(option, "--seed") == 0) a->job.seed = (uint64_t)x;
    if (strcmp(option, "--fail-rank") == 0) a->job.fail_rank = (int)x;
    if (strcmp(option, "--fail-visit") == 0) a->job.fail_visit = (int)x;
    return FR_OK;
}

static fr_status parse(int argc, char **argv, struct arguments *a, struct fr_error *err) {
    *a = (struct arguments){
        .patience_s = FR_PATIENCE_S,
        .job = {.passes = 3, .visit_s = 0.15, .seed = 1, .fail_rank = -1, .fail_visit = -1}};
    for (int i = 2; i < argc; i++) {
        const char *option = argv[i];
        bool is_known = false;
        for (int j = 0; known[j]; j++) is_known = is_known || strcmp(option, known[j]) == 0;
        if (!is_known) {
            const char *near = fr_suggest(option, known);
            return fr_fail(err, FR_ERR_USAGE, option, "is not an option%s%s%s",
                           near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
        }
        if (strcmp(option, "--progress") == 0)
            a->job.progress = true;
        else if (strcmp(option, "--check") == 0)
            a->check = true;
        else if (strcmp(option, "--each") == 0)
            a->each = true;
        else if (i + 1 >= argc)
            return fr_fail(err, FR_ERR_USAGE, option, "needs a value");
        else
            FR_TRY(set(option, argv[++i], a, err));
    }
    if (!a->cases) return fr_fail(err, FR_ERR_USAGE, "--cases", "is required");
    if (!a->job.out) return fr_fail(err, FR_ERR_USAGE, "--out", "is required");
    a->job.progress = a->job.progress || isatty(STDERR_FILENO);
    return FR_OK;
}

/* Rank 0 reads the file and all get its text: nodes need not share a file system. */
static fr_status read_text(const char *path, char **text, struct fr_error *err) {
    int rank = 0;
    long length = -1;
    FR_MPI_TRY(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (rank == 0) {
        struct fr_journal journal;
        if (fr_journal_read(path, FR_FILE_MAX_B, &journal, err) == FR_OK) {
            *text = journal.text;
            length = (long)journal.length;
        } else
            fr_journal_free(&journal);
    }
    FR_MPI_TRY(MPI_Bcast(&length, 1, MPI_LONG, 0, MPI_COMM_WORLD));
    if (length < 0)
        return rank == 0 ? err->status
                         : fr_fail(err, FR_ERR_INPUT, path, "cannot be read on rank 0");
    if (rank != 0) *text = fr_calloc((size_t)length + 1, 1);
    if (!*text) return fr_fail(err, FR_ERR_NOMEM, path, "does not fit in memory");
    FR_MPI_TRY(MPI_Bcast(*text, (int)length, MPI_CHAR, 0, MPI_COMM_WORLD));
    return FR_OK;
}

static int report(const struct fr_error *err, bool once) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!once || rank == 0)
        fprintf(stderr, "forerun-mpi: %s%s%s\n", err->where, *err->where ? ": " : "",
                err->detail);
    return fr_status_exit_code(err->status);
}

/* All ranks refuse the same input.  A later failure ends the job, since the others wait in a
 * call that will not end.  Measurements until then are in the file. */
static int give_up(const struct fr_error *err) {
    int code = fr_status_exit_code(FR_ERR_PARTIAL);
    report(err, false);
    fr_watch_farewell(code);
    MPI_Abort(MPI_COMM_WORLD, code);
    return code;
}

/* Find the results that are there, their machine, and the work that is left. */
static fr_status prepare(const struct arguments *a, const char *text, int n_ranks,
                         struct fr_real_cases *cases, bool **done, char machine[FR_MACHINE_B],
                         bool *described, struct fr_error *err) {
    FR_TRY(fr_real_cases_read(text, a->cases, n_ranks, a->job.seed, cases, err));
    FR_TRY(fr_real_machine(machine, err));
    FR_TRY(fr_real_machine_check(text, a->cases, n_ranks, machine, described, err));
    *done = fr_calloc((size_t)cases->n * (size_t)a->job.passes + 1, sizeof **done);
    if (!*done) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d cases", cases->n);
    return fr_real_done_read(text, a->cases, cases, a->job.passes, *done, err);
}

static fr_status check_each(const struct arguments *a, const char *text, struct fr_error *err) {
    struct fr_text lines = {0};
    int rank = 0;
    FR_TRY(fr_real_cases_refused(text, a->cases, &lines, err));
    FR_MPI_TRY(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    int fd = -1;
    fr_status status = rank == 0 ? fr_journal_open(a->job.out, &fd, err) : FR_OK;
    if (status == FR_OK && rank == 0 && lines.length > 0)
        status = fr_journal_put(fd, a->job.out, &lines, err);
    if (fd >= 0) close(fd);
    fr_text_free(&lines);
    return status;
}

static int run(const struct arguments *a) {
    struct fr_error err = {.status = FR_OK};
    struct fr_real_cases cases = {0};
    struct fr_real_job job = a->job;
    char *text = NULL, machine[FR_MACHINE_B] = "";
    bool *done = NULL, described = false;
    int n_ranks = 1, code = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    fr_status status = read_text(a->cases, &text, &err);
    if (status == FR_OK && a->check && a->each)
        status = check_each(a, text, &err);
    else if (status == FR_OK && a->check)
        status = fr_real_cases_read(text, a->cases, 0, a->job.seed, &cases, &err);
    else if (status == FR_OK)
        status = prepare(a, text, n_ranks, &cases, &done, machine, &described, &err);
    job.done = done;
    job.machine = described ? NULL : machine;
    if (status != FR_OK)
        code = report(&err, true);
    else if (!a->check && fr_real_job_run(&cases, &job, &err) != FR_OK)
        code = give_up(&err);
    fr_real_cases_free(&cases);
    free(done);
    free(text);
    return code;
}

static int train(const struct arguments *a) {
    struct fr_error err = {.status = FR_OK};
    char *text = NULL;
    int code = 0;
    if (read_text(a->cases, &text, &err) != FR_OK)
        code = report(&err, true);
    else if (fr_train_run(text, a->cases, a->job.out, a->job.progress, &err) != FR_OK)
        code = give_up(&err);
    free(text);
    return code;
}

static int learn(const struct arguments *a) {
    struct fr_error err = {.status = FR_OK};
    struct fr_learn_job job = {.name = a->cases,
                               .corpus = a->corpus ? a->corpus : "grammar",
                               .out = a->job.out,
                               .progress = a->job.progress};
    char *text = NULL;
    bool refused = true;
    int code = 0;
    fr_status status = read_text(a->cases, &text, &err);
    job.text = text;
    if (status == FR_OK) status = fr_learn_run(&job, &refused, &err);
    if (status != FR_OK) code = refused ? report(&err, true) : give_up(&err);
    free(text);
    return code;
}

static int work(const char *verb, const struct arguments *a) {
    struct fr_error err = {.status = FR_OK};
    /* A step of a large model takes long, and a training of another rank too. */
    if (!a->check && fr_watch_open(a->job.out, a->patience_s, FR_PATIENCE_BUSY * a->patience_s,
                                   &err) != FR_OK)
        return give_up(&err);
    if (strcmp(verb, "train") == 0) return train(a);
    return strcmp(verb, "learn") == 0 ? learn(a) : run(a);
}

static bool is_verb(const char *word) {
    return strcmp(word, "train") == 0 || strcmp(word, "learn") == 0 || strcmp(word, "run") == 0;
}

const char *fr_apps_usage(void) { return usage; }

int fr_apps_main(int argc, char **argv) {
    struct arguments arguments;
    struct fr_error err = {.status = FR_OK};
    fr_memory_or_end();
    fr_journal_on_message(fr_journal_say);
    if (argc < 2 || !is_verb(argv[1])) return fr_harness_main(argc, argv);
    if (argc == 3 && strcmp(argv[2], "--help") == 0) {
        fputs(usage, stdout);
        return 0;
    }
    fr_watch_begin(argc, argv,
                   0); /* each sample is in the file at once: there is nothing to save */
    /* Read by OpenBLAS when it would start its threads. */
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS) {
        fputs("forerun-mpi: MPI could not be started\n", stderr);
        return fr_status_exit_code(FR_ERR_EXTERNAL);
    }
    fr_memory_for_products();
    int code = parse(argc, argv, &arguments, &err) != FR_OK ? report(&err, true)
                                                            : work(argv[1], &arguments);
    fr_watch_leave();
    MPI_Finalize();
    return code;
}
