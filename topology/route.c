#include "topology/route.h"

#include <inttypes.h>
#include <stdio.h>

/* Links of a level: 2 for every group of ranks that shares one, up then down. */
static int64_t groups_of(const struct fr_levels *levels, int l) {
    int64_t shared_by = levels->level[l].shared_by;
    return (fr_levels_capacity(levels) + shared_by - 1) / shared_by;
}

static int64_t first_of(const struct fr_levels *levels, int l) {
    int64_t first = 0;
    for (int k = 0; k < l; k++) first += 2 * groups_of(levels, k);
    return first;
}

int64_t fr_links_count(const struct fr_levels *levels) {
    return first_of(levels, levels->count) + levels->fabric.n_links;
}

int64_t fr_links_before(const struct fr_levels *levels, int l) {
    return l > levels->count ? fr_links_count(levels) : first_of(levels, l);
}

/* Links of the fabric are alike, and lie between two of the outermost level. */
double fr_route_latency_s(const struct fr_levels *levels, const int64_t *links, int n) {
    int64_t fabric = first_of(levels, levels->count);
    double latency_s = 0;
    for (int h = 0; h < n; h++)
        latency_s += links[h] >= fabric ? levels->fabric.latency_s
                                        : fr_link_at(levels, links[h]).latency_s;
    return latency_s;
}

struct fr_link fr_link_at(const struct fr_levels *levels, int64_t id) {
    for (int l = 0; l < levels->count; l++) {
        int64_t links = 2 * groups_of(levels, l);
        if (id < links)
            return (struct fr_link){levels->level[l].latency_s / 2,
                                    fr_level_rate_B_per_s(&levels->level[l])};
        id -= links;
    }
    return (struct fr_link){levels->fabric.latency_s, levels->fabric.rate_B_per_s};
}

static int across_level(const struct fr_levels *levels, int l, int64_t a, int64_t b,
                        int64_t *links) {
    int64_t first = first_of(levels, l), shared_by = levels->level[l].shared_by;
    links[0] = first + 2 * (a / shared_by);
    links[1] = first + 2 * (b / shared_by) + 1;
    return 2;
}

/* Number of the unit of level l, of those that there are, whose ranks @p slot is among. */
static int64_t unit_of(const struct fr_levels *levels, int l, int64_t slot) {
    int64_t unit = 0;
    for (int k = levels->count - 2; k >= l; k--) {
        const struct fr_level *level = &levels->level[k];
        if (k < levels->count - 2) unit *= level[1].holds / level->holds;
        unit += slot / level->ranks;
        slot %= level->ranks;
    }
    return unit;
}

/* Port of the fabric that @p slot sends by: its adapter's number among all that there are, of levels of which a
 * job takes a part as well. */
static int64_t port_of(const struct fr_levels *levels, int64_t slot) {
    int outer = levels->count - 1, l = 0;
    const struct fr_level *level = levels->level;
    int64_t shared_by = level[outer].shared_by;
    if (outer == 0 || level[outer - 1].holds == level[outer - 1].ranks || !level->holds)
        return slot / shared_by;
    int64_t all =
        level[outer - 1].holds / levels->fabric.per_node; /* ranks on one, as stated */
    while (l < outer - 1 && level[l].holds < all) l++;
    return unit_of(levels, l, slot) * (level[l].holds / all) +
           slot % level[l].ranks / shared_by;
}

/* The slot of @p a's unit that sends by @p port. */
static int64_t slot_at(const struct fr_levels *levels, int64_t a, int64_t port) {
    int outer = levels->count - 1;
    int64_t shared_by = levels->level[outer].shared_by, slot = a % shared_by;
    if (port_of(levels, a) == port) return a;
    if (outer > 0) slot += a - a % levels->level[outer - 1].ranks;
    while (port_of(levels, slot) < port) slot += shared_by;
    return slot;
}

static int through_fabric(const struct fr_levels *levels, int64_t a, int64_t b,
                          int64_t *links) {
    const struct fr_fabric *fabric = &levels->fabric;
    int outer = levels->count - 1, n = 0;
    int64_t fabric_first, ends[2], to = port_of(levels, b);
    if (fabric->shape->leave) {
        int64_t relay =
            slot_at(levels, a, fabric->shape->leave(fabric, port_of(levels, a), to));
        if (relay != a) {
            n += across_level(levels, fr_levels_between(levels, a, relay), a, relay, links);
            a = relay;
        }
    }
    across_level(levels, outer, a, b, ends);
    fabric_first = first_of(levels, levels->count);
    links[n++] = ends[0];
    int hops = fabric->shape->route(fabric, port_of(levels, a), to, links + n);
    for (int k = 0; k < hops; k++) links[n + k] += fabric_first;
    n += hops;
    links[n++] = ends[1];
    return n;
}

int fr_route(const struct fr_levels *levels, int64_t a, int64_t b, int64_t *links) {
    if (a == b) return 0;
    int l = fr_levels_between(levels, a, b);
    if (l == levels->count - 1 && levels->fabric.shape)
        return through_fabric(levels, a, b, links);
    return across_level(levels, l, a, b, links);
}

const char *fr_link_name(const struct fr_levels *levels, int64_t id, char *out,
                         size_t capacity) {
    for (int l = 0; l < levels->count; l++) {
        int64_t links = 2 * groups_of(levels, l);
        if (id < links) {
            snprintf(out, capacity, "%s.%" PRId64 ".%s", levels->level[l].name, id / 2,
                     id % 2 ? "down" : "up");
            return out;
        }
        id -= links;
    }
    snprintf(out, capacity, "fabric.%" PRId64, id);
    return out;
}

double fr_bisection_B_per_s(const struct fr_levels *levels) {
    const struct fr_fabric *fabric = &levels->fabric;
    const struct fr_level *outer = &levels->level[levels->count - 1];
    int64_t node_ranks = levels->count > 1 ? outer[-1].ranks : 1;
    double nodes = (double)(outer->ranks / node_ranks);
    double links = (double)(node_ranks > outer->shared_by ? node_ranks / outer->shared_by : 1);
    double least = nodes / 2 * links * outer->rate_B_per_s;
    if (nodes < 2) return 0;
    double cut = fabric->shape ? fabric->shape->bisection(fabric) * fabric->rate_B_per_s : -1;
    return cut >= 0 && cut < least ? cut : least;
}
