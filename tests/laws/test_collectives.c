/* Collectives and messages use the level where their ranks sit: laws over random machines, random places and
 * all presets. */
#include <math.h>
#include <stdlib.h>

#include "models/job/cluster.h"
#include "models/network/comm.h"
#include "sim/network.h"
#include "tests/laws/law.h"

static uint64_t state_of = 20261126;

static uint64_t next_of(uint64_t below) { /* xorshift64* */
    state_of ^= state_of >> 12;
    state_of ^= state_of << 25;
    state_of ^= state_of >> 27;
    return (state_of * 0x2545f4914f6cdd1du >> 33) % below;
}

/* ---- any ranks of any machine ------------------------------------------------------------------- */

enum { MOST = 64 };

/* A class of links whose hop is one for all protocols, or not; of every second machine none. */
static const struct fr_link_class *random_class(bool between) {
    const struct fr_link_class *class = &fr_link_classes[next_of(9)];
    bool one = class->hop_s[0] >= class->hop_s[FR_PROTOCOL_SIMPLE];
    return one == between ? class : random_class(between);
}

/* Nodes of 4 or 8 ranks, an adapter for each 1, 2, 4 of them; the network slower than a node by 1 to 32. */
static struct fr_levels random_machine(void) {
    int64_t node = 4 << next_of(2), shared_by = 1 << next_of(3);
    double rate_B_per_s = 1e9 * (double)(10 + next_of(400));
    struct fr_levels levels = {.count = 2};
    levels.level[0] = (struct fr_level){.name = "node",
                                        .ranks = node,
                                        .latency_s = 1e-6 * (double)(1 + next_of(8)),
                                        .rate_B_per_s = rate_B_per_s,
                                        .shared_by = 1};
    levels.level[1] =
        (struct fr_level){.name = "system",
                          .ranks = 256,
                          .latency_s = 1e-6 * (double)(2 + next_of(20)),
                          .rate_B_per_s = rate_B_per_s / (double)(1 << next_of(6)),
                          .shared_by = shared_by};
    if (next_of(2)) {
        levels.level[0].link = random_class(false);
        levels.level[1].link = random_class(true);
    }
    return levels;
}

/* p of the first slots of the machine, ascending: from one on, or with gaps. */
static void random_slots(int64_t p, int64_t *slot) {
    int64_t at = (int64_t)next_of(8), gaps = (int64_t)next_of(3);
    for (int64_t i = 0; i < p; i++) {
        slot[i] = at;
        at += 1 + (int64_t)next_of((uint64_t)gaps + 1);
    }
}

/* Time per byte of the narrowest place by the links alone: a rank's own link inside, and what the adapters of each
 * node's members can take of the data that must leave it. */
static double narrowest_s_per_B(const struct fr_levels *levels, int64_t p,
                                const int64_t *slot) {
    const struct fr_level *node = &levels->level[0], *system = &levels->level[1];
    double worst = 0;
    bool inside = false;
    for (int64_t i = 0, end; i < p; i = end) {
        int64_t adapters = 0, last = -1;
        for (end = i; end < p && slot[end] / node->ranks == slot[i] / node->ranks; end++) {
            adapters += slot[end] / system->shared_by != last;
            last = slot[end] / system->shared_by;
        }
        if (end - i > 1) inside = true;
        if (end - i < p) worst = fmax(worst, 1 / ((double)adapters * system->rate_B_per_s));
    }
    return inside ? fmax(worst, 1 / node->rate_B_per_s) : worst;
}

static const fr_op bulk[] = {FR_OP_ALL_REDUCE, FR_OP_ALL_GATHER, FR_OP_REDUCE_SCATTER};

/* Large collectives: within a factor 2.2 either way of the bytes that a ring moves through the narrowest place, whatever p
 * and wherever they sit.  So from one p to the next, or one placement to another, time changes by no more than the
 * links and 2.2 squared explain: two nodes may halve what crosses (half a ring's bytes), and adapters that carry
 * unlike numbers of members work at the fullest's pace. */
static bool law_explained(const struct fr_levels *levels, int64_t p, const int64_t *slot,
                          struct law_why *why) {
    const struct fr_communicator c = {.n_ranks = p, .stride = 1, .n_groups = 1, .slot = slot};
    const double size_B = 64e9, allowed = 2.2;
    struct fr_group group;
    LAW(fr_group_of(levels, &c, &group, NULL) == FR_OK, "no group");
    for (int k = 0; k < 3; k++) {
        struct fr_collective_args a = fr_group_args(&group, size_B);
        double got_s = fr_collective_fastest_s(bulk[k], &a);
        double links_s =
            fr_op_bus_factor(bulk[k], p) * size_B * narrowest_s_per_B(levels, p, slot);
        LAW(got_s <= allowed * links_s && links_s <= allowed * got_s,
            "%s of %d ranks, %d to %d a node of %d, %d share an adapter: %g s, the links say "
            "%g s",
            fr_op_names[bulk[k]], (int)p, (int)group.fewest, (int)group.ranks_per_node,
            (int)levels->level[0].ranks, (int)levels->level[1].shared_by, got_s, links_s);
    }
    return true;
}

/* The messages of the algorithm that prices it, on our engine. */
static double engine_s(const struct fr_levels *levels, const struct fr_communicator *c,
                       const struct fr_collective *row, struct fr_collective_args args,
                       const struct fr_network *network) {
    struct fr_cluster cluster = {.levels = *levels};
    struct fr_message_list list = {0};
    struct fr_program program = {.n_ranks = (int32_t)fr_levels_capacity(levels)};
    int32_t node[MOST];
    double makespan_s = -1;
    void *state = NULL;
    int64_t count = 0;
    for (int64_t g = 0; g < c->n_groups; g++) {
        for (int64_t i = 0; i < c->n_ranks; i++)
            node[i] = (int32_t)(fr_communicator_slot(c, g, i) / levels->level[0].ranks);
        args.node = node;
        list.count = 0;
        assert_int_equal(fr_collective_expand(row, &args, &list), FR_OK);
        if (g == 0) {
            count = list.count;
            program.classes = calloc((size_t)count, sizeof *program.classes);
        }
        assert_int_equal(count, list.count);
        for (int32_t m = 0; m < list.count; m++) {
            const struct fr_message *message = &list.items[m];
            const struct fr_task task = {
                .class_id = m,
                .rank = (int32_t)fr_communicator_slot(c, g, message->src),
                .peer = (int32_t)fr_communicator_slot(c, g, message->dst),
                .micro = -1};
            int32_t id = fr_program_add(&program, &task);
            for (int32_t k = 0; k < message->n_after; k++)
                fr_program_wait(&program, id, (int32_t)(g * count) + message->after[k]);
        }
    }
    program.n_classes = (int32_t)count;
    double *class_B = malloc(2 * (size_t)count * sizeof *class_B), *class_s = class_B + count;
    double *times = malloc(2 * (size_t)(program.n_tasks + 1) * sizeof *times);
    for (int64_t m = 0; m < count; m++) {
        program.classes[m].kind = FR_TASK_COLLECTIVE_MESSAGE;
        class_B[m] = list.items[m].size_B;
        class_s[m] = fr_message_alone_s(&list.items[m], &args);
        program.classes[m].latency_s = (float)fr_message_latency_s(&list.items[m], &args);
    }
    struct fr_network_work work = {&cluster, &program, class_B, NULL, NULL, 0, {1, 1, NULL}};
    assert_true(!network->open || network->open(&work, &state, NULL) == FR_OK);
    assert_int_equal(network->run(&work, state, class_s, times, times + program.n_tasks + 1,
                                  &makespan_s, NULL),
                     FR_OK);
    if (network->close) network->close(state);
    free(times);
    free(class_B);
    fr_message_list_free(&list);
    fr_program_free(&program);
    return makespan_s;
}

/* The fastest algorithm's closed form is its messages' time on an idle network, and within 15 % where they share
 * links. */
static bool law_engine(const struct fr_levels *levels, const struct fr_communicator *c,
                       double size_B, struct law_why *why) {
    static const fr_op ops[] = {FR_OP_ALL_REDUCE, FR_OP_ALL_GATHER, FR_OP_REDUCE_SCATTER,
                                FR_OP_ALL_TO_ALL, FR_OP_SEND_RECV};
    struct fr_group group;
    LAW(fr_group_of(levels, c, &group, NULL) == FR_OK, "no group");
    for (int k = 0; k < 5; k++) {
        struct fr_collective_args a = fr_group_args(&group, size_B);
        const struct fr_collective *row = fr_collective_fastest(ops[k], &a);
        double closed_s = row->time_s(&a),
               idle_s = engine_s(levels, c, row, a, &fr_network_isolated),
               shared_s = engine_s(levels, c, row, a, &fr_network_shared);
        bool protocols =
            levels->level[0].link; /* carry a share of the bytes that links could */
        LAW(law_near(idle_s, closed_s, 1e-9) &&
                (protocols || law_near(shared_s, closed_s, 0.15)),
            "%s %s of %d ranks, %d to %d a node of %d, %d at once, %d share an adapter, %g B: "
            "closed %g s, idle "
            "%g s, shared %g s",
            row->name, fr_op_names[ops[k]], (int)c->n_ranks, (int)group.fewest,
            (int)group.ranks_per_node, (int)levels->level[0].ranks, (int)c->n_groups,
            (int)levels->level[1].shared_by, size_B, closed_s, idle_s, shared_s);
    }
    return true;
}

static void time_is_what_the_links_explain(void **state) {
    (void)state;
    for (int machine = 0; machine < fr_sample(20, 5); machine++) {
        struct fr_levels levels = random_machine();
        for (int64_t p = 2; p <= MOST; p++) {
            struct law_why why;
            int64_t slot[MOST];
            random_slots(p, slot);
            if (!law_explained(&levels, p, slot, &why)) fail_msg("%s", why.text);
            for (int64_t i = 0; i < p; i++) slot[i] = i;
            if (!law_explained(&levels, p, slot, &why)) fail_msg("%s", why.text);
        }
    }
}

static void engine_agrees_with_the_closed_form(void **state) {
    (void)state;
    for (int64_t p = 2; p <= MOST; p++)
        for (int k = 0; k < 2; k++) {
            struct fr_levels levels = random_machine();
            struct law_why why;
            int64_t slot[MOST];
            random_slots(p, slot);
            struct fr_communicator c = {.n_ranks = p, .stride = 1, .n_groups = 1, .slot = slot};
            double size_B = k ? 1e5 : 256e6;
            if (!law_engine(&levels, &c, size_B, &why)) fail_msg("%s", why.text);
            c = (struct fr_communicator){
                .n_ranks = p, .stride = 1, .n_groups = 1 + (int64_t)next_of(3)};
            if (!law_engine(&levels, &c, size_B, &why)) fail_msg("%s", why.text);
            c.stride = 1 + (int64_t)next_of(3);
            c.n_groups = 1 + (int64_t)next_of((uint64_t)c.stride);
            if (!law_engine(&levels, &c, size_B, &why)) fail_msg("%s", why.text);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_is_what_the_links_explain),
        cmocka_unit_test(engine_agrees_with_the_closed_form),
    };
    return cmocka_run_group_tests_name("laws.collectives", tests, NULL, NULL);
}
