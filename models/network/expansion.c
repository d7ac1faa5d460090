#include "models/network/expansion.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static struct fr_expansion open_expansion(const struct fr_collective_args *a,
                                          struct fr_message_list *list) {
    struct fr_expansion e = {
        .list = list, .n_ranks = a->n_ranks, .ranks_per_node = a->ranks_per_node};
    size_t p = (size_t)a->n_ranks;
    e.failed = a->n_ranks > INT32_MAX;
    if (!e.failed) e.sent = fr_malloc(3 * p, sizeof *e.sent);
    if (!e.sent) {
        e.failed = true;
        return e;
    }
    e.received = e.sent + p;
    e.heard = e.received + p;
    for (size_t i = 0; i < 3 * p; i++) e.sent[i] = -1;
    return e;
}

/* Add @p message to @p after unless there is none or it is there already. */
static int32_t follow(int32_t message, int32_t *after, int32_t n_after) {
    if (message < 0) return n_after;
    for (int32_t i = 0; i < n_after; i++)
        if (after[i] == message) return n_after;
    after[n_after] = message;
    return n_after + 1;
}

static bool crosses(const struct fr_expansion *e, int64_t src, int64_t dst) {
    if (e->by_node) return src / e->ranks_per_node != dst / e->ranks_per_node;
    return e->ranks_per_node < e->n_ranks;
}

void fr_expansion_send(struct fr_expansion *e, int64_t src, int64_t dst, double size_B) {
    int32_t after[3], n_after = 0;
    if (e->failed) return;
    n_after = follow(e->heard[src], after, n_after);
    n_after = follow(e->sent[src], after, n_after);
    n_after = follow(e->received[dst], after, n_after);
    int32_t message = fr_message_add(e->list, (int32_t)src, (int32_t)dst, crosses(e, src, dst),
                                     size_B, after, n_after);
    e->failed = message < 0;
    if (message >= 0) e->list->items[message].around = e->around;
    e->sent[src] = e->received[dst] = message;
}

void fr_expansion_next_round(struct fr_expansion *e) {
    if (!e->failed) memcpy(e->heard, e->received, (size_t)e->n_ranks * sizeof *e->heard);
}

fr_status fr_collective_expand(const struct fr_collective *row,
                               const struct fr_collective_args *a,
                               struct fr_message_list *list) {
    struct fr_expansion e = open_expansion(a, list);
    row->expand(a, &e);
    free(e.sent);
    return e.failed ? FR_ERR_NOMEM : FR_OK;
}

void fr_expand_shift(struct fr_expansion *e, struct fr_peers peers, int64_t shift,
                     double size_B) {
    for (int64_t rank = 0; rank < e->n_ranks && !e->failed; rank++) {
        int64_t place = rank / peers.stride % peers.members;
        int64_t other = (place + shift) % peers.members;
        fr_expansion_send(e, rank, rank + (other - place) * peers.stride, size_B);
    }
    fr_expansion_next_round(e);
}

void fr_expand_exchange(struct fr_expansion *e, int64_t distance, double size_B) {
    for (int64_t rank = 0; rank < e->n_ranks && !e->failed; rank++)
        fr_expansion_send(e, rank, rank ^ distance, size_B);
    fr_expansion_next_round(e);
}
