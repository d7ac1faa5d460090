#include "topology/communicator.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "topology/route.h"

static void worse(struct fr_link_cost *cost, struct fr_link_cost other) {
    if (other.latency_s > cost->latency_s) cost->latency_s = other.latency_s;
    if (other.s_per_B > cost->s_per_B) cost->s_per_B = other.s_per_B;
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

int64_t fr_communicator_slot(const struct fr_communicator *c, int64_t g, int64_t i) {
    int64_t rank =
        c->first + g / c->stride * c->stride * c->n_ranks + g % c->stride + i * c->stride;
    return c->slot ? c->slot[rank] : rank;
}

/* ---- closed form: levels without a fabric ---------------------------------------------------- */

/* Ranks, of p G of them, that hang on the busiest link of B ranks. */
static int64_t on_a_link(int64_t shared_by, int64_t p, int64_t stride, int64_t groups) {
    if (groups >= stride) return smaller(shared_by, groups / stride * stride * p);
    if (stride >= shared_by) return smaller(groups, shared_by);
    return smaller((shared_by + stride - 1) / stride, p) * groups;
}

/* Messages on the busiest link of level l when each member sends to the next: of a unit below it
 * only the last member of each communicator has its next one elsewhere. */
static int64_t ring_load(const struct fr_levels *levels, int l, int64_t p, int64_t stride,
                         int64_t groups) {
    int64_t below = l ? levels->level[l - 1].ranks : 1, shared_by = levels->level[l].shared_by;
    int64_t inside = fr_levels_members(levels, l, p, stride);
    int64_t active = on_a_link(shared_by, p, stride, groups), span = p * stride;
    if (inside == (l ? fr_levels_members(levels, l - 1, p, stride) : 1)) return 0;
    if (stride >= below) return active;
    int64_t leaving = smaller(stride, groups) * smaller(shared_by, 1 + (shared_by - 1) / below);
    if (span % below != 0 && groups > stride)
        leaving *= 2; /* the end of one, the next's start */
    return smaller(leaving, active);
}

/* Members of the least full node, in units of level 0 that begin with a member.  The last node takes the rest.  Those
 * between the first and the last have one fewer where the stride does not divide them. */
static void count_nodes(const struct fr_levels *levels, int64_t p, int64_t stride,
                        struct fr_group *group) {
    int64_t node = levels->level[0].ranks, last = (p - 1) * stride / node;
    if (stride >= node) {
        group->nodes = p;
        group->fewest = 1;
        return;
    }
    group->nodes = last + 1;
    group->fewest = p - (last * node + stride - 1) / stride;
    if (last > 0) group->fewest = smaller(group->fewest, group->ranks_per_node);
    if (last > 1) group->fewest = smaller(group->fewest, node / stride);
}

/* The software that runs the collectives of a group whose level is known. */
static void take_classes(const struct fr_levels *levels, struct fr_group *group) {
    group->inside = levels->level[0].link;
    group->between = levels->level[group->level].link;
    group->hops_inside = fr_level_changed(levels, 0).latency;
    group->hops_between = fr_level_changed(levels, group->level).latency;
}

static struct fr_group closed(const struct fr_levels *levels, int64_t p, int64_t stride,
                              int64_t groups) {
    int level = fr_levels_spanning(levels, p, stride);
    struct fr_group group = {.n_ranks = p,
                             .ranks_per_node = fr_levels_members(levels, 0, p, stride),
                             .level = level,
                             .changed = fr_level_changed(levels, level)};
    count_nodes(levels, p, stride, &group);
    take_classes(levels, &group);
    for (int l = 0; l <= level; l++) {
        const struct fr_level *at = &levels->level[l];
        double active = (double)on_a_link(at->shared_by, p, stride, groups);
        double rate_B_per_s = fr_level_rate_B_per_s(at);
        if (l == 0)
            rate_B_per_s /= fr_pair_links_worst(&levels->mesh, stride, group.ranks_per_node);
        struct fr_link_cost all = {at->latency_s, active / rate_B_per_s},
                            ring = {at->latency_s,
                                    (double)ring_load(levels, l, p, stride, groups) /
                                        rate_B_per_s};
        int64_t below = l ? fr_levels_members(levels, l - 1, p, stride) : 1;
        if (l == 0) group.inner = all;
        if (p > 1 && fr_levels_members(levels, l, p, stride) == below)
            continue; /* no messages */
        worse(&group.outer, all);
        worse(&group.ring, ring);
        if (l > 0) worse(&group.rails, all);
    }
    return group;
}

/* Does one of the two divide the other? */
static bool divides(int64_t a, int64_t b) { return a % b == 0 || b % a == 0; }

bool fr_communicator_regular(const struct fr_levels *levels, const struct fr_communicator *c) {
    int64_t span = c->n_ranks * c->stride;
    if (levels->fabric.shape || c->slot || c->first) return false;
    if (c->n_groups > c->stride && c->n_groups % c->stride != 0) return false;
    for (int l = 0; l < levels->count; l++) {
        const struct fr_level *level = &levels->level[l];
        bool all = l == levels->count - 1; /* of the outermost level there is one unit */
        if (!divides(level->shared_by, c->stride)) return false;
        if (!all && (!divides(level->ranks, c->stride) || !divides(level->ranks, span)))
            return false;
        if (l && level->shared_by > levels->level[l - 1].ranks) return false;
    }
    return true;
}

/* ---- counting -------------------------------------------------------------------------------- */

struct counter {
    const struct fr_levels *levels;
    const struct fr_communicator *c;
    int64_t n_links;
    int64_t first[FR_LEVEL_MAX + 1]; /* link of each level, then of the fabric */
    int32_t *load;                   /* [n_links], zero between uses */
    int32_t most[FR_LEVEL_MAX + 1];  /* of load, by level and fabric; likewise */
    double slowdown;                 /* of level 0 by a mesh that the members use in part */
};

/* Time per byte on the busiest link; loads are zero again. */
static double busiest_s_per_B(struct counter *k) {
    double busiest = 0;
    for (int l = 0; l <= k->levels->count; l++) {
        if (k->most[l] == 0) continue;
        double rate_B_per_s =
            fr_link_at(k->levels, k->first[l]).rate_B_per_s / (l ? 1 : k->slowdown);
        if (k->most[l] / rate_B_per_s > busiest) busiest = k->most[l] / rate_B_per_s;
    }
    memset(k->load, 0, (size_t)k->n_links * sizeof *k->load);
    memset(k->most, 0, sizeof k->most);
    return busiest;
}

/* One message more on a link of level @p l. */
static void count_on(struct counter *k, int l, int64_t link) {
    int32_t load = ++k->load[link];
    if (load > k->most[l]) k->most[l] = load;
}

/* The level of a link, or behind them the fabric. */
static int level_of(const struct counter *k, int64_t link) {
    int l = k->levels->count;
    while (link < k->first[l]) l--;
    return l;
}

/* Up from one and down to the other, across the level where they meet (topology/route.h). */
static double count_across(struct counter *k, int64_t a, int64_t b) {
    int l = fr_levels_between(k->levels, a, b);
    const struct fr_level *level = &k->levels->level[l];
    count_on(k, l, k->first[l] + 2 * (a / level->shared_by));
    count_on(k, l, k->first[l] + 2 * (b / level->shared_by) + 1);
    return level->latency_s;
}

/* A message between slots more; the longest latency so far. */
static void count_message(struct counter *k, int64_t a, int64_t b, double *latency_s) {
    int64_t links[FR_ROUTE_MAX];
    if (!k->levels->fabric.shape) {
        double across_s = a == b ? 0 : count_across(k, a, b);
        if (across_s > *latency_s) *latency_s = across_s;
        return;
    }
    int n = fr_route(k->levels, a, b, links);
    for (int h = 0; h < n; h++) count_on(k, level_of(k, links[h]), links[h]);
    double this_s = n ? fr_route_latency_s(k->levels, links, n) : 0;
    if (this_s > *latency_s) *latency_s = this_s;
}

/* Every member sends @p shift places on.  @return the longest latency and busiest link */
static struct fr_link_cost count_shift(struct counter *k, int64_t shift) {
    int64_t p = k->c->n_ranks;
    struct fr_link_cost cost = {0, 0};
    for (int64_t g = 0; g < k->c->n_groups; g++)
        for (int64_t i = 0; i < p; i++)
            count_message(
                k, fr_communicator_slot(k->c, g, i),
                fr_communicator_slot(k->c, g, i + shift < p ? i + shift : i + shift - p),
                &cost.latency_s);
    cost.s_per_B = busiest_s_per_B(k);
    return cost;
}

/* The member behind those that sit in one node with member i of communicator g, and follow it. */
static int64_t after_node(const struct counter *k, int64_t g, int64_t i) {
    int64_t node = fr_communicator_slot(k->c, g, i) / k->levels->level[0].ranks;
    while (i < k->c->n_ranks &&
           fr_communicator_slot(k->c, g, i) / k->levels->level[0].ranks == node)
        i++;
    return i;
}

/* The loss of the worst of all sets of members of one node in a mesh. */
static double count_mesh(const struct counter *k) {
    const struct fr_pair_links *mesh = &k->levels->mesh;
    double worst = 1;
    for (int64_t g = 0; g < k->c->n_groups && mesh->n; g++)
        for (int64_t i = 0, end; i < k->c->n_ranks; i = end) {
            uint32_t members = 0;
            end = after_node(k, g, i);
            for (int64_t j = i; j < end; j++)
                members |= 1u << fr_communicator_slot(k->c, g, j) % k->levels->level[0].ranks %
                                     mesh->n;
            double one = end - i > 1 ? fr_pair_links_slowdown_of(mesh, members) : 1;
            if (one > worst) worst = one;
        }
    return worst;
}

/* In every node, as many members as the least full one has send to the next node, each to the place after its own, as
 * in rail rings (models/network/rail_ring.h). */
static struct fr_link_cost count_rails(struct counter *k, int64_t fewest) {
    int64_t p = k->c->n_ranks;
    struct fr_link_cost cost = {0, 0};
    for (int64_t g = 0; g < k->c->n_groups; g++)
        for (int64_t i = 0, end; i < p; i = end) {
            end = after_node(k, g, i);
            int64_t next = end < p ? end : 0, members = after_node(k, g, next) - next;
            for (int64_t j = 0; j < fewest && i + j < end && next != i; j++)
                count_message(k, fr_communicator_slot(k->c, g, i + j),
                              fr_communicator_slot(k->c, g, next + (j + 1) % members),
                              &cost.latency_s);
        }
    cost.s_per_B = busiest_s_per_B(k);
    return cost;
}

/* Members of communicator g in nodes: most, fewest, and how many nodes; the level that holds them. */
static void count_nodes_of(struct counter *k, int64_t g, struct fr_group *one) {
    int64_t node = k->levels->level[0].ranks, first = fr_communicator_slot(k->c, g, 0);
    *one = (struct fr_group){.fewest = k->c->n_ranks};
    for (int64_t i = 0; i < k->c->n_ranks; i++) {
        int64_t slot = fr_communicator_slot(k->c, g, i);
        int between = fr_levels_between(k->levels, first, slot);
        int32_t members = ++k->load[slot / node];
        if (between > one->level) one->level = between;
        if (members > one->ranks_per_node) one->ranks_per_node = members;
    }
    for (int64_t i = 0; i < k->c->n_ranks; i++) {
        int32_t *members = &k->load[fr_communicator_slot(k->c, g, i) / node];
        one->nodes += *members > 0;
        if (*members > 0) one->fewest = smaller(one->fewest, *members);
        *members = 0;
    }
}

/* Level that holds all members of every communicator, most and fewest members in a node of those that need several,
 * how many nodes, and the busiest link of level 0 were all to use it. */
static void count_places(struct counter *k, struct fr_group *group) {
    const struct fr_level *node = &k->levels->level[0];
    int32_t busiest = 0;
    for (int64_t g = 0; g < k->c->n_groups; g++) {
        struct fr_group one;
        count_nodes_of(k, g, &one);
        bool farther = g == 0 || (group->nodes == 1 && one.nodes > 1);
        if (one.level > group->level) group->level = one.level;
        if (one.nodes == 1 && group->nodes > 1) continue;
        if (farther || one.fewest < group->fewest) group->fewest = one.fewest;
        if (farther || one.nodes > group->nodes) group->nodes = one.nodes;
        if (farther || one.ranks_per_node > group->ranks_per_node)
            group->ranks_per_node = one.ranks_per_node;
    }
    for (int erase = 0; erase < 2; erase++)
        for (int64_t g = 0; g < k->c->n_groups; g++)
            for (int64_t i = 0; i < k->c->n_ranks; i++) {
                int32_t *load = &k->load[fr_communicator_slot(k->c, g, i) / node->shared_by];
                *load = erase ? 0 : *load + 1;
                if (*load > busiest) busiest = *load;
            }
    group->inner = (struct fr_link_cost){node->latency_s,
                                         k->slowdown * busiest / fr_level_rate_B_per_s(node)};
}

fr_status fr_group_count(const struct fr_levels *levels, const struct fr_communicator *c,
                         struct fr_group *group, struct fr_error *err) {
    struct counter k = {
        .levels = levels, .c = c, .n_links = fr_links_count(levels), .slowdown = 1};
    for (int l = 0; l <= levels->count; l++) k.first[l] = fr_links_before(levels, l);
    *group = (struct fr_group){.n_ranks = c->n_ranks};
    k.load = fr_calloc((size_t)k.n_links + (size_t)fr_levels_capacity(levels), sizeof *k.load);
    if (!k.load) return fr_fail(err, FR_ERR_NOMEM, NULL, "the links do not fit in memory");
    k.slowdown = count_mesh(&k);
    count_places(&k, group);
    group->ring = count_shift(&k, 1 % c->n_ranks);
    for (int64_t shift = 1; shift < c->n_ranks; shift *= 2)
        worse(&group->outer, count_shift(&k, shift));
    worse(&group->outer, count_shift(&k, c->n_ranks / 2));
    if (group->level > 0) group->rails = count_rails(&k, group->fewest);
    take_classes(levels, group);
    group->changed = fr_level_changed(levels, group->level);
    free(k.load);
    return FR_OK;
}

fr_status fr_group_of(const struct fr_levels *levels, const struct fr_communicator *c,
                      struct fr_group *group, struct fr_error *err) {
    if (!fr_communicator_regular(levels, c)) return fr_group_count(levels, c, group, err);
    *group = closed(levels, c->n_ranks, c->stride, c->n_groups);
    return FR_OK;
}

struct fr_group fr_group_make(const struct fr_levels *levels, int64_t n_ranks, int64_t stride) {
    struct fr_communicator c = {.n_ranks = n_ranks, .stride = stride, .n_groups = stride};
    struct fr_group group;
    bool fits = n_ranks * stride <= fr_levels_capacity(levels);
    if (levels->fabric.shape && n_ranks > 1 && fits &&
        fr_group_count(levels, &c, &group, NULL) == FR_OK)
        return group;
    return closed(levels, n_ranks, stride, fr_levels_capacity(levels));
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* The rest of a group of two, whose level and links are there. */
static struct fr_group pair_of(const struct fr_levels *levels, struct fr_group group, int64_t a,
                               int64_t b) {
    bool near = group.level == 0;
    group.ranks_per_node = group.fewest = near ? 2 : 1;
    group.nodes = near ? 1 : 2;
    take_classes(levels, &group);
    if (near && a != b)
        group.outer.s_per_B *=
            fr_pair_links_slowdown(&levels->mesh, a % levels->level[0].ranks,
                                   b % levels->level[0].ranks - a % levels->level[0].ranks, 2);
    group.ring = group.rails = group.outer;
    group.changed = fr_level_changed(levels, group.level);
    return group;
}

/* Messages of all pairs that use link @p id. */
static int64_t pairs_on(const struct fr_levels *levels, int64_t id, int64_t a, int64_t b,
                        int64_t n, int64_t n_copies, int64_t stride) {
    int64_t links[FR_ROUTE_MAX], load = 0;
    for (int64_t d = 0; d < n_copies; d++)
        for (int64_t u = 0; u < n; u++) {
            int hops = fr_route(levels, a + u + d * stride, b + u + d * stride, links);
            for (int h = 0; h < hops; h++) load += links[h] == id;
        }
    return load;
}

struct fr_group fr_group_pairs(const struct fr_levels *levels, int64_t a, int64_t b, int64_t n,
                               int64_t n_copies, int64_t stride) {
    enum { LOOKED_AT = 4096 }; /* pairs; those further away seldom share a link */
    struct fr_group group = {.n_ranks = 2, .level = fr_levels_between(levels, a, b)};
    const struct fr_level *node = &levels->level[0];
    int64_t links[FR_ROUTE_MAX], far = 1;
    for (int l = 0; l < levels->count; l++)
        if (levels->level[l].shared_by > far) far = levels->level[l].shared_by;
    /* Links are shared by neighbours, but for those of a fabric. */
    if (!levels->fabric.shape) n_copies = smaller(n_copies, 1 + far / stride);
    n_copies = smaller(n_copies, 1 + LOOKED_AT / n);
    group.inner = (struct fr_link_cost){node->latency_s, fr_level_s_per_B(levels, 0)};
    for (int64_t t = 0; t<n; t += n> 1 ? n - 1 : 1) {
        struct fr_link_cost cost = {0, 0};
        int hops = fr_route(levels, a + t, b + t, links);
        for (int h = 0; h < hops; h++) {
            struct fr_link link = fr_link_at(levels, links[h]);
            double load = (double)pairs_on(levels, links[h], a, b, n, n_copies, stride);
            cost.latency_s += link.latency_s;
            if (load / link.rate_B_per_s > cost.s_per_B)
                cost.s_per_B = load / link.rate_B_per_s;
        }
        worse(&group.outer, cost);
    }
    return pair_of(levels, group, a, b);
}

/* One more, or one less, of the messages from a to b on every link of their way. */
static void load_pairs(const struct fr_levels *levels, const int64_t *a, const int64_t *b,
                       int64_t n, int32_t *load, bool erase) {
    int64_t links[FR_ROUTE_MAX];
    for (int64_t k = 0; k < n; k++) {
        int hops = fr_route(levels, a[k], b[k], links);
        for (int h = 0; h < hops; h++) load[links[h]] = erase ? 0 : load[links[h]] + 1;
    }
}

struct fr_group fr_group_pairs_at(const struct fr_levels *levels, const int64_t *a,
                                  const int64_t *b, int64_t n, int32_t *load) {
    struct fr_group group = fr_group_pair(levels, a[0], b[0]);
    int64_t links[FR_ROUTE_MAX];
    group.outer = (struct fr_link_cost){0, 0};
    load_pairs(levels, a, b, n, load, false);
    for (int64_t k = 0; k < n; k++) {
        int hops = fr_route(levels, a[k], b[k], links);
        int level = fr_levels_between(levels, a[k], b[k]);
        struct fr_link_cost cost = {fr_route_latency_s(levels, links, hops), 0};
        for (int h = 0; h < hops; h++) {
            double s_per_B = load[links[h]] / fr_link_at(levels, links[h]).rate_B_per_s;
            if (s_per_B > cost.s_per_B) cost.s_per_B = s_per_B;
        }
        if (level > group.level) group.level = level;
        worse(&group.outer, cost);
    }
    load_pairs(levels, a, b, n, load, true);
    return pair_of(levels, group, a[0], b[0]);
}

struct fr_group fr_group_pair(const struct fr_levels *levels, int64_t a, int64_t b) {
    int level = fr_levels_between(levels, a, b);
    struct fr_group group = {
        .n_ranks = 2,
        .level = level,
        .inner = {levels->level[0].latency_s, fr_level_s_per_B(levels, 0)},
        .outer = {levels->level[level].latency_s, fr_level_s_per_B(levels, level)},
    };
    return pair_of(levels, group, a, b);
}
