#include "app/text/next.h"

#include <string.h>

#include "base/script/command.h"

/* Options that say how an answer is printed, and those that write files. */
static const char *const printing[] = {"json",     "csv",        "all",   "explain", "wide",
                                       "emit",     "trace",      "gantt", "force",   "resume",
                                       "progress", "checkpoint", "page",  NULL};

static void add_option(const struct fr_args *args, int i, struct fr_text *command) {
    fr_command_option(command, args->option[i]->name,
                      args->option[i]->argument ? args->value[i] : NULL);
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
    fr_command_begin(command, "forerun ");
    fr_command_begin(command, verb);
    for (int i = 0; i < args->n_words; i++) fr_command_word(command, args->word[i]);
    for (int i = args->n_read; i < args->n_options; i++)
        if (fr_place_in(printing, args->option[i]->name) < 0) add_option(args, i, command);
}

/* Does a --set belong to the inputs, not to the plan? */
static bool of_inputs(const char *set) {
    return strncmp(set, "model.", 6) == 0 || strncmp(set, "cluster.", 8) == 0 ||
           strncmp(set, "runtime", 7) == 0;
}

/* Other verbs' options that a search reads, except cluster and model. */
static void add_inputs(const struct fr_args *args, struct fr_text *command) {
    static const char *const inputs[] = {
        "runtime", "defaults",  "undisturbed",   "flop", "tokens",       "samples",   "vary",
        "fix",     "objective", "per-iteration", "fit",  "memory-limit", "max-lossy", NULL};
    static const char *const trainings[] = {"price", "carbon", "pue", NULL};
    const bool trains = fr_args_has(args, "tokens") || fr_args_has(args, "samples");
    const char *all[FR_ARGS_MAX];
    for (int i = 0; i < args->n_options; i++) {
        const char *name = args->option[i]->name;
        bool set = strcmp(name, "set") == 0;
        if (set ? of_inputs(args->value[i])
                : fr_place_in(inputs, name) >= 0 ||
                      (trains && fr_place_in(trainings, name) >= 0 &&
                       fr_args_all(args, name, all) == 1))
            add_option(args, i, command);
    }
}

void fr_next_search_of(const struct fr_args *args, const char *cluster, const char *model,
                       long long ranks, struct fr_text *command) {
    if (reads_standard_input(args) || args->n_read > 0 || !model) return;
    fr_command_begin(command, "forerun search");
    if (cluster) fr_command_option(command, "cluster", cluster);
    fr_command_option(command, "model", model);
    add_inputs(args, command);
    fr_text_addf(command, "\n--ranks %lld", ranks);
}

void fr_next_search(const struct fr_args *args, long long ranks, struct fr_text *command) {
    fr_next_search_of(args, fr_args_get(args, "cluster"), fr_args_get(args, "model"), ranks,
                      command);
}
