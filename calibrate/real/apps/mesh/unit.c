#include "calibrate/real/apps/mesh/unit.h"

#include <string.h>

const struct fr_unit_kind *const fr_unit_kinds[] = {
#define FR_UNIT(name) &fr_unit_##name,
#include "calibrate/real/apps/mesh/unit_list.h"
#undef FR_UNIT
    NULL};

static const struct fr_unit_kind *kind_of(const struct fr_plan *plan) {
    for (const struct fr_unit_kind *const *row = fr_unit_kinds; *row; row++)
        if (strcmp((*row)->name, plan->method->name) == 0) return *row;
    return NULL;
}

struct fr_unit fr_unit_make(const struct fr_real_case *run, const struct fr_real_layer *layer,
                            int64_t index, int tp_rank, int columns) {
    const struct fr_plan *plan = run->plan;
    const struct fr_unit_kind *kind = kind_of(plan);
    int tp = (int)plan->tp, parts = kind && kind->divided ? tp : 1;
    struct fr_unit u = {.kind = kind,
                        .layer = *layer,
                        .index = index,
                        .tp = tp,
                        .tp_rank = tp_rank,
                        .ghost = (int)plan->ghost,
                        .in = (int)layer->inputs / parts,
                        .out = (int)layer->outputs / parts,
                        .rows = (int)layer->outputs / tp,
                        .columns = columns};
    if (kind) u.n = kind->parameters(&u);
    return u;
}

void fr_unit_relu_backward(struct fr_real *real, struct fr_unit *u, int rows, const void *y,
                           void *d, void *bias, void *room) {
    const struct fr_kernels *k = real->k;
    FR_COMPUTE(real, k->relu_backward(rows, u->columns, y, d, u->biases ? room : bias));
    if (u->biases) FR_COMPUTE(real, k->add((size_t)rows, room, bias));
    u->biases = true;
}
