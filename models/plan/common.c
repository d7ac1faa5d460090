#include "models/plan/common.h"

#include <string.h>

static const fr_plan_key_set all_keys = FR_PLAN_KEY_BIT(FR_PLAN_KEYS) - 1;

void fr_plan_common_add(struct fr_plan_common *c, const struct fr_plan *plan) {
    fr_plan_key_set stated = fr_plan_line_keys(plan);
    if (c->plans++ == 0)
        *c = (struct fr_plan_common){
            .first = *plan, .same = all_keys, .stated = stated, .always = stated, .plans = 1};
    c->stated |= stated;
    c->always &= stated;
    for (fr_plan_key_set left = c->same & stated; left; left &= left - 1) {
        int i = __builtin_ctzll(left);
        if (!fr_plan_keys[i].type->same(&fr_plan_keys[i], &c->first, plan))
            c->same &= ~FR_PLAN_KEY_BIT(i);
    }
}

/* A label without a comma continues the key before it. */
static bool continues(int i) { return fr_plan_keys[i].label[0] == ' '; }

fr_plan_key_set fr_plan_common_keys(const struct fr_plan_common *c) {
    fr_plan_key_set common = c->same & c->always;
    if (c->plans < 2) return 0;
    for (int first = 0, end; first < FR_PLAN_KEYS; first = end) {
        fr_plan_key_set group = FR_PLAN_KEY_BIT(first);
        for (end = first + 1; end < FR_PLAN_KEYS && continues(end); end++)
            group |= FR_PLAN_KEY_BIT(end);
        bool mesh = first <= FR_PLAN_KEY_pp;
        if (mesh || (group & c->stated & ~common)) common &= ~group;
    }
    return common;
}

const char *fr_plan_common_line(const struct fr_plan_common *c, char *out, size_t capacity) {
    return fr_plan_line(&c->first, ~fr_plan_common_keys(c), out, capacity);
}

size_t fr_plan_common_length(const struct fr_plan_common *c) {
    char whole[FR_PLAN_LINE], rest[FR_PLAN_LINE];
    return strlen(fr_plan_line(&c->first, 0, whole, sizeof whole)) -
           strlen(fr_plan_line(&c->first, fr_plan_common_keys(c), rest, sizeof rest));
}
