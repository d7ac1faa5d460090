#define _GNU_SOURCE /* execvpe */
#include "calibrate/measure/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "calibrate/measure/leash.h"
#include "calibrate/measure/quota.h"

extern char **environ;

enum { WORDS_MAX = 128, PATH_MAX_B = 4096, HANDED_ON = 3 };
static const char SIMULATION[] = "smpi:";

struct command {
    const char *word[WORDS_MAX + 1]; /* NULL-terminated */
    int count;
    char *launcher; /* the copy that the first words point into */
    char program[PATH_MAX_B + 32], ranks[32];
    char leash[sizeof FR_LEASH_VARIABLE + FR_LEASH_B]; /* "NAME=value" */
    bool simulated;
};

/* Written by a signal handler: the job to hand signals on to, and that one came. */
static volatile sig_atomic_t job, stopped;

static void hand_on(int signal) {
    (void)signal;
    stopped = 1;
    if (job > 0) kill((pid_t)job, SIGUSR1);
}

bool fr_launch_was_stopped(void) { return stopped != 0; }

static bool add(struct command *command, const char *word) {
    if (command->count == WORDS_MAX) return false;
    command->word[command->count++] = word;
    return true;
}

int fr_launch_cores(void) { return fr_cores_usable(); }

bool fr_launch_inside_mpi(void) {
    static const char *const marks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK",
                                        "PMIX_RANK", NULL};
    for (int i = 0; marks[i]; i++)
        if (getenv(marks[i])) return true;
    /* A batch script is a step of one task; several tasks are a parallel job. */
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
    return tasks && getenv("SLURM_PROCID") && atoi(tasks) > 1;
}

static fr_status find_program(const char *given, struct command *command,
                              struct fr_error *err) {
    char self[PATH_MAX_B];
    if (given) {
        snprintf(command->program, sizeof command->program, "%s", given);
    } else {
        ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
        if (length <= 0)
            return fr_fail(err, FR_ERR_EXTERNAL, "/proc/self/exe", "cannot be read: %s",
                           strerror(errno));
        self[length] = '\0';
        char *slash = strrchr(self, '/');
        if (slash) *slash = '\0';
        snprintf(command->program, sizeof command->program, "%s/forerun-%s", self,
                 command->simulated ? "smpi" : "mpi");
    }
    if (access(command->program, X_OK) != 0)
        return fr_fail(err, FR_ERR_EXTERNAL, command->program,
                       "cannot be run: %s; it is built and installed beside forerun%s",
                       strerror(errno),
                       command->simulated ? " where SimGrid is (libsimgrid-dev)" : "");
    return FR_OK;
}

static fr_status add_launcher(const struct fr_launch_options *options, struct command *command,
                              struct fr_error *err) {
    char *rest = NULL;
    command->launcher = fr_strdup(options->launcher);
    if (!command->launcher) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (char *word = strtok_r(command->launcher, " \t", &rest); word;
         word = strtok_r(NULL, " \t", &rest))
        if (!add(command, word))
            return fr_fail(err, FR_ERR_USAGE, "--launcher", "has too many words");
    if (command->count == 0)
        return fr_fail(err, FR_ERR_USAGE, "--launcher", "names no program");
    return FR_OK;
}

static void add_mpirun(const struct fr_launch_options *options, struct command *command) {
    static const char *const enough[] = {"--bind-to", "core", NULL};
    static const char *const too_few[] = {"--oversubscribe",     "--bind-to", "none", "--mca",
                                          "mpi_yield_when_idle", "1",         NULL};
    const char *const *binding = options->n_ranks > fr_launch_cores() ? too_few : enough;
    snprintf(command->ranks, sizeof command->ranks, "%" PRId64, options->n_ranks);
    add(command, "mpirun");
    add(command, "-np");
    add(command, command->ranks);
    while (*binding) add(command, *binding++);
}

/* The caller's environment and ours.  @return NULL when memory is exhausted. */
static char **make_environment(struct command *command) {
    char *const ours[] = {command->leash, "OPENBLAS_NUM_THREADS=1", "OMPI_ALLOW_RUN_AS_ROOT=1",
                          "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"};
    int n_ours = geteuid() == 0 ? 4 : 2, n = 0, kept = 0;
    char leash[FR_LEASH_B];
    fr_leash_make(leash);
    snprintf(command->leash, sizeof command->leash, FR_LEASH_VARIABLE "=%s", leash);
    while (environ[n]) n++;
    char **made = fr_calloc((size_t)(n + n_ours) + 1, sizeof *made);
    if (!made) return NULL;
    for (int i = 0; i < n; i++) {
        bool replaced = false;
        for (int j = 0; j < n_ours; j++) {
            size_t name = strcspn(ours[j], "=") + 1;
            replaced = replaced || strncmp(environ[i], ours[j], name) == 0;
        }
        if (!replaced) made[kept++] = environ[i];
    }
    for (int j = 0; j < n_ours; j++) made[kept++] = ours[j];
    return made;
}

static fr_status spawn_failed(const char *launcher, bool given, int code,
                              struct fr_error *err) {
    if (code == ENOENT && (!given || strcmp(launcher, "smpirun") == 0))
        return fr_fail(err, FR_ERR_EXTERNAL, launcher,
                       "is not installed; on Debian: apt-get install %s",
                       strcmp(launcher, "smpirun") == 0 ? "libsimgrid-dev" : "openmpi-bin");
    return fr_fail(err, FR_ERR_EXTERNAL, launcher, "cannot be started: %s", strerror(code));
}

static fr_status translate(const char *launcher, int status, struct fr_error *err) {
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == 0) return FR_OK;
    if (code == fr_status_exit_code(FR_ERR_PARTIAL))
        return fr_fail(err, FR_ERR_PARTIAL, launcher,
                       "the job ended early; what it had measured is kept");
    if (code == fr_status_exit_code(FR_ERR_INPUT))
        return fr_fail(err, FR_ERR_INPUT, launcher, "the job refused what it was to work on");
    if (code == fr_status_exit_code(FR_ERR_USAGE))
        return fr_fail(err, FR_ERR_USAGE, launcher, "the job refused its command line");
    /* Launchers hand on the signal that ended a rank as 128 + signal, as shells do. */
    int ended_by = code < 0 ? WTERMSIG(status) : code > 128 ? code - 128 : 0;
    if (ended_by)
        return fr_fail(err, FR_ERR_PARTIAL, launcher,
                       "was ended by signal %d; what it had measured is kept", ended_by);
    return fr_fail(err, FR_ERR_EXTERNAL, launcher, "the job failed with exit code %d", code);
}

/* Words that make SMPI's network latency plus size over bandwidth and nothing else, and its
 * processors infinitely fast; the user's own words come after and so win. */
static void add_smpirun(const struct fr_launch_options *options, struct command *command) {
    static const char *const model[] = {"--cfg=network/model:CM02",
                                        "--cfg=network/TCP-gamma:0",
                                        "--cfg=network/crosstraffic:no",
                                        "--cfg=network/bandwidth-factor:1",
                                        "--cfg=network/latency-factor:1",
                                        "--cfg=smpi/bw-factor:1",
                                        "--cfg=smpi/lat-factor:1",
                                        "--cfg=smpi/host-speed:10Gf",
                                        "--cfg=smpi/simulate-computation:no",
                                        "--cfg=smpi/os:0:0:0",
                                        "--cfg=smpi/or:0:0:0",
                                        "--cfg=smpi/ois:0:0:0",
                                        "--cfg=smpi/iprobe:1e-6", /* 0 would never end */
                                        "--cfg=smpi/test:0",
                                        "--cfg=smpi/shared-malloc:global",
                                        "--log=xbt_cfg.thresh:critical",
                                        "--log=root.thresh:critical"};
    snprintf(command->ranks, sizeof command->ranks, "%" PRId64, options->n_ranks);
    add(command, "smpirun");
    add(command, "-np");
    add(command, command->ranks);
    add(command, "-platform");
    for (size_t i = 0; i < sizeof model / sizeof *model; i++) add(command, model[i]);
}

/* "smpi:PLATFORM words": the platform's name follows -platform, the words come last. */
static fr_status add_simulation(const struct fr_launch_options *options,
                                struct command *command, struct fr_error *err) {
    struct command words = {.count = 0};
    add_smpirun(options, command);
    fr_status status = add_launcher(options, &words, err);
    command->launcher = words.launcher;
    if (status != FR_OK) return status;
    const char *platform = words.word[0] + strlen(SIMULATION);
    if (access(platform, R_OK) != 0)
        return fr_fail(err, FR_ERR_INPUT, platform, "cannot be read: %s", strerror(errno));
    int at = 0;
    while (strcmp(command->word[at], "-platform") != 0) at++;
    for (int i = command->count++; i > at + 1; i--) command->word[i] = command->word[i - 1];
    command->word[at + 1] = platform;
    bool fits = true;
    for (int i = 1; i < words.count; i++) fits = add(command, words.word[i]);
    return fits ? FR_OK : fr_fail(err, FR_ERR_USAGE, "--launcher", "has too many words");
}

/* Size and time of the last change of the file that a job begins with; zeros without it. */
struct mark {
    off_t size;
    struct timespec changed;
};

static struct mark mark_of(const char *path) {
    struct stat now;
    struct mark mark = {0};
    if (path && stat(path, &now) == 0) mark = (struct mark){now.st_size, now.st_mtim};
    return mark;
}

/* Has the job begun, or is there no telling? */
static bool has_begun(const struct fr_launch_options *o, const struct mark *before) {
    struct mark now = mark_of(o->begins);
    return !o->begins || !(o->patience_s > 0) || now.size != before->size ||
           now.changed.tv_sec != before->changed.tv_sec ||
           now.changed.tv_nsec != before->changed.tv_nsec;
}

/* The job's end.  Until it has begun, and once told to stop, we only look, so as to end it when its
 * time is over.  @param[out] late  it never began */
static int wait_for(pid_t child, const struct fr_launch_options *o, const struct mark *before,
                    int *status, bool *late) {
    const struct timespec nap = {.tv_nsec = 20000000};
    double stop_s = 0, start_s = fr_now_s();
    bool begun = has_begun(o, before);
    for (;;) {
        pid_t ended = waitpid(child, status, stopped || !begun ? WNOHANG : 0);
        if (ended == child) return 0;
        if (ended < 0 && errno != EINTR) return errno;
        begun = begun || has_begun(o, before);
        if (!begun && fr_now_s() - start_s > o->patience_s) {
            if (!*late) kill(child, SIGTERM);
            *late = true;
            if (fr_now_s() - start_s > o->patience_s + FR_LAUNCH_GRACE_S) kill(child, SIGKILL);
        }
        if (stopped && stop_s == 0) stop_s = fr_now_s();
        if (stopped && fr_now_s() - stop_s > FR_LAUNCH_GRACE_S) kill(child, SIGKILL);
        if (stopped || !begun) nanosleep(&nap, NULL);
    }
}

/* In the child: the launcher, which the kernel ends with us, or the reason why there is none. */
static void become(const struct command *command, char **environment, pid_t parent, int tell) {
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGUSR1, SIG_DFL);
    if (signal(SIGHUP, SIG_DFL) == SIG_IGN) signal(SIGHUP, SIG_IGN); /* nohup's word stands */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent)
        execvpe(command->word[0], (char *const *)(uintptr_t)command->word, environment);
    int why = errno;
    if (write(tell, &why, sizeof why) < 0) _exit(126);
    _exit(127);
}

/* @return 0, or the errno of what could not be done */
static int spawn(const struct command *command, char **environment, pid_t *child) {
    int told[2], why = 0;
    pid_t parent = getpid();
    if (pipe(told) != 0) return errno;
    fcntl(told[0], F_SETFD, FD_CLOEXEC);
    fcntl(told[1], F_SETFD, FD_CLOEXEC);
    *child = fork();
    if (*child == 0) become(command, environment, parent, told[1]);
    int failed = *child < 0 ? errno : 0;
    close(told[1]);
    while (!failed && read(told[0], &why, sizeof why) < 0 && errno == EINTR) continue;
    close(told[0]);
    if (why) waitpid(*child, NULL, 0);
    return failed ? failed : why;
}

/* Start and wait, as system(3) does: SIGINT reaches the job, and its end is then reported. */
static fr_status run(struct command *command, char **environment,
                     const struct fr_launch_options *options, struct fr_error *err) {
    static const int handed_on[HANDED_ON] = {SIGTERM, SIGUSR1, SIGHUP};
    struct sigaction ignore = {.sa_handler = SIG_IGN}, hand = {.sa_handler = hand_on}, before,
                     before_handed[HANDED_ON];
    const struct mark begin = mark_of(options->begins);
    pid_t child = 0;
    int status = 0;
    bool late = false;
    stopped = 0;
    job = 0;
    sigaction(SIGINT, &ignore, &before);
    for (int i = 0; i < HANDED_ON; i++) {
        sigaction(handed_on[i], &hand, &before_handed[i]);
        if (handed_on[i] == SIGHUP && before_handed[i].sa_handler == SIG_IGN)
            sigaction(SIGHUP, &before_handed[i],
                      NULL); /* nohup: a lost terminal ends nothing */
    }
    int code = spawn(command, environment, &child);
    if (code == 0) {
        job = child;
        if (stopped) kill(child, SIGUSR1); /* it came while the job was being started */
        code = wait_for(child, options, &begin, &status, &late);
    }
    job = 0;
    for (int i = 0; i < HANDED_ON; i++) sigaction(handed_on[i], &before_handed[i], NULL);
    sigaction(SIGINT, &before, NULL);
    if (code != 0) return spawn_failed(command->word[0], options->launcher != NULL, code, err);
    if (stopped)
        return fr_fail(err, FR_ERR_PARTIAL, command->word[0],
                       "stopped as asked; what was measured is kept, and --resume goes on");
    if (late)
        return fr_fail(
            err, FR_ERR_EXTERNAL, command->word[0],
            "the job had not begun to measure after %.3g s, and was ended; where jobs "
            "wait in a queue give a longer --patience",
            options->patience_s);
    return translate(command->word[0], status, err);
}

fr_status fr_launch_mpi(const struct fr_launch_options *options, const char *const *arguments,
                        struct fr_error *err) {
    struct command command = {.count = 0};
    bool given = options->launcher != NULL;
    char **environment = NULL;
    command.simulated =
        given && strncmp(options->launcher, SIMULATION, strlen(SIMULATION)) == 0;
    fr_status status = find_program(options->program, &command, err);
    if (status == FR_OK && command.simulated)
        status = add_simulation(options, &command, err);
    else if (status == FR_OK && given)
        status = add_launcher(options, &command, err);
    if (status != FR_OK) goto done;
    if (!given) add_mpirun(options, &command);
    bool fits = add(&command, command.program);
    for (; fits && *arguments; arguments++) fits = add(&command, *arguments);
    environment = make_environment(&command);
    if (!fits)
        status = fr_fail(err, FR_ERR_USAGE, NULL, "too many arguments for one job");
    else if (!environment)
        status = fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    else
        status = run(&command, environment, options, err);
done:
    free(environment);
    free(command.launcher);
    return status;
}
