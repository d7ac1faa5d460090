/* A list: the rank of each slot, node by node. */
#include "topology/placement.h"

static const char *refuses(const struct fr_placement_choice *choice,
                           const struct fr_mesh *mesh) {
    return choice->n_list == fr_mesh_ranks(mesh) ? NULL
                                                 : "the list of the placement has other ranks "
                                                   "than the plan";
}

static fr_status place(const struct fr_placement_ask *s, int64_t *slot, struct fr_error *err) {
    (void)err;
    for (int64_t i = 0; i < s->choice->n_list; i++) slot[s->choice->list[i]] = i;
    return FR_OK;
}

const struct fr_placement fr_placement_file = {
    .name = "file",
    .argument = "PATH",
    .summary = "the rank of each slot, node by node, from a JSON list",
    .source = "",
    .refuses = refuses,
    .place = place,
};
