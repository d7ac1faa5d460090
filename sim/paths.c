#include "sim/paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/digest.h"
#include "sim/record.h"

bool fr_paths_is_message(const struct fr_network_work *work, int64_t task) {
    const struct fr_task *t = &work->program->tasks[task];
    return fr_task_is_message(work->program->classes[t->class_id].kind);
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

static struct fr_replicas replicas_of(const struct fr_network_work *work) {
    const struct fr_network_rank_map *map = &work->rank_map;
    return (struct fr_replicas){map->tp,  map->dp, 1, map->tp, map->tp * work->program->n_ranks,
                                map->slot};
}

int64_t fr_paths_slot(const struct fr_network_work *work, int32_t r, int64_t t, int64_t d) {
    const struct fr_replicas replicas = replicas_of(work);
    return fr_replica_slot(&replicas, r, t, d);
}

fr_status fr_paths_make(const struct fr_network_work *work, struct fr_paths *paths,
                        struct fr_error *err) {
    const struct fr_levels *levels = &work->cluster->levels;
    const struct fr_replicas replicas = replicas_of(work);
    *paths = (struct fr_paths){0};
    if (replicas.dp_stride * replicas.dp > fr_levels_capacity(levels))
        return fr_fail(err, FR_ERR_INPUT, "plan", "has more ranks than the cluster");
    paths->task_path = fr_malloc((size_t)work->program->n_tasks + 1, sizeof *paths->task_path);
    bool fits = paths->task_path && collect_pairs(work, paths) &&
                fr_paths_count(levels, &replicas, paths->n_paths, paths->paths, &paths->links);
    return fits ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "the routes do not fit in memory");
}

void fr_paths_free(struct fr_paths *paths) {
    free(paths->paths);
    free(paths->task_path);
    free(paths->back);
    fr_used_links_free(&paths->links);
    *paths = (struct fr_paths){0};
}
