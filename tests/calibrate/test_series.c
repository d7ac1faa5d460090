/* Some files may be fitted together; forerun fit reads files of other tools. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/fit/fit.h"
#include "calibrate/samples/import.h"
#include "calibrate/samples/series.h"
#include "tests/calibrate/near.h"
#include "tests/calibrate/written.h"
#include "tests/cmocka.h"

/* An all-reduce log of OSU over @p ranks, times scaled by @p slow. */
static void add_log(struct fr_samples *s, const char *name, int64_t ranks, int64_t nodes,
                    double slow, const char *setup) {
    char text[4096] = "# OSU MPI Allreduce Latency Test v7.3\n# Size       Avg Latency(us)\n";
    size_t used = strlen(text);
    struct fr_text notes = {0};
    struct fr_error err = {0};
    const struct fr_import_options options = {
        .n_ranks = ranks, .nodes = nodes, .system = "lab", .setup = setup};
    for (double n = 4; n <= 4 << 20; n *= 2)
        used += (size_t)snprintf(text + used, sizeof text - used, "%.0f  %.2f\n", n,
                                 slow * (3 * log2((double)ranks) + 4e-4 * n));
    for (int i = 0; fr_importers[i]; i++)
        if (strcmp(fr_importers[i]->spelling, "osu") == 0 &&
            fr_import_text(fr_importers[i], text, used, name, NULL, &options, s, &notes,
                           &err) != FR_OK)
            fail_msg("%s: %s", err.where, err.detail);
    fr_text_free(&notes);
}

static int count(const struct fr_samples *s) {
    struct fr_series_list list = {0};
    assert_int_equal(fr_series_find(s, &list), FR_OK);
    int found = list.count;
    fr_series_free(&list);
    return found;
}

static void texts_and_contradictions_tell_series_apart(void **state) {
    struct fr_samples s = {0};
    (void)state;
    add_log(&s, "a.txt", 8, 2, 1, NULL);
    add_log(&s, "b.txt", 32, 8, 1, NULL);
    assert_int_equal(count(&s), 1); /* other ranks of the same machine */
    add_log(&s, "c.txt", 32, 8, 1.1, NULL);
    assert_int_equal(count(&s), 1); /* a second run */
    add_log(&s, "d.txt", 32, 8, 1, "tcp");
    assert_int_equal(count(&s), 2); /* another setup */
    add_log(&s, "e.txt", 32, 8, 9, NULL);
    assert_int_equal(count(&s), 3); /* nobody said so, but nine times slower */
    fr_samples_free(&s);
}

static const struct fr_fit_options defaults = {.busy_W = -1, .idle_W = -1};

static void two_setups_are_not_pooled(void **state) {
    struct fr_samples s = {0};
    struct fr_fit_result r;
    struct fr_error err = {0};
    struct fr_fit_options options = defaults;
    (void)state;
    add_log(&s, "a.txt", 8, 2, 1, "good");
    add_log(&s, "b.txt", 8, 2, 20, "tcp");
    assert_int_equal(fr_fit(&s, &defaults, &r, &err), FR_ERR_INPUT);
    assert_non_null(strstr(err.detail, "must not be pooled"));
    fr_fit_free(&r);
    options.series = "tcp";
    assert_int_equal(fr_fit(&s, &options, &r, &err), FR_OK);
    ASSERT_NEAR(r.points[0].time_s, 20 * (9 + 4e-4 * 4) * 1e-6, 1e-8);
    assert_false(r.has_device);
    fr_fit_free(&r);
    fr_samples_free(&s);
}

/* Two versions of a tool on one cluster are two series, until one text names both; another setup is
 * not joined to them. */
static void versions_are_joined_where_that_is_stated(void **state) {
    struct fr_samples s = {0};
    struct fr_fit_result r;
    struct fr_error err = {0};
    (void)state;
    add_log(&s, "a.txt", 8, 2, 1, NULL);
    add_log(&s, "b.txt", 32, 8, 1, NULL);
    snprintf(s.source[1].tool_version, sizeof s.source[1].tool_version, "7.4");
    assert_int_equal(count(&s), 2);
    struct fr_fit_options options = defaults;
    assert_int_equal(fr_fit(&s, &options, &r, &err), FR_ERR_INPUT);
    fr_fit_free(&r);
    options.series = "lab";
    if (fr_fit(&s, &options, &r, &err) != FR_OK) fail_msg("%s", err.detail);
    assert_int_equal(r.ops[FR_OP_ALL_REDUCE].n_curves, 2);
    assert_non_null(strstr(r.ops[FR_OP_ALL_REDUCE].series, "7.4"));
    fr_fit_free(&r);
    add_log(&s, "c.txt", 16, 4, 1, "tcp");
    assert_int_equal(fr_fit(&s, &options, &r, &err), FR_ERR_INPUT);
    fr_fit_free(&r);
    fr_samples_free(&s);
}

/* A text chooses the series with it in their names, whatever is beside them; one that no name has is refused there, with
 * the first name to choose from. */
static void a_text_chooses_its_series(void **state) {
    static const char *const setups[] = {"good", "tcp", "tree"};
    (void)state;
    for (int n = 1; n <= 3; n++)
        for (int chosen = 0; chosen <= n; chosen++) {
            struct fr_samples s = {0};
            struct fr_fit_result r;
            struct fr_error err = {0};
            struct fr_fit_options options = defaults;
            for (int i = 0; i < n; i++) add_log(&s, "a.txt", 8, 2, 1 + 19 * i, setups[i]);
            options.series = chosen < n ? setups[chosen] : "ring";
            fr_status status = fr_fit(&s, &options, &r, &err);
            if (chosen < n) {
                assert_int_equal(status, FR_OK);
                ASSERT_NEAR(r.points[0].time_s, (1 + 19 * chosen) * (9 + 4e-4 * 4) * 1e-6,
                            1e-8);
                assert_int_equal(r.n_points, 21); /* 4 B to 4 MiB */
            } else {
                assert_int_equal(status, FR_ERR_USAGE);
                assert_string_equal(err.where, "--series");
                assert_non_null(strstr(err.detail, "\"ring\""));
                assert_non_null(strstr(err.detail, "good"));
            }
            fr_fit_free(&r);
            fr_samples_free(&s);
        }
}

/* Files of several nodes alone make a cluster that prices collectives, more ranks too, and says
 * that these are extrapolated. */
static void imported_files_make_a_cluster(void **state) {
    struct fr_samples s = {0};
    struct fr_fit_result r;
    struct fr_error err = {0};
    bool extrapolated = false;
    (void)state;
    add_log(&s, "a.txt", 8, 2, 1, NULL);
    add_log(&s, "b.txt", 32, 8, 1, NULL);
    assert_int_equal(fr_fit(&s, &defaults, &r, &err), FR_OK);
    struct fr_cluster cluster = fr_test_written(&r);
    const struct fr_price *price = &cluster.price[FR_OP_ALL_REDUCE];
    struct fr_group group = fr_group_make(&cluster.levels, 32, 1);
    assert_int_equal(group.ranks_per_node, 4);
    ASSERT_NEAR(fr_comm_time_s(price, &group, 4, &extrapolated) / 15e-6, 1, 0.02);
    assert_false(extrapolated);
    group = fr_group_make(&cluster.levels, 1024, 1);
    double time_s = fr_comm_time_s(price, &group, 4, &extrapolated), low_s = 0, high_s = 0;
    assert_true(extrapolated);
    ASSERT_NEAR(time_s / 30e-6, 1, 0.15);
    fr_price_interval(price, &group, 4, time_s, &low_s, &high_s);
    assert_true(low_s <= time_s && time_s <= high_s && high_s > low_s);
    fr_cluster_free(&cluster);
    fr_fit_free(&r);
    fr_samples_free(&s);
}

/* One node alone: the file has no place for more ranks, unless a base brings levels. */
static void one_node_needs_a_base_for_more(void **state) {
    static const char base_text[] =
        "{\"device\": {\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp32\": {\"peak\": \"10 "
        "TFLOP/s\"}}}, \"levels\": [{\"name\": \"box\", \"ranks\": 8, \"latency\": \"1 us\", "
        "\"bandwidth\": \"100 GB/s\"}, {\"name\": \"fabric\", \"ranks\": 64, \"latency\": \"5 "
        "us\", \"bandwidth\": \"10 GB/s\"}]}";
    struct fr_samples s = {0};
    struct fr_fit_result r;
    struct fr_error err = {0};
    struct fr_json_document *base = NULL;
    struct fr_fit_options options = defaults;
    bool extrapolated = false;
    (void)state;
    add_log(&s, "a.txt", 4, 1, 1, NULL);
    add_log(&s, "b.txt", 8, 1, 1, NULL);
    assert_int_equal(fr_fit(&s, &defaults, &r, &err), FR_OK);
    assert_int_equal(fr_levels_capacity(&r.levels), 8);
    fr_fit_free(&r);
    assert_int_equal(fr_json_parse(base_text, sizeof base_text - 1, "base", &base, &err),
                     FR_OK);
    options.base = base;
    options.form = FR_FIT_SIMILARITY;
    assert_int_equal(fr_fit(&s, &options, &r, &err), FR_OK);
    struct fr_cluster cluster = fr_test_written(&r);
    assert_string_equal(cluster.levels.level[1].name, "fabric");
    struct fr_group group = fr_group_make(&cluster.levels, 64, 1);
    double time_s =
        fr_comm_time_s(&cluster.price[FR_OP_ALL_REDUCE], &group, 1 << 20, &extrapolated);
    struct fr_collective_args args = fr_group_args(&group, 1 << 20);
    double levels_s = fr_collective_fastest_s(FR_OP_ALL_REDUCE, &args);
    ASSERT_NEAR(time_s, levels_s, 0); /* the base's network prices it, not the node's table */
    assert_true(extrapolated);
    fr_cluster_free(&cluster);
    fr_json_free(base);
    fr_fit_free(&r);
    fr_samples_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_and_contradictions_tell_series_apart),
        cmocka_unit_test(two_setups_are_not_pooled),
        cmocka_unit_test(a_text_chooses_its_series),
        cmocka_unit_test(versions_are_joined_where_that_is_stated),
        cmocka_unit_test(imported_files_make_a_cluster),
        cmocka_unit_test(one_node_needs_a_base_for_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
