#include "app/clashes.h"

#include <string.h>

#include "app/load.h"
#include "base/text.h"
#include "models/job/runtime.h"

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

bool fr_clashes_formed(const struct fr_args *args) {
    for (int i = 0; forms[i]; i++)
        if (fr_args_has(args, forms[i])) return true;
    return fr_args_has(args, "emit");
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

/* --defaults stands for two keys: the software, and what models start from. */
static bool defaults_at(const char *word, int which, struct given *g) {
    const char *software = strcmp(word, "2019") == 0 ? fr_runtime_2019 : word;
    key_of("defaults", which == 0 ? FR_APP_DEFAULTS : FR_APP_RUNTIME, g);
    g->value = which == 0 ? word : software;
    return true;
}

/* The key and value that an option states, if any, also where the option stands for a key (app/load.h); of one that
 * stands for two keys @p which. */
static bool given_at(const struct fr_args *args, int i, int which, struct given *g) {
    const char *option = args->option[i]->name, *value = args->value[i];
    if (strcmp(option, "defaults") == 0) return defaults_at(value, which, g);
    if (which > 0) return false;
    if (strcmp(option, "set") == 0 || strcmp(option, "fix") == 0 || strcmp(option, "vary") == 0)
        return key_of(option, value, g);
    if (strcmp(option, "undisturbed") == 0) return key_of(option, FR_APP_IDLE, g);
    if (strcmp(option, "runtime") != 0 || !key_of(option, FR_APP_RUNTIME, g)) return false;
    g->value = value;
    return true;
}

static fr_status contradict(const struct given *a, const struct given *b,
                            struct fr_error *err) {
    bool same = a->length == b->length && strncmp(a->key, b->key, a->length) == 0,
         several = strcmp(a->option, "runtime") == 0 && strcmp(b->option, "runtime") == 0;
    if (several) return FR_OK; /* which compare takes, and fr_app_runtime refuses */
    if (!same || strcmp(a->value, b->value) == 0) return FR_OK;
    return fr_fail(err, FR_ERR_USAGE, NULL,
                   "%.*s is given twice, \"%.64s\" by --%s and \"%.64s\" by --%s: give it once",
                   (int)a->length, a->key, a->value, a->option, b->value, b->option);
}

static fr_status check_pair(const struct fr_args *args, int i, int j, struct fr_error *err) {
    struct given a, b;
    for (int k = 0; k < 2 && given_at(args, i, k, &a); k++)
        for (int l = 0; l < 2 && given_at(args, j, l, &b); l++) FR_TRY(contradict(&b, &a, err));
    return FR_OK;
}

static fr_status check_keys(const struct fr_args *args, struct fr_error *err) {
    for (int i = 0; i < args->n_options; i++)
        for (int j = 0; j < i; j++) FR_TRY(check_pair(args, i, j, err));
    return FR_OK;
}

/* Standard input is one file; a command may read it for one option, as often as it needs. */
static fr_status check_standard(const struct fr_args *args, struct fr_error *err) {
    static const char *const inputs[] = {"cluster", "runtime", "model", "plan",
                                         "include", "base",    "runs",  NULL};
    int n = 0;
    for (int i = 0; i < args->n_options; i++)
        n +=
            fr_place_in(inputs, args->option[i]->name) >= 0 && strcmp(args->value[i], "-") == 0;
    return n < 2 ? FR_OK
                 : fr_fail(err, FR_ERR_USAGE, NULL,
                           "only one input can come from standard input");
}

fr_status fr_clashes_check(const struct fr_args *args, struct fr_error *err) {
    FR_TRY(check_forms(args, err));
    FR_TRY(check_standard(args, err));
    return check_keys(args, err);
}
