/* Power logs of others, each format by hand: what counts is from the first to the last reading above the middle
 * of each device's. */
#include "trust/runs/watts.h"

#include <string.h>

#include "tests/cmocka.h"

static struct fr_watts read_log(const char *text) {
    struct fr_watts w;
    struct fr_error err = {.status = FR_OK};
    FR_TRUE(fr_watts_read(text, strlen(text), "log", &w, &err) == FR_OK, "%s: %s", err.where,
            err.detail);
    return w;
}

static void gpus_by_index_add_up(void **state) {
    (void)state;
    /* GPU 0: 70 | 300 280 320 | 70, GPU 1: 60 | 200 60 220 | 60: waiting between steps counts */
    struct fr_watts w = read_log("timestamp, index, power.draw [W]\n"
                                 "2024/05/10 11:38:02.1, 0, 70.00 W\n"
                                 "2024/05/10 11:38:02.1, 1, 60.00 W\n"
                                 "2024/05/10 11:38:03.1, 0, 300.00 W\n"
                                 "2024/05/10 11:38:03.1, 1, 200.00 W\n"
                                 "2024/05/10 11:38:04.1, 0, 280.00 W\n"
                                 "2024/05/10 11:38:04.1, 1, 60.00 W\n"
                                 "2024/05/10 11:38:05.1, 0, 320.00 W\r\n"
                                 "2024/05/10 11:38:05.1, 1, 220.00 W\n"
                                 "2024/05/10 11:38:06.1, 0, 70.00 W\n"
                                 "2024/05/10 11:38:06.1, 1, 60.00 W\n"
                                 "2024/05/10 11:38:07.1, 0, [N/A]\n");
    assert_string_equal(w.format->name, "nvidia-smi");
    assert_string_equal(w.format->measured_at, "device");
    FR_NEAR(w.power_W, 300 + 160, 1e-12);
    assert_int_equal(w.devices, 2);
    assert_int_equal(w.readings, 10);
    assert_int_equal(w.used, 6);
    /* one GPU, no units, columns in another order */
    FR_NEAR(read_log("power.draw [W], timestamp\n100, a\n50, b\n90, c\n").power_W, 80, 1e-12);
}

static void dcgm_names_its_columns(void **state) {
    (void)state;
    struct fr_watts w = read_log("#Entity   TMPTR   POWER\nID        C       W\n"
                                 "GPU 0     38      200.5\nGPU 1     39      100\n"
                                 "#Entity   TMPTR   POWER\nID        C       W\n"
                                 "GPU 0     40      201.5\nGPU 1     40      N/A\n");
    assert_string_equal(w.format->name, "dcgm");
    FR_NEAR(w.power_W, 201.5 + 100, 1e-12); /* 200.5 lies below the middle of its two */
    assert_int_equal(w.readings, 3);
}

static void a_node_at_the_plug(void **state) {
    (void)state;
    struct fr_watts w =
        read_log("    Instantaneous power reading:                   220 Watts\n"
                 "    Minimum during sampling period:                  2 Watts\n"
                 "    Instantaneous power reading:                   240 Watts\n");
    assert_string_equal(w.format->measured_at, "plug");
    FR_NEAR(w.power_W, 240, 1e-12); /* 220 lies below the middle of the two */
    assert_int_equal(w.used, 1);
}

static void counters_by_interval(void **state) {
    (void)state;
    /* 50, 100 and 60 W of packages, 5, 5 and 10 of memory; cores are within the package */
    struct fr_watts w = read_log("     1.0,50.0,Joules,power/energy-pkg/,1000,100.00,,\n"
                                 "     1.0,5.0,Joules,power/energy-ram/,1000,100.00,,\n"
                                 "     3.0,200.0,Joules,power/energy-pkg/,1000,100.00,,\n"
                                 "     3.0,10.0,Joules,power/energy-ram/,1000,100.00,,\n"
                                 "     3.0,150.0,Joules,power/energy-cores/,1000,100.00,,\n"
                                 "     4.0,60.0,Joules,power/energy-pkg/,1000,100.00,,\n"
                                 "     4.0,10.0,Joules,power/energy-ram/,1000,100.00,,\n");
    assert_string_equal(w.format->name, "perf");
    FR_NEAR(w.power_W, 100 + 10, 1e-12);
    assert_int_equal(w.devices, 2);
}

static void what_tells_no_power_is_refused(void **state) {
    static const char *const texts[] = {
        "", "a,b,c\n", "timestamp, index\n1, 0\n",
        "timestamp, power.draw [W]\n1, -5 W\n2, oops\n3, 1e308 W\n4, nan W\n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fr_watts w;
        struct fr_error err = {.status = FR_OK};
        assert_int_equal(fr_watts_read(texts[i], strlen(texts[i]), "log", &w, &err),
                         FR_ERR_INPUT);
        assert_non_null(strstr(err.detail, "tells a power"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpus_by_index_add_up), cmocka_unit_test(dcgm_names_its_columns),
        cmocka_unit_test(a_node_at_the_plug), cmocka_unit_test(counters_by_interval),
        cmocka_unit_test(what_tells_no_power_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
