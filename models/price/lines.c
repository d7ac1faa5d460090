#include "models/price/lines.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/digest.h"

const char *const fr_beside_names[] = {
#define FR_BESIDE_NAME(code, name, words) name,
    FR_BESIDE_LIST(FR_BESIDE_NAME)
#undef FR_BESIDE_NAME
};
const char *const fr_beside_words[] = {
#define FR_BESIDE_WORDS(code, name, words) words,
    FR_BESIDE_LIST(FR_BESIDE_WORDS)
#undef FR_BESIDE_WORDS
};

/* How far sums of rates may round. */
#define ROUNDING 1e-9

/* The rate that the lines ask of a link. */
struct asked {
    double rate_B_per_s; /* of all together, each at its rate alone */
    int32_t users, weight;
    bool alike; /* each fills it alone, with as many replicas */
};

static void add_asked(const struct fr_pair_lines *lines, struct asked *asked) {
    for (int32_t l = 0; l < lines->n; l++) {
        const struct fr_path *path = &lines->path[l];
        for (int32_t k = path->first; k < path->first + path->n_uses; k++) {
            const struct fr_link_use *use = &lines->links.uses[k];
            struct asked *of = &asked[use->link];
            bool fills =
                path->alone_B_per_s >= lines->links.rate_B_per_s[use->link] / use->weight;
            of->alike = fills && (of->users == 0 || (of->alike && of->weight == use->weight));
            of->weight = use->weight;
            of->rate_B_per_s += use->weight * path->alone_B_per_s;
            of->users++;
        }
    }
}

/* Keep the uses of links that all lines together ask more of than there is. */
static void keep_narrow(struct fr_pair_lines *lines, const struct asked *asked) {
    lines->halves = true;
    for (int32_t l = 0; l < lines->n; l++) {
        struct fr_path *path = &lines->path[l];
        int32_t n = 0;
        for (int32_t k = path->first; k < path->first + path->n_uses; k++) {
            const struct fr_link_use use = lines->links.uses[k];
            const struct asked *of = &asked[use.link];
            if (of->rate_B_per_s <= lines->links.rate_B_per_s[use.link] * (1 - ROUNDING))
                continue;
            lines->halves = lines->halves && of->alike && of->users <= 2;
            lines->links.uses[path->first + n++] = use;
        }
        path->n_uses = n;
    }
}

/* Which lines are on each link that is left. */
static bool list_users(struct fr_pair_lines *lines) {
    size_t n_links = (size_t)lines->links.n;
    lines->first_on = fr_calloc(n_links + 2, sizeof *lines->first_on);
    lines->on = fr_malloc((size_t)lines->links.n_uses + 1, sizeof *lines->on);
    if (!lines->first_on || !lines->on) return false;
    int32_t *next = lines->first_on +
                    1; /* where the next line of a link goes, then where its last one ends */
    for (int32_t l = 0; l < lines->n; l++)
        for (int32_t k = 0; k < lines->path[l].n_uses; k++)
            next[lines->links.uses[lines->path[l].first + k].link + 1]++;
    for (size_t k = 1; k < n_links; k++) next[k] += next[k - 1];
    for (int32_t l = 0; l < lines->n; l++)
        for (int32_t k = 0; k < lines->path[l].n_uses; k++)
            lines->on[next[lines->links.uses[lines->path[l].first + k].link]++] = l;
    return true;
}

/* @p k: where the lines that meet line @p l are listed.  @return where the next one's are */
static int32_t list_met(const struct fr_pair_lines *lines, int32_t l, int32_t *seen,
                        int32_t k) {
    const struct fr_path *path = &lines->path[l];
    seen[l] = l;
    for (int32_t u = path->first; u < path->first + path->n_uses; u++) {
        int32_t link = lines->links.uses[u].link;
        for (int32_t at = lines->first_on[link]; at < lines->first_on[link + 1]; at++) {
            int32_t other = lines->on[at];
            if (seen[other] == l) continue;
            seen[other] = l;
            if (lines->met) lines->met[k] = other;
            k++;
        }
    }
    return k;
}

/* Counted, then written; only where few meet. */
static bool list_all_met(struct fr_pair_lines *lines) {
    if (!lines->halves) return true;
    int32_t *seen = fr_malloc((size_t)lines->n, sizeof *seen), k = 0;
    lines->first_met = fr_calloc((size_t)lines->n + 1, sizeof *lines->first_met);
    bool fits = seen && lines->first_met;
    for (int pass = 0; fits && pass < 2; pass++) {
        for (int32_t l = 0; l < lines->n; l++) seen[l] = -1;
        k = 0;
        for (int32_t l = 0; l < lines->n; l++)
            lines->first_met[l + 1] = k = list_met(lines, l, seen, k);
        if (pass == 0) {
            lines->met = fr_malloc((size_t)k + 1, sizeof *lines->met);
            fits = lines->met;
        }
    }
    free(seen);
    return fits;
}

static uint64_t digest_of(const struct fr_pair_lines *lines) {
    const struct fr_used_links *links = &lines->links;
    uint64_t digest = fr_digest_bytes(FR_DIGEST_START, links->rate_B_per_s,
                                      (size_t)links->n * sizeof *links->rate_B_per_s);
    digest = fr_digest_one(digest, lines->halves);
    for (int32_t l = 0; l < lines->n; l++) {
        const struct fr_path *path = &lines->path[l];
        const double alone[] = {path->latency_s, path->alone_B_per_s};
        digest = fr_digest_bytes(digest, alone, sizeof alone);
        digest = fr_digest_one(digest, (uint64_t)path->n_uses);
        digest = fr_digest_bytes(digest, links->uses + path->first,
                                 (size_t)path->n_uses * sizeof *links->uses);
    }
    return digest;
}

/* Collectives of groups that reach as far as the innermost of these links use it too. */
static void note_beside(const struct fr_rank_map *s, const struct fr_replicas *replicas,
                        struct fr_pair_lines *lines) {
    const struct fr_group *const group[FR_BESIDE_REPLICAS] = {
        [FR_BESIDE_TP] = &s->axis[FR_MESH_TP],
        [FR_BESIDE_CP] = &s->cp,
        [FR_BESIDE_EP] = &s->ep,
        [FR_BESIDE_DP] = &s->axis[FR_MESH_DP]};
    int level = s->levels.count;
    for (int32_t l = 0; l < lines->n; l++) {
        if (lines->path[l].n_uses == 0) continue;
        int own =
            fr_levels_between(&s->levels, fr_replica_slot(replicas, lines->path[l].from, 0, 0),
                              fr_replica_slot(replicas, lines->path[l].to, 0, 0));
        if (own < level) level = own;
    }
    for (int k = 0; k < FR_BESIDE_REPLICAS; k++)
        if (group[k]->n_ranks > 1 && group[k]->level >= level)
            lines->beside |= (uint8_t)(1 << k);
    if (!s->regular && replicas->tp * replicas->dp > 1)
        lines->beside |= 1 << FR_BESIDE_REPLICAS;
}

/* A ring of two has each pair once. */
static void list_pairs(struct fr_pair_lines *lines, int32_t stages) {
    for (int32_t i = 0; i < stages; i++) {
        lines->path[2 * i] = (struct fr_path){.from = i, .to = (i + 1) % stages};
        lines->path[2 * i + 1] =
            (struct fr_path){.from = i, .to = stages > 2 ? (i + stages - 1) % stages : i};
    }
}

struct fr_pair_lines *fr_pair_lines_make(const struct fr_rank_map *s, int32_t stages) {
    const struct fr_mesh *mesh = &s->mesh;
    const struct fr_replicas replicas = {.tp = mesh->size[FR_MESH_TP],
                                         .dp = mesh->size[FR_MESH_DP],
                                         .tp_stride = fr_mesh_stride(mesh, FR_MESH_TP),
                                         .stride = fr_mesh_stride(mesh, FR_MESH_PP),
                                         .dp_stride = fr_mesh_stride(mesh, FR_MESH_DP),
                                         .slot = s->slot};
    struct fr_pair_lines *lines = fr_calloc(1, sizeof *lines);
    struct asked *asked = NULL;
    bool fits = lines != NULL;
    if (fits) {
        lines->n = 2 * stages;
        lines->path = fr_malloc((size_t)lines->n, sizeof *lines->path);
        fits = lines->path != NULL;
    }
    if (fits) {
        list_pairs(lines, stages);
        fits = fr_paths_count(&s->levels, &replicas, lines->n, lines->path, &lines->links);
    }
    if (fits) {
        asked = fr_calloc((size_t)lines->links.n + 1, sizeof *asked);
        fits = asked != NULL;
    }
    if (fits) {
        add_asked(lines, asked);
        keep_narrow(lines, asked);
        note_beside(s, &replicas, lines);
        lines->digest = digest_of(lines);
        fits = list_users(lines) && list_all_met(lines);
    }
    free(asked);
    if (fits) return lines;
    fr_pair_lines_free(lines);
    return NULL;
}

void fr_pair_lines_free(struct fr_pair_lines *lines) {
    if (!lines) return;
    fr_used_links_free(&lines->links);
    free(lines->path);
    free(lines->first_on);
    free(lines->on);
    free(lines->first_met);
    free(lines->met);
    free(lines);
}
