#include "app/next.h"

#include <string.h>

#include "base/script/script.h"

/* Options that say how an answer is printed, and those that write files. */
static const char *const printing[] = {"json",     "csv",        "all",   "explain", "wide",
                                       "emit",     "trace",      "gantt", "force",   "resume",
                                       "progress", "checkpoint", NULL};

static void add_option(const struct fr_args *args, int i, struct fr_text *command) {
    fr_text_addf(command, "\n--%s", args->option[i]->name);
    if (!args->option[i]->argument) return;
    fr_text_addf(command, " ");
    fr_script_word(command, FR_SCRIPT_BASH, args->value[i]);
}

static bool reads_standard_input(const struct fr_args *args) {
    for (int i = 0; i < args->n_options; i++)
        if (args->option[i]->argument && strcmp(args->value[i], "-") == 0) return true;
    for (int i = 0; i < args->n_words; i++)
        if (strcmp(args->word[i], "-") == 0) return true;
    return false;
}

void fr_next_again(const struct fr_args *args, const char *verb, struct fr_text *command) {
    if (reads_standard_input(args)) return;
    fr_text_addf(command, "forerun %s", verb);
    for (int i = 0; i < args->n_words; i++) {
        fr_text_addf(command, "\n");
        fr_script_word(command, FR_SCRIPT_BASH, args->word[i]);
    }
    for (int i = 0; i < args->n_options; i++)
        if (fr_place_in(printing, args->option[i]->name) < 0) add_option(args, i, command);
}

/* Of --set what is not of the plan. */
static bool of_inputs(const char *set) {
    return strncmp(set, "model.", 6) == 0 || strncmp(set, "cluster.", 8) == 0 ||
           strncmp(set, "runtime", 7) == 0;
}

void fr_next_search(const struct fr_args *args, long long ranks, struct fr_text *command) {
    static const char *const inputs[] = {"cluster",     "model",  "runtime", "defaults",
                                         "undisturbed", "flop",   "tokens",  "samples",
                                         "price",       "carbon", "pue",     NULL};
    if (reads_standard_input(args)) return;
    fr_text_addf(command, "forerun search");
    for (int i = 0; i < args->n_options; i++) {
        bool set = strcmp(args->option[i]->name, "set") == 0;
        if (set ? of_inputs(args->value[i]) : fr_place_in(inputs, args->option[i]->name) >= 0)
            add_option(args, i, command);
    }
    fr_text_addf(command, "\n--ranks %lld", ranks);
}
