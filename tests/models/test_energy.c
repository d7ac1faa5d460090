/* From ranks to the wall plug: by hand, and what holds whatever the cluster states. */
#include "models/outcome/energy.h"

#include <math.h>

#include "models/outcome/cost.h"
#include "tests/cmocka.h"
#include "tests/job.h"

/* 20 ranks on nodes of 8 are three nodes, 4 devices of which are idle; half of the ranks' time is
 * spent computing.  Devices 2 kW; hosts 3 (100 + 150) W, idle devices 200 W, so 2950 W behind supplies of
 * 80 %; switches 3 x 50 W; a building that draws a tenth on top. */
static void by_hand(void **state) {
    struct fr_cluster c = {.pue = 1.1, .device.power = {.known = true, .idle_W = 50}};
    struct fr_outcome out = {.ranks = 20, .time_s = 2};
    (void)state;
    c.levels = (struct fr_levels){
        .count = 2,
        .level = {{.name = "node", .ranks = 8, .power = {true, 100, 400, 0.8, 0, 0}},
                  {.name = "system", .ranks = 64, .power = {true, 0, 0, 1, 50, 0}}}};
    fr_outcome_add_energy(&c, 2 * 2000, 20, &out);
    FR_NEAR(out.energy_part_J[FR_ENERGY_DEVICE], 4000, 1e-12);
    FR_NEAR(out.energy_part_J[FR_ENERGY_NODE], 2 * (750 + 200 + 2950 * 0.25), 1e-12);
    FR_NEAR(out.energy_part_J[FR_ENERGY_NETWORK], 2 * 150, 1e-12);
    FR_NEAR(out.energy_part_J[FR_ENERGY_FACILITY], 0.1 * (4000 + 3375 + 300), 1e-12);
    FR_NEAR(out.energy_J, 1.1 * (4000 + 3375 + 300), 1e-12);
    for (int i = 0; i < FR_ENERGY_COUNT; i++) assert_true(fr_energy_known(&c, i));
}

/* A node alone uses no switches, and a device that states no power leaves all unknown. */
static void what_is_not_there_is_not_counted(void **state) {
    struct fr_cluster c = {.pue = 1, .device.power = {.known = true}};
    struct fr_outcome out = {.ranks = 8, .time_s = 1};
    (void)state;
    c.levels = (struct fr_levels){
        .count = 2,
        .level = {{.name = "node", .ranks = 8, .power = {.efficiency = 1}},
                  {.name = "system", .ranks = 64, .power = {true, 0, 0, 1, 50, 0}}}};
    fr_outcome_add_energy(&c, 100, 8, &out);
    FR_NEAR(out.energy_J, 100, 0);
    assert_false(fr_energy_known(&c, FR_ENERGY_NODE));
    assert_false(fr_energy_known(&c, FR_ENERGY_FACILITY));
    c.device.power.known = false;
    fr_outcome_add_energy(&c, NAN, 0, &out);
    assert_true(isnan(out.energy_J));
    assert_false(fr_energy_known(&c, FR_ENERGY_DEVICE));
}

/* Switches of 64 ports that draw half of their power for ports that nothing uses: two nodes have 64 ports' half and their
 * own; 64 nodes fill a switch, 2048 a tree of 64 and 32; 65 nodes have three switches below two. */
static void whole_switches_by_hand(void **state) {
    static const struct {
        int64_t nodes;
        double ports_full, ports_whole;
    } rows[] = {{1, 0, 0},
                {2, 2, 64},
                {64, 64, 64},
                {65, 195, 5 * 64},
                {2048, 6144, 96 * 64},
                {2049, 10245, 64 * (2 * 65 + 33)}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_cluster c = {.pue = 1};
        c.levels.count = 2;
        c.levels.level[0] = (struct fr_level){.name = "node", .ranks = 8};
        c.levels.level[1] =
            (struct fr_level){.name = "system", .ranks = 1 << 20, .power.switches_W = 50};
        int64_t ranks = 8 * rows[i].nodes;
        FR_NEAR(fr_energy_switches_W(&c, ranks), 50 * rows[i].ports_full, 1e-9);
        c.levels.level[1].power.switches_idle = 0.5;
        FR_NEAR(fr_energy_switches_W(&c, ranks),
                25 * (rows[i].ports_full + rows[i].ports_whole), 1e-9);
        c.levels.level[1].power.switches_idle = 1;
        FR_NEAR(fr_energy_switches_W(&c, ranks), 50 * rows[i].ports_whole, 1e-9);
    }
}

/* More nodes never draw less in all, and whole switches never less than their ports alone. */
static void switches_grow_with_nodes(void **state) {
    struct fr_cluster c = {.pue = 1};
    double before_W = 0;
    (void)state;
    c.levels.count = 2;
    c.levels.level[0] = (struct fr_level){.name = "node", .ranks = 8};
    c.levels.level[1] =
        (struct fr_level){.name = "system", .ranks = 1 << 20, .power.switches_W = 161};
    for (int64_t nodes = 1; nodes < 5000; nodes++) {
        c.levels.level[1].power.switches_idle = 0;
        double ports_W = fr_energy_switches_W(&c, 8 * nodes);
        c.levels.level[1].power.switches_idle = 0.58;
        double whole_W = fr_energy_switches_W(&c, 8 * nodes);
        FR_TRUE(whole_W >= ports_W && whole_W >= before_W, "%d nodes: %g, %g W", (int)nodes,
                whole_W, ports_W);
        before_W = whole_W;
    }
}

/* However little a host or a switch draws, or a supply loses, it is known. */
static void little_is_known_too(void **state) {
    static const struct fr_level_power of[] = {{true, 0, 0, 1, 0, 0},
                                               {true, 0, 1e-3, 1, 0, 0},
                                               {true, 0, 0, 1 - 1e-3, 0, 0},
                                               {true, 0, 0, 1, 1e-3, 0}};
    (void)state;
    for (int k = 0; k < 4; k++)
        for (int l = 0; l < 2; l++) {
            struct fr_cluster c = {.pue = k ? 1 + 1e-3 : 1, .device.power = {.known = true}};
            c.levels.count = 2;
            c.levels.level[0] = c.levels.level[1] =
                (struct fr_level){.ranks = 8, .power = {.efficiency = 1}};
            c.levels.level[l].power = of[k];
            assert_int_equal(fr_energy_known(&c, FR_ENERGY_NODE), k == 1 || k == 2);
            assert_int_equal(fr_energy_known(&c, FR_ENERGY_NETWORK), k == 3);
            assert_int_equal(fr_energy_known(&c, FR_ENERGY_FACILITY), k > 0);
        }
}

/* Preset nodes at work draw what the logs say that they were made of (before the supplies; SMC 6.95 to
 * 7.20 kW, Lenovo 9.8 to 10.0 kW).  Eight nodes have a switch of 64 ports a rail, 64 nodes fill it, 65 have three
 * switches below two, 2048 fill 64 below 32, and 2049 have 65 twice below 33. */
static void presets_draw_what_was_metered(void **state) {
    static const struct {
        const char *cluster;
        double from_W, to_W;
    } rows[] = {{"dgx-h100", 6950, 7210}, {"dgx-b200", 9800, 10060}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *sets[] = {"tp=8", "global_batch=64", NULL};
        struct fr_job job;
        struct fr_outcome out = {.ranks = 8, .time_s = 1};
        fr_test_job(rows[i].cluster, "llama-3-8b", sets, &job);
        fr_outcome_add_energy(&job.cluster, 8 * job.cluster.device.power.busy_W, 8, &out);
        FR_TRUE(out.energy_J >= rows[i].from_W && out.energy_J <= rows[i].to_W, "got %g W",
                out.energy_J);
        static const struct {
            int nodes, used, all;
        } jobs[] = {{8, 8, 64},
                    {64, 64, 64},
                    {65, 195, 320},
                    {2048, 6144, 6144},
                    {2049, 10245, 64 * (2 * 65 + 33)}};
        for (int k = 0; k < 5; k++) {
            out.ranks = 8 * jobs[k].nodes;
            double ranks = (double)out.ranks;
            fr_outcome_add_energy(&job.cluster, ranks * job.cluster.device.power.busy_W, ranks,
                                  &out);
            FR_NEAR(out.energy_part_J[FR_ENERGY_NETWORK],
                    161 * (0.42 * jobs[k].used + 0.58 * jobs[k].all), 1e-12);
        }
        fr_job_free(&job);
    }
}

/* Power alone, and time and power independent of each other: 3, 4, 5. */
static void intervals_add_in_squares(void **state) {
    struct fr_cluster c = {.device.power = {.known = true, .uncertainty = 0.03}};
    struct fr_outcome out = {.time_s = 1, .energy_J = 100};
    double low_J, high_J;
    (void)state;
    assert_true(fr_energy_interval(&c, &out, &low_J, &high_J));
    FR_NEAR(low_J, 97, 1e-12);
    FR_NEAR(high_J, 103, 1e-12);
    out.low_s = 0.96, out.high_s = 1.04;
    assert_true(fr_energy_interval(&c, &out, &low_J, &high_J));
    FR_NEAR(low_J, 95, 1e-12);
    FR_NEAR(high_J, 105, 1e-12);
    out.energy_J = NAN;
    assert_false(fr_energy_interval(&c, &out, &low_J, &high_J));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand),
                                       cmocka_unit_test(what_is_not_there_is_not_counted),
                                       cmocka_unit_test(whole_switches_by_hand),
                                       cmocka_unit_test(switches_grow_with_nodes),
                                       cmocka_unit_test(little_is_known_too),
                                       cmocka_unit_test(presets_draw_what_was_metered),
                                       cmocka_unit_test(intervals_add_in_squares)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
