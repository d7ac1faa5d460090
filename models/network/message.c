/* The messages of a collective. */
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
