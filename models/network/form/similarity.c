/* Measured tables carried to other rank counts by the growth of steps and bytes; see
 * models/network/similarity.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "models/network/comm.h"

enum { TABLES_MAX = 1024 };
static const double LOG2_MAX = 64;

static const char *const keys[] = {"form",   "level",     "message", "laws",
                                   "tables", "residuals", "domain",  NULL};
static const char *const law_keys[] = {"level", "steps", "bytes", "slow", "fast", NULL};
static const char *const table_keys[] = {"level", "ranks", "nodes",    "size",
                                         "unit",  "time",  "left_out", NULL};
static const char *const messages[] = {"total", NULL};
static const char *const units[] = {"s", "ms", "us", "ns", NULL};
static const double unit_s[] = {1, 1e-3, 1e-6, 1e-9};

static fr_status read_level(const struct fr_json *node, const struct fr_levels *levels,
                            int *level, struct fr_error *err) {
    struct fr_json named = fr_json_member(node, "level");
    const char *name = NULL;
    FR_TRY(fr_json_text(&named, &name, err));
    *level = fr_levels_find(levels, name);
    return *level < 0 ? fr_json_fail(&named, err, "names no level of this cluster") : FR_OK;
}

static fr_status read_law(const struct fr_json *node, const struct fr_levels *levels,
                          struct fr_similarity *s, bool seen[FR_SIMILARITY_LEVELS],
                          struct fr_error *err) {
    struct fr_similarity_law law = {0};
    int level = 0;
    FR_TRY(fr_json_object(node, law_keys, err));
    FR_TRY(read_level(node, levels, &level, err));
    FR_TRY(fr_json_get_choice(node, "steps", true, fr_steps_names, &law.steps, err));
    FR_TRY(fr_json_get_choice(node, "bytes", true, fr_bytes_names, &law.bytes, err));
    FR_TRY(fr_json_get_number(node, "slow", true, 0, LOG2_MAX, &law.slow, err));
    FR_TRY(fr_json_get_number(node, "fast", true, 0, LOG2_MAX, &law.fast, err));
    if (seen[level]) return fr_json_fail(node, err, "is the second law of its level");
    seen[level] = true;
    s->law[level] = law;
    return FR_OK;
}

static fr_status read_numbers(const struct fr_json *node, const char *key, int64_t count,
                              double min, double max, double scale, double *out,
                              struct fr_error *err) {
    struct fr_json list = fr_json_member(node, key);
    FR_TRY(fr_json_array(&list, count, count, err));
    for (int64_t i = 0; i < count; i++) {
        struct fr_json one = fr_json_element(&list, i);
        FR_TRY(fr_json_number(&one, min, max, &out[i], err));
        out[i] *= scale;
    }
    return FR_OK;
}

static int by_number(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return FR_ORDER(x, y);
}

/* The 90th percentile of the left-out errors: each inner size is predicted from its neighbours as if it had not been
 * measured.  It is the width of predictions between two sizes.  The ends have no neighbours on one side, so they have
 * no error.  Between order statistics the quantile is linear (type 7 of Hyndman and Fan, 1996). */
static double quantile_90(const double *left_out, int count) {
    double sorted[FR_SIMILARITY_SIZES_MAX];
    int n = 0;
    for (int i = 1; i + 1 < count; i++) sorted[n++] = left_out[i];
    if (n == 0) return 0;
    fr_sort_items(sorted, (size_t)n, sizeof *sorted, by_number);
    double at = 0.9 * (n - 1);
    int low = (int)at, high = (int)ceil(at);
    return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
}

static fr_status read_table(const struct fr_json *node, const struct fr_levels *levels,
                            struct fr_similarity_table *t, struct fr_error *err) {
    struct fr_json sizes = fr_json_member(node, "size"), nodes = fr_json_member(node, "nodes");
    int unit = 0;
    FR_TRY(fr_json_object(node, table_keys, err));
    FR_TRY(read_level(node, levels, &t->level, err));
    FR_TRY(fr_json_get_integer(node, "ranks", true, 2, FR_RANKS_MAX, &t->n_ranks, err));
    FR_TRY(fr_json_get_integer(node, "nodes", true, 1, t->n_ranks, &t->n_nodes, err));
    if ((t->level == 0) != (t->n_nodes == 1))
        return fr_json_fail(&nodes, err, "does not fit its level: the first holds one node");
    FR_TRY(fr_json_get_choice(node, "unit", true, units, &unit, err));
    FR_TRY(fr_json_array(&sizes, 1, FR_SIMILARITY_SIZES_MAX, err));
    size_t count = (size_t)fr_json_array_length(&sizes);
    t->count = (int)count;
    t->size_B = fr_calloc(count, sizeof *t->size_B);
    t->time_s = fr_calloc(count, sizeof *t->time_s);
    t->left_out = fr_calloc(count, sizeof *t->left_out);
    if (!t->size_B || !t->time_s || !t->left_out)
        return fr_json_fail(node, err, "does not fit in memory");
    FR_TRY(read_numbers(node, "size", t->count, 0, 1e18, 1, t->size_B, err));
    FR_TRY(read_numbers(node, "time", t->count, 1e-12, 1e15, unit_s[unit], t->time_s, err));
    for (int i = 1; i < t->count; i++)
        if (t->size_B[i] <= t->size_B[i - 1]) return fr_json_fail(&sizes, err, "must ascend");
    struct fr_json left_out = fr_json_member(node, "left_out");
    if (fr_json_present(&left_out))
        FR_TRY(read_numbers(node, "left_out", t->count, 0, LOG2_MAX, 1, t->left_out, err));
    t->left_out_90 = quantile_90(t->left_out, t->count);
    return FR_OK;
}

static int by_place(const void *x, const void *y) {
    const struct fr_similarity_table *a = x, *b = y;
    if (a->level != b->level) return FR_ORDER(a->level, b->level);
    if (a->n_ranks != b->n_ranks) return FR_ORDER(a->n_ranks, b->n_ranks);
    return FR_ORDER(a->n_nodes, b->n_nodes);
}

static fr_status read_tables(const struct fr_json *list, const struct fr_levels *levels,
                             const bool seen[FR_SIMILARITY_LEVELS], struct fr_similarity *s,
                             struct fr_error *err) {
    FR_TRY(fr_json_array(list, 1, TABLES_MAX, err));
    int count = (int)fr_json_array_length(list);
    s->tables = fr_calloc((size_t)count, sizeof *s->tables);
    if (!s->tables) return fr_json_fail(list, err, "does not fit in memory");
    while (s->n_tables < count) {
        struct fr_json node = fr_json_element(list, s->n_tables);
        struct fr_similarity_table *table = &s->tables[s->n_tables++];
        FR_TRY(read_table(&node, levels, table, err));
        if (!seen[table->level]) return fr_json_fail(&node, err, "is of a level without a law");
    }
    fr_sort_items(s->tables, (size_t)count, sizeof *s->tables, by_place);
    for (int i = 1; i < count; i++)
        if (by_place(&s->tables[i - 1], &s->tables[i]) == 0)
            return fr_json_fail(list, err,
                                "has two tables for %" PRId64 " ranks on %" PRId64 " nodes",
                                s->tables[i].n_ranks, s->tables[i].n_nodes);
    return FR_OK;
}

static fr_status read(const struct fr_json *object, const struct fr_levels *levels,
                      struct fr_price *price, struct fr_error *err) {
    struct fr_json laws = fr_json_member(object, "laws"),
                   tables = fr_json_member(object, "tables");
    bool seen[FR_SIMILARITY_LEVELS] = {false};
    int message = 0;
    FR_TRY(fr_json_object(object, keys, err));
    FR_TRY(fr_json_get_choice(object, "message", true, messages, &message, err));
    FR_TRY(fr_json_array(&laws, 1, FR_SIMILARITY_LEVELS, err));
    for (int64_t i = 0; i < fr_json_array_length(&laws); i++) {
        struct fr_json one = fr_json_element(&laws, i);
        FR_TRY(read_law(&one, levels, &price->similarity, seen, err));
    }
    return read_tables(&tables, levels, seen, &price->similarity, err);
}

static void write_numbers(struct fr_json_writer *w, const char *key, const double *numbers,
                          int count, double scale) {
    char text[32];
    fr_json_add_array(w, key);
    for (int i = 0; i < count; i++) {
        snprintf(text, sizeof text, "%.6g", numbers[i] * scale);
        fr_json_put_number(w, strtod(text, NULL));
    }
    fr_json_end_array(w);
}

/* Six digits are more than any timing has, and reading and writing a file again changes nothing after the first time. */
static void write(const struct fr_price *price, const struct fr_levels *levels,
                  struct fr_json_writer *w) {
    const struct fr_similarity *s = &price->similarity;
    fr_json_add_string(w, "message", "total");
    fr_json_add_array(w, "laws");
    for (int i = 0; i < s->n_tables; i++) {
        int level = s->tables[i].level;
        if (i > 0 && s->tables[i - 1].level == level) continue;
        fr_json_begin_object(w);
        fr_json_add_string(w, "level", levels->level[level].name);
        fr_json_add_string(w, "steps", fr_steps_names[s->law[level].steps]);
        fr_json_add_string(w, "bytes", fr_bytes_names[s->law[level].bytes]);
        fr_json_add_number(w, "slow", s->law[level].slow);
        fr_json_add_number(w, "fast", s->law[level].fast);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
    fr_json_add_array(w, "tables");
    for (int i = 0; i < s->n_tables; i++) {
        const struct fr_similarity_table *t = &s->tables[i];
        fr_json_begin_object(w);
        fr_json_add_string(w, "level", levels->level[t->level].name);
        fr_json_add_integer(w, "ranks", t->n_ranks);
        fr_json_add_integer(w, "nodes", t->n_nodes);
        fr_json_add_array(w, "size");
        for (int k = 0; k < t->count; k++) fr_json_put_number(w, t->size_B[k]);
        fr_json_end_array(w);
        fr_json_add_string(w, "unit", "us");
        write_numbers(w, "time", t->time_s, t->count, 1e6);
        write_numbers(w, "left_out", t->left_out, t->count, 1);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

static int64_t nodes_of(const struct fr_group *group) {
    int64_t per_node = group->ranks_per_node;
    return group->level == 0 ? 1 : (group->n_ranks + per_node - 1) / per_node;
}

static bool ask(const struct fr_price *price, const struct fr_group *group, double size_B,
                bool interval, struct fr_similarity_answer *answer) {
    return fr_similarity_ask(&price->similarity, group->level, group->n_ranks, nodes_of(group),
                             size_B, interval, answer);
}

/* The measured table, carried to this rank count; where none was measured at this distance, the links' closed form. A
 * prediction that no table encloses is marked, since its error was never seen. */
static double time_s(const struct fr_price *price, const struct fr_group *group, double size_B,
                     bool *extrapolated) {
    struct fr_similarity_answer answer = {0};
    bool known = ask(price, group, size_B, false, &answer);
    if (!known || !answer.measured) *extrapolated = true;
    return known ? answer.time_s : fr_comm_levels_s(price, group, size_B);
}

static bool measured(const struct fr_price *price, int level) {
    for (int i = 0; i < price->similarity.n_tables; i++)
        if ((price->similarity.tables[i].level == 0) == (level == 0)) return true;
    return false;
}

static bool interval(const struct fr_price *price, const struct fr_group *group, double size_B,
                     double *fast_log2, double *slow_log2) {
    struct fr_similarity_answer answer = {0};
    if (!ask(price, group, size_B, true, &answer)) return false;
    *fast_log2 = answer.fast_log2;
    *slow_log2 = answer.slow_log2;
    return true;
}

const struct fr_form fr_form_similarity = {
    .name = "similarity",
    .equation = "t = F g(n B / F), g measured, F steps and B bytes of p ranks",
    .source = "our derivation, models/network/similarity.h; measured, fitted by forerun fit",
    .read = read,
    .write = write,
    .time_s = time_s,
    .measured = measured,
    .interval = interval,
};
