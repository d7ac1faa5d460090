/* test_signals ROUNDS [SEED] -- a command that gets a signal at any moment ends, ends its children, and leaves
 * earlier files and no part of a file.
 *
 * In each round every command below gets SIGINT, SIGTERM, SIGHUP or SIGKILL, itself and nobody else, after a
 * random while.  Then: it has ended before the grace of its job is over; two seconds later no process
 * lives that has its environment; its inputs are as they were; an output is whole or not there; and,
 * but for SIGKILL, nothing is left of temporary files and folders, beside the outputs or in $TMPDIR. */
#define _GNU_SOURCE /* memmem */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "tests/calibrate_mpi/chance.h"
#include "tests/litter.h"

enum { WORDS_MAX = 40, OUTPUTS_MAX = 3 };
static const double ENDS_S = 8, GONE_S = 2; /* the grace of a job, 4.5 s, on a busy machine */

/* A moment within the first @p within_s; outputs are names in the work folder. */
static const struct command {
    double within_s;
    const char *line, *outputs[OUTPUTS_MAX];
} commands[] = {
    {4,
     "calibrate --ranks 2 --quick --budget 1h --only kernel,memory,gemm,all_reduce --force "
     "--samples new.jsonl --out new.json",
     {"new.jsonl", "new.json"}},
    {4, "calibrate --ranks 2 --check --budget 1h --samples samples.jsonl", {NULL}},
    {4,
     "validate --cluster cluster.json --ranks 2 --passes 10000 --force --samples v.jsonl",
     {"v.jsonl"}},
    {3,
     "iterations --width 512 --tp 2 --ghost 4 --loss 1e-6 --most 100000000 --force "
     "--samples i.jsonl --out i.json",
     {"i.jsonl", "i.json"}},
    {3,
     "quality --ranks 2 --steps 100000 --every 100 --rates 0.01 --seeds 1 --force --samples "
     "q.jsonl",
     {"q.jsonl"}},
    {0.1, "fit samples.jsonl --out fitted.json", {"fitted.json"}},
    {0.3, "report samples.jsonl -o page.html -f", {"page.html"}},
    {0.4, "plot fit fit.json -o picture.svg -f", {"picture.svg"}},
    {0.05, "tune --cluster dgx-h100 --runs runs.csv --out tuned.json", {"tuned.json"}},
    {1,
     "search --cluster a100-hdr --model gpt-2.5b --ranks 64 --set global_batch=128 --json "
     "--checkpoint blocks",
     {"blocks"}},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static const char *const inputs[] = {"samples.jsonl", "cluster.json", "fit.json", "runs.csv",
                                     "tmp",           "said",         NULL};
static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGKILL};
static const char *const signal_names[] = {"SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"};
static char mark[64], what[400];

static void stop_test(const char *why, const char *name) {
    char *printed = NULL;
    size_t length = 0;
    fprintf(stderr, "test_signals: %s\n  %s%s%s\n", what, why, *name ? ": " : "", name);
    if (fr_file_read("said", 1 << 20, &printed, &length, NULL) == FR_OK)
        fprintf(stderr, "it had said:\n%s\n", printed);
    exit(1);
}

static pid_t start(const char *line) {
    char text[400], *words[WORDS_MAX] = {(char[]){FR_BIN_DIR "/forerun"}}, *rest = NULL;
    int n = 1;
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        words[n++] = word;
    pid_t child = fork();
    if (child != 0) return child;
    int printed = open("said", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < 3; i++)
        signal(signals[i], SIG_DFL); /* a runner in the background ignores */
    setsid();
    dup2(printed, STDOUT_FILENO);
    dup2(printed, STDERR_FILENO);
    execv(words[0], words);
    _exit(127);
}

/* A process other than this one whose environment has the mark; 0: none. */
static pid_t marked(void) {
    static char environment[1 << 16];
    DIR *proc = opendir("/proc");
    pid_t found = 0;
    for (struct dirent *e; proc && !found && (e = readdir(proc));) {
        char path[300];
        if (!isdigit((unsigned char)*e->d_name) || atoi(e->d_name) == getpid()) continue;
        snprintf(path, sizeof path, "/proc/%s/environ", e->d_name);
        int fd = open(path, O_RDONLY);
        ssize_t n = fd >= 0 ? read(fd, environment, sizeof environment) : 0;
        if (fd >= 0) close(fd);
        if (n > 0 && memmem(environment, (size_t)n, mark, strlen(mark)))
            found = atoi(e->d_name);
    }
    if (proc) closedir(proc);
    return found;
}

static void wait_for_end(pid_t child, int *status) {
    double end_s = fr_now_s() + ENDS_S;
    while (waitpid(child, status, WNOHANG) == 0) {
        if (fr_now_s() > end_s) {
            kill(-child, SIGKILL);
            stop_test("does not end", "");
        }
        nap(0.01);
    }
}

static void all_gone(void) {
    char name[64] = "", path[64];
    pid_t left = 0;
    for (double end_s = fr_now_s() + GONE_S; (left = marked()) && fr_now_s() < end_s;)
        nap(0.05);
    if (!left) return;
    snprintf(path, sizeof path, "/proc/%d/comm", (int)left);
    int fd = open(path, O_RDONLY);
    if (fd >= 0 && read(fd, name, sizeof name - 1) < 0) *name = '\0';
    kill(left, SIGKILL);
    stop_test("leaves a process", name);
}

static bool is_one_of(const char *name, const char *const *names, int n) {
    for (int i = 0; i < n && names[i]; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

/* @param c  whose outputs may be there; NULL: nothing may */
static void no_litter(const char *folder, const struct command *c) {
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        if (c && (is_one_of(e->d_name, inputs, 100) ||
                  is_one_of(e->d_name, c->outputs, OUTPUTS_MAX)))
            continue;
        stop_test(c ? "leaves a file" : "leaves a file in $TMPDIR", e->d_name);
    }
    if (dir) closedir(dir);
}

/* Every whole line is one; a half one at the end is dropped by who reads on. */
static bool lines_are_whole(char *data) {
    for (char *end; (end = strchr(data, '\n')); data = end + 1) {
        struct fr_json_document *line = NULL;
        if (fr_json_parse(data, (size_t)(end - data), "line", &line, NULL) != FR_OK)
            return false;
        fr_json_free(line);
    }
    return true;
}

static bool ends_with(const char *data, size_t length, const char *end) {
    size_t n = strlen(end);
    return length >= n && memcmp(data + length - n, end, n) == 0;
}

static void is_whole(const char *name) {
    struct fr_json_document *document = NULL;
    char *data = NULL;
    size_t length = 0;
    bool whole = true;
    if (fr_file_read(name, FR_FILE_MAX_B, &data, &length, NULL) != FR_OK) return;
    if (strstr(name, ".jsonl"))
        whole = lines_are_whole(data);
    else if (strstr(name, ".json"))
        whole = fr_json_parse(data, length, name, &document, NULL) == FR_OK;
    else if (strstr(name, ".html"))
        whole = ends_with(data, length, "</html>\n");
    else if (strstr(name, ".svg"))
        whole = strstr(data, "</svg>") != NULL;
    if (!whole) stop_test("leaves half a file", name);
    fr_json_free(document);
    free(data);
}

struct held {
    char *data;
    size_t length;
};

static struct held hold(const char *name) {
    struct held held = {NULL, 0};
    if (fr_file_read(name, FR_FILE_MAX_B, &held.data, &held.length, NULL) != FR_OK)
        stop_test("cannot be read", name);
    return held;
}

static void is_as_it_was(const char *name, const struct held *was) {
    struct held now = hold(name);
    if (now.length != was->length || memcmp(now.data, was->data, now.length) != 0)
        stop_test("changed its input", name);
    free(now.data);
}

static void clean(const struct command *c) {
    for (int i = 0; i < OUTPUTS_MAX && c->outputs[i]; i++) unlink(c->outputs[i]);
}

static void sweep(const char *folder, bool all) { /* after SIGKILL */
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char path[600];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        if (!all && is_one_of(e->d_name, inputs, 100)) continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        fr_litter_remove(path);
    }
    if (dir) closedir(dir);
}

static void one(const struct command *c, uint64_t *random, const struct held *was) {
    int which = (int)(draw(random) % 4), status = 0;
    double after_s = c->within_s * (double)(draw(random) % 10000) / 1e4;
    snprintf(what, sizeof what, "%s after %.4f s: forerun %s", signal_names[which], after_s,
             c->line);
    pid_t child = start(c->line);
    nap(after_s);
    kill(child, signals[which]);
    wait_for_end(child, &status);
    all_gone();
    for (int i = 0; i < 4; i++) is_as_it_was(inputs[i], &was[i]);
    for (int i = 0; i < OUTPUTS_MAX && c->outputs[i]; i++) is_whole(c->outputs[i]);
    if (signals[which] == SIGKILL) {
        sweep("tmp", true);
        sweep(".", false);
    }
    no_litter(".", c);
    no_litter("tmp", NULL);
    clean(c);
    printf("%-7s after %.4f s: %s %d: %.60s\n", signal_names[which], after_s,
           WIFEXITED(status) ? "exit" : "signal",
           WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), c->line);
    fflush(stdout);
}

static void run_whole(const char *line) {
    int status = 0;
    snprintf(what, sizeof what, "forerun %s", line);
    pid_t child = start(line);
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) stop_test("fails", "");
}

static void prepare(void) {
    struct held runs;
    run_whole("calibrate --ranks 2 --budget 3 --quick --launches 1 --only "
              "kernel,memory,gemm,all_reduce --size 8..64KiB*8 --samples samples.jsonl --out "
              "cluster.json");
    run_whole("fit samples.jsonl --json");
    struct held fit = hold("said");
    fr_file_write("fit.json", fit.data, fit.length, NULL);
    runs = hold(FR_SOURCE_DIR "/tests/golden/in/runs.csv");
    fr_file_write("runs.csv", runs.data, runs.length, NULL);
    free(fit.data);
    free(runs.data);
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1, n = 0;
    uint64_t random = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL);
    char folder[] = "/tmp/forerun-signals-XXXXXX", tmp[64];
    struct held was[4];
    if (!mkdtemp(folder) || chdir(folder) != 0) return 1;
    snprintf(tmp, sizeof tmp, "%s/tmp", folder);
    if (mkdir(tmp, 0700) != 0) return 1;
    setenv("TMPDIR", tmp, 1);
    printf("seed %llu\n", (unsigned long long)random);
    prepare();
    snprintf(mark, sizeof mark, "FORERUN_TEST_MARK=%d.%llu", (int)getpid(),
             (unsigned long long)random);
    putenv(mark);
    for (int i = 0; i < 4; i++) was[i] = hold(inputs[i]);
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < N_COMMANDS; i++, n++) one(&commands[i], &random, was);
    for (int i = 0; i < 4; i++) free(was[i].data);
    printf("%d signals; nothing lives on, nothing is lost, nothing is left\n", n);
    return 0;
}
