#include "app/clashes.h"

#include <string.h>

#include "app/load.h"

/* Forms of an answer, of which a verb has some; each would be all that is printed. */
static const char *const forms[] = {"json", "csv", "latex", "markdown", "wide", NULL};

static fr_status check_forms(const struct fr_args *args, struct fr_error *err) {
    const char *first = NULL;
    for (int i = 0; forms[i]; i++) {
        if (!fr_args_has(args, forms[i])) continue;
        if (first)
            return fr_fail(err, FR_ERR_USAGE, NULL,
                           "--%s and --%s are two forms of one answer: give one of them", first,
                           forms[i]);
        first = forms[i];
    }
    return FR_OK;
}

/* A key with its value, as an option gives it. */
struct given {
    const char *option, *key, *value;
    size_t length; /* of the key */
};

/* "plan.tp=4" is "tp=4".  @return false for what is no KEY=VALUE: its reader refuses it */
static bool key_of(const char *option, const char *text, struct given *g) {
    const char *equals = text ? strchr(text, '=') : NULL;
    if (!equals) return false;
    if (strncmp(text, "plan.", 5) == 0) text += 5;
    *g = (struct given){option, text, equals + 1, equals > text ? (size_t)(equals - text) : 0};
    return true;
}

/* The key and value that an option states, if any, also where the option stands for a key (app/load.h). */
static bool given_at(const struct fr_args *args, int i, struct given *g) {
    const char *option = args->option[i]->name, *value = args->value[i];
    if (strcmp(option, "set") == 0 || strcmp(option, "fix") == 0 || strcmp(option, "vary") == 0)
        return key_of(option, value, g);
    if (strcmp(option, "undisturbed") == 0) return key_of(option, FR_APP_UNDISTURBED, g);
    if (strcmp(option, "defaults") != 0 || !key_of(option, FR_APP_DEFAULTS, g)) return false;
    g->value = value;
    return true;
}

static fr_status contradict(const struct given *a, const struct given *b,
                            struct fr_error *err) {
    bool same = a->length == b->length && strncmp(a->key, b->key, a->length) == 0;
    if (!same || strcmp(a->value, b->value) == 0) return FR_OK;
    return fr_fail(err, FR_ERR_USAGE, NULL,
                   "%.*s is given twice, \"%.64s\" by --%s and \"%.64s\" by --%s: give it once",
                   (int)a->length, a->key, a->value, a->option, b->value, b->option);
}

static fr_status check_keys(const struct fr_args *args, struct fr_error *err) {
    struct given a, b;
    for (int i = 0; i < args->n_options; i++)
        for (int j = 0; given_at(args, i, &a) && j < i; j++)
            if (given_at(args, j, &b)) FR_TRY(contradict(&b, &a, err));
    return FR_OK;
}

fr_status fr_clashes_check(const struct fr_args *args, struct fr_error *err) {
    FR_TRY(check_forms(args, err));
    return check_keys(args, err);
}
