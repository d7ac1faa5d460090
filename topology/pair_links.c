#include "topology/pair_links.h"

#include <inttypes.h>

static int degree_of(const struct fr_pair_links *mesh, int i, uint32_t members) {
    int degree = 0;
    for (int j = 0; j < mesh->n; j++)
        if (members >> j & 1) degree += mesh->links[i][j];
    return degree;
}

static fr_status read_row(const struct fr_json *row, struct fr_pair_links *mesh, int i,
                          struct fr_error *err) {
    FR_TRY(fr_json_array(row, mesh->n, mesh->n, err));
    for (int j = 0; j < mesh->n; j++) {
        struct fr_json one = fr_json_element(row, j);
        int64_t links = 0;
        FR_TRY(fr_json_integer(&one, 0, 64, &links, err));
        mesh->links[i][j] = (int8_t)links;
        if (i == j && links > 0) return fr_json_fail(&one, err, "joins a rank to itself");
        if (j < i && mesh->links[j][i] != links)
            return fr_json_fail(&one, err, "is %" PRId64 " where the other way has %d", links,
                                mesh->links[j][i]);
    }
    return FR_OK;
}

fr_status fr_pair_links_read(const struct fr_json *node, int64_t ranks,
                             struct fr_pair_links *mesh, struct fr_error *err) {
    *mesh = (struct fr_pair_links){0};
    if (!fr_json_present(node)) return FR_OK;
    if (ranks > FR_PAIR_LINKS_RANKS)
        return fr_json_fail(node, err, "expected at most %d ranks in a node without a switch",
                            FR_PAIR_LINKS_RANKS);
    /* Where a node is not used whole, its first ranks take part, over the links that these have. */
    FR_TRY(fr_json_array(node, ranks, FR_PAIR_LINKS_RANKS, err));
    mesh->n = (int)fr_json_array_length(node);
    for (int i = 0; i < mesh->n; i++) {
        struct fr_json row = fr_json_element(node, i);
        FR_TRY(read_row(&row, mesh, i, err));
    }
    for (int i = 0; i < mesh->n; i++) {
        int degree = degree_of(mesh, i, ~0u);
        if (degree > mesh->degree) mesh->degree = degree;
    }
    mesh->n = (int)ranks;
    return mesh->degree > 0 ? FR_OK : fr_json_fail(node, err, "has no links");
}

double fr_pair_links_slowdown_of(const struct fr_pair_links *mesh, uint32_t members) {
    int least = mesh->degree;
    for (int i = 0; i < mesh->n; i++) {
        int degree = members >> i & 1 ? degree_of(mesh, i, members) : least;
        if (degree < least) least = degree;
    }
    return mesh->n ? (double)mesh->degree / (least > 0 ? least : 1) : 1;
}

double fr_pair_links_slowdown(const struct fr_pair_links *mesh, int64_t first, int64_t stride,
                              int64_t count) {
    uint32_t members = 0;
    for (int64_t k = 0; k < count && mesh->n; k++)
        members |= 1u << (first + k * stride) % mesh->n;
    return fr_pair_links_slowdown_of(mesh, members);
}

double fr_pair_links_worst(const struct fr_pair_links *mesh, int64_t stride, int64_t count) {
    double worst = 1;
    int64_t span = stride * count, end = mesh->n % span ? span : mesh->n;
    if (count < 2) return 1;
    for (int64_t block = 0; block + span <= end; block += span)
        for (int64_t g = 0; g < stride; g++) {
            double one = fr_pair_links_slowdown(mesh, block + g, stride, count);
            if (one > worst) worst = one;
        }
    return worst;
}
