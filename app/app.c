#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer/outcome/report.h"
#include "app/commit.h"
#include "app/help.h"
#include "app/inputs/of_samples.h"
#include "app/run/run.h"
#include "app/verb.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/journal/journal.h"
#include "base/progress.h"
#include "base/temporary.h"
#include "base/text.h"
#include "base/text/colour.h"
#include "base/text/meant.h"
#include "base/text/version.h"
#include "models/job/preset.h"

#define FR_VERB(name) extern const struct fr_verb fr_verb_##name;
#include "app/verb_list.h"
#undef FR_VERB

const struct fr_verb *const fr_verbs[] = {
#define FR_VERB(name) &fr_verb_##name,
#include "app/verb_list.h"
#undef FR_VERB
    NULL};

/* Name of the command, for the sentence of its last moment. */
static const char *running = "";

static int print_error(const char *verb, const struct fr_error *err) {
    bool colour = fr_colours(STDERR_FILENO);
    struct fr_text line = {0};
    const char *detail = *err->detail ? err->detail : fr_status_text(err->status);
    fr_text_addf(&line, "%sforerun%s%s:%s %s%s", colour ? "\033[31m" : "", *verb ? " " : "",
                 verb, colour ? "\033[0m" : "", err->where, *err->where ? ": " : "");
    if (colour)
        fr_colour_error(detail, &line);
    else
        fr_text_addf(&line, "%s", detail);
    fprintf(stderr, "%s\n", fr_text_get(&line));
    fr_text_free(&line);
    if (err->status == FR_ERR_USAGE)
        fprintf(stderr, "Try: forerun %s%s--help\n", verb, *verb ? " " : "");
    return fr_status_exit_code(err->status);
}

/* Help is printed whatever else goes on: no file of an output waits for it. @return exit code */
static int print_text(struct fr_text *text, FILE *out) {
    struct fr_error err = {.status = FR_OK};
    bool printed = fputs(fr_text_get(text), out) >= 0 && fflush(out) == 0;
    if (!printed)
        fr_fail(&err, FR_ERR_IO, "<stdout>", "cannot be written: %s", strerror(errno));
    fr_text_free(text);
    return printed ? 0 : print_error("", &err);
}

static int print_help(FILE *out) {
    struct fr_text text = {0};
    fr_help_program(&text);
    return print_text(&text, out);
}

static int print_verb_help(const struct fr_verb *verb) {
    struct fr_text text = {0};
    fr_help_verb(&text, verb);
    return print_text(&text, stdout);
}

/* Which program, and what of others it stands on. */
static int print_version(void) {
    struct fr_text text = {0};
    fr_text_addf(&text, "forerun %s\ncommit %s\nbuilt with %s\n", fr_version, FR_COMMIT,
                 FR_BUILT_WITH);
    return print_text(&text, stdout);
}

/* Where memory runs out the command ends, whatever it was doing: one sentence, nothing of what is
 * still buffered, exit code 1.  A second thread waits for the end. */
static void end_without_memory(size_t wanted_B) {
    static atomic_flag ending = ATOMIC_FLAG_INIT;
    char line[160];
    size_t used = 0;
    while (atomic_flag_test_and_set(&ending)) pause();
    fr_line_addf(line, sizeof line, &used, "forerun%s%s: out of memory", *running ? " " : "",
                 running);
    if (wanted_B > 0 && wanted_B < SIZE_MAX)
        fr_line_addf(line, sizeof line, &used, "; %zu bytes more were asked for", wanted_B);
    fr_line_addf(line, sizeof line, &used, "\n");
    fr_temporary_clear();
    if (write(STDERR_FILENO, line, used) < 0) _exit(1);
    _exit(1);
}

/* A verb comes first: what stands there may be another one, an option, or the preset that it is asked about. */
static int unknown_verb(const char *word) {
    const char *known[64] = {NULL}, *none[] = {"--version", "--help", NULL};
    char tail[256];
    struct fr_error err = {0};
    int n = 0;
    bool option = word[0] == '-';
    for (const struct fr_verb *const *v = fr_verbs; *v && n < 63; v++) known[n++] = (*v)->name;
    fr_meant_tail(strcmp(word, "-v") == 0 ? "version" : word, option ? none : known, tail,
                  sizeof tail);
    bool preset =
        fr_preset_meant("cluster", word).count || fr_preset_meant("model", word).count;
    bool close = strstr(tail, "did you mean");
    fr_fail(&err, FR_ERR_USAGE, NULL, "%s \"%.40s\"%s",
            option ? "unknown option" : "unknown command", word,
            close && !(preset && !option)
                ? tail
                : "; a command comes first, e.g. forerun search dgx-h100 llama-3-8b 64");
    return print_error("", &err);
}

static int run(const struct fr_verb *verb, int argc, char **argv) {
    struct fr_error err = {0};
    running = verb->name;
    /* Help is given whatever else stands on the line. */
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0 ||
            (i == 0 && argc == 1 && strcmp(argv[i], "help") == 0))
            return print_verb_help(verb);
    fr_status status = fr_app_run(verb, argc, argv, &err);
    /* Infeasible results are printed as such; an error sentence is there only if one was made. */
    if (status == FR_OK) return 0;
    if (status == FR_ERR_INFEASIBLE && !*err.detail)
        return verb->no ? verb->no : fr_status_exit_code(status);
    return print_error(verb->name, &err);
}

/* Takes --color WHEN off the line, wherever it stands before "--": it is of every verb.  @return exit code, 0: go on */
static int take_colour(int *argc, char **argv) {
    static const char name[] = "--color";
    const size_t length = sizeof name - 1;
    for (int i = 1; i < *argc && strcmp(argv[i], "--") != 0;) {
        const bool joined = strncmp(argv[i], "--color=", length + 1) == 0,
                   apart = strcmp(argv[i], name) == 0;
        const char *when = joined                   ? argv[i] + length + 1
                           : apart && i + 1 < *argc ? argv[i + 1]
                                                    : "";
        const int words = joined ? 1 : 2, place = fr_place_in(fr_colour_names, when);
        if (!joined && !apart) {
            i++;
            continue;
        }
        if (place < 0) {
            struct fr_error err = {0};
            char tail[120];
            fr_fail(&err, FR_ERR_USAGE, name, "\"%.40s\" is no time to colour%s", when,
                    fr_meant_tail(when, fr_colour_names, tail, sizeof tail));
            return print_error("", &err);
        }
        fr_colour_set((fr_colour)place);
        for (int j = i; j + words <= *argc; j++) argv[j] = argv[j + words];
        *argc -= words;
    }
    return 0;
}

int fr_app_main(int argc, char **argv) {
    fr_alloc_on_failure(end_without_memory);
    fr_temporary_listen();
    signal(SIGXFSZ,
           SIG_IGN); /* a file beyond `ulimit -f` is an error of write(2), which is reported */
    fr_progress_allow();
    fr_file_hold();
    fr_journal_on_message(fr_journal_say);
    fr_preset_fit_samples(fr_app_cluster_of_samples);
    int refused = take_colour(&argc, argv);
    if (refused) return refused;
    if (argc < 2) {
        print_help(stderr);
        return 2;
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
        for (const struct fr_verb *const *v = fr_verbs; argc > 2 && *v; v++)
            if (strcmp((*v)->name, argv[2]) == 0) return print_verb_help(*v);
        return argc > 2 && *argv[2] != '-' ? unknown_verb(argv[2]) : print_help(stdout);
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "version") == 0 ||
        strcmp(word, "-V") == 0)
        return print_version();
    for (const struct fr_verb *const *v = fr_verbs; *v; v++)
        if (strcmp((*v)->name, word) == 0) return run(*v, argc - 2, argv + 2);
    return unknown_verb(word);
}
