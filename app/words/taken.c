#include "app/words/taken.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"
#include "models/job/file_kind.h"
#include "models/job/own.h"
#include "models/job/preset.h"
#include "models/network/collective.h"

/* ---- an option given twice ---------------------------------------------------------------------- */

bool fr_option_repeats(const struct fr_verb *verb, const char *option) {
    static const char *const always[] = {"set",    "fix",     "vary",     "runs",
                                         "where",  "include", "measured", "only",
                                         "column", "power",   NULL};
    static const char *const compared[] = {"cluster", "model", "runtime", "price",
                                           "carbon",  "pue",   NULL};
    return fr_place_in(always, option) >= 0 ||
           (strcmp(verb->name, "compare") == 0 && fr_place_in(compared, option) >= 0);
}

static fr_status check_twice(const struct fr_verb *verb, const struct fr_args *args,
                             struct fr_error *err) {
    for (int i = 0; i < args->n_options; i++)
        for (int j = 0; j < i; j++) {
            const char *a = args->value[j], *b = args->value[i];
            const struct fr_option *option = args->option[i];
            if (args->option[j] != option || !a || !b || strcmp(a, b) == 0) continue;
            if (fr_option_repeats(verb, option->name) || strcmp(option->name, "runtime") == 0)
                continue; /* of two runtimes fr_app_runtime says more */
            return fr_fail(err, FR_ERR_USAGE, NULL,
                           "--%s is given twice, \"%.64s\" and \"%.64s\": give it once",
                           option->name, a, b);
        }
    return FR_OK;
}

/* ---- names of presets --------------------------------------------------------------------------- */

static const char *kind_of_option(const struct fr_option *option) {
    bool named = strcmp(option->name, "model") == 0 || strcmp(option->name, "runtime") == 0;
    if (!option->argument || strcmp(option->argument, "FILE|PRESET") != 0) return NULL;
    return named ? option->name : "cluster";
}

/* A path, and not a vendor before a slash. */
static bool is_path(const char *name) {
    char folder[FR_OWN_PATH_B];
    struct stat info;
    const char *slash = strchr(name, '/');
    if (*name == '.' || *name == '/' || *name == '{' || strcmp(name, "-") == 0) return true;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - name) : 0, name);
    return slash && stat(folder, &info) == 0;
}

static bool is_own(const char *kind, const char *name) {
    char path[FR_OWN_PATH_B];
    return fr_own_file(kind, name, path, NULL) == FR_OK && *path;
}

/* The one preset that @p name stands for: itself, or the same or a part of it in other letters; NULL else. */
static const char *preset_of(const char *kind, const char *name) {
    const struct fr_preset *preset = fr_preset_find(kind, name);
    if (preset) return preset->name;
    if (is_path(name) || fr_file_exists(name) || is_own(kind, name)) return NULL;
    struct fr_meant meant = fr_preset_meant(kind, name);
    bool sure = meant.how == FR_MEANT_SAME || meant.how == FR_MEANT_PART;
    return sure && meant.count == 1 ? meant.known[0] : NULL;
}

static void take_presets(const struct fr_verb *verb, struct fr_args *args) {
    for (int i = 0; i < args->n_options; i++) {
        const char *kind = kind_of_option(args->option[i]), *value = args->value[i];
        const char *preset = kind ? preset_of(kind, value) : NULL;
        if (!preset || strcmp(preset, value) == 0) continue;
        fprintf(stderr, "forerun %s: --%s \"%.64s\" is taken as the preset %s\n", verb->name,
                args->option[i]->name, value, preset);
        args->value[i] = preset;
    }
}

/* ---- cluster and model in each other's place ------------------------------------------------------ */

static bool names_cluster(const char *name) {
    return preset_of("cluster", name) || fr_file_kind_of(name) == FR_FILE_CLUSTER;
}

static bool names_model(const char *name) {
    fr_file_kind kind = fr_file_kind_of(name);
    return preset_of("model", name) || kind == FR_FILE_MODEL || kind == FR_FILE_CONFIG;
}

static fr_status check_swapped(const struct fr_args *args, struct fr_error *err) {
    const char *cluster = fr_args_get(args, "cluster"), *model = fr_args_get(args, "model");
    if (!cluster || !model || strcmp(cluster, "-") == 0 || strcmp(model, "-") == 0)
        return FR_OK;
    if (names_cluster(cluster) || !names_model(cluster) || !names_cluster(model)) return FR_OK;
    return fr_fail(
        err, FR_ERR_USAGE, NULL,
        "the cluster and the model are swapped: %.64s is a model and %.64s a cluster; "
        "write -c %.64s -m %.64s",
        cluster, model, model, cluster);
}

/* ---- words without an option ----------------------------------------------------------------------- */

static bool is_number(const char *word) {
    return *word && word[strspn(word, "0123456789")] == '\0';
}

static const char *option_of_number(const struct fr_verb *verb, const struct fr_args *args) {
    static const char *const options[] = {"ranks", "m", "n", "k", NULL};
    for (int i = 0; options[i]; i++)
        if (fr_option_find(verb->options, options[i]) && !fr_args_has(args, options[i]))
            return options[i];
    return NULL;
}

static const char *option_of_file(const char *path) {
    switch (fr_file_kind_of(path)) {
    case FR_FILE_CLUSTER:
        return "cluster";
    case FR_FILE_MODEL:
    case FR_FILE_CONFIG:
        return "model";
    case FR_FILE_RUNTIME:
        return "runtime";
    case FR_FILE_PLAN:
    case FR_FILE_OUTCOME:
    case FR_FILE_SEARCH:
        return "plan";
    case FR_FILE_RUNS:
        return "runs";
    case FR_FILE_SAMPLES:
        return "samples";
    default:
        return NULL;
    }
}

/* Which option @p word is the value of, and as what; NULL: that is unknown. */
static const char *option_of_word(const struct fr_verb *verb, const struct fr_args *args,
                                  const char *word, const char **value) {
    static const char *const kinds[] = {"cluster", "model", "runtime"};
    const char *dot = strrchr(word, '.');
    *value = word;
    if (fr_file_exists(word)) return option_of_file(word);
    if (dot && strcmp(dot, ".csv") == 0)
        return "runs"; /* whose reader says that it is not there */
    if (strchr(word, '=')) return "set";
    if (is_number(word)) return option_of_number(verb, args);
    struct fr_meant op = fr_meant(word, fr_op_names);
    if (fr_option_find(verb->options, "op") &&
        (op.how == FR_MEANT_SAME || op.how == FR_MEANT_ALIAS)) {
        *value = op.known[0];
        return "op";
    }
    for (int i = 0; i < 3; i++) {
        const char *preset = preset_of(kinds[i], word);
        if (preset) *value = preset;
        if (preset || is_own(kinds[i], word)) return kinds[i];
    }
    return NULL;
}

static bool take_word(const struct fr_verb *verb, struct fr_args *args, const char *word,
                      struct fr_text *note) {
    const char *value = word;
    bool name_of_file =
        verb->words == FR_WORDS_FILES && (fr_file_exists(word) || is_path(word));
    const char *name = name_of_file ? NULL : option_of_word(verb, args, word, &value);
    const struct fr_option *option = name ? fr_option_find(verb->options, name) : NULL;
    bool taken = option && args->n_options < FR_ARGS_MAX &&
                 (!fr_args_has(args, name) || fr_option_repeats(verb, name));
    if (!taken) return false;
    args->option[args->n_options] = option;
    args->value[args->n_options++] = value;
    fr_text_addf(note, " --%s %.64s", name, value);
    return true;
}

static void take_words(const struct fr_verb *verb, struct fr_args *args) {
    struct fr_text note = {0};
    int left = 0;
    if (verb->words == FR_WORDS_OWN) return;
    for (int i = 0; i < args->n_words; i++)
        if (!take_word(verb, args, args->word[i], &note)) args->word[left++] = args->word[i];
    args->n_words = left;
    if (note.length)
        fprintf(stderr, "forerun %s: words without an option are taken as%s\n", verb->name,
                fr_text_get(&note));
    fr_text_free(&note);
}

fr_status fr_taken(const struct fr_verb *verb, struct fr_args *args, struct fr_error *err) {
    FR_TRY(check_twice(verb, args, err));
    take_words(verb, args);
    FR_TRY(check_swapped(args, err));
    take_presets(verb, args);
    if (verb->words != FR_WORDS_OPTIONS || args->n_words == 0) return FR_OK;
    return fr_fail(
        err, FR_ERR_USAGE, NULL,
        "unexpected word \"%.64s\": no file, preset or number that an option of this "
        "command takes",
        args->word[0]);
}
