/* Links of pairs: what is left of a rank's bandwidth to ranks that use some of its links; by hand, and counted. */
#include "tests/topology/read_levels.h"
#include "topology/communicator.h"

#define CUBE                                                                                   \
    "[[0,1,1,2,2,0,0,0],[1,0,2,1,0,2,0,0],[1,2,0,2,0,0,1,0],[2,1,2,0,0,0,0,1],"                \
    "[2,0,0,0,0,1,1,2],[0,2,0,0,1,0,2,1],[0,0,1,0,1,2,0,2],[0,0,0,1,2,1,2,0]]"

static fr_status read_ranks(const char *mesh, int ranks, struct fr_levels *levels,
                            struct fr_error *err) {
    char text[1024];
    snprintf(text, sizeof text,
             "{\"levels\": [{\"name\": \"node\", \"ranks\": %d, \"link\": \"nvlink\", "
             "\"latency\": \"8 us\", \"bandwidth\": \"126 GB/s\", \"mesh\": %s}, {\"name\": "
             "\"system\", \"ranks\": 64, \"link\": \"edr\", \"latency\": \"15 us\", "
             "\"bandwidth\": \"100 Gb/s\", \"shared_by\": %d}]}",
             ranks, mesh, ranks);
    return fr_test_levels(text, levels, err);
}

static fr_status read(const char *mesh, struct fr_levels *levels, struct fr_error *err) {
    return read_ranks(mesh, 8, levels, err);
}

/* V100's cube mesh: pairs have one link of six or two, quads four rings, all eight six. */
static void cube_mesh_by_hand(void **state) {
    (void)state;
    static const struct {
        int64_t ranks, stride;
        double slowdown;
    } rows[] = {{2, 1, 6}, {4, 1, 1.5}, {8, 1, 1}, {4, 2, 3}, {2, 4, 6}};
    struct fr_levels levels;
    assert_int_equal(read(CUBE, &levels, NULL), FR_OK);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct fr_group group = fr_group_make(&levels, rows[k].ranks, rows[k].stride);
        FR_NEAR(group.inner.s_per_B * 126e9, rows[k].slowdown, 1e-12);
    }
    struct fr_group far = fr_group_make(&levels, 16, 1);
    FR_NEAR(far.inner.s_per_B * 126e9, 1, 1e-12);
    FR_NEAR(fr_group_pair(&levels, 0, 3).outer.s_per_B * 126e9, 3, 1e-12);
    FR_NEAR(fr_group_pair(&levels, 0, 7).outer.s_per_B * 126e9, 6, 1e-12);
    FR_NEAR(fr_group_pair(&levels, 0, 8).outer.s_per_B, 8 / (0.61 * 12.5e9), 1e-12);
}

/* Closed form and counting are one, of all groups that lie side by side. */
static void closed_form_is_counted(void **state) {
    (void)state;
    struct fr_levels levels;
    for (int used = 2; used <= 8; used *= 2)
        for (int64_t p = 2, read_it = read_ranks(CUBE, used, &levels, NULL); p <= 32; p *= 2)
            for (int64_t stride = 1; p * stride <= 64; stride *= 2) {
                assert_int_equal(read_it, FR_OK);
                const struct fr_communicator c = {
                    .n_ranks = p, .stride = stride, .n_groups = 64 / p};
                struct fr_group closed, counted;
                assert_int_equal(fr_group_of(&levels, &c, &closed, NULL), FR_OK);
                assert_int_equal(fr_group_count(&levels, &c, &counted, NULL), FR_OK);
                FR_TRUE(closed.inside == counted.inside && closed.between == counted.between,
                        "p %d stride %d: classes", (int)p, (int)stride);
                FR_NEAR(counted.outer.s_per_B, closed.outer.s_per_B, 1e-12);
                FR_NEAR(counted.ring.s_per_B, closed.ring.s_per_B, 1e-12);
                if (closed.ranks_per_node > 1)
                    FR_NEAR(counted.inner.s_per_B, closed.inner.s_per_B, 1e-12);
            }
}

/* Half a node has the links of its four ranks, of the six that each rank has. */
static void part_of_a_node(void **state) {
    struct fr_levels levels;
    (void)state;
    assert_int_equal(read_ranks(CUBE, 4, &levels, NULL), FR_OK);
    FR_NEAR(fr_group_make(&levels, 4, 1).inner.s_per_B * 126e9, 1.5, 1e-12);
    FR_NEAR(fr_group_make(&levels, 2, 1).inner.s_per_B * 126e9, 6, 1e-12);
    assert_int_equal(read_ranks(CUBE, 16, &levels, NULL), FR_ERR_INPUT);
}

static void refuses(void **state) {
    (void)state;
    static const char *const meshes[] = {"[[0,1],[1,0]]", "7", "[]",
                                         "[[1,1,1,2,2,0,0,0],[1,0,2,1,0,2,0,0],[1,2,0,2,0,0,1,"
                                         "0],[2,1,2,0,0,0,0,1],[2,0,0,0,0,1,1,2],[0,2,0,0,1,0,"
                                         "2,1],[0,0,1,0,1,2,0,2],[0,0,0,1,2,1,2,0]]"};
    for (size_t k = 0; k < sizeof meshes / sizeof *meshes; k++) {
        struct fr_levels levels;
        struct fr_error err = {0};
        assert_int_equal(read(meshes[k], &levels, &err), FR_ERR_INPUT);
        assert_non_null(strstr(err.where, "mesh"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cube_mesh_by_hand),
        cmocka_unit_test(part_of_a_node),
        cmocka_unit_test(closed_form_is_counted),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests_name("topology.pair_links", tests, NULL, NULL);
}
