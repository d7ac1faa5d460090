/* Manual pages, from the verbs' tables. */
#include <string.h>

#include "app/load.h"
#include "app/manual.h"

static const struct fr_option options[] = {
    {"into", "DIR", "write all pages there, NAME.SECTION.md", 0},
    FR_OPTION_HELP,
    FR_OPTION_END};

static const char *word(int i) {
    int n = 0;
    while (fr_verbs[n] && n < i) n++;
    return !fr_verbs[n] ? (i == n ? "plan" : NULL) : fr_verbs[n]->name;
}

static bool write_page(struct fr_text *text, const char *name) {
    if (strcmp(name, "plan") == 0) {
        fr_manual_plan(text);
        return true;
    }
    for (const struct fr_verb *const *v = fr_verbs; *v; v++)
        if (strcmp((*v)->name, name) == 0) {
            fr_manual_verb(text, *v);
            return true;
        }
    return false;
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    const char *into = fr_args_get(args, "into");
    struct fr_text text = {0};
    if (args->n_words > 1)
        return fr_fail(err, FR_ERR_USAGE, NULL, "unexpected word \"%.64s\"", args->word[1]);
    if (into && args->n_words)
        return fr_fail(err, FR_ERR_USAGE, NULL, "--into writes all pages; no name is needed");
    if (into) return fr_manual_write(into, err);
    if (args->n_words == 0)
        fr_manual_program(&text);
    else if (!write_page(&text, args->word[0]))
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "no page \"%.40s\"; known: the commands, and plan", args->word[0]);
    return fr_app_print(&text, err);
}

const struct fr_verb fr_verb_manual = {
    .name = "manual",
    .summary = "manual pages as Markdown, for go-md2man",
    .usage = "[NAME | --into DIR]",
    .details = "Pages are installed with the program where go-md2man was there to build them: "
               "man forerun-search.  Without:\n"
               "  forerun manual search | go-md2man | man -l -\n",
    .options = options,
    .word = word,
    .run = run,
};
