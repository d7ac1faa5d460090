/* Options that --emit writes, read back: the value of a brace is the key's, and what had to hold for a literal value holds. */
#include <stdio.h>
#include <string.h>

#include "answer/emit.h"
#include "answer/trainer/trainer.h"

/* Values of answer/emit/value_list.h that are a key of the model, or of the run. */
static const struct {
    const char *value, *key;
} keys[] = {{"sequence", "model.sequence"},
            {"layers", "model.layers"},
            {"hidden", "model.hidden"},
            {"ffn", "model.ffn"},
            {"heads", "model.heads"},
            {"q_latent", "model.q_latent"},
            {"kv_latent", "model.kv_latent"},
            {"rope_dim", "model.rope_dim"},
            {"value_dim", "model.value_dim"},
            {"experts", "model.experts"},
            {"experts_per_token", "model.experts_per_token"},
            {"expert_ffn", "model.expert_ffn"},
            {"expert_groups", "model.expert_groups"},
            {"groups_per_token", "model.groups_per_token"},
            {"capacity", "model.capacity"},
            {"shared_ffn", "model.shared_ffn"},
            {"ssm_heads", "model.ssm_heads"},
            {"ssm_head_dim", "model.ssm_head_dim"},
            {"ssm_state", "model.ssm_state"},
            {"ssm_groups", "model.ssm_groups"},
            {"predicted", "model.predicted_tokens"},
            {"rotary_base", "model.rotary_base"},
            {"steps", "plan.iterations"},
            {"expert_tp", "plan.etp"},
            {"ranks", "ranks"}};

/* "plan.KEY" or "model.KEY" of a value's name; NULL where it is computed of several. */
static const char *key_of(const char *value, size_t length, char out[64]) {
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strlen(keys[i].value) == length && strncmp(keys[i].value, value, length) == 0)
            return keys[i].key;
    for (int k = 0; k < FR_PLAN_KEYS; k++)
        if (strlen(fr_plan_keys[k].name) == length &&
            strncmp(fr_plan_keys[k].name, value, length) == 0) {
            snprintf(out, 64, "plan.%.50s", fr_plan_keys[k].name);
            return out;
        }
    return NULL;
}

/* Names are compared without their dashes, --a-b being a_b. */
static bool same_name(const char *option, const char *name) {
    char plain[128];
    snprintf(plain, sizeof plain, "%s", option + strspn(option, "-"));
    for (char *c = plain; *c; c++) *c = *c == '-' ? '_' : *c;
    return fr_setting_is(name, plain);
}

/* Conditions "KEY=VALUE" of one value, of keys of the plan. */
static bool take_conditions(const char *where, struct fr_run_row *row) {
    char out[64];
    bool any = false;
    while (*where) {
        size_t name = strcspn(where, "!="), all = strcspn(where, " ");
        const char *value = where + name + 1;
        size_t length = all > name ? all - name - 1 : 0;
        const char *key = where[name] == '=' ? key_of(where, name, out) : NULL;
        if (key && length && !memchr(value, ',', length)) {
            fr_run_row_set(row, key, "%.*s", (int)length, value);
            any = true;
        }
        where += all;
        where += strspn(where, " ");
    }
    return any;
}

static bool take(const struct fr_emit_row *option, const char *value, struct fr_run_row *row) {
    const char *text = option->text;
    size_t length = strlen(text);
    char out[64];
    if (option->kind == FR_EMIT_OPTION && length > 2 && text[0] == '{' &&
        strchr(text, '}') == text + length - 1) {
        const char *key = key_of(text + 1, length - 2, out);
        if (key) fr_run_row_set(row, key, "%.140s", value);
        return key != NULL;
    }
    bool literal = option->kind == FR_EMIT_OPTION && *text && strcmp(text, value) == 0;
    bool on = option->kind != FR_EMIT_OPTION || !*text ? !fr_value_is_off(value) : false;
    return (literal || on) && take_conditions(option->where, row);
}

bool fr_emitted_take(const char *emitter, const char *name, const char *value,
                     struct fr_run_row *row) {
    const struct fr_emitter *to = fr_emitter_find(emitter);
    const struct fr_emit_row *option;
    for (int i = 0; to && (option = fr_emit_row(to, i)); i++) {
        if (!*option->option || option->kind == FR_EMIT_VARIABLE ||
            !same_name(option->option, name))
            continue;
        if (take(option, value, row)) return true;
    }
    return false;
}
