/* A run in flight beside its prediction. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/from/expand.h"
#include "app/text/next.h"
#include "app/training_options.h"
#include "app/verb.h"
#include "app/watch/run.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/file.h"
#include "base/file/follow.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    {"model", "FILE|PRESET", "of a log that does not describe its model", 'm'},
    {"plan", "FILE", "plan file, or a trainer's script: what the log leaves open of the plan",
     'p'},
    {"set", "KEY=VALUE", "of cluster, model or plan; goes before what the log says", 's'},
    {"column", "KEY=VALUE", "of the run, as score takes it: ranks=, id=", 0},
    FR_OPTION_IGNORE,
    FR_OPTION_RUNS_RUNTIME,
    FR_OPTION_DEFAULTS,
    {"follow", NULL, "go on while the log grows, with an answer after each timed line", 'f'},
    {"to-the-end", NULL, "of --follow: go on, too, when the run is outside its interval", 0},
    {"patience", "TIME",
     "of --follow: end when nothing was written for so long, e.g. 10m (default: wait on)", 0},
    {"steps", "N", "of the whole run, where the log does not say", 0},
    {"tokens", "N", "the same in tokens: 1T, 300B, 2e12", 0},
    {"samples", "N", "the same in samples", 0},
    {"price", "Q", "of a device, e.g. \"2.5 USD/h\": money of the whole run", 0},
    {"carbon", "Q", "of the electricity, e.g. \"0.4 kg/kWh\": its CO2", 0},
    {"pue", "X", "power usage effectiveness of the building, in place of the cluster's", 0},
    {"json", NULL, "print JSON; with --follow an object a line", 0},
    FR_OPTION_HELP,
    FR_OPTION_END};

/* A text that grows for weeks keeps its beginning, which describes the run, and its end. */
static const size_t LOG_MOST_B = (size_t)1 << 28, TEXT_MOST_B = (size_t)128 << 20,
                    BEGINNING_B = (size_t)4 << 20;

/* ---- signals ----------------------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;

/* The first asks for the last answer, a second one ends the program. */
static void on_signal(int signal_number) {
    (void)signal_number;
    interrupted = 1;
}

static void listen(void) {
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- state ------------------------------------------------------------------------------------- */

struct watching {
    const struct fr_args *args;
    struct fr_app_watched run;
    struct fr_training training;
    long long steps;
    double patience_s; /**< inf: for ever */
    double silent_s;   /**< since something was written */
    bool follow, json;
    struct fr_follow file;
    struct fr_text text; /**< of the log */
    size_t seen;         /**< bytes of it that were read as lines */
    int lines;           /**< timed lines of the last answer */
    bool answered;
    struct fr_watch answer;
    struct fr_watch_ask ask;
};

static fr_status read_training(struct watching *w, struct fr_error *err) {
    const struct fr_args *args = w->args;
    struct fr_training_words words = {.tokens = fr_args_get(args, "tokens"),
                                      .samples = fr_args_get(args, "samples"),
                                      .price = fr_args_get(args, "price"),
                                      .carbon = fr_args_get(args, "carbon"),
                                      .pue = fr_args_get(args, "pue")};
    const bool stated = words.tokens || words.samples;
    if (!stated) words.samples = "1"; /* the log says how long it is */
    FR_TRY(fr_training_read(&words, &w->training, err));
    if (!stated) w->training.samples = 0;
    FR_TRY(fr_args_integer(args, "steps", 1, 1LL << 50, &w->steps, err));
    if (w->steps && stated)
        return fr_fail(err, FR_ERR_USAGE, "--steps", "says again what --%s says",
                       words.tokens ? "tokens" : "samples");
    return FR_OK;
}

static fr_status read_options(struct watching *w, struct fr_error *err) {
    const struct fr_args *args = w->args;
    const char *patience = fr_args_get(args, "patience");
    w->follow = fr_args_has(args, "follow");
    w->json = fr_args_has(args, "json");
    w->patience_s = INFINITY;
    if (args->n_words != 1)
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       args->n_words ? "unexpected word \"%.64s\"" : "names no log; give LOG%s",
                       args->n_words ? args->word[1] : "");
    if (patience)
        FR_TRY(fr_duration_parse(patience, "--patience", 0.1, 1e8, &w->patience_s, err));
    const char *of_follow = patience                          ? "--patience"
                            : fr_args_has(args, "to-the-end") ? "--to-the-end"
                                                              : NULL;
    if (of_follow && !w->follow) return fr_fail(err, FR_ERR_USAGE, of_follow, "is of --follow");
    FR_TRY(read_training(w, err));
    return fr_app_watched_open(args, args->word[0], &w->run, err);
}

/* ---- answers ----------------------------------------------------------------------------------- */

/* The lines so far; @p whole: the last one may lack its end. */
static fr_status update(struct watching *w, bool whole, fr_watch_state state,
                        struct fr_error *err) {
    size_t length = w->text.length;
    while (!whole && length > 0 && w->text.data[length - 1] != '\n' &&
           !(w->text.data[length - 1] == '\r' && length < w->text.length))
        length--;
    if (length != w->seen || whole || !w->answered) {
        const size_t seen = whole ? 0 : w->seen;
        w->seen = 0;
        FR_TRY(fr_app_watched_read(&w->run, fr_text_get(&w->text), length, seen, err));
        w->seen = length;
    }
    w->ask = (struct fr_watch_ask){.log = w->run.log,
                                   .run = &w->run.runs.items[0],
                                   .expected = &w->run.expected,
                                   .read = &w->run.read,
                                   .training = &w->training,
                                   .steps = (double)w->steps,
                                   .written_s = w->file.written_s,
                                   .silent_s = state == FR_WATCH_IDLE ? w->silent_s : 0,
                                   .state = state};
    FR_TRY(fr_watch_of(&w->ask, &w->answer, err));
    w->answered = true;
    return FR_OK;
}

static fr_status print(struct watching *w, bool last, struct fr_error *err) {
    struct fr_text text = {0}, again = {0};
    if (w->json)
        fr_watch_json(&w->answer, w->follow ? 0 : 2, &text);
    else if (last) {
        fr_next_again(w->args, "watch", &again);
        if (again.length && !w->follow) fr_text_addf(&again, "\n--follow");
        fr_watch_brief(&w->answer, fr_text_get(&again), &text);
    } else
        fr_watch_line(&w->answer, &text);
    fr_text_free(&again);
    return fr_app_print(&text, err);
}

/* Exit code 6 without a sentence: the answer has said it. */
static fr_status verdict(const struct watching *w, struct fr_error *err) {
    if (err) *err = (struct fr_error){.status = FR_OK};
    return w->answer.outside ? FR_ERR_INFEASIBLE : FR_OK;
}

/* Print the last answer.  A log without a timed line fails with the reason. */
static fr_status finish(struct watching *w, fr_watch_state state, struct fr_error *err) {
    const int lines = w->lines;
    const fr_watch_state before = w->answer.state;
    const bool printed = w->answered;
    FR_TRY(update(w, true, state, err));
    const bool same = printed && w->answer.state == before && w->run.read.steps == lines;
    if (!(w->json && w->follow && same)) FR_TRY(print(w, true, err));
    return verdict(w, err);
}

/* ---- following --------------------------------------------------------------------------------- */

/* A new file that describes its run is a run of its own; else it goes on with the one before. */
static void forget(struct watching *w, size_t *anew) {
    if (*anew > 0 && w->text.length > *anew) {
        const char *from = w->text.data + *anew;
        const size_t length = w->text.length - *anew;
        if (!memchr(from, '\n', length)) return; /* look again when it has a line */
        if (fr_app_watched_begins(&w->run, from, length)) {
            memmove(w->text.data, from, length + 1);
            w->text.length = length;
            w->seen = 0;
            w->lines = 0;
        } else if (w->run.read.steps == 0 || length < 1 << 16)
            return; /* its beginning may still come */
        *anew = 0;
    }
    if (w->text.length > TEXT_MOST_B) {
        const char *cut = memchr(w->text.data + w->text.length - TEXT_MOST_B / 2, '\n',
                                 TEXT_MOST_B / 2),
                   *head = memchr(w->text.data + BEGINNING_B, '\n', BEGINNING_B);
        if (!cut || !head) return;
        const size_t rest = (size_t)(w->text.data + w->text.length - cut);
        memmove(w->text.data + (head - w->text.data), cut, rest + 1);
        w->text.length = (size_t)(head - w->text.data) + rest;
        w->seen = 0;
    }
}

/* One look at the log. @param[out] ended  the run is over, or outside */
static fr_status look(struct watching *w, size_t *anew, bool *ended, struct fr_error *err) {
    const size_t before = w->text.length;
    FR_TRY(fr_follow_read(&w->file, &w->text, anew, err));
    if (w->text.failed) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    forget(w, anew);
    if (w->text.length == before && w->answered) return FR_OK;
    struct fr_error why = {0};
    fr_status status = update(w, false, FR_WATCH_RUNNING, &why);
    if (status != FR_OK) {
        if (status == FR_ERR_INPUT && w->run.read.steps == 0) return FR_OK; /* not yet */
        if (err) *err = why;
        return status;
    }
    if (w->run.read.steps == w->lines) return FR_OK;
    w->lines = w->run.read.steps;
    const bool outside = w->answer.outside && !fr_args_has(w->args, "to-the-end");
    *ended = outside || w->answer.state == FR_WATCH_COMPLETE;
    return *ended && !w->json ? FR_OK : print(w, false, err);
}

static fr_status follow(struct watching *w, struct fr_error *err) {
    size_t anew = 0, length = 0;
    double last_s = fr_now_s();
    bool ended = false;
    listen();
    for (;;) {
        FR_TRY(look(w, &anew, &ended, err));
        if (ended) return finish(w, FR_WATCH_RUNNING, err);
        if (w->text.length != length) last_s = fr_now_s();
        length = w->text.length;
        if (interrupted) return finish(w, FR_WATCH_INTERRUPTED, err);
        w->silent_s = fr_now_s() - last_s;
        const double left_s = w->patience_s - w->silent_s;
        if (left_s <= 0 || w->file.ended) return finish(w, FR_WATCH_IDLE, err);
        fr_follow_wait(&w->file, left_s);
    }
}

static fr_status read_once(struct watching *w, struct fr_error *err) {
    struct stat s;
    char *text = NULL;
    size_t length = 0;
    if (strcmp(w->run.log, "-") != 0 && !fr_file_exists(w->run.log))
        return fr_fail(err, FR_ERR_INPUT, w->run.log,
                       "does not exist; with --follow it is waited for");
    FR_TRY(fr_file_read(w->run.log, LOG_MOST_B, &text, &length, err));
    fr_text_add(&w->text, text, length);
    free(text);
    if (w->text.failed) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    if (stat(w->run.log, &s) == 0 && S_ISREG(s.st_mode))
        w->file.written_s = (double)s.st_mtim.tv_sec + 1e-9 * (double)s.st_mtim.tv_nsec;
    return finish(w, FR_WATCH_READ, err);
}

static fr_status watch(struct watching *w, struct fr_error *err) {
    FR_TRY(read_options(w, err));
    if (!w->follow) return read_once(w, err);
    FR_TRY(fr_follow_open(w->run.log, &w->file, err));
    return follow(w, err);
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct watching *w = fr_calloc(1, sizeof *w);
    if (!w) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    w->args = args;
    w->file = (struct fr_follow){.file = -1, .notify = -1};
    fr_status status = watch(w, err);
    fr_follow_close(&w->file);
    fr_app_watched_free(&w->run);
    fr_text_free(&w->text);
    free(w);
    return status;
}

const struct fr_verb fr_verb_watch = {
    .name = "watch",
    .summary = "a run in flight beside its prediction: what is off, when it ends",
    .usage = "LOG --cluster C [--plan P] [--model M] [--set KEY=VALUE]... [--follow] [--json]",
    .details =
        "LOG is what a trainer prints: Megatron-LM, NeMo, torchtitan, DeepSpeed, MaxText and\n"
        "others; - is standard input. With --follow a log that is not there yet is waited "
        "for,\n"
        "and one that is rotated goes on. Ctrl-C prints the last answer.\n"
        "Exit code 6: the median step, or that of the last five lines, is outside its 90 %\n"
        "interval, or the log stopped before its last step and --patience is over. With\n"
        "--follow the first ends the command, unless --to-the-end is given.\n"
        "Examples:\n"
        "  forerun watch train.log --cluster dgx-h100\n"
        "  forerun watch train.log --cluster tuned.json --follow --patience 30m --json\n"
        "  forerun watch train.log --cluster dgx-h100 --follow --price \"2.5 USD/h\"\n",
    .options = options,
    .no = 6,
    .run = run,
};
