/* library/include/forerun_verbs.h: a function for each verb that the library carries out by name, as the verb's table of
 * options has it. */
#include "app/verb.h"
#include "app/words/taken.h"
#include "base/text/wrap.h"
#include "tests/documents/schema.h"

#define FR_ASKED(name)
#define FR_ASKED_BY_NAME(name) #name,
static const char *const by_name[] = {
#include "app/library/verb_list.h"
    NULL};

enum { WIDTH = 96, INDENT = 8 };

/* @p verb of the identifier "compare_plans". */
static const struct fr_verb *verb_of(const char *identifier) {
    for (const struct fr_verb *const *v = fr_verbs; *v; v++) {
        char name[48];
        snprintf(name, sizeof name, "%s", (*v)->name);
        for (char *at = name; *at; at++)
            if (*at == '-') *at = '_';
        if (strcmp(name, identifier) == 0) return *v;
    }
    return NULL;
}

/* Words of a comment over several lines, each behind " *". */
static void put_words(struct fr_text *page, const char *first, const char *words, int indent) {
    struct fr_text wrapped = {0};
    fr_text_addf(&wrapped, "%s", first);
    fr_wrap(&wrapped, words, (int)strlen(first), indent, WIDTH - 3);
    const char *line = fr_text_get(&wrapped);
    while (*line) {
        size_t length = strcspn(line, "\n");
        fr_text_addf(page, " * %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    fr_text_free(&wrapped);
}

static void put_option(struct fr_text *page, const struct fr_verb *verb,
                       const struct fr_option *o) {
    char first[96];
    if (strcmp(o->name, "help") == 0) return;
    snprintf(first, sizeof first, "   --%s%s%s%s  ", o->name, o->argument ? " " : "",
             o->argument ? o->argument : "",
             o->argument && fr_option_repeats(verb, o->name) ? "..." : "");
    put_words(page, first, o->help, INDENT);
}

static void put_verb(struct fr_text *page, const char *identifier) {
    const struct fr_verb *verb = verb_of(identifier);
    FR_TRUE(verb != NULL, "no verb \"%s\"", identifier);
    fr_text_addf(page, "\n/** %c%s.\n",
                 verb->summary[0] -
                     ('a' <= verb->summary[0] && verb->summary[0] <= 'z' ? 32 : 0),
                 verb->summary + 1);
    for (const struct fr_option *o = verb->options; o->name; o++) put_option(page, verb, o);
    page->length--;
    fr_text_addf(page,
                 " */\nFORERUN_API forerun_status forerun_%s(const char *const *words,\n"
                 "                                    forerun_result **result, forerun_error "
                 "*error);\n",
                 identifier);
}

static void header(void **state) {
    struct fr_text page = {0};
    (void)state;
    fr_text_addf(
        &page, "/** @file\n"
               " *  Verbs of the program as functions.  Written by `ninja documents` from "
               "their tables of "
               "options: not edited by\n"
               " *  hand.\n *\n"
               " *  Each is forerun_ask (forerun.h, which includes this) of its name: words of "
               "the command "
               "line in, NULL behind the\n"
               " *  last; the document that --json prints out.  Options with ... may come "
               "several times. "
               "*/\n"
               "#ifndef FORERUN_VERBS_H\n#define FORERUN_VERBS_H\n\n#include \"forerun.h\"\n\n"
               "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n/* clang-format off */\n");
    for (int i = 0; by_name[i]; i++) put_verb(&page, by_name[i]);
    fr_text_addf(&page, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    hold_file("library/include/forerun_verbs.h", fr_text_get(&page));
    fr_text_free(&page);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(header)};
    return DOCUMENTS_MAIN(argc, argv, tests);
}
