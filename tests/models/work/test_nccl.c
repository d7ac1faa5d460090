/* Collectives as NCCL and RCCL were measured to run them, beside presets: what others published (nccl-tests, rccl-tests;
 * best of a run) of machines that no preset's links were set on, and where the library's choices show. */
#include <math.h>
#include <string.h>

#include "models/job/cluster.h"
#include "models/job/preset.h"
#include "tests/cmocka.h"

struct figure {
    const char *preset;
    const char *set[4]; /* paths and values, then NULL */
    fr_op op;
    int64_t ranks;
    double size_B, measured_s, allowed;
    const char *algorithm;
};

static double price(const struct figure *f, const char **algorithm) {
    struct fr_json_document *document = NULL;
    struct fr_cluster cluster;
    bool outside = false;
    assert_int_equal(fr_preset_or_file_read("cluster", f->preset, &document, NULL), FR_OK);
    for (int i = 0; i < 4 && f->set[i]; i += 2)
        assert_int_equal(fr_cluster_set(document, f->set[i], f->set[i + 1], "test", NULL),
                         FR_OK);
    assert_int_equal(fr_cluster_read(document, &cluster, NULL), FR_OK);
    struct fr_group group = fr_group_make(&cluster.levels, f->ranks, 1);
    struct fr_collective_args args = fr_group_args(&group, f->size_B);
    double time_s = fr_comm_time_s(&cluster.price[f->op], &group, f->size_B, &outside);
    *algorithm = fr_collective_fastest(f->op, &args)->name;
    fr_cluster_free(&cluster);
    fr_json_free(document);
    return time_s;
}

static void others_measured(void **state) {
    static const char *const polaris[] = {"levels.0.ranks", "4", "levels.1.link", "slingshot"};
    (void)state;
    static const struct figure figures[] = {
        {"dgx-h100", {0}, FR_OP_ALL_REDUCE, 8, 0x1p30, 4027e-6, 0.05, "switch"},
        {"dgx-h100", {0}, FR_OP_ALL_REDUCE, 16, 0x1p33, 33605e-6, 0.05, "switch"},
        {"mi300x", {0}, FR_OP_ALL_REDUCE, 16, 0x1p33, 45110e-6, 0.05, "rail_ring"},
        {"mi300x", {0}, FR_OP_ALL_REDUCE, 8, 0x1p23, 91e-6, 0.05, "rail_ring"},
        {"dgx-a100", {0}, FR_OP_ALL_REDUCE, 16, 0x1p33, 84949e-6, 0.05, "rail_ring"},
        {"dgx-b200", {0}, FR_OP_ALL_REDUCE, 8, 0x1p25, 195e-6, 0.35, "rail_ring"},
        {"dgx-a100", {0}, FR_OP_ALL_GATHER, 8, 8192, 65.6e-6, 0.25, "rail_ring"},
        {"dgx-a100", {0}, FR_OP_ALL_GATHER, 32, 8192, 249.9e-6, 0.25, "rail_ring"},
        {"dgx-a100", {0}, FR_OP_ALL_GATHER, 512, 8192, 3841e-6, 0.25, "rail_ring"},
    };
    for (size_t k = 0; k < sizeof figures / sizeof *figures; k++) {
        struct figure f = figures[k];
        const char *algorithm = NULL;
        if (f.op == FR_OP_ALL_GATHER) memcpy(f.set, polaris, sizeof polaris);
        double got_s = price(&f, &algorithm);
        if (fabs(got_s / f.measured_s - 1) > f.allowed || strcmp(algorithm, f.algorithm) != 0)
            fail_msg("%s, %s of %d ranks, %g B: got %g us by %s, measured %g us", f.preset,
                     fr_op_names[f.op], (int)f.ranks, f.size_B, 1e6 * got_s, algorithm,
                     1e6 * f.measured_s);
    }
}

/* Few bytes over many nodes go up and down trees, gathers round rings: the first grows as log p, the second as p. */
static void trees_grow_slower_than_rings(void **state) {
    struct figure f = {"dgx-a100", {0}, FR_OP_ALL_REDUCE, 0, 1024, 0, 0, NULL};
    const char *algorithm = NULL;
    double before_s = 0;
    (void)state;
    for (f.ranks = 64; f.ranks <= 4096; f.ranks *= 2) {
        f.op = FR_OP_ALL_REDUCE;
        double reduce_s = price(&f, &algorithm);
        assert_string_equal(algorithm, "tree");
        if (before_s > 0) FR_NEAR(reduce_s - before_s, 10e-6, 0.01);
        before_s = reduce_s;
        f.op = FR_OP_ALL_GATHER;
        double gather_s = price(&f, &algorithm);
        assert_string_equal(algorithm, "rail_ring");
        FR_TRUE(gather_s > 4e-6 * (double)(f.ranks - 1) && gather_s < 8e-6 * (double)f.ranks,
                "%d ranks: %g s", (int)f.ranks, gather_s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_measured),
        cmocka_unit_test(trees_grow_slower_than_rings),
    };
    return cmocka_run_group_tests_name("models.nccl", tests, NULL, NULL);
}
