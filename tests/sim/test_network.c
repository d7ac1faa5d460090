/* The shared network: never faster than isolated, equal to it where nothing meets, exact where one
 * can count by hand, and the same whether replicas are folded or not. */
#include <stdlib.h>
#include <unistd.h>

#include "base/random.h"
#include "sim/paths.h"
#include "sim/unfold.h"
#include "tests/job.h"
#include "tests/pipeline_case.h"
#include "topology/route.h"

#define STAGES                                                                                 \
    "{\"kind\": \"stages\", \"forward\": \"1 ms\", \"backward\": \"2 ms\", \"message\": \""

static const char *const clusters[] = {
    "cluster.topology=flat",
    "cluster.topology=node:16 gpu:8",
    "cluster.topology=rack:4 node:4 gpu:8",
    "cluster.topology=fat-tree down=4,4 up=1",
    "cluster.topology=torus size=4,4",
    "cluster.topology=dragonfly groups=4 routers=2 ports=2 global=2",
};

static const char *stages_file(const char *message) {
    static char path[64];
    snprintf(path, sizeof path, "/tmp/forerun-test-network-%d.json", (int)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, STAGES "%s\"}", message);
    fclose(file);
    return path;
}

static double time_on(const struct fr_job *job, const struct fr_network *network) {
    struct fr_simulation s;
    struct fr_error err = {0};
    const struct fr_simulate_options how = {.network = network};
    if (fr_simulate(job, &job->plan, &how, &s, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    double time_s = s.outcome.reasons ? 0 : s.outcome.time_s;
    fr_simulation_free(&s);
    return time_s;
}

static void never_faster_than_isolated(void **state) {
    (void)state;
    static const char *const messages[] = {"0 B", "1 KB", "10 MB", "200 MB"};
    static const char *const meshes[][3] = {{"pp=16", "dp=1", "tp=1"},
                                            {"pp=4", "dp=4", "tp=4"},
                                            {"pp=8", "dp=2", "tp=2"},
                                            {"pp=3", "dp=5", "tp=3"},
                                            {"pp=2", "dp=32", "tp=1"}};
    static const char *const how[] = {"schedule=1f1b", "schedule=gpipe", "p2p=duplex",
                                      "schedule=zero-bubble"};
    static const char *const rank_map[] = {"placement=linear", "placement=round-robin",
                                           "placement=by-axis:dp",
                                           "placement=by-axis:pp-tp-dp"};
    int slower = 0, equal = 0;
    for (size_t m = 0; m < 4; m++)
        for (size_t c = 0; c < sizeof clusters / sizeof *clusters; c++)
            for (size_t k = 0; k < 5; k++)
                for (size_t h = 0; h < 4; h++) {
                    struct fr_job job;
                    const char *const sets[] = {meshes[k][0],
                                                meshes[k][1],
                                                meshes[k][2],
                                                how[h],
                                                "global_batch=160",
                                                clusters[c],
                                                rank_map[(m + c + k + h) % 4],
                                                NULL};
                    const char *path = stages_file(messages[m]);
                    fr_test_job("a100-hdr", path, sets, &job);
                    unlink(path);
                    double alone_s = time_on(&job, &fr_network_isolated),
                           shared_s = time_on(&job, &fr_network_shared);
                    FR_TRUE(shared_s >= alone_s, "%s %s %s %s: %.17g s, isolated %.17g s",
                            messages[m], clusters[c], meshes[k][0], how[h], shared_s, alone_s);
                    slower += shared_s > 1.01 * alone_s;
                    equal += shared_s <= alone_s;
                    fr_job_free(&job);
                }
    FR_TRUE(slower > 20 && equal > 20, "%d slower, %d equal", slower, equal);
}

/* ---- one message after another ---------------------------------------------------------------- */

/* ---- paths ---------------------------------------------------------------------------------------- */

enum { PAIRS_MAX = 64 * 64 };

/* Which link is local number @p number?  The one whose first use numbered it. */
static void uses_as_counted(const struct fr_network_work *work, const struct fr_paths *paths,
                            const struct fr_path *path, const int64_t *link_of) {
    const struct fr_levels *levels = &work->cluster->levels;
    int64_t first[FR_ROUTE_MAX], other[FR_ROUTE_MAX];
    int n = fr_route(levels, fr_paths_slot(work, path->from, 0, 0),
                     fr_paths_slot(work, path->to, 0, 0), first);
    double latency_s = 0, alone_B_per_s = INFINITY;
    for (int h = 0; h < n; h++) latency_s += fr_link_at(levels, first[h]).latency_s;
    FR_NEAR(path->latency_s + 1, latency_s + 1, 1e-15);
    assert_true(path->n_uses <= paths->links.uses_max);
    for (int32_t k = 0; k < path->n_uses; k++) {
        const struct fr_link_use *use = &paths->links.uses[path->first + k];
        int64_t link = link_of[use->link], times = 0;
        for (int64_t d = 0; d < work->rank_map.dp; d++)
            for (int64_t t = 0; t < work->rank_map.tp; t++) {
                int m = fr_route(levels, fr_paths_slot(work, path->from, t, d),
                                 fr_paths_slot(work, path->to, t, d), other);
                for (int h = 0; h < m; h++) times += other[h] == link;
            }
        assert_int_equal(use->weight, times);
        alone_B_per_s =
            fmin(alone_B_per_s, fr_link_at(levels, link).rate_B_per_s / (double)times);
    }
    FR_NEAR(path->alone_B_per_s, alone_B_per_s, 1e-15);
}

/* All pairs of ranks, drawn: each pair is one path, there and, of an exchange, back. */
static void paths_of_all_pairs(void **state) {
    static const int64_t meshes[][3] = {{64, 1, 1}, {8, 2, 4}, {16, 4, 1}, {5, 1, 7}};
    uint64_t dice = 21;
    (void)state;
    for (size_t round = 0; round < 4 * sizeof clusters / sizeof *clusters; round++) {
        static struct fr_task task[PAIRS_MAX];
        static int64_t link_of[1 << 14];
        struct fr_task_class class[2] = {{.kind = FR_TASK_FORWARD_MESSAGE},
                                         {.kind = FR_TASK_EXCHANGE}};
        const double class_B[2] = {1e6, 1e6};
        const int64_t *mesh = meshes[round % 4];
        const char *sets[] = {clusters[round / 4], NULL};
        struct fr_job job;
        struct fr_paths paths;
        fr_test_job("a100-hdr", stages_file("1 MB"), sets, &job);
        struct fr_program program = {
            .n_ranks = (int32_t)mesh[0], .n_classes = 2, .classes = class};
        program.tasks = task;
        for (int32_t from = 0; from < mesh[0]; from++)
            for (int32_t to = 0; to < mesh[0]; to++)
                if (from != to && case_random(&dice) % 8)
                    task[program.n_tasks++] =
                        (struct fr_task){.class_id = case_random(&dice) % 16 == 0,
                                         .rank = from,
                                         .peer = to,
                                         .after = {-1, -1, -1}};
        const struct fr_network_work work = {
            &job.cluster, &program, class_B, NULL, NULL, 0, {mesh[1], mesh[2], NULL}};
        assert_int_equal(fr_paths_make(&work, &paths, NULL), FR_OK);
        bool *there = calloc((size_t)(mesh[0] * mesh[0]), 1);
        int32_t n_paths = 0, uses_max = 0, n_links = 0;
        for (int64_t t = 0; t < program.n_tasks; t++)
            for (int back = 0; back <= task[t].class_id; back++) {
                int64_t from = back ? task[t].peer : task[t].rank,
                        to = back ? task[t].rank : task[t].peer;
                n_paths += !there[from * mesh[0] + to];
                there[from * mesh[0] + to] = true;
            }
        assert_int_equal(paths.n_paths, n_paths);
        /* links are numbered in the order in which the paths' first replicas meet them */
        for (int32_t q = 0; q < n_paths; q++) {
            int64_t links[FR_ROUTE_MAX];
            int n =
                fr_route(&job.cluster.levels, fr_paths_slot(&work, paths.paths[q].from, 0, 0),
                         fr_paths_slot(&work, paths.paths[q].to, 0, 0), links);
            for (int h = 0; h < n; h++) {
                int32_t k = 0;
                while (k < n_links && link_of[k] != links[h]) k++;
                if (k == n_links) link_of[n_links++] = links[h];
            }
        }
        assert_int_equal(paths.links.n, n_links);
        for (int32_t k = 0; k < n_links; k++)
            FR_NEAR(paths.links.rate_B_per_s[k],
                    fr_link_at(&job.cluster.levels, link_of[k]).rate_B_per_s, 0);
        for (int64_t t = 0; t < program.n_tasks; t++) {
            const struct fr_path *path = &paths.paths[paths.task_path[t]];
            int32_t back = paths.back[paths.task_path[t]];
            assert_int_equal(path->from, task[t].rank);
            assert_int_equal(path->to, task[t].peer);
            if (there[path->to * mesh[0] + path->from]) {
                assert_int_equal(paths.paths[back].from, path->to);
                assert_int_equal(paths.paths[back].to, path->from);
            } else
                assert_int_equal(back, -1);
            uses_as_counted(&work, &paths, path, link_of);
            if (path->n_uses > uses_max) uses_max = path->n_uses;
        }
        assert_int_equal(paths.links.uses_max, uses_max);
        free(there);
        fr_paths_free(&paths);
        fr_job_free(&job);
    }
}

/* A program of @p n messages that can all start at 0, from rank k to rank n + k. */
static void run_messages(const struct fr_cluster *cluster, const int64_t *slot, int32_t n,
                         double size_B, double alone_s, double *end_s) {
    struct fr_task_class class = {.kind = FR_TASK_FORWARD_MESSAGE};
    struct fr_task tasks[64] = {{0}};
    struct fr_program program = {
        .n_ranks = 2 * n, .n_classes = 1, .classes = &class, .n_tasks = n, .tasks = tasks};
    struct fr_network_work work = {cluster, &program, &size_B, NULL, NULL, 0, {1, 1, slot}};
    double start_s[64], makespan_s;
    void *network = NULL;
    for (int32_t k = 0; k < n; k++) {
        tasks[k] =
            (struct fr_task){.rank = k, .peer = n + k, .micro = -1, .after = {-1, -1, -1}};
        for (int w = 0; w < FR_TASK_WAITS_MAX; w++) tasks[k].after[w] = -1;
    }
    assert_int_equal(fr_network_shared.open(&work, &network, NULL), FR_OK);
    assert_int_equal(
        fr_network_shared.run(&work, network, &alone_s, start_s, end_s, &makespan_s, NULL),
        FR_OK);
    fr_network_shared.close(network);
}

/* The adapters' own rate, not what one program reached. */
static const char *const nominal[] = {"cluster.levels.1.bandwidth=25 GB/s", NULL};

/* Eight ranks behind an adapter of 25 GB/s send 25 MB each: 5 us and 8 ms; to ranks of their own
 * node over 300 GB/s 2 us and 83.3 us each. */
static void eight_behind_one_adapter(void **state) {
    (void)state;
    struct fr_job job;
    int64_t across[16], within[16];
    double end_s[64];
    fr_test_job("a100-hdr", "gpt-8.3b", nominal, &job);
    for (int k = 0; k < 8; k++) {
        across[k] = k;
        across[8 + k] = 8 + k;
        within[k] = k;
        within[8 + k] = (k + 1) % 8;
    }
    run_messages(&job.cluster, across, 8, 25e6, 5e-6 + 1e-3, end_s);
    for (int k = 0; k < 8; k++) FR_NEAR(end_s[k], 5e-6 + 8e-3, 1e-9);
    /* so does a byte */
    run_messages(&job.cluster, across, 8, 1, 5e-6 + 1 / 25e9, end_s);
    for (int k = 0; k < 8; k++) FR_NEAR(end_s[k], 5e-6 + 8 / 25e9, 1e-9);
    run_messages(&job.cluster, across, 1, 25e6, 5e-6 + 1e-3, end_s);
    FR_NEAR(end_s[0], 5e-6 + 1e-3, 1e-15);
    run_messages(&job.cluster, within, 8, 25e6, 2e-6 + 25e6 / 300e9, end_s);
    for (int k = 0; k < 8; k++) FR_NEAR(end_s[k], 2e-6 + 25e6 / 300e9, 1e-12);
    fr_job_free(&job);
}

/* ---- in line ---------------------------------------------------------------------------------- */

enum { SENT = 24, LATENCY_NS = 2000, RATE_GB_PER_S = 300 };

/* Ends of @p n messages of one line, the earlier ready first, then the earlier in the program. */
static void stand_in_line(int n, const double *ready_s, const double *flow_s, double *end_s) {
    bool gone[SENT] = {false};
    double free_s = 0;
    for (int turn = 0; turn < n; turn++) {
        int next = -1;
        for (int k = 0; k < n; k++)
            if (!gone[k] && (next < 0 || ready_s[k] < ready_s[next])) next = k;
        gone[next] = true;
        free_s = fmax(free_s, ready_s[next]) + LATENCY_NS * 1e-9 + flow_s[next];
        end_s[next] = free_s;
    }
}

/* Two pairs of ranks of one node, each message after a pass of its own.  The passes of the second pair's messages wait for
 * messages of the first, so they are known late, and in another order than they are ready. */
static void ready_first_goes_first(void **state) {
    (void)state;
    enum { PAIRS = 2, ALL = PAIRS * SENT };
    static struct fr_task_class classes[2 * ALL];
    static struct fr_task tasks[2 * ALL];
    struct fr_program program = {.n_ranks = 4,
                                 .n_classes = 2 * ALL,
                                 .classes = classes,
                                 .n_tasks = 2 * ALL,
                                 .tasks = tasks};
    double class_s[2 * ALL], class_B[2 * ALL], start_s[2 * ALL], end_s[2 * ALL], makespan_s;
    double ready_s[PAIRS][SENT], flow_s[PAIRS][SENT], wanted_s[PAIRS][SENT];
    struct fr_job job;
    uint64_t dice = 7;
    fr_test_job("a100-hdr", "gpt-8.3b", nominal, &job);
    for (int draw = 0; draw < 200; draw++) {
        for (int32_t k = 0; k < ALL; k++) {
            int pair = k / SENT, pass = 2 * k, message = 2 * k + 1, sent = k % SENT;
            int32_t awaited = pair ? 2 * (int32_t)(fr_random_next(&dice) % SENT) + 1 : -1;
            double pass_s = 1e-6 * (double)(fr_random_next(&dice) % (draw % 2 ? 30 : 3000));
            double size_B = 1e6 * (double)(1 + fr_random_next(&dice) % 20);
            classes[pass] = (struct fr_task_class){.kind = FR_TASK_FORWARD};
            classes[message] = (struct fr_task_class){.kind = FR_TASK_FORWARD_MESSAGE};
            tasks[pass] = (struct fr_task){pass, 2 * pair, -1, -1, {awaited, -1, -1}, 0};
            tasks[message] =
                (struct fr_task){message, 2 * pair, 2 * pair + 1, -1, {pass, -1, -1}, 0};
            flow_s[pair][sent] = size_B / (RATE_GB_PER_S * 1e9);
            class_s[pass] = pass_s;
            class_B[pass] = 0;
            class_s[message] = LATENCY_NS * 1e-9 + flow_s[pair][sent];
            class_B[message] = size_B;
            if (k == SENT) stand_in_line(SENT, ready_s[0], flow_s[0], wanted_s[0]);
            ready_s[pair][sent] = pass_s + (pair ? wanted_s[0][awaited / 2] : 0);
        }
        stand_in_line(SENT, ready_s[1], flow_s[1], wanted_s[1]);
        const struct fr_network_work work = {&job.cluster, &program, class_B,     NULL,
                                             NULL,         0,        {1, 1, NULL}};
        void *network = NULL;
        assert_int_equal(fr_network_shared.open(&work, &network, NULL), FR_OK);
        assert_int_equal(
            fr_network_shared.run(&work, network, class_s, start_s, end_s, &makespan_s, NULL),
            FR_OK);
        for (int k = 0; k < ALL; k++)
            FR_TRUE(fabs(end_s[2 * k + 1] - wanted_s[k / SENT][k % SENT]) < 1e-12,
                    "draw %d, message %d: ends at %.12g s, not %.12g s", draw, k,
                    end_s[2 * k + 1], wanted_s[k / SENT][k % SENT]);
        fr_network_shared.close(network);
    }
    fr_job_free(&job);
}

/* ---- folding ---------------------------------------------------------------------------------- */

static double run_program(const struct fr_cluster *cluster, const struct fr_program *program,
                          const double *class_B, const double *class_s,
                          struct fr_network_rank_map rank_map) {
    struct fr_network_work work = {cluster, program, class_B, NULL, NULL, 0, rank_map};
    double *start_s = malloc(((size_t)program->n_tasks + 1) * sizeof *start_s),
           *end_s = malloc(((size_t)program->n_tasks + 1) * sizeof *end_s), makespan_s = -1;
    void *network = NULL;
    struct fr_error err = {0};
    if (fr_network_shared.open(&work, &network, &err) != FR_OK ||
        fr_network_shared.run(&work, network, class_s, start_s, end_s, &makespan_s, &err) !=
            FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    fr_network_shared.close(network);
    free(start_s);
    free(end_s);
    return makespan_s;
}

/* 50 MB between stages: beside its replicas, or a single message (tp = 0). */
static void price_messages(const struct fr_cluster *cluster, struct fr_pipeline *p, int64_t tp,
                           int64_t dp) {
    static int64_t width;
    if (tp) width = tp;
    for (int32_t i = 0; i < p->args.stages; i++) {
        struct fr_group pair =
            fr_group_pairs(&cluster->levels, i * width, (i + 1) % p->args.stages * width,
                           tp ? tp : 1, tp ? dp : 1, width * p->args.stages);
        p->stage[i].message_s = pair.outer.latency_s + 50e6 * pair.outer.s_per_B;
    }
}

static void fold_changes_nothing(void **state) {
    (void)state;
    static const struct {
        int pp, tp, dp;
    } meshes[] = {{4, 4, 2}, {4, 8, 4},  {8, 2, 4}, {2, 1, 32},
                  {8, 1, 8}, {16, 8, 1}, {16, 2, 4}};
    for (size_t k = 0; k < sizeof meshes / sizeof *meshes; k++)
        for (int duplex = 0; duplex < 2; duplex++) {
            static struct pipeline_case c;
            struct fr_program folded, unfolded;
            struct fr_job job;
            struct fr_error err = {0};
            fr_test_job("a100-hdr", "gpt-8.3b", nominal, &job);
            case_uniform(&c, &fr_schedule_one_f_one_b, meshes[k].pp, 12, 1, duplex, 1e-3, 2e-3,
                         0);
            for (int i = 0; i < meshes[k].pp; i++) c.stage[i].forward.compute_s += 1e-5 * i * i;
            price_messages(&job.cluster, &c.p, meshes[k].tp, meshes[k].dp);
            struct fr_network_rank_map rank_map = {meshes[k].tp, meshes[k].dp, NULL};
            assert_int_equal(fr_program_make(&c.p, &folded, &err), FR_OK);
            assert_int_equal(fr_program_unfold(&folded, &rank_map, &unfolded, &err), FR_OK);
            double *class_s = malloc((size_t)folded.n_classes * sizeof *class_s);
            double *class_B = calloc((size_t)folded.n_classes, sizeof *class_B);
            fr_price_classes(&c.p, &folded, FR_WITH_ALL, class_s);
            for (int32_t i = 0; i < folded.n_classes; i++) class_B[i] = 50e6;
            double folded_s = run_program(&job.cluster, &folded, class_B, class_s, rank_map);
            price_messages(&job.cluster, &c.p, 0, 0);
            fr_price_classes(&c.p, &folded, FR_WITH_ALL, class_s);
            double unfolded_s = run_program(&job.cluster, &unfolded, class_B, class_s,
                                            (struct fr_network_rank_map){1, 1, NULL});
            FR_TRUE(fabs(folded_s - unfolded_s) <= 1e-9 * unfolded_s,
                    "pp %d tp %d dp %d duplex %d: folded %.12g s, unfolded %.12g s",
                    meshes[k].pp, meshes[k].tp, meshes[k].dp, duplex, folded_s, unfolded_s);
            free(class_s);
            free(class_B);
            fr_program_free(&folded);
            fr_program_free(&unfolded);
            fr_job_free(&job);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_faster_than_isolated),
        cmocka_unit_test(eight_behind_one_adapter), cmocka_unit_test(paths_of_all_pairs),
        cmocka_unit_test(ready_first_goes_first), cmocka_unit_test(fold_changes_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
