#include "real/apps/passes/order.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"

/* A case's place: by the size of its group, 0 in the first round, where one of every group is visited; then
 * by where the group first comes in the shuffled order. */
struct place {
    int size, block, index;
};

static int in_order(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    if (x->size != y->size) return FR_ORDER(x->size, y->size);
    return FR_ORDER(x->block, y->block);
}

/* @param block  [cases->n] by the index of a group's first item: its size, where it first comes */
static void find_places(const struct fr_real_cases *cases, bool cut, const int *order,
                        int (*block)[2], struct place *place) {
    for (int i = 0; i < cases->n; i++) block[cases->items[i].block][0]++;
    for (int i = cases->n; i-- > 0;) block[cases->items[order[i]].block][1] = i;
    for (int i = 0; i < cases->n; i++) {
        const int *its = block[cases->items[order[i]].block];
        bool later = cut && its[1] != i;
        place[i] = (struct place){later ? its[0] : 0, its[1], order[i]};
    }
}

fr_status fr_real_order(const struct fr_real_cases *cases, bool cut, int *order,
                        struct fr_error *err) {
    size_t n = (size_t)cases->n + 1;
    int(*block)[2] = fr_calloc(n, sizeof *block);
    struct place *place = fr_calloc(n, sizeof *place);
    fr_status status = FR_OK;
    if (block && place) {
        find_places(cases, cut, order, block, place);
        fr_sort_items(place, (size_t)cases->n, sizeof *place, in_order);
        for (int i = 0; i < cases->n; i++) order[i] = place[i].index;
    } else
        status = fr_fail(err, FR_ERR_NOMEM, NULL, "%d cases", cases->n);
    free(block);
    free(place);
    return status;
}
