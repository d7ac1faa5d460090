/** @file
 *  A subcommand: one file app/verb/<name>.c exporting fr_verb_<name>, one row
 *  FR_VERB(<name>) in app/verb_list.h. */
#ifndef FR_APP_VERB_H
#define FR_APP_VERB_H

#include "app/options.h"

/** An option whose value is a file that the verb writes. */
struct fr_output {
    const char *option;   /**< without dashes; NULL ends the list */
    const char *standard; /**< what is written without the option, or NULL: nothing */
    const char *unless;   /**< an option beside which it is not written, or NULL */
};

/** The meaning of words without an option for a verb. */
typedef enum {
    FR_WORDS_OWN, /**< its own business */
    FR_WORDS_OPTIONS, /**< values whose option is left out: "search dgx-h100 llama-3-8b 64" (app/words/taken.h) */
    FR_WORDS_FILES /**< files that it reads; the name of a preset is the value of an option */
} fr_verb_words;

struct fr_verb {
    const char *name;
    const char *summary; /**< one line */
    const char *usage;   /**< what follows "forerun <name> " */
    const char *details; /**< a paragraph and examples, or NULL */
    const struct fr_option *options;
    const struct fr_output *outputs; /**< or NULL: none but standard output (app/outputs.h) */
    bool
        asks; /**< outputs that are there are replaced with --force alone, as pages are for every verb */
    fr_verb_words words;
    int first_input; /**< words from here on are files that are read */
    /** The @p i-th word that may stand first, NULL past the last; itself NULL: none is known. */
    const char *(*word)(int i);
    /** Has the command of these words a document, of the option --json?  NULL: yes where it has the option. */
    bool (*document)(const struct fr_args *args);
    int no; /**< exit code of an answer that was printed and is no (FR_ERR_INFEASIBLE without a sentence); 0: 4 */
    /** Carry it out; results to stdout. */
    fr_status (*run)(const struct fr_args *args, struct fr_error *err);
};

/** Rows in table order, then NULL. */
extern const struct fr_verb *const fr_verbs[];

/* Options that several verbs take, so that they read alike. */
#define FR_OPTION_CLUSTER                                                                      \
    { "cluster", "FILE|PRESET", "cluster file, preset, or - for standard input", 'c' }
#define FR_OPTION_MODEL                                                                        \
    {"model", "FILE|PRESET", "model file, preset, or -", 'm'}, FR_OPTION_RUNTIME, {            \
        "defaults", "WORD",                                                                    \
            "2019: the same as --runtime papers-2019; modern: the newest runtime that suits",  \
            0                                                                                  \
    }
#define FR_OPTION_RUNTIME                                                                      \
    {                                                                                          \
        "runtime", "FILE|PRESET",                                                              \
            "software with a date: a release of a framework (forerun list runtimes), a file, " \
            "or -; without it the newest that suits cluster and model",                        \
            0                                                                                  \
    }
#define FR_OPTIONS_FIT                                                                         \
    {"fit", "P",                                                                               \
     "how surely a plan must fit into the device's memory to be ranked, e.g. 0.9 (default "    \
     "0.95); any: whatever is not refused, 5 %",                                               \
     0},                                                                                       \
    {                                                                                          \
        "memory-limit", "Q",                                                                   \
            "tensors of a rank, e.g. \"32 GiB\", at most; what the device shows besides is "   \
            "not "                                                                             \
            "counted",                                                                         \
            0                                                                                  \
    }
#define FR_OPTION_PLAN                                                                         \
    {                                                                                          \
        "plan", "FILE",                                                                        \
            "plan file, or what predict or search printed with --json; without it every key "  \
            "has its default",                                                                 \
            'p'                                                                                \
    }
#define FR_OPTION_SET                                                                          \
    {                                                                                          \
        "set", "KEY=VALUE",                                                                    \
            "change an input: ghost=16, model.layers=4, cluster.device.launch=5us", 's'        \
    }
#define FR_OPTION_IDLE                                                                         \
    { "undisturbed", NULL, "predict for an idle machine, not under typical load", 0 }
#define FR_OPTION_FLOP                                                                         \
    {                                                                                          \
        "flop", "WORD",                                                                        \
            "attention scores that utilisation counts: causal (those that masks leave, "       \
            "default) or palm (all, as papers do)",                                            \
            0                                                                                  \
    }
#define FR_OPTION_JSON_PAGE                                                                    \
    {"json", NULL, "print JSON", 0}, {                                                         \
        "page", "FILE", "write the answer as one HTML page with live figures, too", 0          \
    }
#define FR_OPTION_JSON FR_OPTION_JSON_PAGE, FR_OPTION_REPLACE
#define FR_OPTION_REPLACE                                                                      \
    { "force", NULL, "replace a page or picture that is there", 'f' }
#define FR_OPTION_CSV                                                                          \
    { "csv", NULL, "print CSV", 0 }
#define FR_OPTION_FORCE                                                                        \
    { "force", NULL, "replace the samples file, and a page, if they are there", 'f' }
#define FR_OPTION_HELP                                                                         \
    { "help", NULL, "print this help", 'h' }
#define FR_OPTION_END                                                                          \
    { NULL, NULL, NULL, 0 }

/** The whole program: find the verb, parse, run, print errors. @return exit code. */
int fr_app_main(int argc, char **argv);

#endif
