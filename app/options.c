#include "app/options.h"
#include "app/words/unknown_option.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/text/meant.h"
#include "base/text/whole.h"

static const struct fr_option *find(const struct fr_option *options, const char *name,
                                    size_t length) {
    for (; options->name; options++)
        if (strlen(options->name) == length && strncmp(options->name, name, length) == 0)
            return options;
    return NULL;
}

const struct fr_option *fr_option_find(const struct fr_option *options, const char *name) {
    return find(options, name, strlen(name));
}

static fr_status add(struct fr_args *args, const struct fr_option *option, const char *value,
                     struct fr_error *err) {
    if (args->n_options == FR_ARGS_MAX)
        return fr_fail(err, FR_ERR_USAGE, NULL, "more than %d options", FR_ARGS_MAX);
    args->option[args->n_options] = option;
    args->value[args->n_options++] = value;
    return FR_OK;
}

/* "plan.json" where a word is asked for: -o is taken for the output. */
static bool names_output(const char *text) {
    static const char *const endings[] = {"json", "csv", "html", "txt", "sh", "md", NULL};
    const char *dot = strrchr(text, '.');
    return dot && fr_place_in(endings, dot + 1) >= 0;
}

/* Is @p word an option itself, so that the one before it has no value? */
static bool is_option(const struct fr_option *options, const char *word) {
    if (word[0] != '-' || !word[1]) return false;
    if (word[1] == '-') return find(options, word + 2, strcspn(word + 2, "=")) != NULL;
    for (; options->name; options++)
        if (options->letter && options->letter == word[1] && !word[2]) return true;
    return false;
}

/* "-np" and "-set": a whole word behind one dash, and no letter with its value. */
static bool names_whole(const struct fr_option *options, const char *word) {
    const char *known[65] = {NULL};
    if (strcspn(word, "=0123456789./,") < 2 || word[strcspn(word, "=0123456789./,")])
        return false;
    for (int n = 0; options->name && n < 64; options++) known[n++] = options->name;
    struct fr_meant meant = fr_meant(word, known);
    return meant.how == FR_MEANT_SAME || meant.how == FR_MEANT_ALIAS;
}

/* One option at argv[*at]; advances over its value. */
static fr_status take(int argc, char **argv, int *at, const struct fr_option *options,
                      struct fr_args *args, struct fr_error *err) {
    const char *word = argv[*at], *value = NULL;
    const struct fr_option *option = NULL;
    if (word[1] == '-') {
        size_t length = strcspn(word + 2, "=");
        option = find(options, word + 2, length);
        if (!option) return fr_unknown_option(options, argc, argv, *at, err);
        if (word[2 + length] == '=') value = word + 3 + length;
    } else {
        for (const struct fr_option *o = options; o->name; o++)
            if (o->letter && o->letter == word[1]) option = o;
        if (!option || names_whole(options, word + 1))
            return fr_unknown_letter(options, argc, argv, *at, err);
        if (word[2]) value = word + 2 + (word[2] == '=');
    }
    if (!option->argument && value)
        return fr_fail(err, FR_ERR_USAGE, NULL, "--%s takes no value%s%.40s", option->name,
                       names_output(value) ? "; answers go to standard output: add > " : "",
                       names_output(value) ? value : "");
    if (option->argument && !value) {
        const char *next = *at + 1 < argc ? argv[*at + 1] : NULL;
        if (!next || is_option(options, next))
            return fr_fail(err, FR_ERR_USAGE, NULL, "--%s needs a value: %s%s%.40s",
                           option->name, option->argument, next ? "; behind it stands " : "",
                           next ? next : "");
        value = argv[++*at];
    }
    return add(args, option, value, err);
}

fr_status fr_args_parse(int argc, char **argv, const struct fr_option *options,
                        struct fr_args *args, struct fr_error *err) {
    bool ended = false;
    args->n_options = args->n_words = 0;
    for (int i = 0; i < argc; i++) {
        if (!ended && strcmp(argv[i], "--") == 0)
            ended = true;
        else if (!ended && argv[i][0] == '-' && argv[i][1])
            FR_TRY(take(argc, argv, &i, options, args, err));
        else if (args->n_words == FR_ARGS_MAX)
            return fr_fail(err, FR_ERR_USAGE, NULL, "more than %d words", FR_ARGS_MAX);
        else
            args->word[args->n_words++] = argv[i];
    }
    return FR_OK;
}

const char *fr_args_get(const struct fr_args *args, const char *name) {
    for (int i = args->n_options; i-- > 0;)
        if (strcmp(args->option[i]->name, name) == 0)
            return args->value[i] ? args->value[i] : "";
    return NULL;
}

bool fr_args_has(const struct fr_args *args, const char *name) {
    return fr_args_get(args, name) != NULL;
}

int fr_args_all(const struct fr_args *args, const char *name, const char *values[FR_ARGS_MAX]) {
    int n = 0;
    for (int i = 0; i < args->n_options; i++)
        if (strcmp(args->option[i]->name, name) == 0) values[n++] = args->value[i];
    return n;
}

fr_status fr_args_integer(const struct fr_args *args, const char *name, long long min,
                          long long max, long long *out, struct fr_error *err) {
    const char *text = fr_args_get(args, name);
    char where[64], *end = NULL;
    if (!text) return FR_OK;
    snprintf(where, sizeof where, "--%s", name);
    errno = 0;
    long long value = strtoll(text, &end, 10);
    char meant[80];
    if (!*text || *end || errno)
        return fr_fail(err, FR_ERR_USAGE, where, "\"%.40s\" is no whole number%s", text,
                       fr_whole_meant(text, meant, sizeof meant));
    if (value < min && max >= 1LL << 40)
        return fr_fail(err, FR_ERR_USAGE, where, "is %lld; expected at least %lld", value, min);
    if (value < min || value > max)
        return fr_fail(err, FR_ERR_USAGE, where, "%lld is outside %lld to %lld", value, min,
                       max);
    *out = value;
    return FR_OK;
}

fr_status fr_args_number(const struct fr_args *args, const char *name, double min, double max,
                         double *out, struct fr_error *err) {
    const char *text = fr_args_get(args, name);
    char where[64], *end = NULL;
    if (!text) return FR_OK;
    snprintf(where, sizeof where, "--%s", name);
    double value = strtod(text, &end);
    if (!*text || *end || !(value >= min && value <= max))
        return fr_fail(err, FR_ERR_USAGE, where, "\"%.40s\" is no number from %g to %g", text,
                       min, max);
    *out = value;
    return FR_OK;
}

fr_status fr_args_share(const struct fr_args *args, const char *name, double max, double unsure,
                        double *out, struct fr_error *err) {
    const char *text = fr_args_get(args, name);
    char where[64], *end = NULL;
    if (!text) return FR_OK;
    snprintf(where, sizeof where, "--%s", name);
    double value = strtod(text, &end);
    bool number = end != text, percent = number && strcmp(end, "%") == 0;
    if (number && !*end && value >= unsure)
        return fr_fail(err, FR_ERR_USAGE, where,
                       "\"%.40s\" may be %g %% or %g %%; write \"%g%%\" or \"%g%%\"", text,
                       value, 100 * value, value, 100 * value);
    if (percent) value /= 100;
    if (!number || (*end && !percent) || !(value >= 0 && value <= max))
        return fr_fail(err, FR_ERR_USAGE, where,
                       "\"%.40s\" is no share from 0 to %g %%; write e.g. \"1%%\"", text,
                       100 * max);
    *out = value;
    return FR_OK;
}

fr_status fr_args_choice(const struct fr_args *args, const char *name,
                         const char *const *choices, int *out, struct fr_error *err) {
    const char *text = fr_args_get(args, name);
    char where[64];
    if (!text) return FR_OK;
    for (int i = 0; choices[i]; i++)
        if (strcmp(choices[i], text) == 0) {
            *out = i;
            return FR_OK;
        }
    char tail[320];
    bool file = names_output(text);
    snprintf(where, sizeof where, "--%s", name);
    return fr_fail(err, FR_ERR_USAGE, where, "unknown \"%.40s\"%s%.40s", text,
                   file ? "; answers go to standard output: add > "
                        : fr_meant_tail(text, choices, tail, sizeof tail),
                   file ? text : "");
}

/* The argument of an option, for who left it out. */
static const char *example(const char *name) {
    static const char *const of[][2] = {
        {"cluster", "dgx-h100"}, {"model", "llama-3-8b"}, {"ranks", "64"},
        {"runs", "runs.csv"},    {"op", "all_reduce"},    {"output", "picture.svg"},
        {"m", "8192"},           {"n", "8192"},           {"k", "8192"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (strcmp(name, of[i][0]) == 0) return of[i][1];
    return NULL;
}

fr_status fr_args_required(const struct fr_args *args, const char *name, const char **out,
                           struct fr_error *err) {
    *out = fr_args_get(args, name);
    const char *value = example(name);
    return *out ? FR_OK
                : fr_fail(err, FR_ERR_USAGE, NULL, "--%s is required%s%s%s%s", name,
                          value ? ", e.g. --" : "", value ? name : "", value ? " " : "",
                          value ? value : "");
}
