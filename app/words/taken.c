#include "app/words/taken.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/file/collect.h"
#include "base/text.h"
#include "base/text/meant.h"
#include "base/text/whole.h"
#include "base/units.h"
#include "models/device/device.h"
#include "models/job/file_kind.h"
#include "models/job/own.h"
#include "models/job/preset.h"
#include "models/network/collective.h"
#include "models/plan/key.h"

/* ---- an option given twice ---------------------------------------------------------------------- */

/* Its help says so, or help is in other words. */
bool fr_option_repeats(const struct fr_verb *verb, const char *option) {
    static const char *const always[] = {"set",    "fix",     "vary",     "runs",
                                         "where",  "include", "measured", "only",
                                         "column", "power",   NULL};
    static const char *const compared[] = {"cluster", "model", "runtime", "price",
                                           "carbon",  "pue",   NULL};
    const struct fr_option *row = fr_option_find(verb->options, option);
    return (row && strstr(row->help, "repeat")) || fr_place_in(always, option) >= 0 ||
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
        fr_note("forerun %s: --%s \"%.64s\" is taken as the preset %s\n", verb->name,
                args->option[i]->name, value, preset);
        args->value[i] = preset;
    }
}

/* ---- cluster and model in each other's place ------------------------------------------------------ */

static bool names_cluster(const char *name) {
    fr_file_kind kind = fr_file_kind_of(name);
    return preset_of("cluster", name) || kind == FR_FILE_CLUSTER || kind == FR_FILE_SAMPLES;
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

static const char *option_of_file(const struct fr_verb *verb, const char *path) {
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
    case FR_FILE_SAMPLES: /* fitted on the way where a cluster is asked for */
        return fr_option_find(verb->options, "samples") ? "samples" : "cluster";
    default:
        return NULL;
    }
}

/* "-": what standard input holds decides, which can be read again. */
static const char *option_of_standard(const struct fr_verb *verb) {
    char *data = NULL;
    size_t length = 0;
    if (fr_file_read("-", FR_FILE_MAX_B, &data, &length, NULL) != FR_OK) return NULL;
    free(data);
    return option_of_file(verb, "-");
}

/* "fp8" among the words: of a verb with --dtype that, of others the model's. */
static const char *option_of_type(const struct fr_verb *verb, const char *word,
                                  const char **value) {
    static const char *const sets[] = {
#define SET_OF(code, name, bytes) "model.dtype=" #name,
        FR_DTYPE_LIST(SET_OF)
#undef SET_OF
    };
    struct fr_meant meant = fr_meant(word, fr_dtype_names);
    if (meant.how != FR_MEANT_SAME && meant.how != FR_MEANT_ALIAS) return NULL;
    *value = meant.known[0];
    if (fr_option_find(verb->options, "dtype")) return "dtype";
    *value = sets[fr_place_in(fr_dtype_names, meant.known[0])];
    return "set";
}

/* "ranks=64", where ranks is an option and no key. */
static const char *option_before_equals(const struct fr_verb *verb, const char *word,
                                        const char **value) {
    char name[64];
    const char *near = NULL;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    const struct fr_option *option = fr_option_find(verb->options, name);
    if (!option || !option->argument || fr_plan_key_find(name, &near)) return "set";
    *value = strchr(word, '=') + 1;
    return option->name;
}

static bool is_size(const char *word) {
    double size_B = 0;
    return fr_quantity_parse(word, FR_QUANTITY_SIZE, "", &size_B, NULL) == FR_OK;
}

/* Which option @p word is the value of, and as what; NULL: that is unknown. */
static const char *option_of_word(const struct fr_verb *verb, const struct fr_args *args,
                                  const char *word, const char **value) {
    static const char *const kinds[] = {"cluster", "model", "runtime"};
    const char *dot = strrchr(word, '.');
    *value = word;
    if (strcmp(word, "-") == 0) return option_of_standard(verb);
    if (fr_file_exists(word)) return option_of_file(verb, word);
    if (dot && strcmp(dot, ".csv") == 0)
        return "runs"; /* whose reader says that it is not there */
    if (strchr(word, '=') > word) return option_before_equals(verb, word, value);
    if (is_number(word)) return option_of_number(verb, args);
    struct fr_meant op = fr_meant(word, fr_op_names);
    if (fr_option_find(verb->options, "op") &&
        (op.how == FR_MEANT_SAME || op.how == FR_MEANT_ALIAS)) {
        *value = op.known[0];
        return "op";
    }
    if (fr_option_find(verb->options, "size") && is_size(word)) return "size";
    const char *type = option_of_type(verb, word, value);
    if (type) return type;
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
        fr_note("forerun %s: words without an option are taken as%s\n", verb->name,
                fr_text_get(&note));
    fr_text_free(&note);
}

/* ---- --set, --fix and --vary ----------------------------------------------------------------------- */

/* "tp:8" and "tp 8": the key and its value, with another sign between. */
static bool has_other_sign(const char *text, char out[72]) {
    size_t n = strcspn(text, ": ");
    if (n == 0 || n > 32 || !text[n]) return false;
    snprintf(out, 72, "%.*s=%.32s", (int)n, text, text + n + strspn(text + n, ": "));
    return true;
}

/* "tp=8,pp=2": where a second key begins, or NULL. */
static const char *second_key(const char *text) {
    for (const char *at = strpbrk(text, ",;"); at; at = strpbrk(at + 1, ",;")) {
        char key[64];
        const char *near = NULL;
        snprintf(key, sizeof key, "%.*s", (int)strcspn(at + 1, "=,;"), at + 1);
        if (at[1 + strlen(key)] == '=' && fr_plan_key_find(key, &near)) return at + 1;
    }
    return NULL;
}

static fr_status check_key(const char *option, const char *text, const char *next,
                           struct fr_error *err) {
    const char *range = strcmp(option, "vary") == 0 ? "RANGE" : "VALUE";
    const char *equals = strchr(text, '='), *second = second_key(text);
    char where[16], meant[72];
    snprintf(where, sizeof where, "--%s", option);
    if (equals > text && second && *text != '{')
        return fr_fail(err, FR_ERR_USAGE, where,
                       "\"%.64s\" sets several keys; write --%s %.*s --%s %.64s", text, option,
                       (int)(second - 1 - text), text, option, second);
    if (equals > text) return FR_OK;
    if (!equals && has_other_sign(text, meant))
        return fr_fail(err, FR_ERR_USAGE, where,
                       "\"%.64s\" is not of the form KEY=%s; write %s", text, range, meant);
    if (!equals && next && *next == '=')
        return fr_fail(
            err, FR_ERR_USAGE, where,
            "\"%.64s\" is not of the form KEY=%s; write it without blanks, e.g. %.64s=8", text,
            range, text);
    return fr_fail(err, FR_ERR_USAGE, where, "\"%.64s\" is not of the form KEY=%s", text,
                   range);
}

static fr_status check_keys(const struct fr_args *args, struct fr_error *err) {
    static const char *const options[] = {"set", "fix", "vary", NULL};
    for (int i = 0; i < args->n_options; i++)
        if (fr_place_in(options, args->option[i]->name) >= 0)
            FR_TRY(check_key(args->option[i]->name, args->value[i],
                             args->n_words ? args->word[0] : NULL, err));
    return FR_OK;
}

/* ---- what is left ---------------------------------------------------------------------------------- */

static bool is_long_dash(const char *word) {
    static const char *const dashes[] = {"\xe2\x80\x92", "\xe2\x80\x93", "\xe2\x80\x94",
                                         "\xe2\x80\x95", "\xe2\x88\x92"};
    for (int i = 0; i < 5; i++)
        if (strncmp(word, dashes[i], 3) == 0) return true;
    return false;
}

static fr_status unexpected(const struct fr_verb *verb, const struct fr_args *args,
                            const char *word, struct fr_error *err) {
    char meant[80];
    const char *number = option_of_number(verb, args);
    if (is_long_dash(word))
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "\"%.64s\" begins with a long dash; write --%.64s", word, word + 3);
    const char *dot = strrchr(word, '.');
    if (dot && strcmp(dot, ".json") == 0 && fr_args_has(args, "json"))
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "unexpected word \"%.64s\"; answers go to standard output: add > %.64s",
                       word, word);
    if (number && *fr_whole_meant(word, meant, sizeof meant) && !strstr(meant, " or "))
        return fr_fail(err, FR_ERR_USAGE, NULL, "unexpected word \"%.64s\"; write --%s %s",
                       word, number, meant + strlen("; write "));
    return fr_fail(
        err, FR_ERR_USAGE, NULL,
        "unexpected word \"%.64s\": no file, preset or number that an option of this "
        "command takes",
        word);
}

fr_status fr_taken(const struct fr_verb *verb, struct fr_args *args, struct fr_error *err) {
    FR_TRY(check_twice(verb, args, err));
    FR_TRY(check_keys(args, err));
    take_words(verb, args);
    FR_TRY(check_swapped(args, err));
    take_presets(verb, args);
    return verb->words != FR_WORDS_OPTIONS || args->n_words == 0
               ? FR_OK
               : unexpected(verb, args, args->word[0], err);
}
