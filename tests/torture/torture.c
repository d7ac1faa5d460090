/* Every allocation of a command fails in turn.
 *
 *      torture BIN PRELOAD LIST IN  all|RUNS [NAME]
 *
 * For each command of LIST (see there), n = 1, 2, ... up to the number of allocations it makes:
 * run it with the nth failing (PRELOAD, fail_nth.c), then ask
 *   - it ended by itself, with exit code 1 and one line on stderr, or
 *   - it ended as the undisturbed run does, byte for byte, exit code and files included: an
 *     allocation that is not needed;
 *   - where it failed, its outputs are as they were, and so is the folder;
 *   - what it then printed is not the whole answer.
 * RUNS samples that many n a command by a fixed seed, a third of them the last, where outputs are
 * written.  All n are mostly served by one process that forks at each (see there), so that they cost minutes;
 * the last, which it does not serve, run one by one.  NAME keeps the commands whose name begins so.  FR_FAIL_ON=1 lets all later allocations fail too. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 64, OUTPUTS_MAX = 4, SECONDS_MAX = 60, TEXT_MAX = 1 << 24, SHOWN_MAX = 5 };

static const char old_output[] = "what an earlier command left\n";

struct command {
    char name[64], line[1024], *word[WORDS_MAX], *output[OUTPUTS_MAX];
    int n_outputs;
};

struct run {
    int code, signal;
    char *out, *err, *file[OUTPUTS_MAX];
};

struct tally {
    long runs, refused, harmless, wrong;
};

static const char *bin, *preload;
static char folder[512], printed[600], stated[600], counted[600];

static void die(const char *what) {
    fprintf(stderr, "torture: %s\n", what);
    exit(2);
}

static char *slurp(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) return NULL;
    char *text = malloc(TEXT_MAX);
    size_t length = text ? fread(text, 1, TEXT_MAX - 1, file) : 0;
    fclose(file);
    if (!text) die("out of memory");
    text[length] = '\0';
    return realloc(text, length + 1);
}

static bool same(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static void put(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) die(path);
}

/* Names in the folder and in the one for temporary files, in no order: their hashes summed. */
static uint64_t names_of(const char *path) {
    uint64_t sum = 0;
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        uint64_t hash = 14695981039346656037u;
        for (const char *c = e->d_name; *c; c++)
            hash = (hash ^ (unsigned char)*c) * 1099511628211u;
        sum += hash;
    }
    if (dir) closedir(dir);
    return sum;
}

/* A served process sends and receives these, and has output files that are shared with its children. */
struct service {
    int tell[2], hear[2], out, err;
    pid_t process;
};

static int open_new(const char *path) {
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

/* @param service  NULL, or what the process is to serve */
static void in_child(const struct command *command, long nth, const struct service *service) {
    char number[32], program[600], pair[32];
    if (service) {
        snprintf(pair, sizeof pair, "%d,%d", service->tell[1], service->hear[0]);
        setenv("FR_FAIL_SERVE", pair, 1);
        fcntl(service->tell[1], F_SETFD, 0);
        fcntl(service->hear[0], F_SETFD, 0);
    }
    snprintf(number, sizeof number, "%ld", nth);
    snprintf(program, sizeof program, "%s/forerun", bin);
    setenv("FR_FAIL_NTH", number, 1);
    setenv("FR_FAIL_COUNT", counted, 1);
    setenv("LD_PRELOAD", preload, 1);
    int in = open("/dev/null", O_RDONLY), out = service ? service->out : open_new(printed),
        err = service ? service->err : open_new(stated);
    struct sigaction none = {.sa_handler = SIG_DFL};
    sigaction(SIGALRM, &none, NULL);
    if (!service) alarm(SECONDS_MAX);
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) _exit(126);
    execv(program, command->word);
    _exit(127);
}

static void put_back(const struct command *command) {
    for (int i = 0; i < command->n_outputs; i++) put(command->output[i], old_output);
}

static struct run collect(const struct command *command, int status) {
    struct run r = {.code = -1, .out = slurp(printed), .err = slurp(stated)};
    if (WIFSIGNALED(status)) r.signal = WTERMSIG(status);
    if (WIFEXITED(status)) r.code = WEXITSTATUS(status);
    for (int i = 0; i < command->n_outputs; i++) r.file[i] = slurp(command->output[i]);
    return r;
}

static struct run run(const struct command *command, long nth) {
    int status = 0;
    put_back(command);
    pid_t child = fork();
    if (child == 0) in_child(command, nth, NULL);
    if (child < 0 || waitpid(child, &status, 0) != child) die("cannot run");
    return collect(command, status);
}

static void forget(struct run *r) {
    free(r->out);
    free(r->err);
    for (int i = 0; i < OUTPUTS_MAX; i++) free(r->file[i]);
}

/* One sentence: a line that is the program's, and no other. */
static bool one_line(const char *text) {
    const char *end = strchr(text, '\n');
    return strncmp(text, "forerun", 7) == 0 && end && !end[1];
}

/* Returns the fault of a run that failed, or NULL. */
static const char *fault_of(const struct command *command, const struct run *whole,
                            const struct run *r) {
    if (r->signal) return "ended by a signal";
    if (r->code == whole->code) {
        for (int i = 0; i < command->n_outputs; i++)
            if (!same(r->file[i], whole->file[i]))
                return "another output, exit code as undisturbed";
        if (!same(r->out, whole->out)) return "another answer, exit code as undisturbed";
        return same(r->err, whole->err) ? NULL
                                        : "other words on stderr, exit code as undisturbed";
    }
    if (r->code != 1) return "a wrong exit code";
    if (!one_line(r->err)) return "not one sentence on stderr";
    for (int i = 0; i < command->n_outputs; i++)
        if (!same(r->file[i], old_output)) return "an output was replaced";
    if (*r->out && same(r->out, whole->out)) return "the whole answer, and exit code 1";
    return NULL;
}

static uint64_t next(uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

/* @param r  is given up */
static void judge(const struct command *command, const struct run *whole, struct run r,
                  long nth, uint64_t names, struct tally *t) {
    const char *fault = fault_of(command, whole, &r);
    if (!fault && names_of(".") + 3 * names_of("tmp") != names) fault = "a file was left";
    t->runs++;
    if (r.code == 1 && !fault) t->refused++;
    if (r.code == whole->code && !fault) t->harmless++;
    if (fault && t->wrong++ < SHOWN_MAX)
        printf("%s, allocation %ld: %s (exit %d, signal %d) %.200s\n", command->name, nth,
               fault, r.code, r.signal, r.err ? r.err : "");
    forget(&r);
}

/* ---- served ---------------------------------------------------------------------------------- */

static void serve_from(const struct command *command, struct service *s) {
    if (pipe(s->tell) != 0 || pipe(s->hear) != 0) die("no pipe");
    for (int i = 0; i < 2; i++) {
        fcntl(s->tell[i], F_SETFD, FD_CLOEXEC);
        fcntl(s->hear[i], F_SETFD, FD_CLOEXEC);
    }
    s->out = open_new(printed);
    s->err = open_new(stated);
    put_back(command);
    s->process = fork();
    if (s->process == 0) in_child(command, 1, s);
    if (s->process < 0 || s->out < 0 || s->err < 0) die("cannot run");
    close(s->tell[1]);
    close(s->hear[0]);
}

/* As though the child had not been: its outputs gone, nothing printed. */
static void forget_child(const struct command *command, const struct service *s) {
    put_back(command);
    if (ftruncate(s->out, 0) != 0 || ftruncate(s->err, 0) != 0) die("cannot forget");
    lseek(s->out, 0, SEEK_SET);
    lseek(s->err, 0, SEEK_SET);
    if (write(s->hear[1], "", 1) != 1) die("nobody to tell");
}

/* One process through its allocations; in the end it must be as if it had served nobody.
 * @return the first allocation that it did not serve */
static long serve(const struct command *command, const struct run *whole, uint64_t names,
                  struct tally *t) {
    struct service s;
    long request[2] = {0}, next = 1;
    bool serves = true;
    int status = 0;
    serve_from(command, &s);
    while (serves && read(s.tell[0], request, sizeof request) == sizeof request) {
        serves = request[1] >= 0;
        if (!serves) {
            if (write(s.hear[1], "", 1) != 1) die("nobody to tell");
            continue;
        }
        judge(command, whole, collect(command, (int)request[1]), request[0], names, t);
        next = request[0] + 1;
        forget_child(command, &s);
    }
    if (waitpid(s.process, &status, 0) != s.process) die("cannot wait");
    struct run r = collect(command, status);
    const char *fault = fault_of(command, whole, &r);
    if (fault || r.code != whole->code) {
        printf("%s, served: %s (exit %d, signal %d)\n", command->name, fault, r.code, r.signal);
        t->wrong++;
    }
    forget(&r);
    const int all[] = {s.tell[0], s.hear[1], s.out, s.err};
    for (int i = 0; i < 4; i++) close(all[i]);
    return next;
}

static bool torture(struct command *command, long runs) {
    struct run whole = run(command, 0);
    char *text = slurp(counted);
    long n = text ? atol(text) : 0;
    uint64_t names = names_of(".") + 3 * names_of("tmp"), state = 88172645463325252u;
    struct tally t = {0};
    free(text);
    if (whole.signal || whole.code == 1 || n < 2) {
        printf("%s: undisturbed, it ends with %d: %s\n", command->name, whole.code, whole.err);
        forget(&whole);
        return false;
    }
    bool all = runs <= 0 || runs >= n;
    long first = all ? serve(command, &whole, names, &t) : 1, served = t.runs;
    for (long i = first; i <= (all ? n : runs); i++) {
        long nth = all ? i : i <= runs / 3 ? n + 1 - i : 1 + (long)(next(&state) % (uint64_t)n);
        judge(command, &whole, run(command, nth), nth, names, &t);
    }
    printf("%-18s %7ld allocations, %6ld failed (%ld served): %6ld refused, %4ld not needed, "
           "%ld wrong\n",
           command->name, n, t.runs, served, t.refused, t.harmless, t.wrong);
    fflush(stdout);
    forget(&whole);
    return t.wrong == 0;
}

/* "name | outputs | words": @p line is cut up in place. */
static void split(char *line, struct command *c) {
    char *rest = NULL, *name = strtok_r(line, "|", &rest),
         *outputs = strtok_r(NULL, "|", &rest), *words = strtok_r(NULL, "", &rest),
         *more = NULL;
    *c = (struct command){.n_outputs = 0};
    if (!words) die("a line of the list has no command");
    name[strcspn(name, "|")] = '\0';
    while (*name && name[strlen(name) - 1] == ' ') name[strlen(name) - 1] = '\0';
    snprintf(c->name, sizeof c->name, "%s", name);
    for (char *o = strtok_r(outputs, " ", &more); o; o = strtok_r(NULL, " ", &more))
        if (strcmp(o, "-") != 0 && c->n_outputs < OUTPUTS_MAX) c->output[c->n_outputs++] = o;
    static char program[] = "forerun";
    int n = 0;
    c->word[n++] = program;
    for (char *w = strtok_r(words, " ", &more); w && n < WORDS_MAX - 1;
         w = strtok_r(NULL, " ", &more))
        c->word[n++] = w;
}

static void start(const char *in) {
    char link_to[512], path[1024];
    const char *place = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.400s/forerun-torture.XXXXXX", place ? place : "/tmp");
    if (!mkdtemp(folder)) die("no folder to work in");
    snprintf(printed, sizeof printed, "%s/out", folder);
    snprintf(stated, sizeof stated, "%s/err", folder);
    snprintf(counted, sizeof counted, "%s/count", folder);
    snprintf(path, sizeof path, "%.400s/work", folder);
    if (mkdir(path, 0700) != 0 || chdir(path) != 0 || mkdir("tmp", 0700) != 0) die(path);
    snprintf(link_to, sizeof link_to, "%s", in);
    if (symlink(link_to, "in") != 0) die("in");
    snprintf(path, sizeof path, "%.400s:%.400s", bin, getenv("PATH") ? getenv("PATH") : "");
    setenv("PATH", path, 1);
    setenv("LC_ALL", "C", 1);
    snprintf(path, sizeof path, "%.400s/work/tmp", folder);
    setenv("TMPDIR", path, 1);
    unsetenv("FORERUN_DATA");
}

static void finish(void) {
    char line[700];
    if (chdir("/") != 0) return;
    snprintf(line, sizeof line, "rm -rf '%s'", folder);
    if (system(line) != 0) fprintf(stderr, "torture: %s is left\n", folder);
}

int main(int argc, char **argv) {
    char line[2048];
    bool well = true;
    if (argc < 6) die("torture BIN PRELOAD LIST IN all|RUNS [NAME]");
    bin = argv[1];
    preload = argv[2];
    long runs = strcmp(argv[5], "all") == 0 ? 0 : atol(argv[5]);
    FILE *list = fopen(argv[3], "r");
    if (!list) die(argv[3]);
    start(argv[4]);
    while (fgets(line, sizeof line, list)) {
        line[strcspn(line, "\n")] = '\0';
        if (!*line || *line == '#') continue;
        if (*line == '$') {
            if (system(line + 1) != 0) die(line);
            continue;
        }
        struct command command;
        split(line, &command);
        if (argc < 7 || strncmp(command.name, argv[6], strlen(argv[6])) == 0)
            well &= torture(&command, runs);
        for (int i = 0; i < command.n_outputs; i++) unlink(command.output[i]);
    }
    fclose(list);
    finish();
    return well ? 0 : 1;
}
