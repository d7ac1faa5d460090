/* The levels of a fitted cluster: which curve shows a level's links, how large the machine is; and what is
 * measured of a processor besides matrix products. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "calibrate/fit/parts.h"
#include "models/job/cluster.h"
#include "models/job/preset.h"
#include "tests/cmocka.h"

/* Operations by how well their smallest message shows a link, and what each moves over the slowest link of p
 * ranks, of one byte (nccl-tests, doc/PERFORMANCE.md). */
static const struct {
    fr_op op;
    double whole, share; /* whole + share (p - 1)/p */
} order[] = {{FR_OP_SEND_RECV, 1, 0},  {FR_OP_BROADCAST, 1, 0},      {FR_OP_ALL_GATHER, 0, 1},
             {FR_OP_ALL_TO_ALL, 0, 1}, {FR_OP_REDUCE_SCATTER, 0, 1}, {FR_OP_ALL_REDUCE, 0, 2},
             {FR_OP_REDUCE, 1, 0}};
enum { OPS = sizeof order / sizeof *order, CURVES = 3, SIZES = 2 };

/* Curves of two sizes each, of which every number tells which it is. */
struct measured {
    struct fr_fit_point point[OPS][CURVES][SIZES];
    struct fr_fit_curve curve[OPS][CURVES];
    struct fr_fit_result result;
};

static void add_curve(struct measured *m, int o, int level, int64_t ranks) {
    struct fr_fit_op *op = &m->result.ops[order[o].op];
    int c = op->n_curves++;
    for (int i = 0; i < SIZES; i++)
        m->point[o][c][i] = (struct fr_fit_point){
            .op = order[o].op,
            .level = level,
            .n_ranks = ranks,
            .n_nodes = level > 0 ? 2 : 1,
            .size_B = i ? 1e6 : 8,
            .time_s = (i ? 1e-3 : 1e-6) * (1 + 0.1 * o + 0.01 * c + 0.5 * level)};
    m->curve[o][c] = (struct fr_fit_curve){.points = m->point[o][c], .n_points = SIZES};
    op->curves = m->curve[o];
}

/* Latency and rate by hand: the first time over log2 p steps; what moves over the last time less the first. */
static void wanted(const struct measured *m, int level, double *latency_s, double *rate) {
    const struct fr_fit_point *best = NULL;
    for (int o = 0; o < OPS; o++)
        for (int c = 0; c < m->result.ops[order[o].op].n_curves; c++) {
            const struct fr_fit_point *p = m->point[o][c];
            if (p->level != level || (best && p->n_ranks >= best->n_ranks)) continue;
            double ranks = (double)p->n_ranks;
            best = p;
            *latency_s = p[0].time_s / (log(ranks) / log(2));
            *rate = (order[o].whole + order[o].share * (ranks - 1) / ranks) * 1e6 /
                    (p[1].time_s - p[0].time_s);
        }
}

/* The curve of the fewest ranks, of these the operation that comes first: for random sets of curves. */
static void links_are_those_of_the_fewest_ranks(void **state) {
    static struct measured m;
    const struct fr_samples samples = {
        .provenance = {.ranks = 64, .ranks_per_node = 8, .nodes = 8}};
    uint64_t dice = 88172645463325252u;
    (void)state;
    for (int round = 0; round < 500; round++) {
        memset(&m, 0, sizeof m);
        m.result.provenance = samples.provenance;
        for (int o = 0; o < OPS; o++)
            for (int level = 0; level < 2; level++) {
                dice ^= dice << 13, dice ^= dice >> 7, dice ^= dice << 17;
                bool has = dice % 3 == 0 || o == round % OPS;
                if (has) add_curve(&m, o, level, 2 << dice / 3 % 3);
            }
        assert_int_equal(fr_fit_levels(&samples, &m.result, NULL), FR_OK);
        assert_int_equal(m.result.levels.count, 2);
        assert_int_equal(m.result.outermost, 1);
        assert_int_equal(m.result.n_missing, 0);
        for (int level = 0; level < 2; level++) {
            double latency_s = 0, rate_B_per_s = 0;
            wanted(&m, level, &latency_s, &rate_B_per_s);
            FR_NEAR(m.result.levels.level[level].latency_s, latency_s, 1e-12);
            FR_NEAR(m.result.levels.level[level].rate_B_per_s, rate_B_per_s, 1e-12);
        }
    }
}

/* Where the largest message took no longer than the smallest, all of it counts. */
static void a_rate_is_above_nothing(void **state) {
    static struct measured m;
    const struct fr_samples samples = {
        .provenance = {.ranks = 2, .ranks_per_node = 2, .nodes = 1}};
    (void)state;
    for (int faster = 0; faster < 2; faster++) {
        memset(&m, 0, sizeof m);
        m.result.provenance = samples.provenance;
        add_curve(&m, 0, 0, 2);
        m.point[0][0][1].time_s = m.point[0][0][0].time_s * (faster ? 0.5 : 1);
        assert_int_equal(fr_fit_levels(&samples, &m.result, NULL), FR_OK);
        assert_int_equal(m.result.levels.count, 1);
        assert_int_equal(m.result.outermost, 0);
        FR_NEAR(m.result.levels.level[0].rate_B_per_s, 1e6 / m.point[0][0][1].time_s, 1e-12);
    }
}

/* A level without a curve: other people's files tell the links of the other level, ours are assumed and
 * named; of one rank nothing is sent. */
static void a_level_without_messages(void **state) {
    static struct measured m;
    (void)state;
    for (int imported = 0; imported < 2; imported++)
        for (int ranks = 1; ranks <= 2; ranks++)
            for (int level = 0; level < 2; level++) {
                memset(&m, 0, sizeof m);
                const struct fr_samples samples = {
                    .n_source = (size_t)imported,
                    .provenance = {.ranks = 2 * ranks, .ranks_per_node = ranks, .nodes = 2}};
                m.result.provenance = samples.provenance;
                m.result.memory_rate_B_per_s = ranks == 1 && level ? 5e9 : 0;
                add_curve(&m, 0, level, level ? 2 * ranks : ranks);
                m.result.points = m.point[0][0];
                m.result.n_points = SIZES;
                assert_int_equal(fr_fit_levels(&samples, &m.result, NULL), FR_OK);
                const struct fr_level *other = &m.result.levels.level[!level];
                if (imported && level == 0) {
                    assert_int_equal(m.result.levels.count, 1);
                    continue;
                }
                assert_int_equal(m.result.levels.count, 2);
                if (imported && other->ranks > 1) {
                    FR_NEAR(other->latency_s, m.result.levels.level[level].latency_s, 0);
                    FR_NEAR(other->rate_B_per_s, m.result.levels.level[level].rate_B_per_s, 0);
                } else if (other->ranks > 1) {
                    FR_NEAR(other->latency_s, 10e-6, 0);
                    FR_NEAR(other->rate_B_per_s, 1e9, 0);
                } else {
                    FR_NEAR(other->latency_s, 0, 0);
                    FR_NEAR(other->rate_B_per_s, 5e9, 0);
                }
                assert_int_equal(m.result.n_missing, !imported && other->ranks > 1);
                if (m.result.n_missing)
                    FR_TRUE(strstr(m.result.missing[0], level ? "level node" : "level system"),
                            "%s", m.result.missing[0]);
            }
    /* No memory was measured either: any rate will do, and there is one. */
    memset(&m, 0, sizeof m);
    const struct fr_samples one = {.provenance = {.ranks = 1, .ranks_per_node = 1, .nodes = 1}};
    assert_int_equal(fr_fit_levels(&one, &m.result, NULL), FR_OK);
    FR_NEAR(m.result.levels.level[0].rate_B_per_s, 1e9, 0);
    assert_int_equal(m.result.levels.level[0].ranks, 1);
}

/* Ranks a node, and of all: the most that were measured or stated; of other people's files with several nodes
 * any number of them, as far as ranks can be counted. */
static void a_machine_is_as_large_as_was_measured(void **state) {
    static const struct {
        int64_t stated_per_node, stated_nodes;
        struct {
            int level;
            int64_t ranks, nodes;
        } point[3];
        int64_t per_node, nodes;
    } rows[] = {
        {4, 1, {{0, 4, 1}, {0, 2, 1}}, 4, 1},
        {2, 1, {{0, 4, 1}, {0, 2, 1}}, 4, 1},
        {4, 1, {{0, 2, 1}}, 4, 1},
        {4, 3, {{0, 2, 1}}, 4, 3},
        {4, 2, {{1, 12, 3}}, 4, 3},
        {4, 1, {{1, 8, 2}, {1, 10, 2}, {1, 6, 3}}, 5, 3},
        {1, 1, {{1, 9, 2}}, 5, 2},
        {1, 1, {{1, 6, 0}}, 1, 2},
        {1, 1, {{1, 6, 1}}, 1, 2},
        {1, 1, {{1, 4, 4}, {1, 4, 0}}, 1, 4},
    };
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int imported = 0; imported < 2; imported++) {
            static struct fr_fit_result result;
            struct fr_fit_point points[3];
            bool several = false;
            memset(&result, 0, sizeof result);
            for (int i = 0; i < 3; i++) {
                points[i] = (struct fr_fit_point){.level = rows[r].point[i].level,
                                                  .n_ranks = rows[r].point[i].ranks,
                                                  .n_nodes = rows[r].point[i].nodes};
                several = several || points[i].level > 0;
            }
            const struct fr_samples samples = {
                .n_source = (size_t)imported,
                .provenance = {.ranks_per_node = rows[r].stated_per_node,
                               .nodes = rows[r].stated_nodes}};
            result.provenance = samples.provenance;
            result.points = points;
            result.n_points = rows[r].point[2].ranks ? 3 : rows[r].point[1].ranks ? 2 : 1;
            assert_int_equal(fr_fit_levels(&samples, &result, NULL), FR_OK);
            int64_t per_node = rows[r].per_node, nodes = rows[r].nodes;
            if (imported) { /* what is stated is the files' concern */
                per_node = 1, nodes = several ? 1 << 20 : 1;
                for (int i = 0; i < result.n_points; i++) {
                    int64_t on = points[i].level == 0    ? 1
                                 : points[i].n_nodes > 1 ? points[i].n_nodes
                                                         : points[i].n_ranks;
                    int64_t most = (points[i].n_ranks + on - 1) / on;
                    per_node = most > per_node ? most : per_node;
                }
            }
            FR_TRUE(result.levels.count == 1 + (nodes > 1), "row %zu: %d levels", r,
                    result.levels.count);
            FR_TRUE(result.levels.level[0].ranks == per_node, "row %zu, %d: %lld a node", r,
                    imported, (long long)result.levels.level[0].ranks);
            if (nodes > 1)
                FR_TRUE(result.levels.level[1].ranks == per_node * nodes,
                        "row %zu, %d: %lld ranks", r, imported,
                        (long long)result.levels.level[1].ranks);
            assert_int_equal(result.levels.level[0].shared_by, 1);
            /* One adapter a node, unless somebody else's. */
            if (nodes > 1)
                assert_int_equal(result.levels.level[1].shared_by, imported ? 1 : per_node);
        }
    static struct fr_fit_result huge;
    struct fr_fit_point point = {.level = 1, .n_ranks = 1 << 23, .n_nodes = 2};
    const struct fr_samples samples = {.n_source = 1};
    huge.points = &point, huge.n_points = 1;
    assert_int_equal(fr_fit_levels(&samples, &huge, NULL), FR_OK);
    assert_true(huge.levels.level[1].ranks == (int64_t)1 << 40);
}

/* Pairs at once tell how many ranks share a link between nodes, and nothing of the links within one. */
static void pairs_tell_of_the_outer_level(void **state) {
    (void)state;
    for (int level = 0; level < 2; level++) {
        static struct fr_fit_result result;
        struct fr_samples samples = {
            .provenance = {.ranks = 16, .ranks_per_node = 8, .nodes = 2}};
        memset(&result, 0, sizeof result);
        result.provenance = samples.provenance;
        for (int n = 1; n <= 4; n += 3)
            for (int large = 0; large < 2; large++) {
                struct fr_sample_pairs s = {.level = level,
                                            .n_pairs = n,
                                            .size_B = large ? 1 << 20 : 8,
                                            .time_s = large ? 1e-3 * (n == 4 ? 2 : 1) : 1e-6};
                assert_int_equal(fr_samples_add_pairs(&samples, &s), FR_OK);
            }
        assert_int_equal(fr_fit_levels(&samples, &result, NULL), FR_OK);
        assert_int_equal(result.levels.level[0].shared_by, 1);
        assert_int_equal(result.levels.level[1].shared_by, level ? 4 : 8);
        fr_samples_free(&samples);
    }
}

/* A base keeps its levels; a second is needed where several nodes were measured. */
static void a_base_keeps_its_levels(void **state) {
    static const char one[] = "{\"name\": \"node\", \"ranks\": 4, \"latency\": \"1 us\", "
                              "\"bandwidth\": \"7 GB/s\"}",
                      two[] = "{\"name\": \"all\", \"ranks\": 64, \"latency\": \"3 us\", "
                              "\"bandwidth\": \"2 GB/s\"}";
    (void)state;
    for (int levels = 1; levels <= 2; levels++)
        for (int level = 0; level < 2; level++) {
            struct fr_text text = {0};
            struct fr_json_document *base = NULL;
            struct fr_error err = {0};
            static struct fr_fit_result result;
            struct fr_fit_point point = {.level = level, .n_ranks = 8, .n_nodes = 1 + level};
            const struct fr_samples samples = {
                .provenance = {.ranks = 8, .ranks_per_node = 8, .nodes = 1}};
            memset(&result, 0, sizeof result);
            fr_text_addf(&text, "{\"levels\": [%s%s%s]}", one, levels > 1 ? ", " : "",
                         levels > 1 ? two : "");
            assert_int_equal(fr_json_parse(text.data, text.length, "base.json", &base, &err),
                             FR_OK);
            result.base = base;
            result.points = &point, result.n_points = 1;
            fr_status status = fr_fit_levels(&samples, &result, &err);
            assert_int_equal(status, level > 0 && levels < 2 ? FR_ERR_INPUT : FR_OK);
            if (status == FR_OK) {
                assert_int_equal(result.levels.count, levels);
                assert_int_equal(result.outermost, levels - 1);
                assert_int_equal(result.levels.level[0].ranks, 4);
                FR_NEAR(result.levels.level[0].rate_B_per_s, 7e9, 1e-12);
            }
            fr_json_free(base);
            fr_text_free(&text);
        }
}

/* A rank's share of the node's memory; the rate over the largest set; the launch that is usual where nothing
 * interrupts. */
static void a_processor_besides_products(void **state) {
    struct fr_samples samples = {
        .provenance = {.ranks = 4, .ranks_per_node = 4, .nodes = 1, .memory_B = 64e9}};
    const struct fr_fit_options options = {.busy_W = 5, .idle_W = 1};
    static struct fr_fit_result result;
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct fr_sample_memory s = {.kernel = FR_TRAFFIC_STREAM,
                                     .size_B = i ? 1e9 : 1e6,
                                     .moved_B = i ? 1e9 : 1e6,
                                     .time_s = i ? 0.5 : 1e-4};
        assert_int_equal(fr_samples_add_memory(&samples, &s), FR_OK);
    }
    for (int i = 0; i < 5; i++) {
        struct fr_sample_kernel s = {.rep = i, .time_s = i < 2 ? 9e-6 : (2 + 0.01 * i) * 1e-6};
        assert_int_equal(fr_samples_add_kernel(&samples, &s), FR_OK);
    }
    assert_int_equal(fr_fit_device(&samples, &options, &result, NULL), FR_OK);
    FR_NEAR(result.memory_B, 16e9, 1e-12);
    FR_NEAR(result.memory_rate_B_per_s, 2e9, 1e-9);
    FR_NEAR(result.launch_s, 2.03e-6, 1e-9);
    FR_NEAR(result.busy_W, 5, 0);
    fr_samples_free(&samples);
    static struct fr_fit_result empty;
    samples.provenance.ranks_per_node = 1;
    assert_int_equal(fr_fit_device(&samples, &options, &empty, NULL), FR_OK);
    assert_true(empty.launch_s == 0 && empty.memory_rate_B_per_s == 0);
}

/* One shape that mostly reads, over 4 MB of its own in 1 ms and out of 100 MB in 3 ms: 0.5 ns a byte beyond, for
 * what it reads and, since nothing else says, for what it writes; nothing below that size, the same above. */
static void one_shape_tells_of_operands(void **state) {
    struct fr_samples samples = {.provenance = {.ranks = 1, .ranks_per_node = 1, .nodes = 1}};
    const struct fr_fit_speed unknown = {.usual_products = 1, .usual_memory = 1};
    struct fr_fit_working_sets sets;
    (void)state;
    for (double size_B = 1e6; size_B < 2e10; size_B *= 100) {
        const struct fr_sample_memory s = {.kernel = FR_TRAFFIC_STREAM,
                                           .size_B = size_B,
                                           .moved_B = size_B,
                                           .time_s = size_B * 1e-9};
        assert_int_equal(fr_samples_add_memory(&samples, &s), FR_OK);
    }
    for (int far = 0; far < 2; far++) {
        const struct fr_sample_memory s = {.kernel = FR_TRAFFIC_OPERANDS,
                                           .size_B = far ? 1e8 : 4e6,
                                           .moved_B = 4e6,
                                           .m = 1,
                                           .n = 1000,
                                           .k = 1000,
                                           .time_s = far ? 3e-3 : 1e-3};
        assert_int_equal(fr_samples_add_memory(&samples, &s), FR_OK);
    }
    assert_int_equal(fr_fit_working_sets(&samples, &unknown, &sets), FR_OK);
    assert_int_equal(sets.n, 3);
    for (int kind = FR_TRAFFIC_OPERANDS; kind <= FR_TRAFFIC_RESULTS; kind++)
        for (int i = 0; i < 3; i++) FR_NEAR(sets.s_per_B[kind][i], i ? 5e-10 : 0, 1e-9);
    fr_samples_free(&samples);
}

/* Loops over 1, 4 and 16 MB, the middle one interrupted for a hundred times what it takes: as fast as over the larger
 * set, since a byte takes no longer over less; what rises stays. */
static void an_interrupted_set_is_no_slower_than_a_larger(void **state) {
    struct fr_samples samples = {.provenance = {.ranks = 1, .ranks_per_node = 1, .nodes = 1}};
    const struct fr_fit_speed unknown = {.usual_products = 1, .usual_memory = 1};
    const double s_per_B[] = {1e-10, 2e-8, 2e-10}, saved[] = {1e-10, 2e-10, 2e-10};
    struct fr_fit_working_sets sets;
    (void)state;
    for (int kind = FR_TRAFFIC_STREAM; kind <= FR_TRAFFIC_SELECT; kind++)
        for (int i = 0; i < 3; i++) {
            double size_B = 1e6 * (1 << 2 * i);
            const struct fr_sample_memory s = {.kernel = kind,
                                               .size_B = size_B,
                                               .moved_B = size_B,
                                               .time_s = size_B * s_per_B[i]};
            assert_int_equal(fr_samples_add_memory(&samples, &s), FR_OK);
        }
    assert_int_equal(fr_fit_working_sets(&samples, &unknown, &sets), FR_OK);
    for (int kind = FR_TRAFFIC_STREAM; kind <= FR_TRAFFIC_SELECT; kind++)
        for (int i = 0; i < 3; i++) FR_NEAR(sets.s_per_B[kind][i], saved[i], 1e-9);
    fr_samples_free(&samples);
}

/* Without a meter: what is stated, a quarter of it at rest; else one core's share of a server. */
static void power_that_nobody_metered(void **state) {
    static const struct {
        double busy_W, idle_W, wanted_busy_W, wanted_idle_W;
        const char *source;
    } rows[] = {{8, -1, 8, 2, "stated"},       {8, 3, 8, 3, "stated"},
                {8, 0, 8, 0, "stated"},        {0, -1, 0, 0, "stated"},
                {-1, -1, 6.3, 1.6, "assumed"}, {-1, 0.5, 6.3, 0.5, "assumed"}};
    const struct fr_samples samples = {.n_power = 0};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct fr_fit_options options = {.busy_W = rows[i].busy_W,
                                               .idle_W = rows[i].idle_W};
        static struct fr_fit_result result;
        assert_int_equal(fr_fit_power(&samples, &options, &result), FR_OK);
        FR_NEAR(result.busy_W, rows[i].wanted_busy_W, 1e-12);
        FR_NEAR(result.idle_W, rows[i].wanted_idle_W, 1e-12);
        assert_true(result.communicating_W < 0);
        assert_int_equal(result.power_quality, FR_QUALITY_ESTIMATED);
        FR_TRUE(strncmp(result.power_source, rows[i].source, strlen(rows[i].source)) == 0, "%s",
                result.power_source);
    }
}

/* ---- products of others ---------------------------------------------------------------------- */

static fr_status fit_singles(const char *preset, const struct fr_samples *samples,
                             struct fr_fit_result *r, struct fr_json_document **base,
                             struct fr_error *err) {
    assert_int_equal(fr_preset_or_file_read("cluster", preset, base, err), FR_OK);
    const struct fr_fit_options options = {.base = *base, .busy_W = -1, .idle_W = -1};
    return fr_fit(samples, &options, r, err);
}

/* Products that a known form made are fitted to that form again, the file says it, and all else stays the base's: tiled
 * and saturating. */
static void forms_of_products_are_found_again(void **state) {
    static const struct {
        const char *preset, *path[FR_PRODUCT_VALUES];
        fr_dtype dtype;
        double x[FR_PRODUCT_VALUES];
    } cases[] = {{"dgx-b200", {"efficiency", "tail"}, FR_BF16, {0.52, 0.25}},
                 {"frontier", {"peak", "half_dim"}, FR_FP32, {30e12, 90}}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        enum { SIDES = 5, N = SIDES * SIDES * SIDES };
        static const int64_t size[SIDES] = {192, 640, 2048, 5120, 16384};
        struct fr_sample_gemm gemm[N];
        struct fr_samples samples = {.provenance = {.host = "imported"},
                                     .gemm = gemm,
                                     .n_gemm = N / 2, /* the others as those of batches */
                                     .batched = gemm + N / 2,
                                     .n_batched = N - N / 2};
        struct fr_json_document *base = NULL, *written = NULL;
        struct fr_fit_result r;
        struct fr_error err = {0};
        struct fr_cluster cluster, saved, fitted;
        struct fr_text text = {0};
        assert_int_equal(fr_preset_or_file_read("cluster", cases[c].preset, &base, &err),
                         FR_OK);
        assert_int_equal(fr_cluster_read(base, &cluster, &err), FR_OK);
        saved = cluster;
        struct fr_products p = {.device = cluster.device, .dtype = cases[c].dtype};
        double *value[FR_PRODUCT_VALUES];
        const char *names[FR_PRODUCT_VALUES];
        assert_true(fr_products_values(&p, value, names));
        for (int k = 0; k < FR_PRODUCT_VALUES; k++) {
            assert_string_equal(names[k], cases[c].path[k]);
            *value[k] = cases[c].x[k];
        }
        for (int i = 0; i < N; i++) {
            struct fr_product_timed one = {.count = 1, .time_s = 1};
            int64_t m = size[i % SIDES], n = size[i / SIDES % SIDES],
                    k = size[i / SIDES / SIDES];
            one.shape = (struct fr_gemm_shape){.m = (double)m, .n = (double)n, .k = (double)k};
            p.item = &one;
            p.n = 1;
            gemm[i] = (struct fr_sample_gemm){.dtype = cases[c].dtype,
                                              .m = m,
                                              .n = n,
                                              .k = k,
                                              .batch = 1,
                                              .time_s = fr_products_ratio(&p, 0)};
        }
        fr_json_free(base);
        if (fit_singles(cases[c].preset, &samples, &r, &base, &err) != FR_OK)
            fail_msg("%s: %s", err.where, err.detail);
        const struct fr_fit_singles *s = &r.singles[cases[c].dtype];
        assert_true(s->n == N && s->held_out.n == N && r.gemm[cases[c].dtype].n_m == 0);
        assert_true(s->least[0] == 192 && s->most[2] == 16384);
        for (int k = 0; k < FR_PRODUCT_VALUES; k++) FR_NEAR(s->value[k], cases[c].x[k], 0.02);
        assert_true(s->quality.p90 < 0.01 && s->held_out.p90 < 0.01);
        for (size_t few = 3; few <= 9; few++) { /* held out are halves of eight and more */
            const struct fr_samples part = {
                .provenance = {.host = "imported"}, .gemm = gemm, .n_gemm = few};
            struct fr_json_document *same = NULL;
            struct fr_fit_result some;
            if (fit_singles(cases[c].preset, &part, &some, &same, &err) == FR_OK)
                assert_int_equal(some.singles[cases[c].dtype].held_out.n, few < 8 ? 0 : few);
            else
                assert_true(few < 8);
            fr_json_free(same);
            fr_fit_free(&some);
        }
        fr_fit_write_cluster(&r, &text);
        assert_int_equal(fr_json_parse(fr_text_get(&text), text.length, "c", &written, &err),
                         FR_OK);
        if (fr_cluster_read(written, &fitted, &err) != FR_OK)
            fail_msg("%s: %s", err.where, err.detail);
        p.device = fitted.device;
        assert_true(fr_products_values(&p, value, names));
        for (int k = 0; k < FR_PRODUCT_VALUES; k++) FR_NEAR(*value[k], cases[c].x[k], 0.02);
        assert_true(fitted.device.memory_rate_B_per_s == saved.device.memory_rate_B_per_s &&
                    fitted.levels.count == saved.levels.count);
        assert_true(fitted.uncertainty.sigma[FR_VALUE_NODE_RATE][0] ==
                    saved.uncertainty.sigma[FR_VALUE_NODE_RATE][0]);
        fr_cluster_free(&cluster);
        fr_cluster_free(&fitted);
        fr_json_free(written);
        fr_text_free(&text);
        fr_json_free(base);
        fr_fit_free(&r);
    }
}

/* A card's products that take less than ten launches of 5 us are left out, whatever they say.  A file of others has no
 * launches in its times. */
static void short_products_of_a_card(void **state) {
    enum { LONG = 4, SHORT = 6 };
    (void)state;
    for (int card = 0; card < 2; card++) {
        struct fr_sample_gemm gemm[LONG + SHORT];
        struct fr_samples samples = {
            .provenance = {.host = "imported"}, .gemm = gemm, .n_gemm = LONG + SHORT};
        struct fr_json_document *base = NULL;
        struct fr_fit_result r;
        struct fr_error err = {0};
        if (card) strcpy(samples.provenance.device, "NVIDIA H100");
        for (int i = 0; i < LONG + SHORT; i++) {
            bool large = i < LONG;
            int64_t size = large ? 4096 * (i + 1) : 64 * (i + 1);
            double flop = 2 * pow((double)size, 3);
            gemm[i] = (struct fr_sample_gemm){.dtype = FR_BF16,
                                              .m = size,
                                              .n = size,
                                              .k = size,
                                              .batch = 1,
                                              .time_s = large ? flop / 600e12 : 49e-6};
        }
        if (fit_singles("dgx-h100", &samples, &r, &base, &err) != FR_OK)
            fail_msg("%s: %s", err.where, err.detail);
        FR_TRUE(r.singles[FR_BF16].n == (card ? LONG : LONG + SHORT) &&
                    r.singles[FR_BF16].too_short == (card ? SHORT : 0),
                "%d taken, %d too short", r.singles[FR_BF16].n, r.singles[FR_BF16].too_short);
        fr_json_free(base);
        fr_fit_free(&r);
    }
}

/* Products of others, single or batched, are distinguished from none and from ours, however many of each. */
static void products_of_others_are_taken(void **state) {
    (void)state;
    for (int singles = 0; singles < 3; singles++)
        for (int batched = 0; batched < 3; batched++)
            for (int ours = 0; ours < 2; ours++) {
                struct fr_samples of = {.n_gemm = (size_t)singles,
                                        .n_batched = (size_t)batched};
                static const struct fr_fit_options none = {.busy_W = -1, .idle_W = -1};
                static struct fr_fit_result r;
                struct fr_error err = {0};
                bool taken = false, wanted = !ours && singles + batched > 0;
                strcpy(of.provenance.host, ours ? "node1" : FR_HOST_IMPORTED);
                fr_status status = fr_fit_singles_make(&of, &none, &r, &taken, &err);
                FR_TRUE(taken == wanted && status == (wanted ? FR_ERR_INPUT : FR_OK),
                        "%d single, %d batched: %s", singles, batched, err.detail);
            }
}

/* A saturating form has values where it has a half dimension, however small; a table has none. */
static void which_forms_have_values(void **state) {
    static const struct {
        const struct fr_gemm_form *form;
        double half;
        const char *first; /* NULL: none */
    } rows[] = {{&fr_gemm_saturating, 0, NULL},    {&fr_gemm_saturating, 0.25, "peak"},
                {&fr_gemm_saturating, 1, "peak"},  {&fr_gemm_saturating, 512, "peak"},
                {&fr_gemm_tiled, 0, "efficiency"}, {&fr_gemm_table, 512, NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_products p = {.dtype = FR_FP32};
        double *value[FR_PRODUCT_VALUES];
        const char *names[FR_PRODUCT_VALUES];
        p.device.gemm[FR_FP32].form = rows[i].form;
        p.device.gemm[FR_FP32].half = rows[i].half;
        FR_TRUE(fr_products_values(&p, value, names) == (rows[i].first != NULL), "row %zu", i);
        if (rows[i].first) assert_string_equal(names[0], rows[i].first);
    }
}

/* A fit without a base, of a base without the dtype, or of too few points says why. */
static void products_that_cannot_be_fitted(void **state) {
    static const struct {
        const char *preset, *why;
        fr_dtype dtype;
    } cases[] = {{NULL, "--base", FR_BF16},
                 {"frontier", "has no bf16 products", FR_BF16},
                 {"dgx-b200", "2 bf16 products say too little", FR_BF16}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct fr_sample_gemm gemm[2];
        struct fr_samples samples = {
            .provenance = {.host = "imported"}, .gemm = gemm, .n_gemm = 2};
        struct fr_json_document *base = NULL;
        struct fr_fit_result r = {0};
        struct fr_error err = {0};
        for (int i = 0; i < 2; i++)
            gemm[i] = (struct fr_sample_gemm){
                .dtype = cases[c].dtype, .m = 64, .n = 64, .k = 64, .batch = 1, .time_s = 1e-3};
        const struct fr_fit_options none = {.busy_W = -1, .idle_W = -1};
        fr_status status = cases[c].preset
                               ? fit_singles(cases[c].preset, &samples, &r, &base, &err)
                               : fr_fit(&samples, &none, &r, &err);
        assert_int_equal(status, FR_ERR_INPUT);
        FR_TRUE(strstr(err.detail, cases[c].why), "%s", err.detail);
        fr_fit_free(&r);
        fr_json_free(base);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interrupted_set_is_no_slower_than_a_larger),
        cmocka_unit_test(links_are_those_of_the_fewest_ranks),
        cmocka_unit_test(a_rate_is_above_nothing),
        cmocka_unit_test(a_level_without_messages),
        cmocka_unit_test(a_machine_is_as_large_as_was_measured),
        cmocka_unit_test(pairs_tell_of_the_outer_level),
        cmocka_unit_test(a_base_keeps_its_levels),
        cmocka_unit_test(a_processor_besides_products),
        cmocka_unit_test(one_shape_tells_of_operands),
        cmocka_unit_test(power_that_nobody_metered),
        cmocka_unit_test(forms_of_products_are_found_again),
        cmocka_unit_test(short_products_of_a_card),
        cmocka_unit_test(products_of_others_are_taken),
        cmocka_unit_test(which_forms_have_values),
        cmocka_unit_test(products_that_cannot_be_fitted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
