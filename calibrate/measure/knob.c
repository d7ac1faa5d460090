#define _GNU_SOURCE /* pipe2 */
#include "calibrate/measure/knob.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/process.h"

#define FR_KNOB(name) extern const struct fr_knob fr_knob_##name;
#include "calibrate/measure/knob_list.h"
#undef FR_KNOB

#define FR_KNOB(name) &fr_knob_##name,
const struct fr_knob *const fr_knobs[] = {
#include "calibrate/measure/knob_list.h"
    NULL};
#undef FR_KNOB

struct fr_knob_session {
    const struct fr_knob *knob;
    void *state;
    int alive[2]; /* we hold the end that is written to, and never write */
    int ready[2]; /* the guardian says once that it is there */
    pthread_t thread;
    struct fr_ended ended;
    fr_status status;
};

/* ---- the guardian ---------------------------------------------------------------------------- */

/* In a child: no signal meant for the job ends it before it has done its work. */
static void guard(void *context) {
    static const int meant_for_the_job[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGPIPE};
    struct fr_knob_session *s = context;
    char nothing = 0;
    for (size_t i = 0; i < sizeof meant_for_the_job / sizeof *meant_for_the_job; i++)
        signal(meant_for_the_job[i], SIG_IGN);
    setsid();
    close(s->alive[1]);
    close(s->ready[0]);
    if (write(s->ready[1], "", 1) != 1) _exit(1);
    close(s->ready[1]);
    while (read(s->alive[0], &nothing, 1) < 0 && errno == EINTR) continue;
    _exit(s->knob->restore(s->state) ? 0 : 1);
}

/* SIGURG: what it gets when we die changes nothing; that the pipe is closed does. */
static void *keep_guardian(void *context) {
    struct fr_knob_session *s = context;
    const char *words[] = {"the guardian of the clock", NULL};
    const struct fr_process p = {.words = words,
                                 .body = guard,
                                 .context = s,
                                 .parting = SIGURG,
                                 .err = {.inherited = true}};
    struct fr_error err;
    s->status = fr_process_run(&p, &s->ended, &err);
    close(s->ready[1]);
    return NULL;
}

static void close_pipe(int ends[2]) {
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0) close(ends[i]);
}

/* Until it says so nothing may be set. */
static bool is_there(struct fr_knob_session *s) {
    char byte;
    ssize_t got;
    while ((got = read(s->ready[0], &byte, 1)) < 0 && errno == EINTR) continue;
    return got == 1;
}

static fr_status start_guardian(struct fr_knob_session *s, struct fr_error *err) {
    s->alive[0] = s->alive[1] = s->ready[0] = s->ready[1] = -1;
    if (pipe2(s->alive, O_CLOEXEC) != 0 || pipe2(s->ready, O_CLOEXEC) != 0 ||
        pthread_create(&s->thread, NULL, keep_guardian, s) != 0) {
        close_pipe(s->alive);
        close_pipe(s->ready);
        return fr_fail(err, FR_ERR_EXTERNAL, s->knob->name,
                       "no pipe or thread for who restores the clock");
    }
    bool there = is_there(s);
    close(s->ready[0]);
    if (there) return FR_OK;
    close(s->alive[1]);
    pthread_join(s->thread, NULL);
    close(s->alive[0]);
    return fr_fail(err, FR_ERR_EXTERNAL, s->knob->name, "who restores the clock did not start");
}

/* ---- the session ----------------------------------------------------------------------------- */

static const struct fr_knob *find(const char *which, const char **argument,
                                  struct fr_error *err) {
    const char *names[16] = {NULL};
    char word[32];
    for (int i = 0; fr_knobs[i]; i++) names[i] = fr_knobs[i]->name;
    int row = fr_named_with_argument(which, names, word, argument);
    if (row >= 0) return fr_knobs[row];
    const char *near = fr_suggest(word, names);
    fr_fail(err, FR_ERR_USAGE, "--clocks", "\"%s\" sets no clock%s%s%s", word,
            near ? "; did you mean " : "; known: cpufreq, nvidia", near ? near : "",
            near ? "?" : "");
    return NULL;
}

fr_status fr_knob_open(const char *which, struct fr_knob_session **session,
                       struct fr_error *err) {
    const char *argument = NULL;
    const struct fr_knob *knob = find(which, &argument, err);
    void *state = NULL;
    *session = NULL;
    if (!knob) return FR_ERR_USAGE;
    FR_TRY(knob->open(argument, &state, err));
    struct fr_knob_session *s = fr_calloc(1, sizeof *s);
    fr_status status = FR_ERR_NOMEM;
    if (s) {
        s->knob = knob;
        s->state = state;
        status = start_guardian(s, err);
    } else
        fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    if (status == FR_OK) {
        *session = s;
        return FR_OK;
    }
    knob->close(state);
    free(s);
    return status;
}

int fr_knob_clocks(const struct fr_knob_session *s, int n, double *clock_Hz) {
    double all_Hz[FR_KNOB_CLOCKS_MAX];
    int many = s->knob->clocks(s->state, all_Hz), inherited = 0;
    for (int i = 0; i < n && i < many; i++) {
        int parts = n < many ? n : many;
        int at = parts > 1 ? (int)lround((double)i * (many - 1) / (parts - 1)) : many - 1;
        clock_Hz[inherited++] = all_Hz[at];
    }
    return inherited;
}

fr_status fr_knob_set(struct fr_knob_session *s, double clock_Hz, struct fr_error *err) {
    return s->knob->set(s->state, clock_Hz, err);
}

fr_status fr_knob_close(struct fr_knob_session *s, struct fr_error *err) {
    if (!s) return FR_OK;
    close(s->alive[1]);
    pthread_join(s->thread, NULL);
    close(s->alive[0]);
    bool restored = s->status == FR_OK && s->ended.code == 0;
    const char *name = s->knob->name;
    s->knob->close(s->state);
    free(s);
    if (restored) return FR_OK;
    return fr_fail(err, FR_ERR_EXTERNAL, name, "the clock could not be put back as it was");
}
