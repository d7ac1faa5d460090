#include "app/completeness.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* Families that the later file lacks. */
struct lacking {
    const struct fr_json *now;
    char *words;
    size_t capacity, used;
    int n;
};

enum { DEPTH = 4, NAMED = 3 };

/* The member at @p path of @p depth keys. */
static bool has(const struct fr_json *root, const char *const *path, int depth) {
    struct fr_json node[DEPTH + 1] = {*root};
    for (int i = 0; i < depth; i++) {
        node[i + 1] = fr_json_member(&node[i], path[i]);
        if (!fr_json_present(&node[i + 1])) return false;
    }
    return true;
}

static void look_for(struct lacking *l, const char *const *path, int depth, const char *words) {
    if (has(l->now, path, depth) || l->n++ >= NAMED) return;
    fr_line_addf(l->words, l->capacity, &l->used, "%s%s %.40s", l->used ? ", " : "", words,
                 path[depth - 1]);
}

static void look_for_products(struct lacking *l, const struct fr_json *gemm) {
    static const char *const ways[] = {"from_memory", "adds", "transposed", NULL};
    for (const char *key = NULL; (key = fr_json_key_after(gemm, key)) != NULL;) {
        struct fr_json dtype = fr_json_member(gemm, key);
        look_for(l, (const char *const[]){"device", "gemm", key}, 3, "products of");
        for (int i = 0; ways[i]; i++) {
            struct fr_json way = fr_json_member(&dtype, ways[i]);
            if (fr_json_present(&way))
                look_for(l, (const char *const[]){"device", "gemm", key, ways[i]}, 4,
                         "products");
        }
    }
}

/* Was a meter read? */
static bool is_metered(const struct fr_json *root) {
    struct fr_json device = fr_json_member(root, "device"),
                   power = fr_json_member(&device, "power");
    const char *quality = fr_json_text_at(&power, "quality");
    return strcmp(quality, "measured") == 0 || strcmp(quality, "sampled") == 0;
}

/* Points of all residuals. */
static double points_of(const struct fr_json *node) {
    double sum = 0, own = fr_json_number_at(node, "points");
    if (own > 0) sum += own;
    if (fr_json_is_array(node))
        for (int64_t i = 0; i < fr_json_array_length(node); i++) {
            struct fr_json element = fr_json_element(node, i);
            sum += points_of(&element);
        }
    if (fr_json_is_object(node))
        for (const char *key = NULL; (key = fr_json_key_after(node, key)) != NULL;) {
            struct fr_json member = fr_json_member(node, key);
            sum += points_of(&member);
        }
    return sum;
}

bool fr_cluster_as_complete(const struct fr_json *then, const struct fr_json *now,
                            bool ended_early, char *lacks, size_t capacity) {
    static const char *const parts[] = {"working_sets", "clock", NULL};
    struct lacking l = {.now = now, .words = lacks, .capacity = capacity};
    struct fr_json device = fr_json_member(then, "device"),
                   gemm = fr_json_member(&device, "gemm"),
                   collectives = fr_json_member(then, "collectives");
    *lacks = '\0';
    if (fr_json_present(&gemm)) look_for_products(&l, &gemm);
    for (int i = 0; parts[i]; i++) {
        struct fr_json part = fr_json_member(&device, parts[i]);
        if (fr_json_present(&part))
            look_for(&l, (const char *const[]){"device", parts[i]}, 2, "the device's");
    }
    for (const char *key = NULL; (key = fr_json_key_after(&collectives, key)) != NULL;)
        look_for(&l, (const char *const[]){"collectives", key}, 2, "the collective");
    if (is_metered(then) && !is_metered(now))
        fr_line_addf(lacks, capacity, &l.used, "%sthe power that a meter read",
                     l.used ? ", " : "");
    if (l.n > NAMED) fr_line_addf(lacks, capacity, &l.used, " and %d more", l.n - NAMED);
    double had = points_of(then), has_now = points_of(now);
    if (l.used == 0 && ended_early && has_now < had)
        fr_line_addf(lacks, capacity, &l.used, "%.0f of %.0f points", had - has_now, had);
    return l.used == 0;
}
