#include "search/repeats.h"

#include <string.h>

#define KEY(word) FR_PLAN_KEY_BIT(FR_PLAN_KEY_##word)
#define MESH                                                                                   \
    (KEY(tp) | KEY(dp) | KEY(pp) | KEY(cp)) /* each may be what the others leave of the ranks */

static fr_plan_key_set keys_of(uint64_t needs, const struct fr_workload *model) {
    fr_plan_key_set keys = 0;
    for (; needs; needs &= needs - 1) keys |= fr_plan_need_keys(__builtin_ctzll(needs), model);
    return keys;
}

/* All that decides whether these needs hold: the keys that they read, and whether these are idle in turn. */
static fr_plan_key_set deciders_of(uint64_t needs, const struct fr_workload *model) {
    fr_plan_key_set keys = keys_of(needs, model), before;
    do {
        before = keys;
        if (keys & MESH) keys |= MESH;
        for (fr_plan_key_set left = keys; left; left &= left - 1)
            keys |= keys_of(fr_plan_keys[__builtin_ctzll(left)].needs, model);
    } while (keys != before);
    return keys;
}

/* An order of passes says how many stages and chunks there are, whatever these keys are. */
static bool has_order(const struct fr_space *space) {
    const struct fr_plan_key *key = &fr_plan_keys[FR_PLAN_KEY_schedule];
    if (space->base.order) return true;
    for (int d = 0; d < space->n_dimensions; d++) {
        const struct fr_dimension *of = &space->dimension[d];
        for (size_t v = 0; of->key == key && v < of->count; v++) {
            struct fr_plan plan = space->base;
            memcpy((char *)&plan + key->offset, of->values + v * key->size, key->size);
            if (plan.order) return true;
        }
    }
    return false;
}

/* Of each dimension, which needs of its key are decided by keys varied before it. */
static void find_passes(const struct fr_space *space, const struct fr_workload *model,
                        struct fr_space_cursor *at) {
    fr_plan_key_set later = 0;
    const bool order = has_order(space);
    at->knows_passes = true;
    at->model = model;
    for (int d = space->n_dimensions; d-- > 0;) {
        const struct fr_plan_key *key = space->dimension[d].key;
        at->passes[d] = 0;
        for (uint64_t left = order ? 0 : key->needs; left; left &= left - 1)
            if (!(deciders_of(left & -left, model) & later)) at->passes[d] |= left & -left;
        later |= FR_PLAN_KEY_BIT(key - fr_plan_keys);
    }
}

void fr_repeats_pass(const struct fr_space *space, const struct fr_workload *model, int d,
                     uint64_t lacks, struct fr_space_cursor *at) {
    if (!at->knows_passes || at->model != model) find_passes(space, model, at);
    const bool schedule = space->dimension[d].key == &fr_plan_keys[FR_PLAN_KEY_schedule];
    int64_t left = 0;
    if (!(at->passes[d] & lacks)) return;
    /* Its later values, too; one schedule is another's repetition for reasons of its own. */
    for (int i = schedule ? d + 1 : d; i < space->n_dimensions; i++) {
        const int64_t count = (int64_t)space->dimension[i].count;
        left = left * count + count - 1 - (int64_t)at->digit[i];
        at->digit[i] = (size_t)count - 1;
    }
    at->index += left;
    at->next = at->index + 1;
}
