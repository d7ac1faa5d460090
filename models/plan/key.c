/* The rows, and what walks them: the line of a plan, its file, what reads a key. */
#include "models/plan/key.h"

#include <stdio.h>
#include <string.h>

#define INTEGER(low, high)                                                                     \
    .type = &fr_plan_integer, .least = (double)(low), .most = (double)(high)
#define NUMBER(low, high) .type = &fr_plan_number, .least = low, .most = high
#define SIZE(low, high) .type = &fr_plan_size, .least = low, .most = high
#define BOOL() .type = &fr_plan_bool
#define CHOICE(names) .type = &fr_plan_choice, .words = names
#define MODULES(names) .type = &fr_plan_modules, .words = names
#define ROW(table, names) .type = &fr_plan_row, .words = names, .rows = table
#define ORDER() .type = &fr_plan_order
#define PLACEMENT() .type = &fr_plan_placement
#define LIST(names, low) .type = &fr_plan_list, .words = names, .least = low
#define QUANTITIES(names, low, high)                                                           \
    .type = &fr_plan_quantities, .words = names, .least = low, .most = high
#define FIELDS(first, last)                                                                    \
    .offset = offsetof(struct fr_plan, first), .size = offsetof(struct fr_plan, last) +        \
                                                       sizeof(((struct fr_plan *)0)->last) -   \
                                                       offsetof(struct fr_plan, first)
#define FIELD(one) FIELDS(one, one)
#define CHANGED .always = false
#define ALWAYS .always = true
#define WHERE(mask) .always = true, .stated = (mask)
#define NEED(need) (UINT64_C(1) << NEED_##need)

enum {
#define FR_PLAN_NEED(name, refused, keys, text, holds) NEED_##name,
#include "models/plan/need_list.h"
#undef FR_PLAN_NEED
    NEEDS
};
_Static_assert(NEEDS <= 64, "a bit for each need");

/* Every row has its name in key.h, at the same place. */
enum {
#define FR_PLAN_KEY(word, ...) ROW_##word,
#include "models/plan/key_list.h"
#undef FR_PLAN_KEY
    ROWS
};
#define FR_PLAN_KEY(word, ...)                                                                 \
    _Static_assert((int)ROW_##word == (int)FR_PLAN_KEY_##word,                                 \
                   "key `" #word "` stands elsewhere in key.h than in key_list.h");
#include "models/plan/key_list.h"
#undef FR_PLAN_KEY
_Static_assert((int)ROWS == (int)FR_PLAN_KEYS,
               "a key that key.h names is missing from key_list.h");

const struct fr_plan_key fr_plan_keys[] = {
#define FR_PLAN_KEY(word, spelling, kind, field, line, when, mask, words_for_default,          \
                    sentence)                                                                  \
    {.name = spelling,                                                                         \
     kind,                                                                                     \
     field,                                                                                    \
     .label = line,                                                                            \
     when,                                                                                     \
     .needs = mask,                                                                            \
     .otherwise = words_for_default,                                                           \
     .help = sentence},
#include "models/plan/key_list.h"
#undef FR_PLAN_KEY
};

const char fr_plan_vary_help[] =
    "values of a key of --set, of the plan, model., cluster. or runtime., or runtimes "
    "(runtime=A,B): "
    "a,b,c or 1..64*2; may be repeated; of the plan:"
#define FR_PLAN_KEY(word, name, ...) " " name
#include "models/plan/key_list.h"
#undef FR_PLAN_KEY
    ;

#define KEY(word) FR_PLAN_KEY_BIT(FR_PLAN_KEY_##word)
#define OF_COPIES                                                                              \
    (KEY(method) | KEY(tp) | KEY(dp) | KEY(cp) | KEY(ep) | KEY(etp)) /* fr_plan_expert_copies */
#define OF_REDUCED (OF_COPIES | KEY(pass) | KEY(domain))             /* fr_plan_reduces */

fr_plan_key_set fr_plan_need_keys(int need, const struct fr_workload *m) {
    switch (need) {
#define FR_PLAN_NEED(name, refused, keys, text, holds)                                         \
    case NEED_##name:                                                                          \
        return keys;
#include "models/plan/need_list.h"
#undef FR_PLAN_NEED
    }
    return 0;
}

const char *const fr_plan_need_names[] = {
#define FR_PLAN_NEED(name, refused, keys, text, holds) text,
#include "models/plan/need_list.h"
#undef FR_PLAN_NEED
    NULL};

const uint64_t fr_plan_needs_refused = 0
#define FR_PLAN_NEED(name, refused, keys, text, holds) | (refused ? NEED(name) : 0)
#include "models/plan/need_list.h"
#undef FR_PLAN_NEED
    ;

const struct fr_plan_key *fr_plan_key_find(const char *name, const char **near) {
    const char *known[FR_PLAN_KEYS + 1];
    const char *bare = strncmp(name, "plan.", 5) == 0 ? name + 5 : name;
    for (int i = 0; i < FR_PLAN_KEYS; i++) {
        known[i] = fr_plan_keys[i].name;
        if (strcmp(bare, known[i]) == 0) return &fr_plan_keys[i];
    }
    known[FR_PLAN_KEYS] = NULL;
    *near = fr_suggest(bare, known);
    return NULL;
}

const char *fr_plan_key_default(const struct fr_plan_key *key, char *out, size_t capacity) {
    struct fr_plan plain = fr_plan_default();
    if (!key->otherwise) return key->type->text(key, &plain, out, capacity);
    snprintf(out, capacity, "%s", key->otherwise);
    return out;
}

static const char *bound(double value, char *out, size_t capacity) {
    if (value == (double)FR_RANKS_MAX)
        snprintf(out, capacity, "2^40");
    else if (value == 1 << 20)
        snprintf(out, capacity, "2^20");
    else
        fr_number_write(value, out, capacity);
    return out;
}

const char *fr_plan_key_values(const struct fr_plan_key *key, char *out, size_t capacity) {
    char low[32], high[32];
    size_t used = 0;
    *out = 0;
    for (int i = 0; key->words && key->words[i]; i++)
        fr_line_addf(out, capacity, &used, "%s`%s`", i ? ", " : "", key->words[i]);
    if (key->type == &fr_plan_bool) fr_line_addf(out, capacity, &used, "`false`, `true`");
    if (key->type == &fr_plan_list) fr_line_addf(out, capacity, &used, ", a list");
    if (key->type == &fr_plan_modules)
        fr_line_addf(out, capacity, &used, ", modules as a+b or a list");
    if (key->type == &fr_plan_quantities)
        fr_line_addf(out, capacity, &used, ", a value, a list of one for each stage");
    if (key->type == &fr_plan_size) fr_line_addf(out, capacity, &used, "a size");
    if (key->type == &fr_plan_integer || key->type == &fr_plan_number)
        fr_line_addf(out, capacity, &used, "%s to %s", bound(key->least, low, sizeof low),
                     bound(key->most, high, sizeof high));
    for (int i = 0; key->type == &fr_plan_order && fr_schedules[i]; i++)
        if (fr_schedules[i] != &fr_schedule_custom)
            fr_line_addf(out, capacity, &used, "`%s`, ", fr_schedules[i]->name);
    if (key->type == &fr_plan_order) fr_line_addf(out, capacity, &used, "a path, an order");
    if (key->type == &fr_plan_placement)
        fr_line_addf(out, capacity, &used, "a name, a list of ranks");
    return out;
}

void fr_plan_key_copy(const struct fr_plan_key *key, const struct fr_plan *from,
                      struct fr_plan *to) {
    memcpy((char *)to + key->offset, (const char *)from + key->offset, key->size);
}

/* ---- what reads a key --------------------------------------------------------------------- */

/* Asked of every plan of a search, always of the same needs: a branch for each is foreseen, where a jump by its number
 * would not be. */
uint64_t fr_plan_missing_of(uint64_t asked, const struct fr_workload *m,
                            const struct fr_plan *p) {
    bool transformer = m && m->transformer.layers > 0;
    bool measured = m && !transformer && m->n_layers == 0;
    uint64_t missing = 0;
#define FR_PLAN_NEED(name, refused, keys, text, holds)                                         \
    if (asked & NEED(name)) missing |= (uint64_t) !(holds) << NEED_##name;
#include "models/plan/need_list.h"
#undef FR_PLAN_NEED
    return missing;
}

uint64_t fr_plan_missing(const struct fr_workload *model, const struct fr_plan *plan) {
    return fr_plan_missing_of(UINT64_MAX >> (64 - NEEDS), model, plan);
}

const struct fr_plan_key *fr_plan_idle_key(const struct fr_workload *model,
                                           const struct fr_plan *plan, const char **needs) {
    if (plan->resolved) return NULL;
    uint64_t missing = fr_plan_missing(model, plan) & fr_plan_needs_refused;
    struct fr_plan plain = fr_plan_default();
    for (int i = 0; i < FR_PLAN_KEYS; i++) {
        const struct fr_plan_key *key = &fr_plan_keys[i];
        uint64_t lacks = key->needs & missing;
        if (!lacks || key->type->same(key, plan, &plain)) continue;
        for (int n = 0; n < NEEDS; n++)
            if (lacks >> n & 1) {
                *needs = fr_plan_need_names[n];
                return key;
            }
    }
    return NULL;
}

/* ---- the line ----------------------------------------------------------------------------- */

fr_plan_key_set fr_plan_line_keys(const struct fr_plan *plan) {
    uint64_t missing = fr_plan_missing(NULL, plan);
    struct fr_plan plain = fr_plan_default();
    fr_plan_key_set stated = 0;
    for (int i = 0; i < FR_PLAN_KEYS; i++) {
        const struct fr_plan_key *key = &fr_plan_keys[i];
        bool always = key->always && !((key->needs | key->stated) & missing);
        if (always || !key->type->same(key, plan, &plain)) stated |= FR_PLAN_KEY_BIT(i);
    }
    return stated;
}

const char *fr_plan_line(const struct fr_plan *plan, fr_plan_key_set without, char *out,
                         size_t capacity) {
    size_t used = 0;
    *out = 0;
    for (fr_plan_key_set left = fr_plan_line_keys(plan) & ~without; left; left &= left - 1) {
        const struct fr_plan_key *key = &fr_plan_keys[__builtin_ctzll(left)];
        char word[FR_PLAN_WORD];
        const char *label = key->label, *at = strstr(label, "%s");
        if (!used) label += strspn(label, ", ");
        if (at)
            fr_line_addf(out, capacity, &used, "%.*s%s%s", (int)(at - label), label,
                         key->type->text(key, plan, word, sizeof word), at + 2);
        else
            fr_line_addf(out, capacity, &used, "%s", label);
    }
    return out;
}

/* ---- the file ----------------------------------------------------------------------------- */

enum { DEPTH_MAX = 4 };

/* "a.b.c" into its words. @return how many */
static int split(const char *name, char words[DEPTH_MAX][32]) {
    int n = 0;
    for (const char *at = name; n < DEPTH_MAX; at += strcspn(at, ".") + 1) {
        snprintf(words[n++], 32, "%.*s", (int)strcspn(at, "."), at);
        if (!at[strcspn(at, ".")]) break;
    }
    return n;
}

void fr_plan_write(struct fr_json_writer *w, const struct fr_plan *plan) {
    char open[DEPTH_MAX][32], words[DEPTH_MAX][32];
    int depth = 0;
    fr_json_begin_object(w);
    for (int i = 0; i < FR_PLAN_KEYS; i++) {
        const struct fr_plan_key *key = &fr_plan_keys[i];
        if (key->type->open && key->type->open(key, plan)) continue;
        int n = split(key->name, words), common = 0;
        while (common < depth && common < n - 1 && strcmp(open[common], words[common]) == 0)
            common++;
        for (; depth > common; depth--) fr_json_end_object(w);
        for (; depth < n - 1; depth++) {
            memcpy(open[depth], words[depth], sizeof *open);
            fr_json_add_object(w, words[depth]);
        }
        fr_json_key(w, words[n - 1]);
        key->type->write(key, plan, w);
    }
    for (; depth >= 0; depth--) fr_json_end_object(w);
}

/* Members of the object that all keys below @p prefix ("" or "compression.") stand in, each once. */
static void members(const char *prefix, char names[FR_PLAN_KEYS][32],
                    const char *known[FR_PLAN_KEYS + 1]) {
    size_t length = strlen(prefix);
    int n = 0;
    for (int i = 0; i < FR_PLAN_KEYS; i++) {
        const char *name = fr_plan_keys[i].name;
        if (strncmp(name, prefix, length) != 0) continue;
        snprintf(names[n], 32, "%.*s", (int)strcspn(name + length, "."), name + length);
        if (n == 0 || strcmp(names[n - 1], names[n]) != 0) n++;
    }
    for (int i = 0; i < n; i++) known[i] = names[i];
    known[n] = NULL;
}

/* Refuse what is no key, in @p object and in those inside it. */
static fr_status check(const struct fr_json *object, const char *prefix, struct fr_error *err) {
    char names[FR_PLAN_KEYS][32];
    const char *known[FR_PLAN_KEYS + 1];
    members(prefix, names, known);
    FR_TRY(fr_json_object(object, known, err));
    for (int i = 0; known[i]; i++) {
        char inside[96];
        const char *near;
        struct fr_json member = fr_json_member(object, known[i]);
        snprintf(inside, sizeof inside, "%s%s", prefix, known[i]);
        if (!fr_json_present(&member) || fr_plan_key_find(inside, &near)) continue;
        strcat(inside, ".");
        FR_TRY(check(&member, inside, err));
    }
    return FR_OK;
}

static fr_status read_key(const struct fr_plan_key *key, const struct fr_json *root,
                          struct fr_plan *plan, struct fr_plan_lists *lists,
                          struct fr_error *err) {
    char words[DEPTH_MAX][32];
    struct fr_json object[DEPTH_MAX];
    int n = split(key->name, words);
    object[0] = *root;
    for (int d = 0; d + 1 < n; d++) object[d + 1] = fr_json_member(&object[d], words[d]);
    struct fr_json value = fr_json_member(&object[n - 1], words[n - 1]);
    return fr_json_present(&value)
               ? key->type->read(key, &object[n - 1], words[n - 1], plan, lists, err)
               : FR_OK;
}

fr_status fr_plan_read_object(const struct fr_json *root, struct fr_plan *plan,
                              struct fr_plan_lists *lists, struct fr_error *err) {
    *plan = fr_plan_default();
    *lists = (struct fr_plan_lists){0};
    FR_TRY(check(root, "", err));
    for (int i = 0; i < FR_PLAN_KEYS; i++)
        FR_TRY(read_key(&fr_plan_keys[i], root, plan, lists, err));
    if ((double)plan->dp * (double)plan->pp * (double)plan->tp > (double)FR_RANKS_MAX)
        return fr_json_fail(root, err, "dp, pp and tp make more than 2^40 ranks");
    return FR_OK;
}

fr_status fr_plan_read(const struct fr_json_document *document, struct fr_plan *plan,
                       struct fr_plan_lists *lists, struct fr_error *err) {
    struct fr_json root = fr_json_root(document);
    return fr_plan_read_object(&root, plan, lists, err);
}
