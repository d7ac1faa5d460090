#include "real/apps/mesh/unit.h"

#include <string.h>

#define FR_UNIT(name) extern const struct fr_unit_kind fr_unit_##name;
#include "real/apps/mesh/unit_list.h"
#undef FR_UNIT

const struct fr_unit_kind *const fr_unit_kinds[] = {
#define FR_UNIT(name) &fr_unit_##name,
#include "real/apps/mesh/unit_list.h"
#undef FR_UNIT
    NULL};

const struct fr_unit_kind *fr_unit_find(const char *name) {
    for (const struct fr_unit_kind *const *row = fr_unit_kinds; *row; row++)
        if (strcmp((*row)->name, name) == 0) return *row;
    return NULL;
}

int64_t fr_unit_held(const struct fr_unit *u, int holder, void **at) {
    int64_t first = u->kind->common ? u->kind->common(u) : u->n, second = u->n - first;
    bool has_first = u->holder[0] == holder, has_second = u->holder[1] == holder;
    *at = has_first ? u->g : u->own_g;
    return (has_first ? first : 0) + (has_second ? second : 0);
}

void fr_unit_relu_backward(struct fr_real *real, struct fr_unit *u, int rows, const void *y,
                           void *d, void *bias, void *scratch) {
    const struct fr_kernels *k = real->k;
    FR_COMPUTE(real, k->relu_backward(rows, u->columns, y, d, u->biases ? scratch : bias));
    if (u->biases) FR_COMPUTE(real, k->add((size_t)rows, scratch, bias));
    u->biases = true;
}
