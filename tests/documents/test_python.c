/* library/python/forerun/verbs.py: a function for each verb that answers, as the verb's table of options has it. */
#include <ctype.h>

#include "app/outputs.h"
#include "app/verb.h"
#include "app/words/taken.h"
#include "tests/documents/schema.h"

/* Verbs with options of their own in Python (library/python/forerun/__init__.py), that start jobs under MPI, or
 * that serve shells alone. */
static const char *const left_out[] = {"predict", "search",    "simulate", "place",
                                       "fit",     "calibrate", "validate", "iterations",
                                       "quality", "manual",    "complete", NULL};

/* Words of the language, and list(), which the module calls. */
static const char *const reserved[] = {
    "and", "as",    "assert", "async",  "await",    "break",   "class",  "continue", "def",
    "del", "elif",  "else",   "except", "for",      "from",    "global", "if",       "import",
    "in",  "is",    "lambda", "list",   "not",      "or",      "pass",   "raise",    "return",
    "try", "while", "with",   "yield",  "nonlocal", "finally", NULL};

static bool is_one_of(const char *const *words, const char *word) {
    for (; *words; words++)
        if (strcmp(*words, word) == 0) return true;
    return false;
}

static const char *identifier(const char *name, char out[48]) {
    snprintf(out, 48, "%s%s", name, is_one_of(reserved, name) ? "_" : "");
    for (char *at = out; *at; at++)
        if (*at == '-') *at = '_';
    return out;
}

/* In a docstring. */
static void sentence(struct fr_text *page, const char *words) {
    for (; *words; words++)
        fr_text_addf(page, "%s%c", *words == '\\' || *words == '"' ? "\\" : "", *words);
}

/* A document where there is the option --json, which every answer or only some have; a picture. */
static const char *returns_of(const struct fr_verb *verb) {
    if (strcmp(verb->name, "plot") == 0) return "Union[Figure, Text]";
    if (!fr_option_find(verb->options, "json")) return "Text";
    return verb->document || fr_option_find(verb->options, "csv") ? "Union[Result, Text]"
                                                                  : "Result";
}

static void put_verb(struct fr_text *page, const struct fr_verb *verb) {
    char name[48];
    fr_text_addf(page, "\n\n_%s = {\n", identifier(verb->name, name));
    for (const struct fr_option *o = verb->options; o->name; o++) {
        if (strcmp(o->name, "help") == 0) continue;
        fr_text_addf(page, "    \"%s\": (\"%s\", ", identifier(o->name, name), o->name);
        if (o->argument)
            fr_text_addf(page, "\"%s\", %s),\n", o->argument,
                         fr_option_repeats(verb, o->name) ? "True" : "False");
        else
            fr_text_addf(page, "None, False),\n");
    }
    fr_text_addf(page, "}\n\n\ndef %s(*words: Value", identifier(verb->name, name));
    int indent = (int)(strlen("def (") + strlen(name));
    for (const struct fr_option *o = verb->options; o->name; o++)
        if (strcmp(o->name, "help") != 0 && strcmp(o->name, "json") != 0)
            fr_text_addf(page, ",\n%*s%s: %s", indent, "", identifier(o->name, name),
                         o->argument ? "Value = None" : "bool = False");
    fr_text_addf(page, ") -> %s:\n    \"\"\"", returns_of(verb));
    sentence(page, verb->summary);
    fr_text_addf(page, "\n\n    forerun %s ", verb->name);
    sentence(page, verb->usage);
    fr_text_addf(page, "\n\n");
    for (const struct fr_option *o = verb->options; o->name; o++) {
        if (strcmp(o->name, "help") == 0 || strcmp(o->name, "json") == 0) continue;
        fr_text_addf(page, "    %s  ", identifier(o->name, name));
        sentence(page, o->help);
        fr_text_addf(page, "\n");
    }
    fr_text_addf(page,
                 "    \"\"\"\n    values = {key: value for key, value in locals().items() if "
                 "key != \"words\"}\n"
                 "    return _ask(\"%s\", _%s, words, values)\n",
                 verb->name, identifier(verb->name, name));
}

static void module(void **state) {
    struct fr_text page = {0};
    char name[48];
    (void)state;
    fr_text_addf(&page, "\"\"\"Verbs of the program as functions.  Written by `ninja "
                        "documents` from their tables of options: not edited "
                        "by hand.\n\nEach returns the document that --json prints, or the text "
                        "of a verb that has none.\"\"\"\n\n"
                        "from typing import Union\n\nfrom .program import ask as _ask\n"
                        "from .results import Figure, Result, Text, Value\n\n__all__ = [");
    bool first = true;
    for (const struct fr_verb *const *v = fr_verbs; *v; v++) {
        if (is_one_of(left_out, (*v)->name)) continue;
        fr_text_addf(&page, "%s\"%s\"", first ? "" : ", ", identifier((*v)->name, name));
        first = false;
    }
    fr_text_addf(&page, "]\n");
    for (const struct fr_verb *const *v = fr_verbs; *v; v++)
        if (!is_one_of(left_out, (*v)->name)) put_verb(&page, *v);
    hold_file("library/python/forerun/verbs.py", fr_text_get(&page));
    fr_text_free(&page);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(module)};
    return DOCUMENTS_MAIN(argc, argv, tests);
}
