/* Shapes: every route is a walk from switch to switch that ends where it should; bisections in closed
 * form equal the least maximum flow between halves of the nodes, every half tried. */
#include <stdlib.h>

#include "tests/topology/read_levels.h"
#include "topology/route.h"

static const char *const lines[] = {
    NULL,
    "flat",
    "rack:4 node:2 gpu:4",
    "fat-tree down=16",
    "fat-tree down=4,4",
    "fat-tree down=4,4 up=2",
    "fat-tree down=2,2,4 up=2,1 bandwidth=5GB/s latency=0.1us",
    "torus size=4,4",
    "torus size=8,2",
    "torus size=2,2,2",
    "torus size=8,3 bandwidth=1GB/s",
    "dragonfly groups=4 routers=3 ports=2 global=1",
    "dragonfly groups=4 routers=3 ports=1 bandwidth=3GB/s",
    "dragonfly groups=2 routers=2 ports=4 global=1",
    "dragonfly groups=1 routers=4 ports=2",
    "rail pod=8",
    "rail pod=2 up=1 pods=4",
};
enum { LINES = sizeof lines / sizeof *lines };

static void routes_are_walks(void **state) {
    (void)state;
    for (int k = 0; k < LINES; k++) {
        struct fr_levels levels;
        fr_test_topology(lines[k], &levels);
        const struct fr_fabric *f = &levels.fabric;
        int outer = levels.count - 1;
        int64_t ranks = fr_levels_capacity(&levels), id[FR_ROUTE_MAX];
        int64_t first_fabric = fr_links_count(&levels) - f->n_links;
        for (int64_t a = 0; a < ranks; a++)
            for (int64_t b = 0; b < ranks; b++) {
                int n = fr_route(&levels, a, b, id);
                char name[64], wanted[64];
                FR_TRUE((n == 0) == (a == b) && n <= FR_ROUTE_MAX, "%s %d %d: %d links",
                        lines[k], (int)a, (int)b, n);
                if (a == b) continue;
                for (int h = 0; h < n; h++)
                    FR_TRUE(id[h] >= 0 && id[h] < fr_links_count(&levels), "%s: link %d",
                            lines[k], (int)id[h]);
                int l = fr_levels_between(&levels, a, b);
                snprintf(wanted, sizeof wanted, "%s.%d.down", levels.level[l].name,
                         (int)(b / levels.level[l].shared_by));
                assert_string_equal(fr_link_name(&levels, id[n - 1], name, sizeof name),
                                    wanted);
                if (!f->shape || l < outer) {
                    assert_int_equal(n, 2);
                    continue;
                }
                /* Through the fabric: from the port that the message leaves by. */
                int64_t shared_by = levels.level[outer].shared_by, from, to, at;
                int h = n - 2;
                while (id[h] >= first_fabric) h--;
                fr_link_name(&levels, id[h], name, sizeof name);
                assert_non_null(strstr(name, "system."));
                int64_t leaves = atoll(name + strlen("system."));
                assert_int_equal(leaves / f->per_node, a / shared_by / f->per_node);
                at = f->shape->port(f, leaves);
                for (h++; h < n - 1; h++) {
                    f->shape->ends(f, id[h] - first_fabric, &from, &to);
                    FR_TRUE(from == at && to != at && to < f->n_switches,
                            "%s, %d to %d, hop %d: at switch %d, link from %d to %d", lines[k],
                            (int)a, (int)b, h, (int)at, (int)from, (int)to);
                    at = to;
                }
                FR_TRUE(at == f->shape->port(f, b / shared_by), "%s: %d to %d ends at %d",
                        lines[k], (int)a, (int)b, (int)at);
            }
    }
}

/* ---- maximum flow ---------------------------------------------------------------------------- */

enum { VERTICES = 96 };
static double scratch[VERTICES][VERTICES];

static bool augment(int n, int source, int sink) {
    int before[VERTICES], queue[VERTICES], head = 0, tail = 0;
    double least = INFINITY;
    for (int v = 0; v < n; v++) before[v] = -1;
    before[source] = source;
    queue[tail++] = source;
    while (head < tail) {
        int v = queue[head++];
        for (int w = 0; w < n; w++)
            if (before[w] < 0 && scratch[v][w] > 1e-6) {
                before[w] = v;
                queue[tail++] = w;
            }
    }
    if (before[sink] < 0) return false;
    for (int v = sink; v != source; v = before[v]) least = fmin(least, scratch[before[v]][v]);
    for (int v = sink; v != source; v = before[v]) {
        scratch[before[v]][v] -= least;
        scratch[v][before[v]] += least;
    }
    return true;
}

/* Nodes first, then switches, source, sink. */
static double flow_between(const struct fr_levels *levels, int nodes, unsigned half) {
    const struct fr_fabric *f = &levels->fabric;
    const struct fr_level *outer = &levels->level[levels->count - 1];
    int switches = f->shape ? (int)f->n_switches : 1, source = nodes + switches;
    int64_t per_node = f->shape            ? f->per_node
                       : levels->count > 1 ? outer[-1].ranks / outer->shared_by
                                           : 1;
    memset(scratch, 0, sizeof scratch);
    for (int node = 0; node < nodes; node++) {
        for (int64_t i = 0; i < per_node; i++) {
            int64_t to = f->shape ? f->shape->port(f, node * per_node + i) : 0;
            scratch[node][nodes + to] += outer->rate_B_per_s;
            scratch[nodes + to][node] += outer->rate_B_per_s;
        }
        if (half >> node & 1)
            scratch[source][node] = 1e18;
        else
            scratch[node][source + 1] = 1e18;
    }
    for (int64_t k = 0; k < f->n_links; k++) {
        int64_t from, to;
        f->shape->ends(f, k, &from, &to);
        if (from != to) scratch[nodes + from][nodes + to] += f->rate_B_per_s;
    }
    double sum = 0;
    while (augment(source + 2, source, source + 1)) continue;
    for (int node = 0; node < nodes; node++)
        if (!(half >> node & 1)) sum += scratch[source + 1][node];
    return sum;
}

static void bisection_is_the_least_cut(void **state) {
    (void)state;
    for (int k = 0; k < LINES; k++) {
        struct fr_levels levels;
        fr_test_topology(lines[k], &levels);
        const struct fr_level *outer = &levels.level[levels.count - 1];
        int nodes = (int)(outer->ranks / (levels.count > 1 ? outer[-1].ranks : 1));
        double least = INFINITY;
        if (nodes > 12) continue; /* flat: 32 ranks, the same by any cut */
        for (unsigned half = 1; half < 1u << (nodes - 1); half++)
            if (__builtin_popcount(half) == nodes / 2)
                least = fmin(least, flow_between(&levels, nodes, half));
        FR_TRUE(fabs(fr_bisection_B_per_s(&levels) - least) < 1e-6 * least,
                "%s: closed %g, counted %g B/s", lines[k] ? lines[k] : "levels",
                fr_bisection_B_per_s(&levels), least);
    }
}

static void bisections_by_hand(void **state) {
    (void)state;
    struct fr_levels levels;
    fr_test_topology("flat", &levels);
    FR_NEAR(fr_bisection_B_per_s(&levels), 16 * 10e9, 1e-15);
    /* 8 x 8 x 8 ports, 256 nodes: 2 cuts of each of 64 rings; 256 adapters would do more. */
    fr_test_topology("torus size=8,8,8", &levels);
    FR_NEAR(fr_bisection_B_per_s(&levels), 2 * 64 * 10e9, 1e-15);
    /* 32 leaves of 16 ports, 4 links up from each: a quarter of the 256 adapters of a half. */
    fr_test_topology("fat-tree down=16,32 up=4", &levels);
    FR_NEAR(fr_bisection_B_per_s(&levels), 256 / 4 * 10e9, 1e-15);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void boxes_take_the_links_of_their_name(void **state) {
    (void)state;
    struct fr_levels levels;
    fr_test_topology("rack:4 node:18 gpu:2", &levels);
    assert_int_equal(levels.count, 3);
    assert_string_equal(levels.level[0].name, "node");
    assert_string_equal(levels.level[1].name, "rack");
    assert_string_equal(levels.level[2].name, "system");
    assert_int_equal(levels.level[0].ranks, 2);
    assert_int_equal(levels.level[1].ranks, 36);
    assert_int_equal(levels.level[2].ranks, 144);
    FR_NEAR(levels.level[0].rate_B_per_s, 100e9, 1e-15);
    FR_NEAR(levels.level[1].rate_B_per_s, 10e9,
            1e-15); /* a rack's are the next larger level's */
    assert_int_equal(levels.level[1].shared_by, 2);
}

static void object_and_line_say_the_same(void **state) {
    (void)state;
    struct fr_levels line, object;
    struct fr_error err = {0};
    fr_test_topology("fat-tree down=4,4 up=2 bandwidth=5GB/s latency=1us", &line);
    assert_int_equal(
        fr_test_levels(FR_TEST_NODES
                       ", \"topology\": {\"shape\": \"fat-tree\", \"down\": [4, 4], \"up\": 2, "
                       "\"bandwidth\": \"5 GB/s\", \"latency\": \"1 us\"}}",
                       &object, &err),
        FR_OK);
    assert_memory_equal(&line.fabric, &object.fabric, sizeof line.fabric);
    assert_int_equal(fr_levels_capacity(&object), 32);
}

static void refuses(void **state) {
    (void)state;
    static const char *const bad[] = {
        "\"\"",
        "\"fattree\"",
        "\"fat-tree\"",
        "\"fat-tree down=0\"",
        "\"fat-tree down=4,4 up=2,2\"",
        "\"fat-tree down=4 width=2\"",
        "\"fat-tree down=4 bandwidth=25\"",
        "\"fat-tree down=4 bandwidth=-1GB/s\"",
        "\"fat-tree down=1000000,1000000\"",
        "\"fat-tree down=3\"",
        "\"torus size=1024\"",
        "\"dragonfly groups=1000000 routers=1000000 ports=1000000 global=1000000\"",
        "\"dragonfly groups=2 routers=1000000 ports=1\"",
        "\"rail pod=1000000 up=1000000 pods=1000000\"",
        "\"fat-tree down=1024,1024,2 up=1000000,1000000\"",
        "\"dragonfly groups=9 routers=2 ports=1 global=1\"",
        "\"rack:0 node:4\"",
        "\"rack:2 node:4 rack:2\"",
        "\"system:2 node:4\"",
        "\"rack:4 node\"",
        "7",
        "{\"shape\": \"torus\"}",
        "{\"shape\": \"torus\", \"size\": [4, 0]}",
        "{\"shape\": \"torus\", \"size\": [4], \"down\": [4]}",
        "{\"shape\": \"ring\"}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fr_levels levels;
        struct fr_error err = {0};
        char text[512];
        snprintf(text, sizeof text, "%s, \"topology\": %s}", FR_TEST_NODES, bad[i]);
        if (fr_test_levels(text, &levels, &err) == FR_OK) fail_msg("%s was accepted", bad[i]);
        FR_TRUE(strncmp(err.where, "cluster#/topology", 17) == 0 && err.detail[0], "%s: %s: %s",
                bad[i], err.where, err.detail);
    }
}

/* A segment is of a box of its size: another one is taken whole. */
static void segments_are_of_their_boxes(void **state) {
    static const struct {
        const char *line;
        int64_t takes; /* of an inner box, by a job of all */
    } rows[] = {{"node:18 gpu:72", 64}, {"node:18 gpu:144", 144}, {"node:18 gpu:8", 8}};
    (void)state;
    for (int k = 0; k < 3; k++) {
        struct fr_levels levels;
        char text[512];
        struct fr_error err = {0};
        snprintf(
            text, sizeof text,
            "{\"levels\": [{\"name\": \"gpu\", \"ranks\": 72, \"segment\": 64, \"latency\": "
            "\"1 us\", \"bandwidth\": \"1 GB/s\"}, {\"name\": \"system\", \"ranks\": 720, "
            "\"latency\": \"1 us\", \"bandwidth\": \"1 GB/s\"}], \"topology\": \"%s\"}",
            rows[k].line);
        if (fr_test_levels(text, &levels, &err) != FR_OK)
            fail_msg("%s: %s", err.where, err.detail);
        const struct fr_levels own =
            fr_levels_take(&levels, fr_levels_capacity(&levels), FR_UNITS_SEGMENTS);
        FR_TRUE(own.level[0].ranks == rows[k].takes, "%s: %lld", rows[k].line,
                (long long)own.level[0].ranks);
    }
}

/* Where a job takes one or two of a node's four ranks, behind adapters of two, it has one behind each: its messages pass the
 * fabric as those of ranks 0 and 2. */
static void segments_reach_their_ports(void **state) {
    static const int64_t segments[] = {1, 2, 4};
    (void)state;
    for (int k = 0; k < 3 * LINES; k++) {
        struct fr_levels levels;
        const char *line = lines[k / 3];
        fr_test_topology(line, &levels);
        if (!levels.fabric.shape) continue;
        int64_t segment = levels.level[0].segment = segments[k % 3], ours[FR_ROUTE_MAX],
                theirs[FR_ROUTE_MAX], node = levels.level[0].ranks,
                apart = segment == 4 ? 1 : 2;
        const struct fr_levels own =
            fr_levels_take(&levels, fr_levels_capacity(&levels), FR_UNITS_SEGMENTS);
        int64_t ranks = fr_levels_capacity(&own), first = fr_links_before(&own, own.count),
                from = fr_links_before(&levels, levels.count);
        assert_int_equal(ranks, fr_levels_capacity(&levels) / node * segment);
        for (int64_t a = 0; a < ranks; a++)
            for (int64_t b = 0; b < ranks; b++) {
                int n = fr_route(&own, a, b, ours);
                int m = fr_route(&levels, a / segment * node + a % segment * apart,
                                 b / segment * node + b % segment * apart, theirs);
                assert_int_equal(n, m);
                for (int h = 0; h < n; h++)
                    FR_TRUE(ours[h] < first ? theirs[h] < from
                                            : ours[h] - first == theirs[h] - from,
                            "%s, %d of %d: %d to %d", line, (int)segment, (int)node, (int)a,
                            (int)b);
            }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(routes_are_walks),
                                       cmocka_unit_test(bisection_is_the_least_cut),
                                       cmocka_unit_test(bisections_by_hand),
                                       cmocka_unit_test(boxes_take_the_links_of_their_name),
                                       cmocka_unit_test(object_and_line_say_the_same),
                                       cmocka_unit_test(segments_reach_their_ports),
                                       cmocka_unit_test(segments_are_of_their_boxes),
                                       cmocka_unit_test(refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
