/* Expansions have the closed form as their critical path, everyone hears from whom the operation says, and the bytes
 * that must move do move. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/network/pattern.h"
#include "tests/collective_points.h"

static struct fr_message_list expand(const struct fr_collective *row,
                                     const struct fr_collective_args *a) {
    struct fr_message_list list = {0};
    EXPECT(fr_collective_expand(row, a, &list) == FR_OK, row, a, "expand failed");
    return list;
}

static double later(double a_s, double b_s) { return a_s > b_s ? a_s : b_s; }

/* Time at which the last message of @p list has arrived, every message priced alone by @p args (an idle network), sends
 * and receives of a rank in list order [s]. */
static double list_time_s(const struct fr_message_list *list,
                          const struct fr_collective_args *args) {
    double time_s = 0;
    if (list->count == 0) return 0;
    size_t n = (size_t)list->count, p = (size_t)args->n_ranks;
    double *arrived_s = calloc(n + 2 * p, sizeof *arrived_s);
    assert_non_null(arrived_s);
    double *sending_s = arrived_s + n, *receiving_s = sending_s + p; /* busy until */
    for (size_t i = 0; i < n; i++) {
        const struct fr_message *m = &list->items[i];
        double start_s = m->rail ? 0 : later(sending_s[m->src], receiving_s[m->dst]);
        for (int32_t k = 0; k < m->n_after; k++)
            start_s = later(start_s, arrived_s[m->after[k]]);
        arrived_s[i] = start_s + fr_message_alone_s(m, args);
        sending_s[m->src] = receiving_s[m->dst] = arrived_s[i];
        time_s = later(time_s, arrived_s[i]);
    }
    free(arrived_s);
    return time_s;
}

static void same_time(const struct fr_collective *row, const struct fr_collective_args *a) {
    struct fr_message_list list = expand(row, a);
    double closed_s = row->time_s(a), path_s = list_time_s(&list, a);
    EXPECT(fabs(path_s - closed_s) <= 1e-9 * closed_s, row, a,
           "closed form %.15g s, critical path of %d messages %.15g s", closed_s, list.count,
           path_s);
    fr_message_list_free(&list);
}

static void well_formed(const struct fr_collective *row, const struct fr_collective_args *a) {
    struct fr_message_list list = expand(row, a);
    for (int32_t i = 0; i < list.count; i++) {
        const struct fr_message *m = &list.items[i];
        bool ranks = m->src >= 0 && m->src < a->n_ranks && m->dst >= 0 && m->dst < a->n_ranks;
        EXPECT(ranks && m->src != m->dst, row, a, "message %d goes from %d to %d", i, m->src,
               m->dst);
        EXPECT(m->size_B > 0 && isfinite(m->size_B), row, a, "message %d has %g B", i,
               m->size_B);
        bool leaves = m->src / a->ranks_per_node != m->dst / a->ranks_per_node;
        EXPECT(m->crosses || !leaves, row, a, "message %d from %d to %d crosses unpaid", i,
               m->src, m->dst);
        bool ring = strncmp(row->name, "ring", 4) == 0 || row->op == FR_OP_SEND_RECV;
        EXPECT(m->around == ring, row, a, "message %d is off its ring, or on one", i);
        for (int32_t k = 0; k < m->n_after; k++)
            EXPECT(m->after[k] >= 0 && m->after[k] < i, row, a, "message %d comes after %d", i,
                   m->after[k]);
    }
    fr_message_list_free(&list);
}

/* Who has heard from whom.  Sets of ranks and of messages are bits. */
struct hearsay {
    struct fr_message_list list;
    size_t words;
    uint64_t *before;  /* [count][words]: messages that must have arrived before */
    uint64_t *carries; /* [count]: ranks that a message may bring news of */
    uint64_t *serves;  /* [count]: ranks that news in a message may still reach */
    int32_t *news;     /* [count]: latest message listed earlier that goes to its source */
    int32_t *older;    /* [count]: the one before with the same destination, or -1 */
    uint64_t heard[MAX_RANKS]; /* ranks that a rank has had news of in the end */
};

static bool is_before(const struct hearsay *h, int32_t first, int32_t then) {
    return h->before[(size_t)then * h->words + (size_t)first / 64] >> (first % 64) & 1;
}

static void order(struct hearsay *h, int32_t i) {
    const struct fr_message *m = &h->list.items[i];
    uint64_t *own = &h->before[(size_t)i * h->words];
    for (int32_t k = 0; k < m->n_after; k++) {
        size_t earlier = (size_t)m->after[k];
        for (size_t w = 0; w < h->words; w++) own[w] |= h->before[earlier * h->words + w];
        own[earlier / 64] |= (uint64_t)1 << (earlier % 64);
    }
}

/* Chain the messages by where they go, latest first. */
static void chain(struct hearsay *h) {
    int32_t latest[MAX_RANKS];
    for (int r = 0; r < MAX_RANKS; r++) latest[r] = -1;
    for (int32_t i = 0; i < h->list.count; i++) {
        h->news[i] = latest[h->list.items[i].src];
        h->older[i] = latest[h->list.items[i].dst];
        latest[h->list.items[i].dst] = i;
    }
}

/* Who heard whom takes memory as the square of the messages: many rail rings are as a few. */
static bool too_many(const struct fr_collective_args *a) {
    return a->ranks_per_node > 1 && a->ranks_per_node < a->n_ranks && a->n_ranks > 16;
}

static struct hearsay listen(const struct fr_collective *row,
                             const struct fr_collective_args *a) {
    struct hearsay h = {.list = expand(row, a)};
    size_t n = (size_t)h.list.count;
    h.words = n / 64 + 1;
    h.before = calloc(n + 1, h.words * sizeof *h.before);
    h.carries = calloc(n + 1, sizeof *h.carries);
    h.serves = calloc(n + 1, sizeof *h.serves);
    h.news = calloc(n + 1, sizeof *h.news);
    h.older = calloc(n + 1, sizeof *h.older);
    assert_true(h.before && h.carries && h.serves && h.news && h.older);
    chain(&h);
    for (int32_t r = 0; r < a->n_ranks; r++) h.heard[r] = (uint64_t)1 << r;
    for (int32_t i = 0; i < h.list.count; i++) {
        order(&h, i);
        h.carries[i] = (uint64_t)1 << h.list.items[i].src;
        for (int32_t k = h.news[i]; k >= 0; k = h.older[k])
            if (is_before(&h, k, i)) h.carries[i] |= h.carries[k];
        h.heard[h.list.items[i].dst] |= h.carries[i];
    }
    for (int32_t i = h.list.count - 1; i >= 0; i--) {
        h.serves[i] |= (uint64_t)1 << h.list.items[i].dst;
        for (int32_t k = h.news[i]; k >= 0; k = h.older[k])
            if (is_before(&h, k, i)) h.serves[k] |= h.serves[i];
    }
    return h;
}

static void forget(struct hearsay *h) {
    free(h->before);
    free(h->carries);
    free(h->serves);
    free(h->news);
    free(h->older);
    fr_message_list_free(&h->list);
}

static uint64_t must_hear(fr_op op, int64_t p, int64_t rank) {
    uint64_t all = ~(uint64_t)0 >> (64 - p);
    switch (op) {
    case FR_OP_BROADCAST:
    case FR_OP_SCATTER:
        return 1;
    case FR_OP_REDUCE:
    case FR_OP_GATHER:
        return rank == 0 ? all : 0;
    case FR_OP_SEND_RECV:
        return (uint64_t)1 << (rank + p - 1) % p;
    default:
        return all;
    }
}

/* No rank hands on more blocks than it has heard of, or than there are ranks to take them. */
static void no_block_from_nowhere(const struct fr_collective *row,
                                  const struct fr_collective_args *a, const struct hearsay *h) {
    double block_B = a->size_B / (double)a->n_ranks;
    for (int32_t i = 0; i < h->list.count; i++) {
        const struct fr_message *m = &h->list.items[i];
        int known = __builtin_popcountll(h->carries[i]);
        int served = __builtin_popcountll(h->serves[i]);
        bool gathers = row->op == FR_OP_ALL_GATHER || row->op == FR_OP_GATHER;
        bool scatters = row->op == FR_OP_REDUCE_SCATTER || row->op == FR_OP_SCATTER;
        EXPECT(!gathers || m->size_B <= known * block_B * (1 + 1e-12), row, a,
               "message %d from %d has %g blocks, its source knows %d", i, m->src,
               m->size_B / block_B, known);
        EXPECT(!scatters || m->size_B <= served * block_B * (1 + 1e-12), row, a,
               "message %d from %d has %g blocks, of use to %d ranks", i, m->src,
               m->size_B / block_B, served);
        EXPECT((row->op != FR_OP_BROADCAST && row->op != FR_OP_SCATTER) || h->carries[i] & 1,
               row, a, "message %d from %d leaves before the root was heard", i, m->src);
    }
}

static void heard(const struct fr_collective *row, const struct fr_collective_args *a) {
    if (strncmp(row->name, "rail_", 5) == 0 && too_many(a)) return;
    struct hearsay h = listen(row, a);
    for (int32_t r = 0; r < a->n_ranks; r++) {
        uint64_t wanted = must_hear(row->op, a->n_ranks, r);
        EXPECT((h.heard[r] & wanted) == wanted, row, a, "rank %d heard %#llx, wanted %#llx", r,
               (unsigned long long)h.heard[r], (unsigned long long)wanted);
    }
    no_block_from_nowhere(row, a, &h);
    forget(&h);
}

/* Least bytes a rank must send and receive, as parts of n, and all ranks together. */
static void must_move(fr_op op, int64_t n_ranks, int32_t rank, double *sent, double *received,
                      double *total) {
    double p = (double)n_ranks, others = (p - 1) / p;
    *sent = *received = others;
    *total = p * others;
    if (op == FR_OP_ALL_REDUCE) *sent = *received = 1, *total = 2 * (p - 1);
    if (op == FR_OP_SEND_RECV) *sent = *received = 1, *total = p;
    if (op == FR_OP_BROADCAST) *sent = 0, *received = rank != 0, *total = p - 1;
    if (op == FR_OP_REDUCE) *sent = rank != 0, *received = 0, *total = p - 1;
    if (op == FR_OP_SCATTER)
        *sent = rank ? 0 : others, *received = rank ? 1 / p : 0, *total = others;
    if (op == FR_OP_GATHER)
        *sent = rank ? 1 / p : 0, *received = rank ? 0 : others, *total = others;
}

static void moved(const struct fr_collective *row, const struct fr_collective_args *a) {
    if (a->n_ranks == 1) return;
    struct fr_message_list list = expand(row, a);
    double sent_B[MAX_RANKS] = {0}, received_B[MAX_RANKS] = {0}, total_B = 0;
    double n = a->size_B * (1 - 1e-10), sent = 0, received = 0, total = 0;
    for (int32_t i = 0; i < list.count; i++) {
        sent_B[list.items[i].src] += list.items[i].size_B;
        received_B[list.items[i].dst] += list.items[i].size_B;
        total_B += list.items[i].size_B;
    }
    for (int32_t r = 0; r < a->n_ranks; r++) {
        must_move(row->op, a->n_ranks, r, &sent, &received, &total);
        EXPECT(sent_B[r] >= sent * n, row, a, "rank %d sent %g B, wanted at least %g B", r,
               sent_B[r], sent * n);
        EXPECT(received_B[r] >= received * n, row, a,
               "rank %d received %g B, wanted at least %g B", r, received_B[r], received * n);
    }
    EXPECT(total_B >= total * n, row, a, "%g B moved, wanted at least %g B", total_B,
           total * n);
    fr_message_list_free(&list);
}

/* After a first part that expand left there, it appends. */
static void appended(const struct fr_collective *row, const struct fr_collective_args *a) {
    struct fr_message_list once = expand(row, a), twice = expand(row, a);
    double once_s = 0, twice_s = 0;
    EXPECT(fr_collective_expand(row, a, &twice) == FR_OK, row, a, "expand failed");
    EXPECT(twice.count == 2 * once.count, row, a, "got %d messages, wanted %d", twice.count,
           2 * once.count);
    for (int32_t i = once.count; i < twice.count; i++)
        for (int32_t k = 0; k < twice.items[i].n_after; k++)
            EXPECT(twice.items[i].after[k] >= once.count, row, a,
                   "message %d of the second waits for %d of the first", i,
                   twice.items[i].after[k]);
    once_s = list_time_s(&once, a);
    twice_s = list_time_s(&twice, a);
    EXPECT(twice_s >= once_s && twice_s <= 2 * once_s * (1 + 1e-12), row, a,
           "once %g s, twice %g s", once_s, twice_s);
    fr_message_list_free(&once);
    fr_message_list_free(&twice);
}

/* The second half of the circulant all-reduce: by then everyone has heard from everyone, so it
 * must be looked at alone. */
static void expand_gather(const struct fr_collective_args *a, struct fr_expansion *e) {
    struct fr_peers everyone = {a->n_ranks, 1};
    fr_pattern_circulant_gather(e, everyone, a->size_B / (double)a->n_ranks);
}

static void circulant_gather_is_an_all_gather(void **state) {
    (void)state;
    static const struct fr_collective gather = {.name = "circulant gather",
                                                .op = FR_OP_ALL_GATHER,
                                                .applicable = fr_collective_always,
                                                .expand = expand_gather};
    for (int64_t p = 1; p <= MAX_RANKS; p++) {
        struct fr_collective_args a = {.n_ranks = p,
                                       .ranks_per_node = p,
                                       .size_B = (double)p,
                                       .inner = {1, 1},
                                       .outer = {1, 1}};
        well_formed(&gather, &a);
        heard(&gather, &a);
        moved(&gather, &a);
    }
}

static void critical_path_is_the_closed_form(void **state) {
    (void)state, at_every_point(same_time);
}
static void messages_are_well_formed(void **state) { (void)state, at_every_shape(well_formed); }
static void everyone_hears(void **state) { (void)state, at_every_shape(heard); }
static void the_bytes_move(void **state) { (void)state, at_every_shape(moved); }
static void expansions_append(void **state) { (void)state, at_every_shape(appended); }

/* Inner: 1 s + 1 s/B, outer: 10 s + 2 s/B. */
static void a_port_carries_one_message_at_a_time(void **state) {
    (void)state;
    static const struct fr_collective_args a = {
        .n_ranks = 4, .ranks_per_node = 2, .size_B = 0, .inner = {1, 1}, .outer = {10, 2}};
    struct fr_message_list list = {0};
    double time_s = -1;
    time_s = list_time_s(&list, &a);
    assert_true(fabs(time_s) <= 0);
    int32_t first = fr_message_add(&list, 0, 1, false, 4, NULL, 0); /* 0 to 5 */
    fr_message_add(&list, 1, 0, false, 2, NULL, 0); /* 0 to 3, both ways at once */
    time_s = list_time_s(&list, &a);
    assert_true(fabs(time_s - 5) < 1e-12);
    fr_message_add(&list, 0, 2, true, 3, NULL, 0);   /* 5 to 21: rank 0 sends one at a time */
    fr_message_add(&list, 3, 2, false, 1, NULL, 0);  /* 21 to 23: rank 2 receives one */
    fr_message_add(&list, 1, 3, true, 9, &first, 1); /* 5 to 33: after the first arrived */
    time_s = list_time_s(&list, &a);
    if (fabs(time_s - 33) > 1e-12) fail_msg("got %g s, wanted 33 s", time_s);
    list.count--;
    time_s = list_time_s(&list, &a);
    if (fabs(time_s - 23) > 1e-12) fail_msg("got %g s, wanted 23 s", time_s);
    fr_message_list_free(&list);
    assert_null(list.items);
}

static void too_many_ranks_to_write_down_is_an_error(void **state) {
    (void)state;
    static const struct fr_collective_args a = {.n_ranks = (int64_t)1 << 40,
                                                .ranks_per_node = 8,
                                                .size_B = 1,
                                                .inner = {1, 1},
                                                .outer = {1, 1}};
    for (const struct fr_collective *const *row = fr_collectives; *row; row++) {
        struct fr_message_list list = {0};
        EXPECT(fr_collective_expand(*row, &a, &list) == FR_ERR_NOMEM, *row, &a,
               "expand did not refuse");
        assert_int_equal(list.count, 0);
    }
}

/* Rank 0 gathers this at the end of such a reduction: the last p - 1 messages, one of every other rank, after all
 * that it has gathered itself; in them all blocks but rank 0's own. */
static void gathers_in_order(const struct fr_collective *row,
                             const struct fr_collective_args *a) {
    if (row != &fr_collective_reduce_scatter_gather_reduce || a->n_ranks < 2) return;
    struct hearsay h = listen(row, a);
    int32_t first = h.list.count - (int32_t)(a->n_ranks - 1);
    double blocks_B[MAX_RANKS];
    for (int r = 0; r < MAX_RANKS; r++) blocks_B[r] = a->size_B / (double)a->n_ranks;
    for (int32_t i = first; i < h.list.count; i++) {
        const struct fr_message *m = &h.list.items[i];
        for (int32_t k = first; k < i; k++)
            EXPECT(h.list.items[k].dst != m->src || is_before(&h, k, i), row, a,
                   "message %d from %d does not wait for %d", i, m->src, k);
        EXPECT(fabs(m->size_B - blocks_B[m->src]) <= 1e-9 * m->size_B, row, a,
               "message %d from %d brings %g B of %g", i, m->src, m->size_B, blocks_B[m->src]);
        blocks_B[m->dst] += m->size_B;
        blocks_B[m->src] = 0;
    }
    EXPECT(fabs(blocks_B[0] - a->size_B) <= 1e-9 * a->size_B, row, a, "rank 0 ends with %g B",
           blocks_B[0]);
    forget(&h);
}

static void blocks_are_gathered_in_order(void **state) {
    (void)state, at_every_shape(gathers_in_order);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_gathered_in_order),
        cmocka_unit_test(critical_path_is_the_closed_form),
        cmocka_unit_test(messages_are_well_formed),
        cmocka_unit_test(everyone_hears),
        cmocka_unit_test(the_bytes_move),
        cmocka_unit_test(circulant_gather_is_an_all_gather),
        cmocka_unit_test(expansions_append),
        cmocka_unit_test(a_port_carries_one_message_at_a_time),
        cmocka_unit_test(too_many_ranks_to_write_down_is_an_error),
    };
    return cmocka_run_group_tests_name("models.collective_messages", tests, NULL, NULL);
}
