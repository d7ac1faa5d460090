/* Our engine beside SimGrid 3.32, program for program: isolated messages, contention on a star and on
 * nodes of eight ranks behind one adapter, energies, and segmented collectives beside their closed
 * forms.  Skipped, and said so, where forerun-simgrid was not built. */
#include <stdlib.h>
#include <unistd.h>

#include "models/network/collective.h"
#include "models/network/comm.h"
#include "models/outcome/cost.h"
#include "sim/network/simgrid/child.h"
#include "sim/record.h"
#include "tests/job.h"
#include "tests/pipeline_case.h"
#include "topology/platform.h"

static bool absent(void) {
    if (access(FR_BIN_DIR "/forerun-simgrid", X_OK) == 0) return false;
    print_message("skipped: forerun-simgrid was not built\n");
    return true;
}

/* ---- plans ------------------------------------------------------------------------------------- */

struct run {
    double time_s, energy_J;
};

static struct run run_on(const struct fr_job *job, const struct fr_network *network) {
    struct fr_simulation s;
    struct fr_error err = {0};
    const struct fr_simulate_options how = {.network = network};
    if (fr_simulate(job, &job->plan, &how, &s, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    if (s.outcome.reasons) fail_msg("the plan is infeasible");
    struct run run = {s.outcome.time_s, s.outcome.energy_J};
    fr_simulation_free(&s);
    return run;
}

static void load(const char *message, const char *const *sets, struct fr_job *job) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/forerun-test-simgrid-%d.json", (int)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "{\"kind\": \"stages\", \"forward\": \"1 ms\", \"backward\": \"2 ms\", "
            "\"message\": \"%s\", \"global_batch\": 48}",
            message);
    fclose(file);
    const char *all[12] = {"cluster.levels.1.bandwidth=25 GB/s"}; /* the adapters' own rate */
    for (int i = 0; sets && sets[i] && i < 10; i++) all[i + 1] = sets[i];
    fr_test_job("a100-hdr", path, all, job);
    unlink(path);
}

/* The agreed value: 8 stages, 64 micro-batches, 2 us a message and no bytes to speak of. */
static void agreed_value(void **state) {
    (void)state;
    static const char *const sets[] = {
        "pp=8", "global_batch=64",
        "cluster.levels=[{\"name\": \"system\", \"ranks\": 8, \"latency\": \"2 us\", "
        "\"bandwidth\": \"1000 TB/s\"}]",
        NULL};
    struct fr_job job;
    if (absent()) skip();
    load("1 B", sets, &job);
    FR_NEAR(run_on(&job, &fr_network_isolated).time_s, 0.213248, 1e-9);
    FR_NEAR(run_on(&job, &fr_network_simgrid).time_s, 0.213248, 1e-9);
    fr_job_free(&job);
}

/* Messages that never meet: all three networks, time and energy; wanted 0.1 %. */
static void isolated_messages(void **state) {
    (void)state;
    static const char *const cases[][6] = {
        {"cluster.topology=flat", "pp=8", "schedule=1f1b", NULL},
        {"cluster.topology=flat", "pp=5", "schedule=gpipe", "dp=2", NULL},
        {"cluster.topology=flat", "pp=4", "schedule=interleaved", "chunks=2", NULL},
        {"cluster.topology=flat", "pp=8", "p2p=duplex", NULL},
        {"pp=4", "tp=8", "schedule=zero-bubble", NULL},
        {"pp=16", "schedule=1f1b-double", NULL},
    };
    if (absent()) skip();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct fr_job job;
        load("200 KB", cases[k], &job);
        struct run alone = run_on(&job, &fr_network_isolated),
                   shared = run_on(&job, &fr_network_fair),
                   other = run_on(&job, &fr_network_simgrid);
        FR_TRUE(fabs(alone.time_s - other.time_s) <= 1e-3 * other.time_s &&
                    fabs(alone.energy_J - other.energy_J) <= 1e-3 * other.energy_J,
                "case %d: isolated %.12g s %.12g J, simgrid %.12g s %.12g J", (int)k,
                alone.time_s, alone.energy_J, other.time_s, other.energy_J);
        FR_NEAR(shared.time_s, other.time_s, 1e-6);
        fr_job_free(&job);
    }
}

/* Messages that do: wanted 2 %, reached 1e-6, since flows that meet here have equal latencies. */
static void contention(void **state) {
    (void)state;
    static const char *const cases[][7] = {
        {"cluster.topology=flat", "pp=8", NULL},
        {"cluster.topology=flat", "pp=6", "dp=3", "p2p=duplex", NULL},
        {"pp=4", "tp=8", NULL},
        {"pp=16", "dp=4", NULL},
        {"pp=8", "tp=4", "dp=2", "p2p=duplex", NULL},
        {"pp=4", "tp=8", "dp=2", "schedule=zero-bubble", NULL},
        {"pp=2", "dp=16", NULL},
        {"cluster.topology=rack:4 node:4 gpu:8", "pp=16", "tp=2", NULL},
        {"cluster.topology=fat-tree down=4,4 up=1", "pp=16", "dp=4", NULL},
        {"cluster.topology=rail pod=4 up=1 pods=4", "pp=16", "dp=4", NULL},
        {"pp=16", "dp=4", "placement=round-robin", NULL},
        {"pp=4", "tp=2", "dp=4", "placement=by-axis:dp", NULL},
    };
    if (absent()) skip();
    int met = 0;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct fr_job job;
        load("60 MB", cases[k], &job);
        struct run alone = run_on(&job, &fr_network_isolated),
                   ours = run_on(&job, &fr_network_fair),
                   other = run_on(&job, &fr_network_simgrid);
        met += ours.time_s > 1.05 * alone.time_s;
        FR_TRUE(fabs(ours.time_s - other.time_s) <= 1e-6 * other.time_s &&
                    fabs(ours.energy_J - other.energy_J) <= 1e-6 * other.energy_J,
                "case %d: shared %.12g s %.12g J, simgrid %.12g s %.12g J", (int)k, ours.time_s,
                ours.energy_J, other.time_s, other.energy_J);
        fr_job_free(&job);
    }
    FR_TRUE(met >= 5, "messages met in %d cases only", met);
}

/* Where they differ and why: on one link CM02 gives flows shares in inverse proportion to their routes'
 * latencies, as TCP does, ours equal ones.  Two flows of one adapter over torus routes of one and
 * of four switches. */
static void unequal_latencies(void **state) {
    (void)state;
    static const char *const sets[] = {
        "cluster.topology=torus size=16 latency=10us bandwidth=1TB/s", NULL};
    struct fr_job job;
    if (absent()) skip();
    load("1 B", sets, &job);
    struct fr_task_class class = {.kind = FR_TASK_FORWARD_MESSAGE};
    struct fr_task tasks[2] = {{.rank = 0, .peer = 8, .micro = -1},
                               {.rank = 1, .peer = 9 + 3 * 8, .micro = -1}};
    struct fr_program program = {
        .n_ranks = 128, .n_classes = 1, .classes = &class, .n_tasks = 2, .tasks = tasks};
    double size_B = 250e6, alone_s = 10e-3, start_s[2], ours_s[2], other_s[2], last_s;
    struct fr_network_work work = {&job.cluster, &program, &size_B,     NULL,
                                   NULL,         0,        {1, 1, NULL}};
    void *network = NULL;
    for (int t = 0; t < 2; t++)
        for (int k = 0; k < FR_TASK_WAITS_MAX; k++) tasks[t].after[k] = -1;
    assert_int_equal(fr_network_fair.open(&work, &network, NULL), FR_OK);
    assert_int_equal(
        fr_network_fair.run(&work, network, &alone_s, start_s, ours_s, &last_s, NULL), FR_OK);
    fr_network_fair.close(network);
    assert_int_equal(fr_network_simgrid.open(&work, &network, NULL), FR_OK);
    assert_int_equal(
        fr_network_simgrid.run(&work, network, &alone_s, start_s, other_s, &last_s, NULL),
        FR_OK);
    fr_network_simgrid.close(network);
    print_message("two flows of one adapter, 15 and 45 us: ours end at %.6g and %.6g ms, "
                  "SimGrid's at %.6g and %.6g ms\n",
                  1e3 * ours_s[0], 1e3 * ours_s[1], 1e3 * other_s[0], 1e3 * other_s[1]);
    FR_NEAR(ours_s[0], 20e-3, 0.01);
    FR_NEAR(fmax(other_s[0], other_s[1]), fmax(ours_s[0], ours_s[1]), 0.02);
    fr_job_free(&job);
}

/* ---- messages one after another ----------------------------------------------------------------- */

/* Checks when each of several messages between neighbours, one after another, begins and ends.  The rest of its
 * class's time beyond latency and bytes follows it, except in a simulated collective, where it is the cost of shared
 * links; a class that takes no time carries nothing; a task of two ranks ends with the later. */
static void a_chain_begins_where_the_last_one_ended(void **state) {
    (void)state;
    enum { TASKS = 4, CLASSES = 4 };
    struct fr_job job;
    if (absent()) skip();
    load("1 B", NULL, &job);
    const struct fr_level *inside = &job.cluster.levels.level[0];
    const double size_B[CLASSES] = {80e6, 80e6, 0, 80e6};
    const double alone_s = inside->latency_s + 80e6 / inside->rate_B_per_s;
    struct fr_task_class classes[CLASSES] = {{.kind = FR_TASK_FORWARD_MESSAGE},
                                             {.kind = FR_TASK_COLLECTIVE_MESSAGE},
                                             {.kind = FR_TASK_EMBEDDING},
                                             {.kind = FR_TASK_EXCHANGE}};
    struct fr_task tasks[TASKS];
    struct fr_program program = {.n_ranks = 2,
                                 .n_classes = CLASSES,
                                 .classes = classes,
                                 .n_tasks = TASKS,
                                 .tasks = tasks};
    for (int t = 0; t < TASKS; t++) {
        tasks[t] =
            (struct fr_task){.rank = t % 2, .peer = 1 - t % 2, .micro = -1, .class_id = t};
        for (int k = 0; k < FR_TASK_WAITS_MAX; k++) tasks[t].after[k] = -1;
        if (t > 0) tasks[t].after[0] = t - 1;
    }
    struct fr_network_work work = {&job.cluster, &program, size_B, NULL, NULL, 0, {1, 1, NULL}};
    for (int round = 0; round < 3; round++) {
        const double class_s[CLASSES] = {round == 1 ? 0 : alone_s + 1e-3, alone_s + 1e-3,
                                         round == 2 ? 0 : 5e-3, alone_s};
        const double takes_s[TASKS] = {class_s[0], alone_s, class_s[2], alone_s};
        double start_s[TASKS], end_s[TASKS], last_s = 0, at_s = 0;
        void *network = NULL;
        struct fr_error err = {0};
        if (fr_network_simgrid.open(&work, &network, &err) != FR_OK ||
            fr_network_simgrid.run(&work, network, class_s, start_s, end_s, &last_s, &err) !=
                FR_OK)
            fail_msg("%s: %s", err.where, err.detail);
        for (int t = 0; t < TASKS; t++) {
            FR_TRUE(fabs(start_s[t] - at_s) < 1e-8,
                    "round %d, task %d begins at %.9g, not %.9g", round, t, start_s[t], at_s);
            at_s += takes_s[t];
            FR_TRUE(fabs(end_s[t] - at_s) < 1e-8, "round %d, task %d ends at %.9g, not %.9g",
                    round, t, end_s[t], at_s);
        }
        FR_NEAR(last_s, end_s[TASKS - 1], 0);
        /* The same times again are the same, and others in between change nothing. */
        const double none_s[CLASSES] = {0};
        double other_s[2 * TASKS], again_s[TASKS], ignored_s;
        assert_int_equal(fr_network_simgrid.run(&work, network, none_s, other_s,
                                                other_s + TASKS, &ignored_s, NULL),
                         FR_OK);
        FR_NEAR(ignored_s + 1, 1, 1e-12);
        assert_int_equal(
            fr_network_simgrid.run(&work, network, class_s, other_s, again_s, &ignored_s, NULL),
            FR_OK);
        for (int t = 0; t < TASKS; t++) FR_NEAR(again_s[t], end_s[t], 0);
        FR_NEAR(ignored_s, last_s, 0);
        fr_network_simgrid.close(network);
    }
    fr_job_free(&job);
}

/* Tasks drawn at random, one after another so that none meet: each begins and ends as on our network.  Some
 * messages take longer than their route, some no time, some carry nothing. */
static void chains_at_random(void **state) {
    (void)state;
    enum { TASKS = 24, CLASSES = 9, RANKS = 16 };
    static const fr_task_kind kinds[CLASSES] = {
        FR_TASK_FORWARD_MESSAGE, FR_TASK_FORWARD_MESSAGE,  FR_TASK_FORWARD_MESSAGE,
        FR_TASK_EXCHANGE,        FR_TASK_BACKWARD_MESSAGE, FR_TASK_FORWARD,
        FR_TASK_EMBEDDING,       FR_TASK_OPTIMIZER,        FR_TASK_COMPRESSED_MESSAGE};
    uint64_t dice = 12;
    struct fr_job job;
    if (absent()) skip();
    load("1 B", NULL, &job);
    for (int round = 0; round < 12; round++) {
        struct fr_task_class classes[CLASSES] = {{0}};
        struct fr_task tasks[TASKS];
        double size_B[CLASSES], class_s[CLASSES], start_s[2][TASKS], end_s[2][TASKS], last_s[2];
        struct fr_program program = {.n_ranks = RANKS,
                                     .n_classes = CLASSES,
                                     .classes = classes,
                                     .n_tasks = TASKS,
                                     .tasks = tasks};
        for (int c = 0; c < CLASSES; c++) {
            bool carries = fr_task_is_message(kinds[c]) && c != 2;
            classes[c].kind = kinds[c];
            size_B[c] = carries ? 1e6 * (1 + (double)(case_random(&dice) % 50)) : 0;
            class_s[c] = c == 7 ? 0 : 1e-3 * (double)(1 + case_random(&dice) % 4);
            if (carries)
                class_s[c] += 5e-6 + size_B[c] / 25e9; /* at least what any route takes */
        }
        for (int t = 0; t < TASKS; t++) {
            int c = (int)(case_random(&dice) % CLASSES);
            tasks[t] = (struct fr_task){.class_id = c,
                                        .micro = -1,
                                        .peer = -1,
                                        .rank = (int32_t)(case_random(&dice) % RANKS),
                                        .after = {t - 1, -1, -1}};
            if (fr_task_is_message(kinds[c]) || kinds[c] == FR_TASK_EMBEDDING)
                tasks[t].peer =
                    (tasks[t].rank + 1 + (int32_t)(case_random(&dice) % (RANKS - 1))) % RANKS;
        }
        const struct fr_network_work work = {&job.cluster, &program, size_B,      NULL,
                                             NULL,         0,        {1, 1, NULL}};
        const struct fr_network *const networks[2] = {&fr_network_isolated,
                                                      &fr_network_simgrid};
        for (int n = 0; n < 2; n++) {
            void *network = NULL;
            if (networks[n]->open)
                assert_int_equal(networks[n]->open(&work, &network, NULL), FR_OK);
            assert_int_equal(networks[n]->run(&work, network, class_s, start_s[n], end_s[n],
                                              &last_s[n], NULL),
                             FR_OK);
            if (networks[n]->close) networks[n]->close(network);
        }
        for (int t = 0; t < TASKS; t++)
            FR_TRUE(fabs(start_s[0][t] - start_s[1][t]) < 1e-8 &&
                        fabs(end_s[0][t] - end_s[1][t]) < 1e-8,
                    "round %d, task %d, class %d: %.9g to %.9g s, SimGrid %.9g to %.9g s",
                    round, t, tasks[t].class_id, start_s[0][t], end_s[0][t], start_s[1][t],
                    end_s[1][t]);
        FR_NEAR(last_s[1], last_s[0], 1e-6);
    }
    fr_job_free(&job);
}

/* Replicas whose messages take different times begin and end each task with the last of them, whichever that is: one
 * sends inside a node, one between nodes. */
static void a_task_ends_with_the_last_of_its_replicas(void **state) {
    (void)state;
    enum { TASKS = 2 };
    static const int64_t rank_map[][4] = {{0, 1, 2, 8}, {2, 8, 0, 1}};
    struct fr_job job;
    if (absent()) skip();
    load("1 B", NULL, &job);
    const struct fr_level *level = job.cluster.levels.level;
    const double size_B[2] = {80e6, 0}, work_s = 1e-3,
                 slow_s = level[1].latency_s + 80e6 / level[1].rate_B_per_s,
                 quick_s = level[0].latency_s + 80e6 / level[0].rate_B_per_s;
    struct fr_task_class classes[2] = {{.kind = FR_TASK_FORWARD_MESSAGE},
                                       {.kind = FR_TASK_FORWARD}};
    struct fr_task tasks[TASKS] = {
        {.rank = 0, .peer = 1, .micro = -1, .class_id = 0, .after = {-1, -1, -1}},
        {.rank = 1, .peer = -1, .micro = -1, .class_id = 1, .after = {0, -1, -1}}};
    struct fr_program program = {
        .n_ranks = 2, .n_classes = 2, .classes = classes, .n_tasks = TASKS, .tasks = tasks};
    for (int k = 0; k < 2; k++)
        for (int split = 0; split < 2; split++) { /* replicas along dp, or along tp */
            const int64_t by_tp[4] = {rank_map[k][0], rank_map[k][2], rank_map[k][1],
                                      rank_map[k][3]};
            struct fr_network_work work = {
                &job.cluster,
                &program,
                size_B,
                NULL,
                NULL,
                0,
                {split ? 2 : 1, split ? 1 : 2, split ? by_tp : rank_map[k]}};
            const double class_s[2] = {k ? slow_s : quick_s, work_s}; /* the first's */
            double start_s[TASKS], end_s[TASKS], last_s = 0;
            void *network = NULL;
            assert_int_equal(fr_network_simgrid.open(&work, &network, NULL), FR_OK);
            assert_int_equal(
                fr_network_simgrid.run(&work, network, class_s, start_s, end_s, &last_s, NULL),
                FR_OK);
            FR_NEAR(end_s[0], slow_s, 1e-6);
            FR_NEAR(start_s[1], slow_s, 1e-6);
            FR_NEAR(end_s[1], slow_s + work_s, 1e-6);
            FR_NEAR(last_s, end_s[1], 0);
            assert_true(fr_network_simgrid.wall_s(network) > 0);
            fr_network_simgrid.close(network);
        }
    fr_job_free(&job);
}

/* A model of layers, whose collectives are tasks of its ranks: nothing meets, so all networks and the closed form
 * say the same; energy to the loss is that of an iteration as often as there are iterations. */
static void models_of_layers(void **state) {
    (void)state;
#define HOSTS                                                                                  \
    "cluster.levels.0.power={\"idle\": \"500 W\", \"busy\": \"2500 W\"}" /* as busy as their devices */
    static const char *const sets[][6] = {
        {HOSTS, "tp=4", "dp=2", "iterations=100", NULL},
        {HOSTS, "method=phantom", "tp=8", "ghost=16", "iterations=7", NULL},
        {HOSTS, "method=grid", "tp=2", "dp=4", "iterations=3", NULL}};
    if (absent()) skip();
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++)
        for (int n = 0; fr_networks[n]; n++) {
            const struct fr_simulate_options how = {.network = fr_networks[n]};
            struct fr_job job;
            struct fr_outcome closed;
            struct fr_simulation s;
            struct fr_error err = {0};
            fr_test_job("frontier", "ffn-4096", sets[k], &job);
            fr_cost(&job, &job.plan, &closed);
            if (fr_simulate(&job, &job.plan, &how, &s, &err) != FR_OK)
                fail_msg("%s: %s", err.where, err.detail);
            assert_string_equal(s.outcome.engine, fr_networks[n]->engine);
            FR_NEAR(s.outcome.time_s, closed.time_s, 1e-6);
            FR_NEAR(s.outcome.energy_J, closed.energy_J, 1e-3);
            FR_NEAR(s.outcome.energy_part_J[FR_ENERGY_NODE],
                    closed.energy_part_J[FR_ENERGY_NODE], 1e-3);
            assert_true(closed.energy_part_J[FR_ENERGY_NODE] > 501 * closed.time_s);
            FR_NEAR(s.outcome.iterations, closed.iterations, 0);
            FR_NEAR(s.outcome.total_time_s, s.outcome.time_s * closed.iterations, 1e-12);
            FR_NEAR(s.outcome.total_energy_J, s.outcome.energy_J * closed.iterations, 1e-12);
            fr_simulation_free(&s);
            fr_job_free(&job);
        }
}

/* ---- segmented collectives --------------------------------------------------------------------- */

enum { MESSAGES_MAX = 1 << 16, CLASSES_MAX = 64 };

struct segmented {
    struct fr_program program;
    struct fr_task_class classes[CLASSES_MAX];
    double class_B[CLASSES_MAX], class_s[CLASSES_MAX];
};

/* A class for each size and kind of link. */
static int32_t class_of(struct segmented *s, double size_B, double alone_s) {
    for (int32_t c = 0; c < s->program.n_classes; c++)
        if (!(fabs(s->class_B[c] - size_B) > 0) && !(fabs(s->class_s[c] - alone_s) > 1e-18))
            return c;
    assert_true(s->program.n_classes < CLASSES_MAX);
    int32_t c = s->program.n_classes++;
    s->classes[c].kind = FR_TASK_COLLECTIVE_MESSAGE;
    s->class_B[c] = size_B;
    s->class_s[c] = alone_s;
    return c;
}

/* The messages of @p row in every group of a communicator at once; each alone takes what its route
 * does. */
static void make_segmented(const struct fr_levels *levels, const struct fr_communicator *c,
                           const struct fr_collective *row, double size_B,
                           struct segmented *s) {
    struct fr_group group;
    struct fr_message_list list = {0};
    assert_int_equal(fr_group_of(levels, c, &group, NULL), FR_OK);
    struct fr_collective_args args = fr_group_args(&group, size_B);
    assert_int_equal(fr_collective_expand(row, &args, &list), FR_OK);
    assert_true(list.count * c->n_groups <= MESSAGES_MAX);
    *s = (struct segmented){.program = {.n_ranks = (int32_t)fr_levels_capacity(levels)}};
    s->program.classes = s->classes;
    s->program.tasks = calloc((size_t)(list.count * c->n_groups) + 1, sizeof *s->program.tasks);
    for (int64_t g = 0; g < c->n_groups; g++)
        for (int32_t m = 0; m < list.count; m++) {
            const struct fr_message *message = &list.items[m];
            int64_t base = g * list.count, from = fr_communicator_slot(c, g, message->src),
                    to = fr_communicator_slot(c, g, message->dst);
            int l = fr_levels_between(levels, from, to);
            struct fr_task *task = &s->program.tasks[s->program.n_tasks++];
            *task = (struct fr_task){.rank = (int32_t)from, .peer = (int32_t)to, .micro = -1};
            task->class_id = class_of(s, message->size_B,
                                      levels->level[l].latency_s +
                                          message->size_B / levels->level[l].rate_B_per_s);
            for (int k = 0; k < FR_TASK_WAITS_MAX; k++)
                task->after[k] =
                    k < message->n_after ? (int32_t)(base + message->after[k]) : -1;
        }
    fr_message_list_free(&list);
}

static double run_segmented(const struct fr_cluster *cluster, const struct segmented *s,
                            const struct fr_network *network) {
    struct fr_network_work work = {cluster, &s->program, s->class_B,  NULL,
                                   NULL,    0,           {1, 1, NULL}};
    size_t n = (size_t)s->program.n_tasks + 1;
    double *times = malloc(2 * n * sizeof *times), last_s = -1;
    void *state = NULL;
    struct fr_error err = {0};
    if ((network->open && network->open(&work, &state, &err) != FR_OK) ||
        network->run(&work, state, s->class_s, times, times + n, &last_s, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    if (network->close) network->close(state);
    free(times);
    return last_s;
}

static double closed_s(const struct fr_levels *levels, const struct fr_communicator *c,
                       const struct fr_collective *row, double size_B) {
    struct fr_group group;
    assert_int_equal(fr_group_of(levels, c, &group, NULL), FR_OK);
    struct fr_collective_args args = fr_group_args(&group, size_B);
    return row->time_s(&args);
}

/* Segmented all-gather and all-to-all of D&SP, 4 and 8 sub-grids, on an idle flat network: closed
 * form, both of our networks and SimGrid; wanted 0.1 %. */
static void segmented_on_a_flat_network(void **state) {
    (void)state;
    static const char *const sets[] = {"cluster.topology=flat", NULL};
    static const struct fr_communicator groups[] = {
        {4, 1, 8, 0, NULL}, {8, 4, 4, 0, NULL}, {8, 1, 4, 0, NULL}, {4, 8, 8, 0, NULL}};
    struct fr_job job;
    if (absent()) skip();
    load("1 B", sets, &job);
    for (const struct fr_collective *const *row = fr_collectives; *row; row++)
        for (size_t k = 0; k < 4; k++) {
            struct fr_collective_args any = {
                .n_ranks = groups[k].n_ranks, .ranks_per_node = groups[k].n_ranks, .size_B = 1};
            bool wanted = (*row)->op == FR_OP_ALL_GATHER || (*row)->op == FR_OP_ALL_TO_ALL;
            if (!wanted || !(*row)->applicable(&any)) continue;
            static struct segmented s;
            const double size_B = 8e6;
            make_segmented(&job.cluster.levels, &groups[k], *row, size_B, &s);
            double closed = closed_s(&job.cluster.levels, &groups[k], *row, size_B);
            double alone = run_segmented(&job.cluster, &s, &fr_network_isolated);
            double shared = run_segmented(&job.cluster, &s, &fr_network_fair);
            double other = run_segmented(&job.cluster, &s, &fr_network_simgrid);
            FR_TRUE(fabs(alone - closed) <= 1e-9 * closed &&
                        fabs(shared - closed) <= 1e-9 * closed &&
                        fabs(other - closed) <= 1e-3 * closed,
                    "%s %s, p %d: closed %.9g, isolated %.9g, shared %.9g, simgrid %.9g s",
                    (*row)->name, fr_op_names[(*row)->op], (int)groups[k].n_ranks, closed,
                    alone, shared, other);
            free(s.program.tasks);
        }
    fr_job_free(&job);
}

/* Contended, on four nodes of eight ranks behind one adapter each: a group's members in different nodes
 * share each adapter with the seven other groups, which the closed form counts and both simulators
 * see (0.1 %); a ring through whole nodes sends one message out of each, and pays the adapter alone.
 * Algorithms whose rounds differ in how far they go are priced at their farthest round, so that
 * there the closed form is an upper bound. */
static void segmented_and_contended(void **state) {
    (void)state;
    static const char *const sets[] = {"cluster.topology=node:4 gpu:8", NULL};
    static const struct {
        struct fr_communicator c;
        fr_op op;
        const char *name;
        bool exact;
    } cases[] = {
        {{4, 8, 8, 0, NULL}, FR_OP_ALL_GATHER, "ring", true},
        {{4, 8, 8, 0, NULL}, FR_OP_ALL_GATHER, "bruck", true},
        {{4, 8, 8, 0, NULL}, FR_OP_ALL_TO_ALL, "pairwise", true},
        {{4, 8, 2, 0, NULL}, FR_OP_ALL_TO_ALL, "pairwise", true},
        {{4, 1, 8, 0, NULL}, FR_OP_ALL_TO_ALL, "pairwise", true},
        {{16, 1, 2, 0, NULL}, FR_OP_ALL_GATHER, "ring", true},
        {{32, 1, 1, 0, NULL}, FR_OP_ALL_REDUCE, "ring", true},
        {{16, 1, 2, 0, NULL}, FR_OP_ALL_GATHER, "recursive_doubling", false},
        {{16, 1, 2, 0, NULL}, FR_OP_ALL_TO_ALL, "pairwise", false},
    };
    struct fr_job job;
    if (absent()) skip();
    load("1 B", sets, &job);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const struct fr_collective *row = fr_collective_find(cases[k].op, cases[k].name);
        static struct segmented s;
        const double size_B = 64e6;
        if (!row) fail_msg("no row %s", cases[k].name);
        make_segmented(&job.cluster.levels, &cases[k].c, row, size_B, &s);
        double closed = closed_s(&job.cluster.levels, &cases[k].c, row, size_B);
        double shared = run_segmented(&job.cluster, &s, &fr_network_fair);
        double other = run_segmented(&job.cluster, &s, &fr_network_simgrid);
        FR_NEAR(shared, other, 0.02);
        FR_TRUE(cases[k].exact ? fabs(shared - closed) <= 1e-3 * closed : shared < closed,
                "%s %s, p %d stride %d, %d at once: closed %.9g, shared %.9g, simgrid %.9g s",
                row->name, fr_op_names[row->op], (int)cases[k].c.n_ranks,
                (int)cases[k].c.stride, (int)cases[k].c.n_groups, closed, shared, other);
        print_message(
            "%-20s %-12s p %2d stride %d x %d: closed %.6g, shared %.6g, simgrid %.6g s\n",
            row->name, fr_op_names[row->op], (int)cases[k].c.n_ranks, (int)cases[k].c.stride,
            (int)cases[k].c.n_groups, closed, shared, other);
        free(s.program.tasks);
    }
    fr_job_free(&job);
}

/* SimGrid is given 4096 ranks at most: twice as many are refused, by their number, before it starts. */
static void too_many_ranks_are_refused(void **state) {
    static const char *const sets[] = {
        "pp=4", "dp=2048", "global_batch=4096",
        "cluster.levels=[{\"name\": \"system\", \"ranks\": 8192, \"latency\": \"2 us\", "
        "\"bandwidth\": \"25 GB/s\"}]",
        NULL};
    const struct fr_simulate_options how = {.network = &fr_network_simgrid};
    struct fr_simulation s;
    struct fr_error err = {0};
    struct fr_job job;
    (void)state;
    load("1 B", sets, &job);
    assert_int_equal(fr_simulate(&job, &job.plan, &how, &s, &err), FR_ERR_UNSUPPORTED);
    FR_TRUE(strstr(err.detail, "has 8192 ranks"), "%s", err.detail);
    fr_simulation_free(&s);
    fr_job_free(&job);
}

/* A run that fails is reported with its end and its last line, from the platform's reader or the program's reader. */
static void failures_are_told(void **state) {
    static const struct {
        const char *platform, *ended, *line;
    } cases[] = {{"nonsense", "SIGABRT", "[xbt_exception/ERROR] Exiting now."},
                 {"<?xml version='1.0'?>\n"
                  "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                  "<platform version=\"4.1\"/>\n",
                  "1", NULL}};
    (void)state;
    if (absent()) skip();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct fr_text platform = {0}, program = {0};
        struct fr_error err = {0};
        char *result = NULL;
        fr_text_addf(&platform, "%s", cases[k].platform);
        fr_text_addf(&program, "q\n");
        assert_int_equal(fr_simgrid_run(&platform, &program, &result, &err), FR_ERR_EXTERNAL);
        const char *colon = strstr(err.detail, ": ");
        FR_TRUE(colon && strstr(err.detail, cases[k].ended) &&
                    strstr(err.detail, cases[k].ended) < colon,
                "%s", err.detail);
        FR_TRUE(strlen(colon) > 12 && !strchr(err.detail, '\n') && !strstr(err.detail, "Parse"),
                "%s", err.detail);
        if (cases[k].line) {
            size_t length = strlen(cases[k].line), all = strlen(err.detail);
            FR_TRUE(all > length && strcmp(err.detail + all - length, cases[k].line) == 0, "%s",
                    err.detail);
        } else
            FR_TRUE(strncmp(colon + 2, "forerun-simgrid: ", 17) == 0, "%s", err.detail);
        assert_null(result);
        fr_text_free(&platform);
        fr_text_free(&program);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agreed_value),
        cmocka_unit_test(isolated_messages),
        cmocka_unit_test(contention),
        cmocka_unit_test(unequal_latencies),
        cmocka_unit_test(models_of_layers),
        cmocka_unit_test(chains_at_random),
        cmocka_unit_test(a_task_ends_with_the_last_of_its_replicas),
        cmocka_unit_test(a_chain_begins_where_the_last_one_ended),
        cmocka_unit_test(segmented_on_a_flat_network),
        cmocka_unit_test(segmented_and_contended),
        cmocka_unit_test(failures_are_told),
        cmocka_unit_test(too_many_ranks_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
