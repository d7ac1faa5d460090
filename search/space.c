#include "search/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/range.h"

const char *const fr_vary_names[] = {
#define FR_VARY_NAME(code, name) name,
    FR_VARY_LIST(FR_VARY_NAME)
#undef FR_VARY_NAME
        NULL};

/* "tensor,phantom" into indices of @p known, each once. */
static fr_status parse_names(const char *text, const char *what, const char *const *known,
                             struct fr_dimension *d, struct fr_error *err) {
    size_t n = 0;
    while (known[n]) n++;
    d->values = fr_calloc(n, sizeof *d->values);
    if (!d->values) return fr_fail(err, FR_ERR_NOMEM, "--vary", "out of memory");
    for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char name[64];
        size_t i = 0, seen = 0;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        while (i < n && strcmp(known[i], name) != 0) i++;
        if (i == n) {
            const char *near = fr_suggest(name, known);
            return fr_fail(err, FR_ERR_USAGE, "--vary", "unknown %s \"%s\"%s%s%s", what, name,
                           near ? "; did you mean \"" : "; see forerun list", near ? near : "",
                           near ? "\"?" : "");
        }
        while (seen < d->count && d->values[seen] != (int64_t)i) seen++;
        if (seen == d->count) d->values[d->count++] = (int64_t)i;
    }
    return FR_OK;
}

static fr_status parse_schedules(const char *text, struct fr_dimension *d,
                                 struct fr_error *err) {
    const char *names[16] = {NULL};
    for (int i = 0; fr_schedules[i]; i++) names[i] = fr_schedules[i]->name;
    return parse_names(text, "schedule", names, d, err);
}

/* A placement in one number: seed, order of axes, row. */
static int64_t pack_placement(const struct fr_placement_choice *c) {
    int64_t row = 0;
    while (fr_placements[row] != c->row) row++;
    return (((int64_t)c->seed * 4 + c->order[2]) * 4 + c->order[1]) * 64 + c->order[0] * 16 +
           row;
}

static struct fr_placement_choice unpack_placement(int64_t packed) {
    struct fr_placement_choice c = fr_placement_default();
    c.row = fr_placements[packed % 16];
    for (int i = 0; i < FR_MESH_AXES; i++) c.order[i] = packed / 16 >> 2 * i & 3;
    c.seed = (uint64_t)(packed / 1024);
    return c;
}

/* "linear,round-robin,by-axis:tp,optimised". */
static fr_status parse_placements(const char *text, struct fr_dimension *d,
                                  struct fr_error *err) {
    size_t most = 1;
    for (const char *at = text; *at; at++) most += *at == ',';
    d->values = fr_calloc(most, sizeof *d->values);
    if (!d->values) return fr_fail(err, FR_ERR_NOMEM, "--vary", "out of memory");
    for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        struct fr_placement_choice choice;
        int64_t *owned = NULL;
        char name[64];
        size_t seen = 0;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        if (strncmp(name, "file", 4) == 0)
            return fr_fail(
                err, FR_ERR_USAGE, "--vary",
                "a placement from a file fits one rank count; use --set placement=%s", name);
        if (fr_placement_parse(name, "--vary", &choice, &owned, err) != FR_OK) {
            if (err) err->status = FR_ERR_USAGE;
            return FR_ERR_USAGE;
        }
        if (choice.seed > UINT32_MAX)
            return fr_fail(err, FR_ERR_USAGE, "--vary", "%s: seeds go up to 2^32 here", name);
        int64_t packed = pack_placement(&choice);
        while (seen < d->count && d->values[seen] != packed) seen++;
        if (seen == d->count) d->values[d->count++] = packed;
    }
    return FR_OK;
}

static const char *const embeddings[] = {"separate", "fused", NULL};
static const char *const switches[] = {"false", "true", NULL};
static const char *const overlaps[] = {"none", "gradient", NULL};

static fr_status parse_vary(const char *text, struct fr_space *space, struct fr_error *err) {
    const char *start = strncmp(text, "plan.", 5) == 0 ? text + 5 : text,
               *equals = strchr(start, '=');
    char key[64];
    int which = 0;
    if (!equals || equals == start)
        return fr_fail(err, FR_ERR_USAGE, "--vary", "\"%.64s\" is not of the form KEY=RANGE",
                       text);
    snprintf(key, sizeof key, "%.*s", (int)(equals - start), start);
    while (which < FR_VARY_COUNT && strcmp(fr_vary_names[which], key) != 0) which++;
    if (which == FR_VARY_COUNT) {
        const char *near = fr_suggest(key, fr_vary_names);
        return fr_fail(err, FR_ERR_USAGE, "--vary", "\"%s\" cannot be varied; %s%s%s", key,
                       near ? "did you mean \""
                            : "known: method, dp, pp, tp, schedule, chunks, ghost, "
                              "global_batch, micro_batch, placement, common, ...",
                       near ? near : "", near ? "\"?" : "");
    }
    for (int i = 0; i < space->n_dimensions; i++)
        if (space->dimension[i].key == which)
            return fr_fail(err, FR_ERR_USAGE, "--vary", "\"%s\" is varied twice", key);
    struct fr_dimension *d = &space->dimension[space->n_dimensions++];
    d->key = which;
    if (which == FR_VARY_DP) space->dp_given = true;
    if (which == FR_VARY_TP) space->tp_given = true;
    if (which == FR_VARY_METHOD)
        return parse_names(equals + 1, "method", fr_method_names, d, err);
    if (which == FR_VARY_SCHEDULE) return parse_schedules(equals + 1, d, err);
    if (which == FR_VARY_PLACEMENT) return parse_placements(equals + 1, d, err);
    if (which == FR_VARY_COMMON)
        return parse_names(equals + 1, "common", fr_common_names, d, err);
    if (which == FR_VARY_EXCHANGE)
        return parse_names(equals + 1, "exchange", fr_exchange_names, d, err);
    if (which == FR_VARY_BRANCHES)
        return parse_names(equals + 1, "branches", fr_branches_names, d, err);
    if (which == FR_VARY_SCOPE) return parse_names(equals + 1, "scope", fr_scope_names, d, err);
    if (which == FR_VARY_RECOMPUTE)
        return parse_names(equals + 1, "recompute", fr_recompute_names, d, err);
    if (which == FR_VARY_SEQUENCE)
        return parse_names(equals + 1, "sequence_parallel", switches, d, err);
    if (which == FR_VARY_OVERLAP) return parse_names(equals + 1, "overlap", overlaps, d, err);
    if (which == FR_VARY_EMBEDDING)
        return parse_names(equals + 1, "embedding", embeddings, d, err);
    int64_t least = which == FR_VARY_GRADIENT_STAGES ? 0 : 1;
    return fr_range_parse(equals + 1, false, least, "--vary", &d->values, &d->count, err);
}

fr_status fr_space_make(const char *ranks, const char *const *vary, int n_vary,
                        const struct fr_plan *base, bool dp_set, bool tp_set,
                        struct fr_space *space, struct fr_error *err) {
    *space = (struct fr_space){.base = *base, .dp_given = dp_set, .tp_given = tp_set};
    FR_TRY(fr_range_parse(ranks, false, 1, "--ranks", &space->ranks, &space->n_ranks, err));
    for (int i = 0; i < n_vary; i++) FR_TRY(parse_vary(vary[i], space, err));
    double size = (double)space->n_ranks;
    for (int i = 0; i < space->n_dimensions; i++) size *= (double)space->dimension[i].count;
    if (size > 1e12)
        return fr_fail(err, FR_ERR_USAGE, "--vary", "makes %g configurations; at most 1e12",
                       size);
    space->size = (int64_t)size;
    return FR_OK;
}

void fr_space_free(struct fr_space *space) {
    free(space->ranks);
    for (int i = 0; i < space->n_dimensions; i++) free(space->dimension[i].values);
    *space = (struct fr_space){0};
}

static void set_key(struct fr_plan *plan, int key, int64_t value) {
    switch (key) {
    case FR_VARY_METHOD:
        plan->method = fr_methods[value];
        break;
    case FR_VARY_DP:
        plan->dp = value;
        break;
    case FR_VARY_PP:
        plan->pp = value;
        break;
    case FR_VARY_TP:
        plan->tp = value;
        break;
    case FR_VARY_SCHEDULE:
        plan->schedule = fr_schedules[value];
        break;
    case FR_VARY_CHUNKS:
        plan->chunks = value;
        break;
    case FR_VARY_RECOMPUTE:
        plan->recompute = (fr_recompute)value;
        break;
    case FR_VARY_SEQUENCE:
        plan->sequence_parallel = value == 1;
        break;
    case FR_VARY_OVERLAP: /* buckets of the plan's size, or the default */
        if (value == 0)
            plan->bucket_B = 0;
        else if (plan->bucket_B <= 0)
            plan->bucket_B = FR_BUCKET_B;
        break;
    case FR_VARY_SCOPE:
        plan->compression.scope = (fr_scope)value;
        break;
    case FR_VARY_BACKWARD_RANK:
        plan->compression.backward_rank = value;
        break;
    case FR_VARY_EMBEDDING:
        plan->compression.fused_embedding = value == 1;
        break;
    case FR_VARY_GRADIENT_STAGES:
        plan->compression.gradient_stages = value;
        break;
    case FR_VARY_GRADIENT_RANK:
        plan->compression.gradient_rank = value;
        break;
    case FR_VARY_GHOST:
        plan->ghost = value;
        break;
    case FR_VARY_GLOBAL_BATCH:
        plan->global_batch = value;
        break;
    case FR_VARY_MICRO_BATCH:
        plan->micro_batch = value;
        break;
    case FR_VARY_PLACEMENT:
        plan->placement = unpack_placement(value);
        break;
    case FR_VARY_COMMON:
        plan->common_subgrid = value == 1;
        break;
    case FR_VARY_EXCHANGE:
        plan->gather_all = value == 1;
        break;
    case FR_VARY_BRANCHES:
        plan->branches = (fr_branches)value;
        break;
    default:
        break;
    }
}

static bool of_subgraph(int key) {
    return key == FR_VARY_COMMON || key == FR_VARY_EXCHANGE || key == FR_VARY_BRANCHES;
}

/* Fill the axis that nobody gave; false when the ranks do not divide so. */
static bool fill_mesh(const struct fr_space *space, int64_t ranks, struct fr_plan *plan) {
    if (space->dp_given && space->tp_given) return fr_plan_ranks(plan) == ranks;
    int64_t *left = space->tp_given ? &plan->dp : &plan->tp;
    *left = 1;
    int64_t taken = fr_plan_ranks(plan);
    if (ranks % taken != 0) return false;
    *left = ranks / taken;
    return true;
}

bool fr_space_plan(const struct fr_space *space, int64_t index, struct fr_plan *plan,
                   bool *mesh_fits) {
    bool first_ghost = true, first_variant = true;
    *plan = space->base;
    for (int i = space->n_dimensions; i-- > 0;) {
        const struct fr_dimension *d = &space->dimension[i];
        int64_t count = (int64_t)d->count, digit = index % count;
        index /= count;
        set_key(plan, d->key, d->values[digit]);
        if (d->key == FR_VARY_GHOST) first_ghost = digit == 0;
        if (of_subgraph(d->key)) first_variant = first_variant && digit == 0;
    }
    if (plan->method != &fr_method_subgraph && !first_variant) return false;
    if (!plan->method->uses_ghost) {
        if (!first_ghost) return false;
        plan->ghost = 0;
    }
    *mesh_fits = fill_mesh(space, space->ranks[index], plan);
    return true;
}

static bool any_method(const struct fr_space *space, const struct fr_method *wanted) {
    for (int i = 0; i < space->n_dimensions; i++) {
        const struct fr_dimension *d = &space->dimension[i];
        if (d->key != FR_VARY_METHOD) continue;
        for (size_t v = 0; v < d->count; v++) {
            const struct fr_method *method = fr_methods[d->values[v]];
            if (wanted ? method == wanted : method->uses_ghost) return true;
        }
        return false;
    }
    return wanted ? space->base.method == wanted : space->base.method->uses_ghost;
}

bool fr_space_has_ghost(const struct fr_space *space) { return any_method(space, NULL); }

bool fr_space_has_method(const struct fr_space *space, const struct fr_method *method) {
    return any_method(space, method);
}
