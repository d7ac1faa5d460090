#include "app/complete.h"

#include <string.h>

#include "answer/outcome/report.h"
#include "answer/predict/predict.h"
#include "app/inputs/schema_keys.h"
#include "app/verb.h"
#include "base/json.h"
#include "base/text/colour.h"
#include "calibrate/fit/fit.h"
#include "models/device/device.h"
#include "models/job/fact.h"
#include "models/job/own.h"
#include "models/job/preset.h"
#include "models/network/collective.h"
#include "models/plan/key.h"
#include "search/search.h"
#include "sim/network.h"

/* The line so far. */
struct line {
    struct fr_text *text;
    const struct fr_verb *verb;
    const char *const *words; /* behind the verb */
    int n;                    /* the last of them is the one to complete */
    const char *begun;        /* what is written of it */
};

static void offer(const struct line *l, const char *word, const char *what) {
    if (strncmp(word, l->begun, strlen(l->begun)) != 0) return;
    fr_text_addf(l->text, "%s%s%s\n", word, *what ? "\t" : "", what);
}

static void offer_names(const struct line *l, const char *const *names) {
    for (; names && *names; names++) offer(l, *names, "");
}

/* ---- values of options ----------------------------------------------------------------------- */

/* Options that take one of some names, whatever the verb. */
static const struct {
    const char *option;
    const char *const *names;
} choices[] = {
    {"engine", fr_engine_names}, {"objective", fr_objective_words},
    {"dtype", fr_dtype_names},   {"op", fr_op_names},
    {"form", fr_fit_form_names}, {"network", fr_network_names},
    {"color", fr_colour_names},
};
enum { N_CHOICES = sizeof choices / sizeof *choices };

/* "site:NAME" of the folders that are shared, once "site:" is begun. */
static void offer_site(const struct line *l, const char *kind) {
    struct fr_text names = {0};
    if (strncmp(l->begun, FR_OWN_SITE, 2) == 0 &&
        fr_own_site_names(kind, &names, NULL) == FR_OK)
        for (const char *at = fr_text_get(&names); *at; at += strcspn(at, "\n") + 1) {
            char name[256];
            snprintf(name, sizeof name, FR_OWN_SITE "%.*s", (int)strcspn(at, "\t"), at);
            offer(l, name, "your site's");
        }
    fr_text_free(&names);
}

static void offer_presets(const struct line *l, const char *kind) {
    for (const struct fr_preset *p = fr_presets; p->name; p++)
        if (strcmp(p->kind, kind) == 0) offer(l, p->name, "preset");
    struct fr_text own = {0};
    if (fr_own_names(kind, &own, NULL) == FR_OK)
        for (const char *at = fr_text_get(&own); *at; at += strcspn(at, "\n") + 1) {
            char name[256];
            snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "\t"), at);
            offer(l, name, "your own");
        }
    offer_site(l, kind);
    fr_text_free(&own);
}

/* The last value that the line gives @p option, or NULL. */
static const char *given(const struct line *l, const char *option, char letter) {
    const char *value = NULL;
    char whole[64], brief[] = {'-', letter, '\0'};
    size_t length = (size_t)snprintf(whole, sizeof whole, "--%s", option);
    for (int i = 0; i + 1 < l->n; i++) {
        const char *word = l->words[i];
        if (strcmp(word, whole) == 0 || strcmp(word, brief) == 0) value = l->words[i + 1];
        if (strncmp(word, whole, length) == 0 && word[length] == '=') value = word + length + 1;
    }
    return value;
}

/* The members of @p object, below @p path: numbers and texts, and what holds some. */
static void offer_members(const struct line *l, const struct fr_json *object,
                          const char *path) {
    char name[256];
    for (const char *key = fr_json_key_after(object, NULL); key;
         key = fr_json_key_after(object, key)) {
        struct fr_json member = fr_json_member(object, key);
        snprintf(name, sizeof name, "%s%s", path, key);
        if (fr_json_is_object(&member)) {
            strncat(name, ".", sizeof name - strlen(name) - 1);
            offer_members(l, &member, name);
        } else if (!fr_json_is_array(&member)) {
            strncat(name, "=", sizeof name - strlen(name) - 1);
            offer(l, name, "");
        }
        for (int64_t i = 0; i < fr_json_array_length(&member); i++) {
            struct fr_json element = fr_json_element(&member, i);
            snprintf(name, sizeof name, "%s%s.%d.", path, key, (int)i);
            if (fr_json_is_object(&element)) offer_members(l, &element, name);
        }
    }
}

static bool is_offered(const struct line *l, const char *name) {
    size_t length = strlen(name);
    for (const char *at = fr_text_get(l->text); *at; at += strcspn(at, "\n") + 1)
        if (strncmp(at, name, length) == 0 && strchr("\t\n", at[length])) return true;
    return false;
}

static void offer_key(void *context, const char *path, const char *what) {
    const struct line *l = context;
    char name[256];
    snprintf(name, sizeof name, "%.250s=", path);
    if (!is_offered(l, name)) offer(l, name, what);
}

/* Keys of the file or preset that the line names, as --set spells them, then those that it could have. */
static void offer_file(const struct line *l, const char *kind, const char *from) {
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    char path[16];
    snprintf(path, sizeof path, "%s.", kind);
    if (strncmp(l->begun, path, strlen(path)) != 0) return; /* nobody asked yet */
    int64_t rows = 0;
    if (from && strcmp(from, "-") != 0 &&
        fr_preset_or_file_read(kind, from, &document, &err) == FR_OK) {
        struct fr_json root = fr_json_root(document), levels = fr_json_member(&root, "levels");
        offer_members(l, &root, path);
        rows = fr_json_array_length(&levels);
    }
    fr_json_free(document);
    if (strcmp(kind, "cluster") == 0)
        fr_schema_keys(kind, rows > 0 ? (int)rows : 1, offer_key, (void *)l);
}

static void offer_keys(const struct line *l) {
    const bool whole = strncmp(l->begun, "plan.", 5) == 0;
    char name[FR_PLAN_WORD + 32];
    for (int i = 0; i < FR_PLAN_KEYS; i++) {
        snprintf(name, sizeof name, "%s%s=", whole ? "plan." : "", fr_plan_keys[i].name);
        offer(l, name, fr_plan_keys[i].help);
    }
    offer(l, "runtime=", "software with a date");
    offer(l, "runtime.", "of the software");
    if (strncmp(l->begun, "runtime.", 8) == 0)
        for (int i = 0; i < fr_fact_count; i++) {
            snprintf(name, sizeof name, "runtime.%s=", fr_facts[i].key);
            offer(l, name, fr_facts[i].help);
        }
    offer(l, "model.", "of the model's file");
    offer(l, "cluster.", "of the cluster's file");
    offer_file(l, "model", given(l, "model", 'm'));
    offer_file(l, "cluster", given(l, "cluster", 'c'));
}

/* Offer each line of @p rest, which may follow @p from, with what is written before it; frees @p rest. */
static void give_rest(const struct line *l, const char *from, struct fr_text *rest) {
    for (const char *at = fr_text_get(rest); *at; at += strcspn(at, "\n") + 1)
        fr_text_addf(l->text, "%.*s%.*s\n", (int)(from - l->begun), l->begun,
                     (int)strcspn(at, "\n"), at);
    fr_text_free(rest);
}

/* Presets and the user's own behind what is written up to @p from. */
static void offer_rest(const struct line *l, const char *from, const char *kind) {
    struct fr_text names = {0};
    struct line rest = *l;
    rest.text = &names;
    rest.begun = from;
    offer_presets(&rest, kind);
    give_rest(l, from, &names);
}

/* KEY=VALUE: after the sign, and each comma of a list, the words that the key knows. */
static void offer_settings(const struct line *l) {
    const char *sign = strchr(l->begun, '='), *comma = strrchr(l->begun, ',');
    char key[64], word[256];
    if (!sign) {
        offer_keys(l);
        return;
    }
    snprintf(key, sizeof key, "%.*s", (int)(sign - l->begun), l->begun);
    const char *near, *from = comma ? comma : sign;
    if (strcmp(key, "runtime") == 0) {
        offer_rest(l, from + 1, "runtime");
        return;
    }
    const int fact = strncmp(key, "runtime.", 8) == 0 ? fr_fact_find(key, NULL) : -1;
    const struct fr_plan_key *k = fr_plan_key_find(fact < 0 ? key : fr_facts[fact].key, &near);
    static const char *const truths[] = {"true", "false", NULL};
    const char *const *words = !k ? NULL : k->type == &fr_plan_bool ? truths : k->words;
    for (; words && *words; words++) {
        snprintf(word, sizeof word, "%.*s%s", (int)(from + 1 - l->begun), l->begun, *words);
        offer(l, word, "");
    }
}

/* Options that every verb takes. */
static const struct fr_option common[] = {
    {"color", "WHEN", "auto (on a terminal, unless NO_COLOR is set), always or never", 0},
    {NULL, NULL, NULL, 0}};

static void offer_values(const struct line *l, const struct fr_option *option) {
    if (strncmp(option->argument, "KEY=", 4) == 0) offer_settings(l);
    if (strstr(option->argument, "PRESET")) offer_presets(l, option->name);
    for (int i = 0; i < N_CHOICES; i++)
        if (strcmp(choices[i].option, option->name) == 0) offer_names(l, choices[i].names);
}

/* ---- the line -------------------------------------------------------------------------------- */

/* The option that @p word is, where it takes a value, or NULL; @p value what follows "=". */
static const struct fr_option *option_in(const struct fr_option *options, const char *word,
                                         size_t length) {
    for (const struct fr_option *o = options; o->name; o++) {
        bool brief = word[0] == '-' && o->letter && word[1] == o->letter && length == 2;
        bool whole = length > 2 && strncmp(word, "--", 2) == 0 &&
                     strlen(o->name) == length - 2 &&
                     strncmp(word + 2, o->name, length - 2) == 0;
        if ((brief || whole) && o->argument) return o;
    }
    return NULL;
}

static const struct fr_option *option_of(const struct fr_verb *verb, const char *word,
                                         const char **value) {
    const char *sign = strchr(word, '=');
    size_t length = sign ? (size_t)(sign - word) : strlen(word);
    const struct fr_option *own = option_in(verb->options, word, length);
    *value = sign ? sign + 1 : NULL;
    return own ? own : option_in(common, word, length);
}

static void offer_names_of(const struct line *l, const struct fr_option *options) {
    char name[64];
    for (const struct fr_option *o = options; o->name; o++) {
        snprintf(name, sizeof name, "--%s", o->name);
        offer(l, name, o->help);
    }
}

static void offer_options(const struct line *l) {
    offer_names_of(l, l->verb->options);
    offer_names_of(l, common);
}

/* "--set=plan.g": what may follow stands behind the sign, and is given back with what is before. */
static void offer_joined(const struct line *l, const struct fr_option *option,
                         const char *value) {
    struct fr_text values = {0};
    struct line rest = *l;
    rest.text = &values;
    rest.begun = value;
    offer_values(&rest, option);
    give_rest(l, value, &values);
}

/* Words before the last that are neither options nor their values. */
static int words_before(const struct line *l) {
    int n = 0;
    for (int i = 0; i + 1 < l->n; i++) {
        const char *value = NULL;
        if (l->words[i][0] != '-')
            n++;
        else if (option_of(l->verb, l->words[i], &value) && !value)
            i++;
    }
    return n;
}

void fr_complete(struct fr_text *text, const char *const *words, int n_words) {
    struct line l = {.text = text, .begun = n_words > 0 ? words[n_words - 1] : ""};
    if (n_words < 2) {
        for (const struct fr_verb *const *v = fr_verbs; *v; v++)
            offer(&l, (*v)->name, (*v)->summary);
        return;
    }
    for (const struct fr_verb *const *v = fr_verbs; *v; v++)
        if (strcmp((*v)->name, words[0]) == 0) l.verb = *v;
    if (!l.verb) return;
    l.words = words + 1;
    l.n = n_words - 1;
    const char *value = NULL, *ignored = NULL;
    const struct fr_option *before =
        l.n > 1 ? option_of(l.verb, l.words[l.n - 2], &ignored) : NULL;
    const struct fr_option *joined = option_of(l.verb, l.begun, &value);
    if (before && !ignored)
        offer_values(&l, before);
    else if (joined && value)
        offer_joined(&l, joined, value);
    else if (l.begun[0] == '-')
        offer_options(&l);
    else if (l.verb->word && words_before(&l) == 0)
        for (int i = 0; l.verb->word(i); i++) offer(&l, l.verb->word(i), "");
}
