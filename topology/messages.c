#include "topology/messages.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"

static int by_slot(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return FR_ORDER(x, y);
}

/* Ordered pairs of the sorted @p slot[g] that lie in one unit of @p ranks slots. */
static int64_t pairs_within(const int64_t *slot, int64_t g, int64_t ranks) {
    int64_t pairs = 0, here = 0;
    for (int64_t i = 0; i < g; i++) {
        here = i > 0 && slot[i] / ranks == slot[i - 1] / ranks ? here + 1 : 1;
        pairs += 2 * here - 1; /* squares grow by odd numbers */
    }
    return pairs;
}

fr_status fr_messages_count(const struct fr_levels *levels, const struct fr_mesh *mesh,
                            int axis, const int64_t *slot, int64_t count[FR_LEVEL_MAX],
                            struct fr_error *err) {
    int64_t n = fr_mesh_ranks(mesh), g = mesh->size[axis], stride = fr_mesh_stride(mesh, axis);
    int64_t *group = fr_malloc((size_t)g, sizeof *group);
    if (!group) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int l = 0; l < FR_LEVEL_MAX; l++) count[l] = 0;
    for (int64_t first = 0; first < n; first++) {
        if (first / stride % g != 0) continue; /* another group's member */
        for (int64_t i = 0; i < g; i++) group[i] = slot[first + i * stride];
        fr_sort_items(group, (size_t)g, sizeof *group, by_slot);
        for (int l = 0; l < levels->count; l++)
            count[l] +=
                l < levels->count - 1 ? pairs_within(group, g, levels->level[l].ranks) : g * g;
    }
    for (int l = levels->count - 1; l > 0; l--) count[l] -= count[l - 1];
    free(group);
    return FR_OK;
}

static int64_t gcd(int64_t a, int64_t b) { return b ? gcd(b, a % b) : a; }

static void naive(int64_t n, int64_t g, int64_t n_node, struct fr_message_formula *f) {
    int64_t n_g = n / g, q = n_node / n_g, s = n_node % n_g;
    bool small = n_g <= n_node;
    f->equations = "Eqs. 4 and 5, their cases exchanged";
    f->condition = "n_g divides n_node, or n_g >= n_node; n_node divides n";
    f->applies = f->general_applies && (n_g >= n_node || s == 0);
    f->intra = small ? n_node * g : n;
    f->printed_intra = small ? n : n_node * g;
    f->printed_inter = small ? n * (g - 1) : (n - n_node) * g;
    f->general = "N (s (q+1)^2 + (n_g - s) q^2), q = floor(n_node / n_g), s = n_node mod n_g";
    f->general_intra = n / n_node * (s * (q + 1) * (q + 1) + (n_g - s) * q * q);
}

static void aware(int64_t n, int64_t g, int64_t n_node, struct fr_message_formula *f) {
    int64_t n_g = n / g, nodes = n / n_node;
    f->equations = "Eqs. 6 and 7";
    f->condition = "N divides n_g or n_g divides N; n_node divides n";
    f->intra = f->printed_intra = g <= n_node ? n * g : n * n_node;
    f->printed_inter = g <= n_node ? 0 : n * (g - n_node);
    f->general = "n g gcd(n_g, N) / N";
    if (!f->general_applies) return;
    f->applies = n_g % nodes == 0 || nodes % n_g == 0;
    f->general_intra = n * (g * gcd(n_g, nodes) / nodes);
}

struct fr_message_formula fr_messages_formula(const struct fr_placement *placement, int64_t n,
                                              int64_t g, int64_t n_node) {
    struct fr_message_formula f = {.general_applies = n % n_node == 0};
    if (placement == &fr_placement_linear)
        naive(n, g, n_node, &f);
    else if (placement == &fr_placement_round_robin)
        aware(n, g, n_node, &f);
    else
        return (struct fr_message_formula){0};
    f.inter = n * g - f.intra;
    f.general_inter = n * g - f.general_intra;
    return f;
}
