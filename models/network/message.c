/* The messages of a collective and their critical path. */
#include "models/network/collective.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/network/nccl.h"

static bool grow(struct fr_message_list *list) {
    if (list->capacity > FR_MESSAGES_MAX / 2) return false;
    int32_t capacity = list->capacity ? 2 * list->capacity : 64;
    struct fr_message *items = fr_realloc(list->items, (size_t)capacity, sizeof *items);
    if (!items) return false;
    list->items = items;
    list->capacity = capacity;
    return true;
}

int32_t fr_message_add(struct fr_message_list *list, int32_t src, int32_t dst, bool crosses,
                       double size_B, const int32_t *after, int32_t n_after) {
    if (list->count == list->capacity && !grow(list)) return -1;
    struct fr_message *m = &list->items[list->count];
    *m = (struct fr_message){
        .size_B = size_B, .src = src, .dst = dst, .crosses = crosses, .n_after = n_after};
    if (n_after > 0) memcpy(m->after, after, (size_t)n_after * sizeof *after);
    return list->count++;
}

void fr_message_list_free(struct fr_message_list *list) {
    free(list->items);
    *list = (struct fr_message_list){0};
}

static double later(double a_s, double b_s) { return a_s > b_s ? a_s : b_s; }

double fr_message_alone_s(const struct fr_message *m, const struct fr_collective_args *args) {
    struct fr_link_cost link = m->priced    ? fr_nccl_link(args, (fr_message_price)m->priced)
                               : m->around  ? fr_collective_ring_link(args)
                               : m->crosses ? args->outer
                                            : args->inner;
    return link.latency_s + m->size_B * link.s_per_B;
}

double fr_message_latency_s(const struct fr_message *m, const struct fr_collective_args *args) {
    return m->priced ? fr_nccl_link(args, (fr_message_price)m->priced).latency_s : 0;
}

fr_status fr_message_list_time_s(const struct fr_message_list *list,
                                 const struct fr_collective_args *args, double *time_s) {
    *time_s = 0;
    if (list->count == 0) return FR_OK;
    size_t n = (size_t)list->count, p = (size_t)args->n_ranks;
    double *arrived_s = fr_calloc(n + 2 * p, sizeof *arrived_s);
    if (!arrived_s) return FR_ERR_NOMEM;
    double *sending_s = arrived_s + n, *receiving_s = sending_s + p; /* busy until */
    for (size_t i = 0; i < n; i++) {
        const struct fr_message *m = &list->items[i];
        double start_s = m->rail ? 0 : later(sending_s[m->src], receiving_s[m->dst]);
        for (int32_t k = 0; k < m->n_after; k++)
            start_s = later(start_s, arrived_s[m->after[k]]);
        arrived_s[i] = start_s + fr_message_alone_s(m, args);
        sending_s[m->src] = receiving_s[m->dst] = arrived_s[i];
        *time_s = later(*time_s, arrived_s[i]);
    }
    free(arrived_s);
    return FR_OK;
}
