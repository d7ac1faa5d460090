#include "topology/shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topology/levels.h"

#define FR_SHAPE(name) extern const struct fr_shape fr_shape_##name;
#include "topology/shape_list.h"
#undef FR_SHAPE

const struct fr_shape *const fr_shapes[] = {
#define FR_SHAPE(name) &fr_shape_##name,
#include "topology/shape_list.h"
#undef FR_SHAPE
    NULL};

enum { NUMBER_MAX = 1 << 20, LINE_MAX_B = 512, WORDS_MAX = 16, NAMES_MAX = 16 };

/* Names of the shapes, NULL-terminated, into @p out. */
static void shape_names(const char *out[NAMES_MAX]) {
    int n = 0;
    for (; fr_shapes[n] && n < NAMES_MAX - 1; n++) out[n] = fr_shapes[n]->name;
    out[n] = NULL;
}

/* Keys that an object of @p shape may have. */
static void object_keys(const struct fr_shape *shape, const char *out[FR_SHAPE_KEYS + 4]) {
    int n = 0;
    out[n++] = "shape";
    for (int k = 0; k < FR_SHAPE_KEYS && shape->key[k].max; k++) out[n++] = shape->key[k].name;
    if (shape->make) out[n++] = "bandwidth";
    if (shape->make) out[n++] = "latency";
    out[n] = NULL;
}

/* ---- applying a shape ------------------------------------------------------------------------ */

/* A fabric begins where the links of the outermost level end, so whole numbers of these must
 * belong to a node. */
static fr_status apply_fabric(const struct fr_json *node, struct fr_fabric *fabric,
                              struct fr_levels *levels, struct fr_error *err) {
    struct fr_level *outer = &levels->level[levels->count - 1];
    int64_t node_ranks = levels->count > 1 ? outer[-1].ranks : outer->shared_by;
    double ports = 1;
    for (int k = 0; k < FR_SHAPE_KEYS && fabric->shape->key[k].max; k++) {
        double product = 1;
        for (int i = 0; i < fabric->count[k]; i++) product *= (double)fabric->value[k][i];
        if (product > ports) ports = product;
    }
    if (ports > FR_FABRIC_MAX)
        return fr_json_fail(node, err, "has more than %d ports", FR_FABRIC_MAX);
    if (node_ranks % outer->shared_by != 0)
        return fr_json_fail(node, err,
                            "needs links of level \"%s\" that belong to one node: %" PRId64
                            " ranks share one, a node has %" PRId64,
                            outer->name, outer->shared_by, node_ranks);
    fabric->per_node = node_ranks / outer->shared_by;
    if (fabric->rate_B_per_s <= 0) fabric->rate_B_per_s = outer->rate_B_per_s;
    const char *why = fabric->shape->make(fabric);
    if (why) return fr_json_fail(node, err, "shape \"%s\" %s", fabric->shape->name, why);
    if ((double)fabric->n_ports * (double)outer->shared_by > (double)FR_RANKS_MAX ||
        fabric->n_links > 64 * (int64_t)FR_FABRIC_MAX)
        return fr_json_fail(node, err, "is too large");
    if (fabric->n_ports % fabric->per_node != 0)
        return fr_json_fail(
            node, err, "has %" PRId64 " ports, no multiple of the %" PRId64 " links of a node",
            fabric->n_ports, fabric->per_node);
    outer->ranks = fabric->n_ports * outer->shared_by;
    levels->fabric = *fabric;
    return FR_OK;
}

static fr_status apply(const struct fr_json *node, struct fr_fabric *fabric,
                       struct fr_levels *levels, struct fr_error *err) {
    if (fabric->shape->make) return apply_fabric(node, fabric, levels, err);
    fabric->shape->reshape(levels);
    return FR_OK;
}

static fr_status check_required(const struct fr_json *node, const struct fr_fabric *fabric,
                                struct fr_error *err) {
    for (int k = 0; k < FR_SHAPE_KEYS && fabric->shape->key[k].max; k++)
        if (fabric->shape->key[k].required && !fabric->count[k])
            return fr_json_fail(node, err, "shape \"%s\" needs \"%s\"; write e.g. \"%s\"",
                                fabric->shape->name, fabric->shape->key[k].name,
                                fabric->shape->example);
    return FR_OK;
}

/* ---- nested boxes in a line ------------------------------------------------------------------ */

/* Links of a box of @p ranks ranks: those of the level of its name, else of the smallest level that held as many,
 * else of the outermost. */
static const struct fr_level *model_of(const struct fr_levels *old, const char *name,
                                       int64_t ranks) {
    int found = fr_levels_find(old, name), l = 0;
    if (found >= 0) return &old->level[found];
    while (l < old->count - 1 && old->level[l].ranks < ranks) l++;
    return &old->level[l];
}

/* "rack:4 node:18 gpu:4", outermost first: 4 racks of 18 nodes of 4 ranks.  A box of a word holds
 * what the words after it count; around the outermost lies the whole machine. */
static fr_status read_boxes(const struct fr_json *node, char *word[], int n,
                            struct fr_levels *levels, struct fr_error *err) {
    const struct fr_levels old = *levels;
    int64_t count[WORDS_MAX];
    double ranks = 1;
    if (n > FR_LEVEL_MAX)
        return fr_json_fail(node, err, "names %d levels; expected at most %d", n, FR_LEVEL_MAX);
    for (int w = 0; w < n; w++) {
        char *colon = strchr(word[w], ':'), *end = NULL;
        long long number = colon ? strtoll(colon + 1, &end, 10) : 0;
        if (!colon || colon == word[w] || end == colon + 1 || *end || number < 1 ||
            number > NUMBER_MAX || colon - word[w] >= (long)sizeof old.level[0].name)
            return fr_json_fail(node, err, "\"%s\" is no NAME:COUNT; write e.g. \"%s\"",
                                word[w], fr_shape_levels.example);
        *colon = '\0';
        count[w] = number;
        ranks *= (double)number;
        for (int v = 0; v < w; v++)
            if (strcmp(word[v], word[w]) == 0)
                return fr_json_fail(node, err, "names \"%s\" twice", word[w]);
    }
    if (ranks > (double)FR_RANKS_MAX) return fr_json_fail(node, err, "is too large");
    levels->count = n;
    for (int l = 0, w = n - 1; w >= 0; l++, w--) {
        struct fr_level *level = &levels->level[l];
        int64_t inside = l ? level[-1].ranks : 1;
        *level = w ? *model_of(&old, word[w - 1], inside * count[w]) : old.level[old.count - 1];
        if (level->ranks != inside * count[w] || level->segment % inside != 0)
            level->segment = 0; /* it was of another box */
        level->ranks = inside * count[w];
        if (w) snprintf(level->name, sizeof level->name, "%s", word[w - 1]);
        /* An adapter serves ranks of one box only. */
        if (l && level->shared_by > inside) level->shared_by = inside;
        if (!l) level->shared_by = 1;
    }
    const char *outermost = levels->level[n - 1].name;
    if (fr_levels_find(levels, outermost) < n - 1)
        return fr_json_fail(node, err,
                            "names \"%s\", as the cluster's outermost level, which lies around "
                            "all of it",
                            outermost);
    return FR_OK;
}

/* ---- a line ---------------------------------------------------------------------------------- */

static fr_status read_numbers(const struct fr_json *node, const char *word, char *text, int max,
                              int *count, int64_t *value, struct fr_error *err) {
    char *rest = NULL;
    for (char *one = strtok_r(text, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        char *end = NULL;
        long long number = strtoll(one, &end, 10);
        if (*end || number < 1 || number > NUMBER_MAX || *count == max)
            return fr_json_fail(node, err, "\"%s\": expected %s from 1 to %d", word,
                                max > 1 ? "numbers, as in 4,2," : "one number", NUMBER_MAX);
        value[(*count)++] = number;
    }
    return FR_OK;
}

static fr_status unknown_word(const struct fr_json *node, const struct fr_shape *shape,
                              const char *word, struct fr_error *err) {
    return fr_json_fail(node, err, "\"%s\" means nothing to shape \"%s\"; write e.g. \"%s\"",
                        word, shape->name, shape->example);
}

static fr_status read_word(const struct fr_json *node, char *word, struct fr_fabric *fabric,
                           struct fr_error *err) {
    char where[256], *equals = strchr(word, '=');
    if (!equals) return unknown_word(node, fabric->shape, word, err);
    *equals = '\0';
    fr_json_where(node, where, sizeof where);
    if (fabric->shape->make && strcmp(word, "bandwidth") == 0)
        return fr_quantity_parse(equals + 1, FR_QUANTITY_RATE, where, &fabric->rate_B_per_s,
                                 err);
    if (fabric->shape->make && strcmp(word, "latency") == 0)
        return fr_quantity_parse(equals + 1, FR_QUANTITY_TIME, where, &fabric->latency_s, err);
    for (int k = 0; k < FR_SHAPE_KEYS && fabric->shape->key[k].max; k++)
        if (strcmp(word, fabric->shape->key[k].name) == 0)
            return read_numbers(node, word, equals + 1, fabric->shape->key[k].max,
                                &fabric->count[k], fabric->value[k], err);
    return unknown_word(node, fabric->shape, word, err);
}

static fr_status check_quantities(const struct fr_json *node, const struct fr_fabric *fabric,
                                  struct fr_error *err) {
    if (fabric->rate_B_per_s < 0 || fabric->rate_B_per_s > 1e18 || fabric->latency_s < 0 ||
        fabric->latency_s > 3600)
        return fr_json_fail(node, err, "bandwidth or latency is out of range");
    return FR_OK;
}

static fr_status read_line(const struct fr_json *node, struct fr_levels *levels,
                           struct fr_error *err) {
    const char *text = NULL, *known[NAMES_MAX];
    char line[LINE_MAX_B], *word[WORDS_MAX], *rest = NULL;
    struct fr_fabric fabric = {0};
    int n = 0;
    FR_TRY(fr_json_text(node, &text, err));
    if ((size_t)snprintf(line, sizeof line, "%s", text) >= sizeof line)
        return fr_json_fail(node, err, "is too long");
    for (char *at = strtok_r(line, " \t", &rest); at; at = strtok_r(NULL, " \t", &rest)) {
        if (n == WORDS_MAX) return fr_json_fail(node, err, "has too many words");
        word[n++] = at;
    }
    if (n > 0 && strchr(word[0], ':')) return read_boxes(node, word, n, levels, err);
    for (int i = 0; n > 0 && fr_shapes[i]; i++)
        if (strcmp(word[0], fr_shapes[i]->name) == 0) fabric.shape = fr_shapes[i];
    if (!fabric.shape) {
        shape_names(known);
        const char *near = n ? fr_suggest(word[0], known) : NULL;
        return fr_json_fail(
            node, err,
            "expected a shape (forerun list shapes), as in \"%s\", or levels, as "
            "in \"%s\"%s%s",
            fr_shape_fat_tree.example, fr_shape_levels.example, near ? "; did you mean " : "",
            near ? near : "");
    }
    for (int i = 1; i < n; i++) FR_TRY(read_word(node, word[i], &fabric, err));
    FR_TRY(check_quantities(node, &fabric, err));
    FR_TRY(check_required(node, &fabric, err));
    return apply(node, &fabric, levels, err);
}

/* ---- an object ------------------------------------------------------------------------------- */

static fr_status read_values(const struct fr_json *node, struct fr_fabric *fabric,
                             struct fr_error *err) {
    for (int k = 0; k < FR_SHAPE_KEYS && fabric->shape->key[k].max; k++) {
        struct fr_json value = fr_json_member(node, fabric->shape->key[k].name);
        if (!fr_json_present(&value)) continue;
        fabric->count[k] = 1;
        if (!fr_json_is_array(&value)) {
            FR_TRY(fr_json_integer(&value, 1, NUMBER_MAX, &fabric->value[k][0], err));
            continue;
        }
        FR_TRY(fr_json_array(&value, 1, fabric->shape->key[k].max, err));
        fabric->count[k] = (int)fr_json_array_length(&value);
        for (int i = 0; i < fabric->count[k]; i++) {
            struct fr_json one = fr_json_element(&value, i);
            FR_TRY(fr_json_integer(&one, 1, NUMBER_MAX, &fabric->value[k][i], err));
        }
    }
    return FR_OK;
}

static fr_status read_object(const struct fr_json *node, struct fr_levels *levels,
                             struct fr_error *err) {
    const char *known[NAMES_MAX], *keys[FR_SHAPE_KEYS + 4];
    struct fr_fabric fabric = {0};
    int which = 0;
    shape_names(known);
    FR_TRY(fr_json_get_choice(node, "shape", true, known, &which, err));
    fabric.shape = fr_shapes[which];
    object_keys(fabric.shape, keys);
    FR_TRY(fr_json_object(node, keys, err));
    FR_TRY(read_values(node, &fabric, err));
    FR_TRY(fr_json_get_quantity(node, "bandwidth", false, FR_QUANTITY_RATE, 1, 1e18,
                                &fabric.rate_B_per_s, err));
    FR_TRY(fr_json_get_quantity(node, "latency", false, FR_QUANTITY_TIME, 0, 3600,
                                &fabric.latency_s, err));
    FR_TRY(check_required(node, &fabric, err));
    return apply(node, &fabric, levels, err);
}

fr_status fr_topology_read(const struct fr_json *node, struct fr_levels *levels,
                           struct fr_error *err) {
    if (!fr_json_present(node)) return FR_OK;
    if (fr_json_is_string(node)) return read_line(node, levels, err);
    if (fr_json_is_object(node)) return read_object(node, levels, err);
    return fr_json_fail(node, err,
                        "expected an object with a \"shape\", or a line such as \"%s\"",
                        fr_shape_fat_tree.example);
}
