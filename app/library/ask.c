/* Verbs as functions of the library.
 *
 * The rest of libforerun lies below: forerun_predict and its like call answers (answer/), and forerun_fit a calibration.
 * Most verbs are more than one such call, since they join files, options and several answers.  So the library is linked
 * with the verbs themselves, from their table of options to what they print.  This folder is outermost, and nothing
 * includes it: a verb knows nothing of the library. */
#include <stdlib.h>
#include <string.h>

#include "app/clashes.h"
#include "app/run/run.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/file/collect.h"
#include "base/journal/journal.h"
#include "base/text/meant.h"
#include "library/call.h"
#include "library/result.h"

#define FR_ASKED(name) extern const struct fr_verb fr_verb_##name;
#define FR_ASKED_BY_NAME(name) FR_ASKED(name)
#include "app/library/verb_list.h"
#undef FR_ASKED

static const struct fr_verb *const verbs[] = {
#define FR_ASKED(name) &fr_verb_##name,
#include "app/library/verb_list.h"
#undef FR_ASKED
#undef FR_ASKED_BY_NAME
};
enum { N_VERBS = sizeof verbs / sizeof *verbs };

const char *forerun_verb(size_t i) { return i < N_VERBS ? verbs[i]->name : NULL; }

static fr_status find(const char *name, const struct fr_verb **verb, struct fr_error *err) {
    const char *known[N_VERBS + 1] = {NULL};
    char tail[320];
    if (!name) return fr_fail(err, FR_ERR_USAGE, "verb", "is NULL");
    for (int i = 0; i < N_VERBS; i++) {
        known[i] = verbs[i]->name;
        if (strcmp(known[i], name) == 0) *verb = verbs[i];
    }
    if (*verb) return FR_OK;
    return fr_fail(err, FR_ERR_USAGE, "verb", "unknown \"%.40s\"%s", name,
                   fr_meant_tail(name, known, tail, sizeof tail));
}

static bool has_document(const struct fr_verb *verb, const struct fr_args *args) {
    return fr_option_find(verb->options, "json") && (!verb->document || verb->document(args));
}

/* The words of a command, which asks for its document unless they ask for another form. */
struct line {
    char **word; /* [n + 1] */
    int n;
    bool json;
};

static fr_status make_line(const struct fr_verb *verb, const char *const *words,
                           struct line *line, struct fr_error *err) {
    int n = 0;
    while (words && words[n]) n++;
    line->word = fr_calloc((size_t)n + 2, sizeof *line->word);
    struct fr_args *args = fr_calloc(1, sizeof *args);
    if (line->word && args) {
        if (n > 0) memcpy(line->word, words, (size_t)n * sizeof *words);
        /* Words that cannot be parsed are refused by the verb. */
        bool parsed = fr_args_parse(n, line->word, verb->options, args, NULL) == FR_OK;
        line->json = parsed && has_document(verb, args) &&
                     (fr_args_has(args, "json") || !fr_clashes_formed(args));
        if (line->json && !fr_args_has(args, "json")) {
            memmove(line->word + 1, line->word, (size_t)n * sizeof *line->word);
            line->word[0] = (char *)"--json";
            n++;
        }
    }
    line->n = n;
    bool made = line->word && args;
    free(args);
    return made ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
}

/* The verb's files, GSL's error handler and tables of `list` are the process's: one verb at a time. */
static fr_status carry_out(const struct fr_verb *verb, struct line *line,
                           forerun_result *result, struct fr_error *err) {
    struct fr_collected collected = {.out = {0}};
    fr_call_wait();
    fr_file_hold();
    fr_journal_on_message(fr_journal_say);
    struct fr_collected *outer = fr_collect(&collected);
    fr_status status = fr_app_run(verb, line->n, line->word, err);
    fr_collect(outer);
    fr_journal_on_message(NULL);
    fr_call_go_on();
    if (status == FR_ERR_INFEASIBLE && !*err->detail)
        fr_fail(err, status, NULL, "nothing feasible; the answer says why");
    *(line->json ? &result->json : &result->text) = collected.out;
    result->notes = collected.notes;
    return status;
}

static fr_status ask(const char *name, const char *const *words, forerun_result *result,
                     struct fr_error *err) {
    const struct fr_verb *verb = NULL;
    struct line line = {.word = NULL};
    FR_TRY(find(name, &verb, err));
    fr_status status = make_line(verb, words, &line, err);
    if (status == FR_OK) status = carry_out(verb, &line, result, err);
    free(line.word);
    return status;
}

forerun_status forerun_ask(const char *verb, const char *const *words, forerun_result **result,
                           forerun_error *error) {
    struct fr_call call;
    fr_call_begin(&call);
    call.words = true;
    forerun_result *made = fr_result_new();
    fr_status status = made ? ask(verb, words, made, &call.err) : (fr_status)FR_ERR_NOMEM;
    return fr_call_answer(&call, status, made, result, error);
}
