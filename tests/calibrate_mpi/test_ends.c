/* test_ends TRIALS [SEED] -- jobs end, whoever is lost, and nothing is lost with them.
 *
 * Each trial runs one verb of MPI, goes on with what the last one left, and a random while after its process has
 * begun does one thing to it: SIGKILL, SIGSTOP, or no more memory, for a rank, the launcher or the program in front.  Laws:
 *
 *   - it ends within the patience and 5 s, unless it has all it needs;
 *   - it says who it was: rank and host, or the launcher; exit code 5, where the front program can still say so;
 *   - two seconds after the front program nothing of it runs;
 *   - a job of which all was stopped for longer than its patience goes on when all goes on, and so does one whose
 *     front program alone was;
 *   - every line of results that was in the file still is, and none is there twice; --resume completes the rest. */
#define _GNU_SOURCE /* memmem, prlimit */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "tests/calibrate_mpi/chance.h"
#include "tests/litter.h"

enum { WORDS_MAX = 48, PROCESSES_MAX = 64, COMMAND_B = 600 };
#define PATIENCE "3"
static const double PATIENCE_S = 3, BEYOND_S = 5, WHOLE_S = 240, STARVED_S = 8, GONE_S = 8,
                    APPEARS_S = 10;

static const struct verb {
    const char *name, *file, *line, *more; /* more: of a run that is to be disturbed */
    double within_s;                       /* of the deed, from the beginning */
    bool
        in_front; /* forerun starts the launcher; else nobody of ours is there before its ranks */
} verbs[] = {
    {"calibrate", "c.jsonl",
     FR_BIN_DIR "/forerun calibrate --ranks 2 --quick --only "
                "all_reduce,send_recv,kernel,memory,gemm --max-size 64KiB --launches 2 "
                "--samples c.jsonl --out c.json --budget ",
     "100000", 2, true},
    {"validate", "v.jsonl",
     FR_BIN_DIR "/forerun validate --cluster frontier --ranks 4 --app phantom --vary "
                "model.width=64,128 --vary ghost=2,4 --passes 2 --samples v.jsonl",
     "", 3, true},
    {"iterations", "i.jsonl",
     FR_BIN_DIR "/forerun iterations --width 256 --tp 2 --ghost 4 --seeds 6 --loss 1e-3 --most "
                "400 --samples i.jsonl",
     "", 2, true},
    {"quality", "q.jsonl",
     FR_BIN_DIR
     "/forerun quality --ranks 2 --seeds 2 --steps 100 --rates 0.01 --samples q.jsonl",
     "", 3, true},
    {"search", "ck",
     "mpirun --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -np 3 " FR_BIN_DIR
     "/forerun-mpi search --cluster a100-hdr --model gpt-2.5b --ranks 64 --set "
     "global_batch=128 "
     "--json --threads 1 --checkpoint ck",
     "", 3, false}};
enum { N_VERBS = sizeof verbs / sizeof *verbs };

static char what[COMMAND_B];

static void stop_test(const char *why, const char *detail) {
    char *printed = NULL;
    size_t length = 0;
    fprintf(stderr, "test_ends: %s\n  %s%s%s\n", what, why, *detail ? ": " : "", detail);
    if (fr_file_read("said", 1 << 20, &printed, &length, NULL) == FR_OK)
        fprintf(stderr, "it had said:\n%s\n", printed);
    exit(1);
}

/* Cores are shared: what takes a second alone takes as many as there are processes that want one. */
static double slowness(void) {
    double load = 1;
    FILE *file = fopen("/proc/loadavg", "r");
    if (file && fscanf(file, "%lf", &load) != 1) load = 1;
    if (file) fclose(file);
    load /= (double)sysconf(_SC_NPROCESSORS_ONLN);
    return load > 1 ? load : 1;
}

/* ---- processes ------------------------------------------------------------------------------- */

static pid_t start(const char *line) {
    char text[COMMAND_B], *words[WORDS_MAX] = {NULL}, *rest = NULL;
    int n = 0;
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        words[n++] = word;
    pid_t child = fork();
    if (child != 0) return child;
    int printed = open("said", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600),
        out = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    setsid(); /* by which all that it starts is found */
    dup2(out, STDOUT_FILENO);
    dup2(printed, STDERR_FILENO);
    execvp(words[0], words);
    _exit(127);
}

struct process {
    pid_t pid, parent;
    char name[32], state;
};

/* All of the session @p leader but zombies. */
static int all_of(pid_t leader, struct process *found) {
    DIR *proc = opendir("/proc");
    int n = 0;
    for (struct dirent *e; proc && n < PROCESSES_MAX && (e = readdir(proc));) {
        char path[300], text[512] = "", state = 0;
        int parent = 0, group = 0, session = 0;
        if (!isdigit((unsigned char)*e->d_name)) continue;
        snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
        FILE *file = fopen(path, "r");
        if (file && fread(text, 1, sizeof text - 1, file) == 0) *text = '\0';
        if (file) fclose(file);
        char *open_at = strchr(text, '('), *close_at = strrchr(text, ')');
        if (!open_at || !close_at ||
            sscanf(close_at, ") %c %d %d %d", &state, &parent, &group, &session) != 4)
            continue;
        if (session != leader || state == 'Z' || state == 'X') continue;
        *close_at = '\0';
        found[n] =
            (struct process){.pid = (pid_t)atoi(e->d_name), .parent = parent, .state = state};
        snprintf(found[n++].name, sizeof found->name, "%.31s", open_at + 1);
    }
    if (proc) closedir(proc);
    return n;
}

static int named(const struct process *all, int n, const char *name, pid_t *found) {
    int n_found = 0;
    for (int i = 0; i < n; i++)
        if (strcmp(all[i].name, name) == 0) found[n_found++] = all[i].pid;
    return n_found;
}

static int rank_of(pid_t pid) {
    static char environment[1 << 16];
    static const char variable[] = "OMPI_COMM_WORLD_RANK=";
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    int fd = open(path, O_RDONLY);
    ssize_t n = fd >= 0 ? read(fd, environment, sizeof environment - 1) : 0;
    if (fd >= 0) close(fd);
    char *at = n > 0 ? memmem(environment, (size_t)n, variable, sizeof variable - 1) : NULL;
    environment[n > 0 ? n : 0] = '\0';
    return at ? atoi(at + sizeof variable - 1) : -1;
}

static void signal_all(pid_t leader, int signal) {
    struct process all[PROCESSES_MAX];
    int n = all_of(leader, all);
    for (int i = 0; i < n; i++) kill(all[i].pid, signal);
}

/* @return false: not within @p limit_s */
static bool ends_within(pid_t child, double limit_s, int *status) {
    double end_s = fr_now_s() + limit_s;
    while (waitpid(child, status, WNOHANG) == 0) {
        if (fr_now_s() > end_s) return false;
        nap(0.02);
    }
    return true;
}

static void all_gone(pid_t leader) {
    struct process all[PROCESSES_MAX];
    int n = 1;
    for (double end_s = fr_now_s() + GONE_S * slowness(); n > 0 && fr_now_s() < end_s;
         nap(0.05))
        n = all_of(leader, all);
    if (n == 0) return;
    snprintf(what + strlen(what), sizeof what - strlen(what),
             ": %d processes, %s (%d of %d) in state %c", n, all[0].name, (int)all[0].pid,
             (int)all[0].parent, all[0].state);
    if (getenv("FORERUN_TEST_KEEPS")) pause(); /* to look at them */
    signal_all(leader, SIGKILL);
    stop_test("leaves processes", "");
}

/* ---- what is kept ---------------------------------------------------------------------------- */

struct held {
    char *data;
    size_t length;
};

static struct held hold(const char *file) {
    struct held held = {NULL, 0};
    if (fr_file_read(file, FR_FILE_MAX_B, &held.data, &held.length, NULL) != FR_OK)
        held.data = calloc(1, 1);
    return held;
}

static long number_after(const char *line, const char *key) {
    const char *at = strstr(line, key), *end = strchr(line, '\n');
    return at && end && at < end ? atol(at + strlen(key)) : -1;
}

/* This tells a result from all others of its file.  @return false: the line holds none, or is half a line */
static bool key_of(const char *line, char key[80]) {
    static const char *const kinds[] = {"run", "phases", "learnt", "trained", NULL};
    size_t length = strcspn(line, "\n");
    *key = '\0';
    if (!line[length]) return false;
    if (strncmp(line, "block ", 6) == 0) snprintf(key, 80, "block %ld", atol(line + 6));
    for (int i = 0; kinds[i]; i++) {
        char kind[32];
        snprintf(kind, sizeof kind, "\"kind\": \"%s\"", kinds[i]);
        if (memmem(line, length, kind, strlen(kind)))
            snprintf(key, 80, "%s %ld, pass %ld", kinds[i], number_after(line, "\"id\": "),
                     number_after(line, "\"pass\": "));
    }
    return *key != '\0';
}

static int count(const struct held *all, const char *key) {
    char other[80];
    int n = 0;
    for (const char *at = all->data, *end; (end = strchr(at, '\n')); at = end + 1)
        n += key_of(at, other) && strcmp(key, other) == 0;
    return n;
}

/* @p before is what the file held; nothing of it goes, and nothing comes twice. */
static void check_unchanged(const struct verb *v, const struct held *before) {
    struct held now = hold(v->file);
    char key[80];
    for (const char *at = before->data, *end; (end = strchr(at, '\n')); at = end + 1)
        if (key_of(at, key) && count(&now, key) == 0) stop_test("a result is gone", key);
    for (const char *at = now.data, *end; (end = strchr(at, '\n')); at = end + 1)
        if (key_of(at, key) && count(&now, key) > 1) stop_test("a result is there twice", key);
    free(now.data);
}

/* Every point and launch of a calibration has the repetitions 0, 1, 2, ... */
static void check_repetitions(const struct verb *v) {
    struct held now = hold(v->file);
    for (const char *at = now.data, *end; (end = strchr(at, '\n')); at = end + 1) {
        static const char word[] =
            ", \"launch\": "; /* behind it, lest 16 is the beginning of 16384 */
        const char *launch = strstr(at, word);
        long rep = number_after(at, "\"rep\": "), before = -1,
             of = number_after(at, "\"launch\": ");
        if (rep < 0 || !launch || launch > end) continue;
        for (const char *old = now.data; old < at; old = strchr(old, '\n') + 1)
            if (strncmp(old, at, (size_t)(launch - at) + sizeof word - 1) == 0 &&
                number_after(old, "\"launch\": ") == of)
                before = number_after(old, "\"rep\": ");
        if (rep == before + 1) continue;
        snprintf(what + strlen(what), sizeof what - strlen(what), " [%.200s]", at);
        stop_test("a repetition is lost or there twice", v->file);
    }
    free(now.data);
}

/* ---- one trial ------------------------------------------------------------------------------- */

enum deed { KILLS, STOPS, STARVES, SLEEPS, N_DEEDS };
enum victim { RANK, LAUNCHER, FRONT, N_VICTIMS };
static const char *const deed_names[] = {"killed", "stopped", "starved", "sent to sleep"},
                         *const victim_names[] = {"a rank", "the launcher",
                                                  "the front program"};

static void do_it(enum deed deed, pid_t pid) {
    const struct rlimit none = {4096, 4096};
    if (deed == KILLS) kill(pid, SIGKILL);
    if (deed == STOPS) kill(pid, SIGSTOP);
    if (deed == STARVES) prlimit(pid, RLIMIT_AS, &none, NULL);
}

static bool has_stated(const char *words) {
    struct held printed = hold("said");
    bool has = printed.data && strstr(printed.data, words);
    free(printed.data);
    return has;
}

/* Who is lost is named; one that had not begun is known to its launcher alone. */
static void check_sentence(enum victim victim, pid_t pid, int rank) {
    char host[64] = "", sentence[160], other[160];
    gethostname(host, sizeof host - 1);
    if (victim == RANK) {
        snprintf(sentence, sizeof sentence, "rank %d on host %s", rank, host);
        snprintf(other, sizeof other, "process rank %d with PID 0 on node %s", rank, host);
    } else {
        snprintf(sentence, sizeof sentence, "on host %s (process %d)", host, (int)pid);
        snprintf(other, sizeof other, "could not be started");
    }
    if (!has_stated(sentence) && !has_stated(other)) stop_test("does not say who", sentence);
}

static void command_of(const struct verb *v, bool resume, bool disturbed, char *line) {
    snprintf(line, COMMAND_B, "%s%s --patience " PATIENCE "%s", v->line,
             disturbed                           ? v->more
             : strcmp(v->name, "calibrate") == 0 ? "3"
                                                 : "",
             resume ? " --resume" : "");
}

/* @return false: it had ended before */
static bool one(const struct verb *v, uint64_t *random, bool may_sleep) {
    char line[COMMAND_B];
    struct process all[PROCESSES_MAX];
    pid_t found[PROCESSES_MAX], victim_pid = 0;
    struct held before = hold(v->file);
    enum deed deed = (enum deed)(draw(random) % (may_sleep ? N_DEEDS : SLEEPS));
    enum victim victim = (enum victim)(draw(random) % N_VICTIMS);
    double chance = (double)(draw(random) % 10000) / 1e4;
    double after_s = v->within_s * chance * chance; /* early more often */
    int status = 0, rank = -1, n;
    if (victim == FRONT && !v->in_front) victim = LAUNCHER;
    const char *program = victim == RANK       ? "forerun-mpi"
                          : victim == LAUNCHER ? "mpirun"
                                               : "forerun";
    command_of(v, before.length > 0, true, line);
    pid_t child = start(line);
    for (double end_s = fr_now_s() + APPEARS_S; fr_now_s() < end_s; nap(0.005)) {
        n = all_of(child, all);
        if (named(all, n, v->in_front ? program : "forerun-mpi", found) > 0) break;
    }
    nap(after_s);
    n = all_of(child, all);
    int n_found = named(all, n, program, found);
    if (n_found > 0) victim_pid = found[draw(random) % (uint64_t)n_found];
    if (victim_pid && victim == FRONT) victim_pid = child; /* not what is about to be mpirun */
    if (victim == RANK && victim_pid) rank = rank_of(victim_pid);
    snprintf(what, sizeof what, "%-10s %s %s (process %d, rank %d) after %.3f s", v->name,
             deed_names[deed], deed == SLEEPS ? "its job" : victim_names[victim],
             (int)victim_pid, rank, after_s);
    double slow = slowness(), limit_s = PATIENCE_S + BEYOND_S * slow;
    bool goes_on = deed == SLEEPS || (deed == STOPS && victim == FRONT) || !victim_pid;
    double start_s = fr_now_s();
    if (deed == SLEEPS && victim_pid)
        signal_all(child, SIGSTOP);
    else if (victim_pid)
        do_it(deed, victim_pid);
    if (goes_on && victim_pid) {
        nap(PATIENCE_S + 1);
        signal_all(child, SIGCONT);
        nap(1);
        n = waitpid(child, &status, WNOHANG) == 0;
        if (!n && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
            stop_test("does not go on when it could", "");
        if (n) signal_all(child, SIGKILL);
        if (n) waitpid(child, &status, 0);
    } else if (!victim_pid) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
    } else if (!ends_within(child,
                            deed != STARVES ? limit_s
                            : *v->more      ? STARVED_S
                                            : WHOLE_S,
                            &status)) {
        if (deed != STARVES || !*v->more) { /* one that has all it needs measures on */
            signal_all(child, SIGKILL);
            stop_test("does not end", "");
        }
        signal_all(child, SIGKILL);
        waitpid(child, &status, 0);
    }
    double took_s = fr_now_s() - start_s;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    printf("%s: exit %d after %.2f s\n", what, code, took_s);
    fflush(stdout);
    all_gone(child);
    bool done = code == 0;
    if (!goes_on && !done && (deed == KILLS || deed == STOPS)) {
        if (victim == RANK || (victim == LAUNCHER && v->in_front))
            check_sentence(victim, victim_pid, rank);
        if (v->in_front && victim != FRONT && code != 5) stop_test("wanted exit code 5", "");
    }
    check_unchanged(v, &before);
    free(before.data);
    if (done) unlink(v->file);
    return !done;
}

static void finish(const struct verb *v) {
    char line[COMMAND_B];
    int status = 0;
    struct held before = hold(v->file);
    command_of(v, before.length > 0, false, line);
    snprintf(what, sizeof what, "%s, in the end", v->name);
    pid_t child = start(line);
    if (!ends_within(child, WHOLE_S, &status)) {
        signal_all(child, SIGKILL);
        stop_test("does not complete", "");
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) stop_test("--resume fails", "");
    check_unchanged(v, &before);
    if (strcmp(v->name, "calibrate") == 0) check_repetitions(v);
    free(before.data);
}

int main(int argc, char **argv) {
    int trials = argc > 1 ? atoi(argv[1]) : 10, n = 0;
    uint64_t random = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL);
    char folder[] = "/tmp/forerun-ends-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0) return 1;
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    printf("seed %llu\n", (unsigned long long)random);
    for (int i = 0; i < trials; i++) n += one(&verbs[i % N_VERBS], &random, true);
    for (int i = 0; i < N_VERBS; i++) finish(&verbs[i]);
    printf("%d of %d were disturbed: all ended, said who was lost, and went on\n", n, trials);
    return 0;
}
