#include "models/workload/hybrid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/workload/ssm.h"

static double *count_of(struct fr_block_counts *blocks, char letter) {
    switch (letter) {
    case 'M':
        return &blocks->ssm;
    case '*':
        return &blocks->attention;
    case '-':
        return &blocks->mlp;
    default:
        return &blocks->experts;
    }
}

struct fr_block_counts fr_block_counts_between(const struct fr_transformer *t, double from,
                                               double to) {
    size_t letters = strlen(t->pattern);
    struct fr_block_counts blocks = {0};
    from *= (double)fr_layer_blocks(t);
    to *= (double)fr_layer_blocks(t);
    for (int64_t i = (int64_t)from; (double)i < to; i++)
        *count_of(&blocks, t->pattern[(size_t)i % letters]) +=
            fmin(to, (double)i + 1) - fmax(from, (double)i);
    return blocks;
}

struct fr_block_counts fr_block_counts_of(const struct fr_transformer *t) {
    double layers = (double)t->layers, dense = t->experts ? (double)t->dense_layers : layers;
    if (fr_transformer_is_hybrid(t)) return fr_block_counts_between(t, 0, layers);
    return (struct fr_block_counts){
        .attention = layers, .mlp = dense, .experts = layers - dense};
}

fr_status fr_hybrid_set(const struct fr_json *node, const char *pattern,
                        struct fr_transformer *t, struct fr_error *err) {
    size_t letters = strlen(pattern);
    if (letters == 0 || letters >= sizeof t->pattern)
        return fr_json_fail(node, err, "has %zu letters; expected 1 to %zu", letters,
                            sizeof t->pattern - 1);
    if (strspn(pattern, "M*-E") != letters)
        return fr_json_fail(node, err,
                            "\"%c\" names no block; M is a state-space block, * attention, - "
                            "an MLP, E experts",
                            pattern[strspn(pattern, "M*-E")]);
    if (strchr(pattern, 'E') && t->experts == 0)
        return fr_json_fail(node, err, "has E, and the model has no experts");
    if (!strchr(pattern, 'E') && t->experts > 0)
        return fr_json_fail(node, err, "has no E, and the model has experts");
    snprintf(t->pattern, sizeof t->pattern, "%s", pattern);
    return FR_OK;
}

bool fr_hybrid_unattended(const struct fr_json *object) {
    struct fr_json node = fr_json_member(object, "pattern");
    const char *pattern = NULL;
    return fr_json_is_string(&node) && fr_json_text(&node, &pattern, NULL) == FR_OK &&
           !strchr(pattern, '*');
}

static const char *beside(const struct fr_transformer *t) {
    return t->lora_rank > 0      ? "lora_rank"
           : t->kv_latent > 0    ? "kv_latent"
           : t->cross_layers > 0 ? "cross_layers"
           : t->window > 0       ? "a window"
           : t->predicted > 0    ? "predicted_tokens"
           : t->dense_layers > 0 ? "dense_layers: its letters say where MLPs are"
                                 : NULL;
}

fr_status fr_hybrid_check(const struct fr_json *object, const struct fr_transformer *t,
                          struct fr_error *err) {
    struct fr_json node =
        fr_json_member(object, t->lora_rank > 0 ? "lora_rank" : "predicted_tokens");
    bool whole = fr_layer_blocks(t) > 1; /* a module that predicts has a layer of its own */
    if (!fr_transformer_is_hybrid(t) || (t->lora_rank == 0 && (t->predicted == 0 || whole)))
        return FR_OK;
    return fr_json_fail(&node, err, "is not priced beside layers of one block each");
}

fr_status fr_hybrid_read(const struct fr_json *object, struct fr_transformer *t,
                         struct fr_error *err) {
    struct fr_json node = fr_json_member(object, "pattern");
    const char *pattern = NULL;
    if (!fr_json_present(&node)) return fr_ssm_refuse(object, err);
    FR_TRY(fr_json_text(&node, &pattern, err));
    if (beside(t)) return fr_json_fail(&node, err, "is not priced beside %s", beside(t));
    FR_TRY(fr_hybrid_set(&node, pattern, t, err));
    return strchr(pattern, 'M') ? fr_ssm_read(object, t, err) : fr_ssm_refuse(object, err);
}
