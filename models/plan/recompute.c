/* Words of what is done again, and the kind of value that the key of a plan is: one word, or modules together. */
#include "models/plan/recompute.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "models/plan/key.h"

/* In the order of fr_recompute_names. */
static const fr_recompute values[] = {
    FR_RECOMPUTE_NONE,          FR_RECOMPUTE_SELECTIVE,    FR_RECOMPUTE_FULL,
    FR_RECOMPUTE_SAVE_QKV,      FR_RECOMPUTE_SAVE_QKV_OUT, FR_RECOMPUTE_SELECTIVE_OP,
    FR_RECOMPUTE_CORE_ATTN,     FR_RECOMPUTE_MOE_ACT,      FR_RECOMPUTE_LAYERNORM,
    FR_RECOMPUTE_MLA_UP_PROJ,   FR_RECOMPUTE_MLP,          FR_RECOMPUTE_MOE,
    FR_RECOMPUTE_SHARED_EXPERTS};
const char *const fr_recompute_names[] = {
    "none",         "selective", "full",           "save_qkv",  "save_qkv_out",
    "selective_op", "core_attn", "moe_act",        "layernorm", "mla_up_proj",
    "mlp",          "moe",       "shared_experts", NULL};
enum { WORDS = sizeof values / sizeof *values, MODULES = 6 /* the first of them */ };
_Static_assert(sizeof fr_recompute_names / sizeof *fr_recompute_names == WORDS + 1,
               "a word for each value");

const char *fr_recompute_modules(fr_recompute recompute, const char *between, char *out,
                                 size_t capacity) {
    size_t used = 0;
    *out = 0;
    for (int i = MODULES; i < WORDS; i++)
        if (!fr_recomputes_layer(recompute) && recompute & values[i])
            fr_line_addf(out, capacity, &used, "%s%s", used ? between : "",
                         fr_recompute_names[i]);
    return out;
}

const char *fr_recompute_text(fr_recompute recompute, char *out, size_t capacity) {
    for (int i = 0; i < WORDS; i++)
        if (values[i] == recompute) {
            snprintf(out, capacity, "%s", fr_recompute_names[i]);
            return out;
        }
    return fr_recompute_modules(recompute, "+", out, capacity);
}

/* ---- the value of a key ------------------------------------------------------------------------ */

static fr_recompute get(const struct fr_plan_key *key, const struct fr_plan *plan) {
    fr_recompute value = FR_RECOMPUTE_NONE;
    memcpy(&value, (const char *)plan + key->offset, sizeof value);
    return value;
}

/* One word of several: of what stands alone there is one. */
static fr_status add_word(const struct fr_json *node, const char *word, size_t length,
                          bool several, int *sum, struct fr_error *err) {
    char own[40];
    snprintf(own, sizeof own, "%.*s", (int)length, word);
    for (int i = 0; i < WORDS; i++) {
        if (strcmp(own, fr_recompute_names[i]) != 0) continue;
        if (several && i < MODULES && values[i] != FR_RECOMPUTE_SELECTIVE)
            return fr_json_fail(node, err,
                                "\"%s\" stands alone; modules may stand together: "
                                "%s and those after it",
                                own, fr_recompute_names[MODULES]);
        *sum |= values[i];
        return FR_OK;
    }
    const char *near = fr_suggest(own, fr_recompute_names);
    char known[256];
    size_t used = 0;
    if (near) return fr_json_fail(node, err, "is \"%s\"; did you mean \"%s\"?", own, near);
    for (int i = 0; i < WORDS; i++)
        fr_line_addf(known, sizeof known, &used, "%s\"%s\"", i ? ", " : "",
                     fr_recompute_names[i]);
    return fr_json_fail(node, err, "is \"%s\"; expected one of %s, or modules as \"a+b\"", own,
                        known);
}

static fr_status read_text(const struct fr_json *node, bool several, int *sum,
                           struct fr_error *err) {
    const char *text = "";
    FR_TRY(fr_json_text(node, &text, err));
    several = several || strchr(text, '+');
    for (const char *at = text;; at += strcspn(at, "+") + 1) {
        FR_TRY(add_word(node, at, strcspn(at, "+"), several, sum, err));
        if (!at[strcspn(at, "+")]) return FR_OK;
    }
}

static fr_status read(const struct fr_plan_key *key, const struct fr_json *object,
                      const char *member, struct fr_plan *plan, struct fr_plan_lists *lists,
                      struct fr_error *err) {
    struct fr_json node = fr_json_member(object, member);
    int sum = 0;
    (void)lists;
    if (fr_json_is_array(&node)) {
        FR_TRY(fr_json_array(&node, 1, WORDS, err));
        int64_t n = fr_json_array_length(&node);
        for (int64_t i = 0; i < n; i++) {
            struct fr_json one = fr_json_element(&node, i);
            FR_TRY(read_text(&one, n > 1, &sum, err));
        }
    } else
        FR_TRY(read_text(&node, false, &sum, err));
    fr_recompute value = (fr_recompute)sum;
    memcpy((char *)plan + key->offset, &value, sizeof value);
    return FR_OK;
}

static const char *text(const struct fr_plan_key *key, const struct fr_plan *plan, char *out,
                        size_t capacity) {
    return fr_recompute_text(get(key, plan), out, capacity);
}

static void write(const struct fr_plan_key *key, const struct fr_plan *plan,
                  struct fr_json_writer *w) {
    char word[FR_RECOMPUTE_TEXT];
    fr_json_put_string(w, text(key, plan, word, sizeof word));
}

static bool same(const struct fr_plan_key *key, const struct fr_plan *a,
                 const struct fr_plan *b) {
    return get(key, a) == get(key, b);
}

const struct fr_plan_type fr_plan_modules = {
    .name = "modules", .read = read, .write = write, .text = text, .same = same};
