/* test_kills KILLS [SEED] -- a calibration that is killed again and again loses nothing.
 *
 * Each time another part dies by SIGKILL after a random while: a rank, mpirun, or the whole
 * process group.  Then: every line of the file is whole and readable, what was in it before is
 * still its beginning, and the repetitions of every point and launch are 0, 1, 2, ... without
 * a gap or a double.  A calibration that loses a rank says so by its exit code, 5, unless its launcher waits in vain.  In
 * the end --resume completes it. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "calibrate/samples/samples.h"
#include "tests/calibrate_mpi/chance.h"

enum { RANKS_MAX = 16 };

static char samples_path[64], cluster_path[64], log_path[64];

static void stop_test(const char *what) {
    fprintf(stderr, "test_kills: %s\n", what);
    char *log = NULL;
    size_t length = 0;
    struct fr_error err;
    if (fr_file_read(log_path, 1 << 20, &log, &length, &err) == FR_OK)
        fprintf(stderr, "the job said:\n%s\n", log);
    exit(1);
}

static pid_t start(bool resume, const char *budget) {
    const char *words[] = {FR_BIN_DIR "/forerun",
                           "calibrate",
                           "--ranks",
                           "2",
                           "--quick",
                           "--only",
                           "all_reduce,send_recv,kernel,memory,gemm",
                           "--max-size",
                           "64 KiB",
                           "--launches",
                           "2",
                           "--budget",
                           budget,
                           "--patience",
                           "20 s",
                           "--samples",
                           samples_path,
                           "--out",
                           cluster_path,
                           resume ? "--resume" : NULL,
                           NULL};
    pid_t child = fork();
    if (child != 0) return child;
    int log = open(log_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    setsid(); /* a process group of its own, to be killed whole */
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    execv(words[0], (char *const *)(uintptr_t)words);
    _exit(127);
}

/* The parent of a process and whether its name is @p name; from /proc/PID/stat. */
static pid_t parent_of(pid_t pid, const char *name, bool *named) {
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file) return -1;
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    char *open_at = strchr(text, '('), *close_at = strrchr(text, ')');
    if (!open_at || !close_at) return -1;
    *close_at = '\0';
    *named = strcmp(open_at + 1, name) == 0;
    return close_at[1] && close_at[2] ? (pid_t)atoi(close_at + 4) : -1;
}

/* Processes called @p name whose parent is one of @p parents. */
static int children_of(const pid_t *parents, int n_parents, const char *name, pid_t *found) {
    DIR *proc = opendir("/proc");
    int n = 0;
    for (struct dirent *entry; proc && (entry = readdir(proc));) {
        bool named = false;
        if (!isdigit((unsigned char)*entry->d_name)) continue;
        pid_t pid = (pid_t)atoi(entry->d_name), parent = parent_of(pid, name, &named);
        for (int i = 0; named && i < n_parents && n < RANKS_MAX; i++)
            if (parents[i] == parent) found[n++] = pid;
    }
    if (proc) closedir(proc);
    return n;
}

static const char *kill_something(pid_t forerun, uint64_t *random) {
    pid_t mpirun[RANKS_MAX], ranks[RANKS_MAX];
    int n_mpirun = children_of(&forerun, 1, "mpirun", mpirun);
    int n_ranks = children_of(mpirun, n_mpirun, "forerun-mpi", ranks);
    switch (draw(random) % 3) {
    case 0:
        if (n_ranks == 0) return "nothing: no rank yet";
        kill(ranks[draw(random) % (uint64_t)n_ranks], SIGKILL);
        return "a rank";
    case 1:
        if (n_mpirun == 0) return "nothing: no mpirun yet";
        kill(mpirun[0], SIGKILL);
        return "mpirun";
    default:
        kill(-forerun, SIGKILL);
        return "the whole group";
    }
}

/* Open MPI's launcher may wait for ever for a rank that dies while it connects to it ("PMIX ERROR: UNREACHABLE"): nothing
 * was begun then, and the launcher is ended once patience is. */
static bool waited_in_vain(void) {
    char *log = NULL;
    size_t length = 0;
    bool said =
        fr_file_read(log_path, 1 << 20, &log, &length, &(struct fr_error){0}) == FR_OK &&
        strstr(log, "had not begun to measure");
    free(log);
    return said;
}

static char *read_samples(size_t *length) {
    struct fr_error err;
    char *data = NULL;
    *length = 0;
    if (fr_file_read(samples_path, FR_FILE_MAX_B, &data, length, &err) != FR_OK) return NULL;
    return data;
}

struct place {
    const char *head;
    size_t length;
    long launch, rep;
};

static int by_place(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    size_t shorter = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->head, y->head, shorter);
    if (order) return order;
    if (x->length != y->length) return x->length < y->length ? -1 : 1;
    if (x->launch != y->launch) return x->launch < y->launch ? -1 : 1;
    return (x->rep > y->rep) - (x->rep < y->rep);
}

/* Each point and launch has the repetitions 0, 1, 2, ... */
static void check_reps(char *data) {
    static const char launch[] = ", \"launch\": ", rep[] = "\"rep\": ";
    size_t n = 0, n_lines = 0;
    for (char *c = data; *c; c++) n_lines += *c == '\n';
    struct place *place = calloc(n_lines + 1, sizeof *place);
    for (char *line = data, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        char *cut = strstr(line, launch), *at = strstr(line, rep);
        if (cut && at)
            place[n++] =
                (struct place){line, (size_t)(cut - line), atol(cut + sizeof launch - 1),
                               atol(at + sizeof rep - 1)};
    }
    qsort(place, n, sizeof *place, by_place);
    for (size_t i = 0; i < n; i++) {
        bool same = i > 0 && place[i].length == place[i - 1].length &&
                    memcmp(place[i].head, place[i - 1].head, place[i].length) == 0 &&
                    place[i].launch == place[i - 1].launch;
        if (place[i].rep == (same ? place[i - 1].rep + 1 : 0)) continue;
        fprintf(stderr, "%.*s, launch %ld: repetition %ld is out of order\n",
                (int)place[i].length, place[i].head, place[i].launch, place[i].rep);
        stop_test("a sample is lost or doubled");
    }
    free(place);
}

/* @p before is what the file held when the last one was killed. */
static void check(const char *before, size_t before_length) {
    size_t length = 0;
    char *data = read_samples(&length);
    struct fr_samples samples = {0};
    struct fr_error err;
    if (!data && before_length == 0) return;
    while (before_length > 0 && before[before_length - 1] != '\n') before_length--;
    if (!data || length < before_length ||
        (before_length > 0 && memcmp(data, before, before_length) != 0))
        stop_test("what was measured before is gone");
    if (length > 0 && fr_samples_parse(data, length, "samples", &samples, &err) != FR_OK) {
        fprintf(stderr, "%s: %s\n", err.where, err.detail);
        stop_test("the file is damaged");
    }
    if (samples.n_cut > 0) fprintf(stderr, "  (the last line was cut)\n");
    fr_samples_free(&samples);
    if (length > 0) check_reps(data);
    free(data);
}

static void finish(void) {
    int status = 0;
    pid_t child = start(true, "2");
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) stop_test("--resume does not complete");
    struct fr_samples samples = {0};
    struct fr_error err;
    if (fr_samples_read(samples_path, &samples, &err) != FR_OK) stop_test(err.detail);
    size_t ended = 0;
    for (size_t i = 0; i < samples.n_end; i++) ended += samples.end[i].reason != FR_END_SIGNAL;
    printf("%zu launches ended, %zu collective and %zu gemm samples\n", ended,
           samples.n_collective, samples.n_gemm);
    if (ended != 2) stop_test("two launches were to end, once each");
    fr_samples_free(&samples);
}

int main(int argc, char **argv) {
    int kills = argc > 1 ? atoi(argv[1]) : 5, done = 0, resumed = 0;
    uint64_t random = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    snprintf(samples_path, sizeof samples_path, "/tmp/forerun-kills-%d.jsonl", (int)getpid());
    snprintf(cluster_path, sizeof cluster_path, "/tmp/forerun-kills-%d.json", (int)getpid());
    snprintf(log_path, sizeof log_path, "/tmp/forerun-kills-%d.log", (int)getpid());
    while (done < kills) {
        size_t length = 0;
        char *before = read_samples(&length);
        bool resume = length > 0;
        pid_t child = start(resume, "100000");
        int status = 0;
        nap(0.15 + 1.2e-3 * (double)(draw(&random) % 1000));
        const char *victim = kill_something(child, &random);
        if (strncmp(victim, "nothing", 7) == 0) kill(-child, SIGKILL);
        waitpid(child, &status, 0);
        done++;
        resumed += resume;
        printf("%3d killed %s: %s %d\n", done, victim, WIFEXITED(status) ? "exit" : "signal",
               WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
        fflush(stdout);
        if (WIFEXITED(status) && WEXITSTATUS(status) != 5 && strcmp(victim, "a rank") == 0 &&
            !waited_in_vain())
            stop_test("a killed rank is to give exit code 5");
        check(before, length);
        free(before);
    }
    finish();
    size_t length = 0;
    char *data = read_samples(&length);
    if (data) check_reps(data);
    free(data);
    printf("%d kills, %d of them while resuming; nothing lost\n", kills, resumed);
    unlink(samples_path);
    unlink(cluster_path);
    unlink(log_path);
    return 0;
}
