/* Clocks that are set and come back: on a made-up /sys and a made-up nvidia-smi; and the law of the clock from
 * power metered at them, against the law that made it. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "calibrate/fit/parts.h"
#include "calibrate/measure/knob.h"
#include "calibrate/measure/power.h"
#include "models/device/clock.h"
#include "tests/cmocka.h"
#include "tests/litter.h"

static char folder[64] = "/tmp/forerun-knob-XXXXXX";

static void put(const char *name, const char *text) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static double get(const char *name) {
    char path[200];
    double value = NAN;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    fr_power_read_number(path, &value, NULL);
    return value;
}

/* Two processors; the second was held lower before. */
static void make_processors(void) {
    static const char *const most[] = {"2600000\n", "2400000\n"};
    for (int i = 0; i < 2; i++) {
        char name[100];
        snprintf(name, sizeof name, "%s/cpu%d", folder, i);
        mkdir(name, 0700);
        snprintf(name, sizeof name, "%s/cpu%d/cpufreq", folder, i);
        mkdir(name, 0700);
        snprintf(name, sizeof name, "cpu%d/cpufreq/scaling_max_freq", i);
        put(name, most[i]);
        snprintf(name, sizeof name, "cpu%d/cpufreq/scaling_min_freq", i);
        put(name, "1000000\n");
        snprintf(name, sizeof name, "cpu%d/cpufreq/cpuinfo_min_freq", i);
        put(name, "800000\n");
    }
}

static void assert_as_before(void) {
    FR_NEAR(get("cpu0/cpufreq/scaling_max_freq"), 2600000, 0);
    FR_NEAR(get("cpu1/cpufreq/scaling_max_freq"), 2400000, 0);
}

static struct fr_knob_session *open_processors(void) {
    char which[100];
    struct fr_error err = {.status = FR_OK};
    struct fr_knob_session *s;
    snprintf(which, sizeof which, "cpufreq:%s", folder);
    FR_TRUE(fr_knob_open(which, &s, &err) == FR_OK, "%s: %s", err.where, err.detail);
    return s;
}

static void clocks_are_set_and_come_back(void **state) {
    double clock_Hz[6];
    struct fr_error err;
    (void)state;
    make_processors();
    struct fr_knob_session *s = open_processors();
    /* 1.0 to 2.4 GHz in steps of 0.1: what both may be set to */
    assert_int_equal(fr_knob_clocks(s, 6, clock_Hz), 6);
    FR_NEAR(clock_Hz[0], 1.0e9, 1e-12);
    FR_NEAR(clock_Hz[2], 1.6e9, 1e-12);
    FR_NEAR(clock_Hz[5], 2.4e9, 1e-12);
    assert_int_equal(fr_knob_clocks(s, 1, clock_Hz), 1);
    FR_NEAR(clock_Hz[0], 2.4e9, 1e-12);
    assert_as_before();
    assert_int_equal(fr_knob_set(s, 1.6e9, &err), FR_OK);
    FR_NEAR(get("cpu0/cpufreq/scaling_max_freq"), 1600000, 0);
    FR_NEAR(get("cpu1/cpufreq/scaling_max_freq"), 1600000, 0);
    assert_int_equal(fr_knob_close(s, &err), FR_OK);
    assert_as_before();
    put("cpu0/cpufreq/scaling_available_frequencies", "2400000 1800000 1200000 900000\n");
    s = open_processors();
    assert_int_equal(fr_knob_clocks(s, 6, clock_Hz), 3);
    FR_NEAR(clock_Hz[1], 1.8e9, 1e-12);
    assert_int_equal(fr_knob_close(s, &err), FR_OK);
}

/* Whatever ends who set them. */
static void clocks_come_back_after_a_kill(void **state) {
    static const int ends[] = {SIGKILL, SIGTERM, SIGINT, SIGQUIT};
    (void)state;
    make_processors();
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        pid_t child = fork();
        if (child == 0) {
            struct fr_error err;
            signal(ends[i], SIG_DFL);
            fr_knob_set(open_processors(), 1.2e9, &err);
            raise(ends[i]);
            _exit(0);
        }
        int how;
        assert_int_equal(waitpid(child, &how, 0), child);
        double start_s = fr_now_s();
        while (get("cpu1/cpufreq/scaling_max_freq") != 2400000 && fr_now_s() - start_s < 20)
            nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        assert_as_before();
    }
}

static void what_cannot_be_set_is_refused(void **state) {
    struct fr_error err = {.status = FR_OK};
    struct fr_knob_session *s;
    (void)state;
    assert_int_equal(fr_knob_open("cpufrq", &s, &err), FR_ERR_USAGE);
    assert_non_null(strstr(err.detail, "did you mean cpufreq"));
    assert_int_equal(fr_knob_open("cpufreq:/no-such-folder", &s, &err), FR_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.detail, "no processor there"));
    make_processors();
    put("cpu0/cpufreq/scaling_min_freq", "2600000\n");
    char which[100];
    snprintf(which, sizeof which, "cpufreq:%s", folder);
    assert_int_equal(fr_knob_open(which, &s, &err), FR_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.detail, "lowest clock"));
}

/* An nvidia-smi that writes down what it was asked. */
static void a_gpu_is_locked_and_unlocked(void **state) {
    double clock_Hz[8];
    char path[4096], text[256] = "";
    struct fr_error err = {.status = FR_OK};
    struct fr_knob_session *s;
    (void)state;
    snprintf(path, sizeof path,
             "#!/bin/sh\necho \"$*\" >>%s/asked\n"
             "case $* in *query*) printf '1980\\n1965\\n1980\\n345\\n' ;; esac\n",
             folder);
    put("nvidia-smi", path);
    snprintf(path, sizeof path, "%s/nvidia-smi", folder);
    assert_int_equal(chmod(path, 0700), 0);
    snprintf(path, sizeof path, "%s:%s", folder, getenv("PATH"));
    setenv("PATH", path, 1);
    FR_TRUE(fr_knob_open("nvidia:3", &s, &err) == FR_OK, "%s: %s", err.where, err.detail);
    assert_int_equal(fr_knob_clocks(s, 8, clock_Hz), 3);
    FR_NEAR(clock_Hz[0], 345e6, 1e-12);
    FR_NEAR(clock_Hz[2], 1980e6, 1e-12);
    assert_int_equal(fr_knob_set(s, clock_Hz[0], &err), FR_OK);
    assert_int_equal(fr_knob_close(s, &err), FR_OK);
    snprintf(path, sizeof path, "%s/asked", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text,
                        "-i 3 --query-supported-clocks=graphics --format=csv,noheader,nounits\n"
                        "-i 3 -lgc 345,345\n-i 3 -rgc\n");
}

/* Power 40 + 30 f v^2 W of a node of two ranks in products, 30 + 12 f v^2 in memory, v = 1 + 0.4 (f - 1.6) above
 * 1.6 GHz; a product takes 2 ms and 6 ms at 1 GHz that goes with it. */
static void the_law_of_the_clock_comes_back(void **state) {
    struct fr_samples samples = {0};
    struct fr_fit_result fit = {.busy_W = 0};
    struct fr_error err = {.status = FR_OK};
    (void)state;
    for (int i = 0; i <= 5; i++)
        for (int k = 0; k < 2; k++) {
            double f = 1 + 0.4 * i, v = 1 + 0.4 * fmax(0, f - 1.6),
                   of[] = {40 + 30 * f * v * v, 30 + 12 * f * v * v};
            struct fr_sample_power s = {.state = k ? FR_POWER_MEMORY : FR_POWER_BUSY,
                                        .n_ranks = 2,
                                        .meter = "made-up",
                                        .power_W = of[k],
                                        .clock_Hz = 1e9 * f,
                                        .call_s = k ? 5e-3 : 2e-3 + 6e-3 / f,
                                        .time_s = 1};
            for (int again = 0; again < 3;
                 again++) /* one clock each, however often it was set */
                assert_int_equal(fr_samples_add_power(&samples, &s), FR_OK);
        }
    FR_TRUE(fr_fit_clocks(&samples, &fit, &err) == FR_OK, "%s", err.detail);
    double v = 1 + 0.4 * 1.4, top_W = 40 + 30 * 3 * v * v;
    struct fr_fit_clock *c = &fit.clock;
    assert_true(c->known);
    FR_NEAR(c->min_Hz, 1e9, 1e-12);
    FR_NEAR(c->max_Hz, 3e9, 1e-12);
    FR_NEAR(c->step_Hz, 0.4e9, 1e-12);
    FR_NEAR(c->static_share, 40 / top_W, 0.1);
    FR_NEAR(c->fixed_share, 2.0 / 4, 0.01); /* the knee is looked for on a grid */
    struct fr_device_clock device = {
        .known = true,
        .min_Hz = c->min_Hz,
        .max_Hz = c->max_Hz,
        .step_Hz = c->step_Hz,
        .voltage = {c->knee_Hz, c->rise / (c->max_Hz - c->knee_Hz)},
        .static_share = c->static_share,
        .fixed_share = c->fixed_share};
    for (double f = 1; f <= 3; f += 0.1) { /* between the clocks, too */
        v = 1 + 0.4 * fmax(0, f - 1.6);
        FR_NEAR(fr_device_clock_power(&device, 1e9 * f), (40 + 30 * f * v * v) / top_W, 0.02);
        FR_NEAR(fr_device_clock_slower(&device, 1e9 * f), (2 + 6 / f) / 4, 0.01);
    }
    samples.n_power = 12; /* two clocks tell no law */
    assert_int_equal(fr_fit_clocks(&samples, &fit, &err), FR_OK);
    assert_false(fit.clock.known);
    fr_samples_free(&samples);
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(clocks_are_set_and_come_back),
                                       cmocka_unit_test(clocks_come_back_after_a_kill),
                                       cmocka_unit_test(what_cannot_be_set_is_refused),
                                       cmocka_unit_test(a_gpu_is_locked_and_unlocked),
                                       cmocka_unit_test(the_law_of_the_clock_comes_back)};
    return cmocka_run_group_tests(tests, make_folder, NULL);
}
