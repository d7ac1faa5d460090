#include "topology/levels.h"

#include <inttypes.h>
#include <string.h>

static const char *const level_keys[] = {"name",      "ranks",     "segment", "latency",
                                         "bandwidth", "shared_by", "power",   "measured",
                                         "link",      "mesh",      NULL};
static const char *const measured_keys[] = {"latency", "bandwidth", "shared_by", NULL};
static const char *const power_keys[] = {"idle",          "busy",   "efficiency", "switches",
                                         "switches_idle", "source", NULL};

static fr_status power_read(const struct fr_json *object, struct fr_level_power *power,
                            struct fr_error *err) {
    struct fr_json busy = fr_json_member(object, "busy");
    char source[512];
    *power = (struct fr_level_power){.efficiency = 1};
    if (!fr_json_present(object)) return FR_OK;
    power->known = true;
    FR_TRY(fr_json_object(object, power_keys, err));
    FR_TRY(fr_json_get_string(object, "source", false, source, sizeof source, err));
    FR_TRY(fr_json_get_quantity(object, "idle", false, FR_QUANTITY_POWER, 0, 1e9,
                                &power->idle_W, err));
    power->busy_W = power->idle_W;
    FR_TRY(fr_json_get_quantity(object, "busy", false, FR_QUANTITY_POWER, 0, 1e9,
                                &power->busy_W, err));
    FR_TRY(fr_json_get_number(object, "efficiency", false, 0.1, 1, &power->efficiency, err));
    FR_TRY(fr_json_get_quantity(object, "switches", false, FR_QUANTITY_POWER, 0, 1e9,
                                &power->switches_W, err));
    FR_TRY(
        fr_json_get_number(object, "switches_idle", false, 0, 1, &power->switches_idle, err));
    if (power->busy_W < power->idle_W)
        return fr_json_fail(&busy, err, "is %.6g W; expected at least the %.6g W of \"idle\"",
                            power->busy_W, power->idle_W);
    return FR_OK;
}

/* Links over which the file's forms were measured; values that it does not state are the present ones. */
static fr_status measured_read(const struct fr_json *object, struct fr_level *level,
                               struct fr_error *err) {
    double rate_B_per_s = level->rate_B_per_s;
    int64_t shared_by = level->shared_by;
    level->measured.latency_s = level->latency_s;
    if (fr_json_present(object)) {
        FR_TRY(fr_json_object(object, measured_keys, err));
        FR_TRY(fr_json_get_quantity(object, "latency", false, FR_QUANTITY_TIME, 0, 3600,
                                    &level->measured.latency_s, err));
        FR_TRY(fr_json_get_quantity(object, "bandwidth", false, FR_QUANTITY_RATE, 1, 1e18,
                                    &rate_B_per_s, err));
        FR_TRY(
            fr_json_get_integer(object, "shared_by", false, 1, FR_RANKS_MAX, &shared_by, err));
    }
    level->measured.s_per_B =
        (double)shared_by / rate_B_per_s / (level->link ? level->link->share : 1);
    return FR_OK;
}

static fr_status level_read(const struct fr_json *node, const struct fr_level *below,
                            struct fr_level *level, struct fr_error *err) {
    struct fr_json ranks = fr_json_member(node, "ranks"),
                   segment = fr_json_member(node, "segment");
    level->shared_by = 1;
    FR_TRY(fr_json_object(node, level_keys, err));
    FR_TRY(fr_json_get_string(node, "name", true, level->name, sizeof level->name, err));
    FR_TRY(fr_json_get_integer(node, "ranks", true, 1, FR_RANKS_MAX, &level->ranks, err));
    FR_TRY(fr_json_get_integer(node, "segment", false, 1, FR_RANKS_MAX, &level->segment, err));
    FR_TRY(fr_json_get_quantity(node, "latency", true, FR_QUANTITY_TIME, 0, 3600,
                                &level->latency_s, err));
    FR_TRY(fr_json_get_quantity(node, "bandwidth", true, FR_QUANTITY_RATE, 1, 1e18,
                                &level->rate_B_per_s, err));
    FR_TRY(
        fr_json_get_integer(node, "shared_by", false, 1, FR_RANKS_MAX, &level->shared_by, err));
    struct fr_json link = fr_json_member(node, "link");
    int class = 0;
    FR_TRY(fr_json_get_choice(node, "link", false, fr_link_class_names, &class, err));
    level->link = fr_json_present(&link) ? &fr_link_classes[class] : NULL;
    struct fr_json power = fr_json_member(node, "power"),
                   measured = fr_json_member(node, "measured");
    FR_TRY(power_read(&power, &level->power, err));
    FR_TRY(measured_read(&measured, level, err));
    if (below && (level->ranks % below->ranks != 0))
        return fr_json_fail(&ranks, err,
                            "is %" PRId64 "; expected a multiple of the %" PRId64
                            " ranks of level \"%s\" inside it",
                            level->ranks, below->ranks, below->name);
    if (fr_json_present(&segment) &&
        (level->segment > level->ranks || (below && level->segment % below->ranks != 0)))
        return fr_json_fail(&segment, err,
                            "is %" PRId64 "; expected 1 to the %" PRId64
                            " ranks of the unit, a multiple of the %" PRId64
                            " that a unit inside it holds",
                            level->segment, level->ranks, below ? below->ranks : 1);
    /* A link leaves what the level inside holds; at the innermost level, the level itself. */
    struct fr_json shared = fr_json_member(node, "shared_by");
    const struct fr_level *inside = below ? below : level;
    if (level->shared_by > inside->ranks)
        return fr_json_fail(&shared, err,
                            "is %" PRId64 "; expected 1 to %" PRId64
                            ", the ranks of level \"%s\" that can share a link",
                            level->shared_by, inside->ranks, inside->name);
    return FR_OK;
}

fr_status fr_levels_read(const struct fr_json *array, struct fr_levels *levels,
                         struct fr_error *err) {
    FR_TRY(fr_json_array(array, 1, FR_LEVEL_MAX, err));
    levels->count = (int)fr_json_array_length(array);
    for (int l = 0; l < levels->count; l++) {
        struct fr_json node = fr_json_element(array, l);
        FR_TRY(level_read(&node, l ? &levels->level[l - 1] : NULL, &levels->level[l], err));
        struct fr_json mesh = fr_json_member(&node, "mesh");
        if (l == 0)
            FR_TRY(fr_pair_links_read(&mesh, levels->level[0].ranks, &levels->mesh, err));
        else if (fr_json_present(&mesh))
            return fr_json_fail(&mesh, err, "belongs to the innermost level");
        if (fr_levels_find(levels, levels->level[l].name) < l) {
            struct fr_json name = fr_json_member(&node, "name");
            return fr_json_fail(&name, err, "\"%s\" names two levels", levels->level[l].name);
        }
    }
    return FR_OK;
}

int64_t fr_levels_capacity(const struct fr_levels *levels) {
    return levels->level[levels->count - 1].ranks;
}

/* ---- what a job takes -------------------------------------------------------------------------- */

/* Ranks that a job of n takes of each unit that gives `all`, made of units that give `inside` of `whole`. */
static int64_t part_of_unit(const struct fr_level *level, int64_t all, int64_t inside,
                            int64_t whole, int64_t n, fr_units units) {
    int64_t part = all;
    if (n <= all) return all;
    if (units == FR_UNITS_SEGMENTS)
        return level->segment && level->segment < level->ranks ? level->segment / whole * inside
                                                               : all;
    while (n % part != 0) part -= inside;
    return part;
}

static int64_t least_divisor(int64_t n, int64_t from) {
    while (n % from != 0) from++;
    return from;
}

/* Links that `shared_by` of a unit's ranks hang on, when a job takes fewer of it: the innermost unit that has a
 * link of its own deals its ranks to all its links. */
static int64_t shared_by(const struct fr_levels *levels, const struct fr_levels *own, int l) {
    int64_t all = levels->level[l].shared_by;
    int k = 0;
    while (k < l - 1 && levels->level[k].ranks < all) k++;
    if (all == 1 || own->level[k].ranks == levels->level[k].ranks) return all;
    int64_t ranks = own->level[k].ranks, links = (levels->level[k].ranks + all - 1) / all;
    return least_divisor(ranks, (ranks + links - 1) / links);
}

/* Ranks that a job of n takes of a unit of level l, made of units that give `inside` of `whole`. */
static int64_t ranks_taken(const struct fr_levels *levels, int l, int64_t inside, int64_t whole,
                           int64_t n, fr_units units) {
    const struct fr_level *level = &levels->level[l];
    int64_t all = level->ranks / whole * inside;
    return l < levels->count - 1 ? part_of_unit(level, all, inside, whole, n, units) : all;
}

struct fr_levels fr_levels_take(const struct fr_levels *levels, int64_t n_ranks,
                                fr_units units) {
    struct fr_levels own = *levels;
    int64_t whole = 1, inside = 1;
    bool fewer = false;
    for (int l = 0; l < own.count; l++) {
        struct fr_level *level = &own.level[l];
        int64_t had = level->ranks;
        if (!level->holds) level->holds = had;
        level->ranks = inside = ranks_taken(levels, l, inside, whole, n_ranks, units);
        whole = had;
        level->segment = 0;
        fewer = fewer || level->ranks < had;
    }
    for (int l = 0; fewer && l < own.count; l++)
        own.level[l].shared_by = shared_by(levels, &own, l);
    return own;
}

int64_t fr_levels_capacity_for(const struct fr_levels *levels, int64_t n_ranks,
                               fr_units units) {
    int64_t whole = 1, inside = 1;
    for (int l = 0; l < levels->count; l++) {
        inside = ranks_taken(levels, l, inside, whole, n_ranks, units);
        whole = levels->level[l].ranks;
    }
    return inside;
}

int64_t fr_levels_largest(const struct fr_levels *levels) {
    int64_t most = 0, whole = 1, inside = 1;
    for (int l = 0; l < levels->count; l++) {
        const struct fr_level *level = &levels->level[l];
        int64_t all = level->ranks / whole * inside;
        if (all > most) most = all;
        inside = part_of_unit(level, all, inside, whole, all + 1, FR_UNITS_SEGMENTS);
        whole = level->ranks;
    }
    return most;
}

int64_t fr_levels_units(const struct fr_levels *levels, int l, int64_t n_ranks, int64_t *last) {
    int64_t ranks = levels->level[l].ranks, units = (n_ranks + ranks - 1) / ranks;
    *last = n_ranks - (units - 1) * ranks;
    return units;
}

/* ---- where ranks meet ---------------------------------------------------------------------------- */

int fr_levels_spanning(const struct fr_levels *levels, int64_t n_ranks, int64_t stride) {
    int l = 0;
    while (l < levels->count - 1 && (n_ranks - 1) * stride >= levels->level[l].ranks) l++;
    return l;
}

int fr_levels_between(const struct fr_levels *levels, int64_t a, int64_t b) {
    int l = 0;
    while (l < levels->count - 1 && a / levels->level[l].ranks != b / levels->level[l].ranks)
        l++;
    return l;
}

int64_t fr_levels_members(const struct fr_levels *levels, int l, int64_t n_ranks,
                          int64_t stride) {
    int64_t members = (levels->level[l].ranks + stride - 1) / stride;
    return members < n_ranks ? members : n_ranks;
}

double fr_level_rate_B_per_s(const struct fr_level *level) {
    return level->rate_B_per_s * (level->link ? level->link->share : 1);
}

double fr_level_s_per_B(const struct fr_levels *levels, int l) {
    return (double)levels->level[l].shared_by / fr_level_rate_B_per_s(&levels->level[l]);
}

struct fr_link_ratio fr_level_changed(const struct fr_levels *levels, int l) {
    const double least = 1e-6; /* of a latency that was taken away */
    const struct fr_link_cost *measured = &levels->level[l].measured;
    double latency_s = levels->level[l].latency_s;
    struct fr_link_ratio ratio = {1, 1};
    if (measured->latency_s > 0) ratio.latency = latency_s / measured->latency_s;
    if (measured->s_per_B > 0) ratio.per_byte = fr_level_s_per_B(levels, l) / measured->s_per_B;
    if (ratio.latency < least) ratio.latency = least;
    return ratio;
}

int fr_levels_node(const struct fr_levels *levels) {
    int node = fr_levels_find(levels, "node");
    return node < 0 ? 0 : node;
}

int fr_levels_near(const struct fr_levels *levels) {
    return strcmp(levels->level[0].name, "package") == 0 ? fr_levels_node(levels) : 0;
}

int fr_levels_find(const struct fr_levels *levels, const char *name) {
    for (int l = 0; l < levels->count; l++)
        if (strcmp(levels->level[l].name, name) == 0) return l;
    return -1;
}
