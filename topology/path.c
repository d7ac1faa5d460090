#include "topology/path.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "topology/route.h"

int64_t fr_replica_slot(const struct fr_replicas *s, int64_t r, int64_t t, int64_t d) {
    int64_t number = t * s->tp_stride + r * s->stride + d * s->dp_stride;
    return s->slot ? s->slot[number] : number;
}

/* Scratch while paths are counted. */
struct counting {
    const struct fr_levels *levels;
    const struct fr_replicas *replicas;
    struct fr_used_links *links;
    int32_t *local;   /* [links of the machine]: 1 + its number, or 0 */
    int32_t *count;   /* [numbered]: zero before and after a path */
    int32_t *touched; /* [numbered]: those that are not */
};

static int route_of(const struct counting *c, const struct fr_path *path, int64_t t, int64_t d,
                    int64_t *links) {
    return fr_route(c->levels, fr_replica_slot(c->replicas, path->from, t, d),
                    fr_replica_slot(c->replicas, path->to, t, d), links);
}

static bool number_link(struct counting *c, int64_t link, double rate_B_per_s,
                        int32_t *capacity) {
    struct fr_used_links *links = c->links;
    if (links->n == *capacity) {
        *capacity = *capacity ? 2 * *capacity : 256;
        double *grown = fr_realloc(links->rate_B_per_s, (size_t)*capacity, sizeof *grown);
        if (!grown) return false;
        links->rate_B_per_s = grown;
    }
    links->rate_B_per_s[links->n] = rate_B_per_s;
    c->local[link] = ++links->n;
    return true;
}

/* Number the links of the first replicas' ways. */
static bool number_links(struct counting *c, int32_t n_paths, struct fr_path *paths) {
    int64_t links[FR_ROUTE_MAX];
    int32_t capacity = 0;
    for (int32_t q = 0; q < n_paths; q++) {
        int n = route_of(c, &paths[q], 0, 0, links);
        paths[q].latency_s = 0;
        for (int h = 0; h < n; h++) {
            struct fr_link link = fr_link_at(c->levels, links[h]);
            paths[q].latency_s += link.latency_s;
            if (!c->local[links[h]] && !number_link(c, links[h], link.rate_B_per_s, &capacity))
                return false;
        }
    }
    return true;
}

static bool add_use(struct fr_used_links *links, struct fr_link_use use) {
    if (links->n_uses == links->capacity) {
        links->capacity = links->capacity ? 2 * links->capacity : 1024;
        struct fr_link_use *grown =
            fr_realloc(links->uses, (size_t)links->capacity, sizeof *grown);
        if (!grown) return false;
        links->uses = grown;
    }
    links->uses[links->n_uses++] = use;
    return true;
}

/* How often the replicas of a path use each numbered link. */
static bool count_uses(struct counting *c, struct fr_path *path) {
    int64_t links[FR_ROUTE_MAX];
    int32_t n_touched = 0;
    bool fits = true;
    for (int64_t d = 0; d < c->replicas->dp; d++)
        for (int64_t t = 0; t < c->replicas->tp; t++) {
            int n = route_of(c, path, t, d, links);
            for (int h = 0; h < n; h++) {
                int32_t link = c->local[links[h]] - 1;
                if (link >= 0 && c->count[link]++ == 0) c->touched[n_touched++] = link;
            }
        }
    path->first = (int32_t)c->links->n_uses;
    path->n_uses = n_touched;
    path->alone_B_per_s = 1e300;
    for (int32_t k = 0; k < n_touched; k++) {
        int32_t link = c->touched[k];
        double alone = c->links->rate_B_per_s[link] / c->count[link];
        if (alone < path->alone_B_per_s) path->alone_B_per_s = alone;
        fits = fits && add_use(c->links, (struct fr_link_use){link, c->count[link]});
        c->count[link] = 0;
    }
    if (n_touched > c->links->uses_max) c->links->uses_max = n_touched;
    return fits && c->links->n_uses <= INT32_MAX;
}

bool fr_paths_count(const struct fr_levels *levels, const struct fr_replicas *replicas,
                    int32_t n_paths, struct fr_path *paths, struct fr_used_links *links) {
    struct counting c = {.levels = levels, .replicas = replicas, .links = links};
    *links = (struct fr_used_links){0};
    c.local = fr_calloc((size_t)fr_links_count(levels) + 1, sizeof *c.local);
    bool fits = c.local && number_links(&c, n_paths, paths);
    if (fits) c.count = fr_calloc(2 * ((size_t)links->n + 1), sizeof *c.count);
    fits = fits && c.count;
    if (fits) c.touched = c.count + links->n + 1;
    for (int32_t q = 0; fits && q < n_paths; q++) fits = count_uses(&c, &paths[q]);
    free(c.local);
    free(c.count);
    return fits;
}

void fr_used_links_free(struct fr_used_links *links) {
    free(links->rate_B_per_s);
    free(links->uses);
    *links = (struct fr_used_links){0};
}
