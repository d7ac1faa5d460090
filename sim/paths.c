#include "sim/paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/digest.h"
#include "sim/record.h"
#include "topology/route.h"

bool fr_paths_is_message(const struct fr_network_work *work, int64_t task) {
    const struct fr_task *t = &work->program->tasks[task];
    return fr_task_is_message(work->program->classes[t->class_id].kind);
}

int64_t fr_paths_slot(const struct fr_network_work *work, int32_t r, int64_t t, int64_t d) {
    int64_t rank = (d * work->program->n_ranks + r) * work->rank_map.tp + t;
    return work->rank_map.slot ? work->rank_map.slot[rank] : rank;
}

/* ---- pairs that talk -------------------------------------------------------------------------- */

struct pairs {
    int64_t *key; /* from n_ranks + to, or -1 */
    int32_t *path;
    size_t size; /* a power of two */
};

static size_t hash(int64_t key, size_t size) {
    uint64_t x = (uint64_t)key * FR_DIGEST_GOLDEN;
    return (size_t)(x >> 32) & (size - 1);
}

/* @return the place of @p key, or where it may go */
static size_t find(const struct pairs *pairs, int64_t key) {
    size_t at = hash(key, pairs->size);
    while (pairs->key[at] >= 0 && pairs->key[at] != key) at = (at + 1) & (pairs->size - 1);
    return at;
}

static bool double_up(struct pairs *pairs) {
    struct pairs grown = {.size = pairs->size ? 2 * pairs->size : 1024};
    grown.key = fr_malloc(grown.size, sizeof *grown.key);
    grown.path = fr_malloc(grown.size, sizeof *grown.path);
    if (grown.key && grown.path) memset(grown.key, -1, grown.size * sizeof *grown.key);
    for (size_t k = 0; grown.key && grown.path && k < pairs->size; k++) {
        if (pairs->key[k] < 0) continue;
        size_t at = find(&grown, pairs->key[k]);
        grown.key[at] = pairs->key[k];
        grown.path[at] = pairs->path[k];
    }
    free(pairs->key);
    free(pairs->path);
    *pairs = grown;
    return grown.key && grown.path;
}

/* @return the path from @p from to @p to, made where it is new; -1 without memory */
static int32_t path_of(struct pairs *pairs, struct fr_paths *paths, int64_t n_ranks,
                       int32_t from, int32_t to) {
    if ((size_t)paths->n_paths * 2 >= pairs->size) {
        size_t size = pairs->size ? 2 * pairs->size : 1024;
        struct fr_path *grown = fr_realloc(paths->paths, size / 2, sizeof *grown);
        if (grown) paths->paths = grown;
        if (!grown || !double_up(pairs)) return -1;
    }
    int64_t key = from * n_ranks + to;
    size_t at = find(pairs, key);
    if (pairs->key[at] >= 0) return pairs->path[at];
    pairs->key[at] = key;
    pairs->path[at] = paths->n_paths;
    paths->paths[paths->n_paths] = (struct fr_path){.from = from, .to = to};
    return paths->n_paths++;
}

static bool collect_pairs(const struct fr_network_work *work, struct fr_paths *paths) {
    const struct fr_program *program = work->program;
    struct pairs pairs = {0};
    bool fits = true;
    for (int64_t t = 0; t < program->n_tasks && fits; t++) {
        const struct fr_task *task = &program->tasks[t];
        paths->task_path[t] = -1;
        if (!fr_paths_is_message(work, t)) continue;
        paths->task_path[t] = path_of(&pairs, paths, program->n_ranks, task->rank, task->peer);
        fits = paths->task_path[t] >= 0;
        if (fits && program->classes[task->class_id].kind == FR_TASK_EXCHANGE)
            fits = path_of(&pairs, paths, program->n_ranks, task->peer, task->rank) >= 0;
    }
    paths->back = fr_malloc((size_t)paths->n_paths + 1, sizeof *paths->back);
    fits = fits && paths->back;
    for (int32_t q = 0; fits && q < paths->n_paths; q++) {
        const struct fr_path *path = &paths->paths[q];
        size_t at = find(&pairs, path->to * (int64_t)program->n_ranks + path->from);
        paths->back[q] = pairs.key[at] >= 0 ? pairs.path[at] : -1;
    }
    free(pairs.key);
    free(pairs.path);
    return fits;
}

/* ---- links they use --------------------------------------------------------------------------- */

static int route_of(const struct fr_network_work *work, const struct fr_path *path, int64_t t,
                    int64_t d, int64_t *links) {
    return fr_route(&work->cluster->levels, fr_paths_slot(work, path->from, t, d),
                    fr_paths_slot(work, path->to, t, d), links);
}

/* Number the links of the first replicas' ways.  @return local[link], 1 + the number, or NULL */
static int32_t *number_links(const struct fr_network_work *work, struct fr_paths *paths) {
    const struct fr_levels *levels = &work->cluster->levels;
    int64_t links[FR_ROUTE_MAX], capacity = 0;
    int32_t *local = fr_calloc((size_t)fr_links_count(levels) + 1, sizeof *local);
    for (int32_t q = 0; local && q < paths->n_paths; q++) {
        struct fr_path *path = &paths->paths[q];
        int n = route_of(work, path, 0, 0, links);
        for (int h = 0; h < n; h++) {
            struct fr_link link = fr_link_at(levels, links[h]);
            path->latency_s += link.latency_s;
            if (local[links[h]]) continue;
            if (paths->n_links == capacity) {
                capacity = capacity ? 2 * capacity : 256;
                double *grown =
                    fr_realloc(paths->rate_B_per_s, (size_t)capacity, sizeof *grown);
                if (!grown) {
                    free(local);
                    return NULL;
                }
                paths->rate_B_per_s = grown;
            }
            paths->rate_B_per_s[paths->n_links] = link.rate_B_per_s;
            local[links[h]] = ++paths->n_links;
        }
    }
    return local;
}

static bool add_use(struct fr_paths *paths, struct fr_fluid_use use, int64_t *capacity) {
    if (paths->n_uses == *capacity) {
        *capacity = *capacity ? 2 * *capacity : 1024;
        struct fr_fluid_use *grown = fr_realloc(paths->uses, (size_t)*capacity, sizeof *grown);
        if (!grown) return false;
        paths->uses = grown;
    }
    paths->uses[paths->n_uses++] = use;
    return true;
}

/* How often the replicas of a path use each numbered link: count[n_links] is scratch, zero before
 * and after; touched lists what is not. */
static bool count_uses(const struct fr_network_work *work, struct fr_paths *paths, int32_t q,
                       const int32_t *local, int32_t *count, int32_t *touched,
                       int64_t *capacity) {
    struct fr_path *path = &paths->paths[q];
    int64_t links[FR_ROUTE_MAX];
    int32_t n_touched = 0;
    bool fits = true;
    for (int64_t d = 0; d < work->rank_map.dp; d++)
        for (int64_t t = 0; t < work->rank_map.tp; t++) {
            int n = route_of(work, path, t, d, links);
            for (int h = 0; h < n; h++) {
                int32_t link = local[links[h]] - 1;
                if (link >= 0 && count[link]++ == 0) touched[n_touched++] = link;
            }
        }
    path->first = (int32_t)paths->n_uses;
    path->n_uses = n_touched;
    path->alone_B_per_s = 1e300;
    for (int32_t k = 0; k < n_touched; k++) {
        double alone = paths->rate_B_per_s[touched[k]] / count[touched[k]];
        if (alone < path->alone_B_per_s) path->alone_B_per_s = alone;
        fits = fits &&
               add_use(paths, (struct fr_fluid_use){touched[k], count[touched[k]]}, capacity);
        count[touched[k]] = 0;
    }
    if (n_touched > paths->uses_max) paths->uses_max = n_touched;
    return fits && paths->n_uses <= INT32_MAX;
}

fr_status fr_paths_make(const struct fr_network_work *work, struct fr_paths *paths,
                        struct fr_error *err) {
    const struct fr_levels *levels = &work->cluster->levels;
    int64_t ranks = work->rank_map.tp * work->rank_map.dp * work->program->n_ranks,
            capacity = 0;
    int32_t *local = NULL, *count = NULL;
    *paths = (struct fr_paths){0};
    if (ranks > fr_levels_capacity(levels))
        return fr_fail(err, FR_ERR_INPUT, "plan", "has more ranks than the cluster");
    paths->task_path = fr_malloc((size_t)work->program->n_tasks + 1, sizeof *paths->task_path);
    bool fits = paths->task_path && collect_pairs(work, paths);
    if (fits) local = number_links(work, paths);
    if (local) count = fr_calloc(2 * ((size_t)paths->n_links + 1), sizeof *count);
    fits = local && count;
    for (int32_t q = 0; fits && q < paths->n_paths; q++)
        fits = count_uses(work, paths, q, local, count, count + paths->n_links + 1, &capacity);
    free(local);
    free(count);
    return fits ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "the routes do not fit in memory");
}

void fr_paths_free(struct fr_paths *paths) {
    free(paths->paths);
    free(paths->uses);
    free(paths->task_path);
    free(paths->back);
    free(paths->rate_B_per_s);
    *paths = (struct fr_paths){0};
}
