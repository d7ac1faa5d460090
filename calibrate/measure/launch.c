#include "calibrate/measure/launch.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/process.h"
#include "calibrate/measure/leash.h"
#include "calibrate/measure/quota.h"
#include "calibrate/measure/session.h"
#include "calibrate/measure/watch/thread.h"

enum { WORDS_MAX = 128, HANDED_ON = 3 };
static const char SIMULATION[] = "smpi:";

struct command {
    const char *word[WORDS_MAX + 1]; /* NULL-terminated */
    int count;
    char *launcher; /* the copy that the first words point into */
    char program[FR_PROCESS_PATH_B], ranks[32];
    bool simulated;
};

/* For signal handlers: the job to hand signals on to, as which, and that one came. */
static volatile sig_atomic_t job, as, stopped;
static bool over; /* the last job was ended when its time was over */

/* The alarm rings until somebody has looked: a signal may come just before we wait. */
static void hand_on(int signal) {
    (void)signal;
    stopped = 1;
    if (job > 0) kill((pid_t)job, as);
    alarm(1);
}

static void ring_again(int signal) {
    (void)signal;
    alarm(1);
}

/* SIGINT of a terminal is the job's: caught here, so that the job has it as usual.  One that a process
 * sent to us alone it would never hear of. */
static void let_pass(int signal, siginfo_t *info, void *context) {
    (void)context;
    if (info->si_code <= 0) hand_on(signal);
}

bool fr_launch_was_stopped(void) { return stopped != 0; }

bool fr_launch_was_over(void) { return over; }

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
    char *program = command->program;
    if (given) snprintf(program, sizeof command->program, "%s", given);
    if (given ? access(program, X_OK) == 0
              : fr_process_beside(command->simulated ? "forerun-smpi" : "forerun-mpi", program))
        return FR_OK;
    return fr_fail(err, FR_ERR_EXTERNAL, program,
                   "cannot be run: %s; it is built and installed beside forerun%s",
                   strerror(errno),
                   command->simulated ? " where SimGrid is (libsimgrid-dev)" : "");
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
    bool shared = options->yields || options->n_ranks > fr_launch_cores();
    const char *const *binding = shared ? too_few : enough;
    snprintf(command->ranks, sizeof command->ranks, "%" PRId64, options->n_ranks);
    add(command, "mpirun");
    add(command, "-np");
    add(command, command->ranks);
    add(command, "-x"); /* to ranks of other hosts too */
    add(command, FR_WATCH_VARIABLE);
    while (*binding) add(command, *binding++);
}

/* How a job ended: a signal that ended a launcher, or one that it hands on as 128 + signal, as shells do. */
static struct fr_ended end_of(const struct fr_ended *ended) {
    int code = ended->code, handed_on = code > 128 ? code - 128 : 0;
    return (struct fr_ended){.code = code, .signal = code < 0 ? ended->signal : handed_on};
}

static fr_status translate(const char *launcher, const struct fr_ended *ended,
                           struct fr_error *err) {
    int code = ended->code;
    if (code == 0) return FR_OK;
    if (code == fr_status_exit_code(FR_ERR_PARTIAL))
        return fr_fail(err, FR_ERR_PARTIAL, launcher,
                       "the job ended early; what it had measured is kept");
    if (code == fr_status_exit_code(FR_ERR_INPUT))
        return fr_fail(err, FR_ERR_INPUT, launcher, "the job refused what it was to work on");
    if (code == fr_status_exit_code(FR_ERR_USAGE))
        return fr_fail(err, FR_ERR_USAGE, launcher, "the job refused its command line");
    const struct fr_ended by = end_of(ended);
    char words[FR_ENDED_B];
    if (by.signal)
        return fr_fail(err, FR_ERR_PARTIAL, launcher, "%s; what it had measured is kept",
                       fr_ended_words(&by, words));
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

/* Has the job begun, or is there no telling?  A rank that has connected has. */
static bool has_begun(const struct fr_launch_options *o, const struct mark *before,
                      struct fr_watcher_thread *ranks) {
    struct mark now = mark_of(o->begins);
    if (ranks && fr_watcher_thread_seen(ranks)) return true;
    return (!o->begins && (o->launcher || !ranks)) || now.size != before->size ||
           now.changed.tv_sec != before->changed.tv_sec ||
           now.changed.tv_nsec != before->changed.tv_nsec;
}

/* A job under way. */
struct watch {
    const struct fr_launch_options *o;
    struct fr_watcher_thread *ranks; /* NULL: none could be had, or it is simulated */
    pid_t child;
    struct mark before;
    double begins_s;               /* within which it is to have begun */
    double start_s, stop_s;        /* stop_s: when we were asked to stop; 0: not yet */
    double found_s;                /* when a verdict was found; 0: there is none */
    bool begun, late, over, ended; /* late: to begin; over: to end; ended: asked to stop */
    bool given_up;                 /* asked to end after a verdict */
};

/* Asked to end, as launchers are, which then clean up; killed when it does not.  One that is
 * stopped hears nothing until it goes on. */
static void end(pid_t child, double since_s, double grace_s, bool *stated) {
    if (since_s <= 0) return;
    if (!*stated) kill(child, SIGTERM);
    if (!*stated) kill(child, SIGCONT);
    *stated = true;
    if (since_s > grace_s) kill(child, SIGKILL);
}

/* A job that has begun and knows how to is first asked to save what it has. */
static void stop(struct watch *w, pid_t child, double now_s) {
    bool saves = as == SIGUSR1;
    if (w->stop_s == 0) w->stop_s = now_s;
    end(child, now_s - w->stop_s - (saves ? FR_LAUNCH_SAVES_S : 0), FR_LAUNCH_GRACE_S,
        &w->ended);
}

/* A launcher that knows of a dead rank ends the job by itself, as a rule. */
static void heed_verdict(struct watch *w, pid_t child, double now_s) {
    static const double NOTICES_S = 3, ENDS_S = 2.5;
    const struct fr_watch_verdict *verdict =
        w->ranks ? fr_watcher_thread_verdict(w->ranks) : NULL;
    if (!verdict) return;
    if (w->found_s == 0) w->found_s = now_s;
    double since_s = now_s - w->found_s;
    end(child, verdict->kind == FR_VERDICT_DIED ? since_s - NOTICES_S : since_s + 1e-9, ENDS_S,
        &w->given_up);
}

/* Until it has begun, and once its time is over, we look again and again, else when a signal comes. */
static bool look(void *context, pid_t child) {
    struct watch *w = context;
    double now_s = fr_now_s(), waited_s = now_s - w->start_s;
    w->begun = w->begun || has_begun(w->o, &w->before, w->ranks);
    if (!stopped) as = w->begun && w->o->begins ? SIGUSR1 : SIGTERM;
    if (job != child) {
        job = w->child = child;
        if (w->ranks) fr_watcher_thread_of(w->ranks, child);
        if (stopped) kill(child, as); /* it came while the job was being started */
    }
    if (!w->begun) end(child, waited_s - w->begins_s, FR_LAUNCH_GRACE_S, &w->late);
    if (w->o->limit_s > 0) end(child, waited_s - w->o->limit_s, FR_LAUNCH_GRACE_S, &w->over);
    if (stopped) stop(w, child, now_s);
    heed_verdict(w, child, now_s);
    return !w->begun || w->over || stopped || w->found_s > 0;
}

/* The message about a job that lost a rank or its launcher: the first of its faults, not their
 * consequences. */
static fr_status blame(const struct watch *w, const char *name, const struct fr_ended *ended,
                       struct fr_error *err) {
    const struct fr_watch_verdict *verdict =
        w->ranks ? fr_watcher_thread_verdict(w->ranks) : NULL;
    struct fr_ended by = end_of(ended);
    bool unseen = w->ranks && !w->o->launcher && !fr_watcher_thread_seen(w->ranks);
    bool died =
        ended->code < 0 && !w->given_up; /* the launcher itself, by a hand that is not ours */
    char sentence[400], launcher[160], host[64] = "", how[FR_ENDED_B] = "has died";
    if (unseen && ended->code > 0 && ended->code <= 128 && !verdict)
        return fr_fail(err, FR_ERR_EXTERNAL, name,
                       "failed with exit code %d before any rank had begun", ended->code);
    if (!w->given_up && (ended->code == 0 || (!died && !verdict)))
        return translate(name, ended, err);
    gethostname(host, sizeof host - 1);
    snprintf(launcher, sizeof launcher, "the launcher on host %s (process %d)", host,
             (int)w->child);
    /* The launcher's end by our own signal is no fact about the rank. */
    if (!w->given_up || (ended->code > 128 && by.signal != SIGTERM)) fr_ended_words(&by, how);
    if (died)
        snprintf(sentence, sizeof sentence, "%s %s", launcher, how);
    else
        fr_watch_verdict_sentence(verdict, how, launcher, sentence, sizeof sentence);
    return fr_fail(err, FR_ERR_PARTIAL, name,
                   "%s; what was measured is kept, and --resume goes on", sentence);
}

/* Start and wait, as system(3) does: SIGINT reaches the job, and its end is then reported. */
static fr_status run_watched(const struct command *command, struct watch *watch,
                             const char *address, struct fr_ended *ended,
                             struct fr_error *err) {
    static const int handed_on[HANDED_ON] = {SIGTERM, SIGUSR1, SIGHUP};
    const struct fr_launch_options *options = watch->o;
    struct sigaction pass = {.sa_sigaction = let_pass, .sa_flags = SA_SIGINFO},
                     hand = {.sa_handler = hand_on}, ring = {.sa_handler = ring_again}, before,
                     before_ring, before_handed[HANDED_ON];
    char leash[sizeof FR_LEASH_VARIABLE + FR_LEASH_B] = FR_LEASH_VARIABLE "=";
    const char *variables[] = {leash,
                               address,
                               "OPENBLAS_NUM_THREADS=1",
                               geteuid() == 0 ? "OMPI_ALLOW_RUN_AS_ROOT=1" : NULL,
                               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                               NULL};
    struct fr_process start = {.words = command->word,
                               .package = options->launcher ? NULL : "openmpi-bin",
                               .variables = variables,
                               .in.inherited = true,
                               .out.inherited = true,
                               .err.inherited = !options->quiet,
                               .parting = SIGTERM,
                               .watch = look,
                               .context = watch};
    if (strcmp(command->word[0], "smpirun") == 0) start.package = "libsimgrid-dev";
    fr_leash_make(leash + strlen(leash));
    stopped = 0;
    job = 0;
    as = SIGTERM;
    sigaction(SIGALRM, &ring, &before_ring);
    if (options->limit_s > 0) alarm((unsigned)fmin(ceil(options->limit_s), 1e9));
    sigaction(SIGINT, &pass, &before);
    if (before.sa_handler == SIG_IGN) sigaction(SIGINT, &before, NULL);
    for (int i = 0; i < HANDED_ON; i++) {
        sigaction(handed_on[i], &hand, &before_handed[i]);
        if (handed_on[i] == SIGHUP && before_handed[i].sa_handler == SIG_IGN)
            sigaction(SIGHUP, &before_handed[i],
                      NULL); /* nohup: a lost terminal ends nothing */
    }
    if (watch->ranks) fr_watcher_thread_begin(watch->ranks);
    fr_status status = fr_process_run(&start, ended, err);
    if (watch->ranks) fr_watcher_thread_end(watch->ranks);
    job = 0;
    for (int i = 0; i < HANDED_ON; i++) sigaction(handed_on[i], &before_handed[i], NULL);
    sigaction(SIGINT, &before, NULL);
    alarm(0);
    sigaction(SIGALRM, &before_ring, NULL);
    return status;
}

static fr_status say_why(const struct watch *w, const char *name, const struct fr_ended *ended,
                         struct fr_error *err) {
    if (stopped)
        return fr_fail(err, FR_ERR_PARTIAL, name,
                       "stopped as asked; what was measured is kept, and --resume goes on");
    if (w->late)
        return fr_fail(
            err, FR_ERR_EXTERNAL, name,
            "the job had not begun to measure after %.3g s, and was ended; where jobs "
            "wait in a queue give a longer --patience",
            w->begins_s);
    if (w->over)
        return fr_fail(err, FR_ERR_PARTIAL, name,
                       "the job had not ended %.3g s after it was started, when its time was "
                       "over, and was ended; what it had measured is kept",
                       w->o->limit_s);
    return blame(w, name, ended, err);
}

static fr_status run(const struct command *command, const struct fr_launch_options *options,
                     struct fr_error *err) {
    static const double LEAVES_S = 1, LEAST_START_S = 10;
    double patience_s = options->patience_s > 0 ? options->patience_s : FR_PATIENCE_S;
    char address[sizeof FR_WATCH_VARIABLE + FR_WATCH_ADDRESS_B] = FR_WATCH_VARIABLE "=";
    struct watch watch = {.o = options,
                          .before = mark_of(options->begins),
                          .begins_s = options->start_s > 0 ? options->start_s
                                                           : fmax(patience_s, LEAST_START_S),
                          .start_s = fr_now_s()};
    const struct fr_watcher_options ranks = {
        .patience_s = patience_s,
        .busy_s = options->busy_s > 0 ? options->busy_s : FR_PATIENCE_BUSY * patience_s,
        .n_ranks = options->launcher ? 0 : (int)options->n_ranks};
    /* Ranks of a job that runs already are watched by each other. */
    if (!command->simulated && !fr_launch_inside_mpi())
        watch.ranks = fr_watcher_thread_open(&ranks, address + strlen(address));
    struct fr_ended ended;
    fr_status status = run_watched(command, &watch, address, &ended, err);
    over = watch.over && !stopped;
    bool broken = stopped || watch.late || watch.over || watch.found_s > 0 ||
                  (status == FR_OK && ended.signal);
    if (watch.ranks && broken) fr_watcher_thread_end_ranks(watch.ranks, LEAVES_S);
    if (watch.child > 0 && broken) fr_session_remove(watch.child);
    if (status == FR_OK) status = say_why(&watch, command->word[0], &ended, err);
    fr_watcher_thread_close(watch.ranks);
    return status;
}

fr_status fr_launch_mpi(const struct fr_launch_options *options, const char *const *arguments,
                        struct fr_error *err) {
    struct command command = {.count = 0};
    bool given = options->launcher != NULL;
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
    status = fits ? run(&command, options, err)
                  : fr_fail(err, FR_ERR_USAGE, NULL, "too many arguments for one job");
done:
    free(command.launcher);
    return status;
}
