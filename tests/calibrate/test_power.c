/* Meters on scripted sources: a made-up /sys, made-up libraries, a made-up scontrol. */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include <cmocka.h>

#include "base/clock.h"
#include "calibrate/measure/power.h"

/* ---- the integral ---- */

static double step_W(double t_s) { return t_s < 3 ? 50 : 250; }
static double ramp_W(double t_s) { return 40 * t_s; }
static double sine_W(double t_s) { return 200 + 150 * sin(2 * 3.14159265358979 * t_s); }
static double step_J(double t_s) { return t_s < 3 ? 50 * t_s : 150 + 250 * (t_s - 3); }
static double ramp_J(double t_s) { return 20 * t_s * t_s; }
static double sine_J(double t_s) {
    return 200 * t_s + 150 * (1 - cos(2 * 3.14159265358979 * t_s)) / (2 * 3.14159265358979);
}

static void known_powers_integrate(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double (*power_W)(double t_s), (*energy_J)(double t_s);
    } cases[] = {{"step", step_W, step_J}, {"ramp", ramp_W, ramp_J}, {"sine", sine_W, sine_J}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int counter = 0; counter < 2; counter++) {
            struct fr_power_log log = {.counter = counter};
            int quality = -1;
            for (int i = 0; i <= 1000; i++) {
                double t_s = i * 0.01 + 0.003 * sin(i); /* never quite regular */
                if (i == 0) t_s = 0;
                double value = counter ? cases[c].energy_J(t_s) : cases[c].power_W(t_s);
                fr_power_log_add(&log, t_s, value, FR_QUALITY_SAMPLED);
            }
            double from_s = 0.1234, to_s = 9.8765;
            double got = fr_power_log_energy_J(&log, from_s, to_s, &quality);
            double wanted = cases[c].energy_J(to_s) - cases[c].energy_J(from_s);
            if (fabs(got / wanted - 1) > 1e-3 || quality != FR_QUALITY_SAMPLED)
                fail_msg("%s, counter %d: got %.6f J, wanted %.6f J; quality %d", cases[c].name,
                         counter, got, wanted, quality);
            fr_power_log_free(&log);
        }
}

static void edges_are_interpolated(void **state) {
    (void)state;
    struct fr_power_log gauge = {0}, counter = {.counter = true};
    int quality;
    fr_power_log_add(&gauge, 0, 100, FR_QUALITY_MEASURED);
    fr_power_log_add(&gauge, 10, 200, FR_QUALITY_MEASURED);
    fr_power_log_add(&counter, 0, 0, FR_QUALITY_MEASURED);
    fr_power_log_add(&counter, 10, 1000, FR_QUALITY_MEASURED);
    assert_true(fabs(fr_power_log_energy_J(&gauge, 2, 4, &quality) - 260) < 1e-9);
    assert_int_equal(quality, FR_QUALITY_MEASURED);
    assert_true(fabs(fr_power_log_energy_J(&counter, 2, 4.5, &quality) - 250) < 1e-9);
    assert_int_equal(quality, FR_QUALITY_MEASURED);
    /* Beyond the readings the nearest power goes on, and that is an estimate. */
    assert_true(fabs(fr_power_log_energy_J(&gauge, 10, 12, &quality) - 400) < 1e-9);
    assert_int_equal(quality, FR_QUALITY_ESTIMATED);
    assert_true(fabs(fr_power_log_energy_J(&counter, 8, 12, &quality) - 400) < 1e-9);
    assert_int_equal(quality, FR_QUALITY_ESTIMATED);
    fr_power_log_free(&gauge);
    fr_power_log_free(&counter);
    assert_true(fr_power_log_energy_J(&counter, 0, 1, &quality) == 0);
    assert_int_equal(quality, FR_QUALITY_UNAVAILABLE);
}

static void nonsense_is_no_reading(void **state) {
    (void)state;
    struct fr_power_log log = {.counter = true};
    int quality;
    fr_power_log_add(&log, 0, 10, 0);
    fr_power_log_add(&log, 1, NAN, 0);
    fr_power_log_add(&log, 1, -5, 0);
    fr_power_log_add(&log, 1, 9, 0);  /* falls */
    fr_power_log_add(&log, 0, 11, 0); /* not later */
    fr_power_log_add(&log, INFINITY, 11, 0);
    assert_int_equal(log.n, 1);
    fr_power_log_add(&log, 2, 30, 0);
    assert_true(fabs(fr_power_log_energy_J(&log, 0, 2, &quality) - 20) < 1e-12);
    fr_power_log_free(&log);
}

/* ---- powercap ---- */

static char root[64];

static void put(const char *path, const char *text) {
    char full[256];
    snprintf(full, sizeof full, "%s/sys/class/powercap/%s", root, path);
    for (char *slash = full + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(full, 0755);
        *slash = '/';
    }
    int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || write(fd, text, strlen(text)) < 0) fail_msg("%s", full);
    close(fd);
}

static void put_number(const char *path, double value) {
    char text[48];
    snprintf(text, sizeof text, "%.0f\n", value);
    put(path, text);
}

static void make_zone(const char *zone, const char *name, double energy_uJ, double range_uJ) {
    char path[128], line[64];
    snprintf(path, sizeof path, "%s/name", zone);
    snprintf(line, sizeof line, "%s\n", name);
    put(path, line);
    snprintf(path, sizeof path, "%s/energy_uj", zone);
    put_number(path, energy_uJ);
    snprintf(path, sizeof path, "%s/max_energy_range_uj", zone);
    put_number(path, range_uJ);
}

static void remove_root(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    if (system(command) != 0) fail_msg("%s", command);
}

static int make_root(void **state) {
    (void)state;
    snprintf(root, sizeof root, "/tmp/forerun-power-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int drop_root(void **state) {
    (void)state;
    remove_root();
    return 0;
}

static const struct fr_meter *const powercap = &fr_meter_powercap;

static double read_J(const struct fr_meter *meter, void *opened, double now_s) {
    double value = -1;
    int quality = meter->quality;
    struct fr_error err = {.status = FR_OK};
    if (meter->read(opened, now_s, &value, &quality, &err) != FR_OK) fail_msg("%s", err.detail);
    return value;
}

static void packages_and_dram_are_added_and_nothing_else(void **state) {
    (void)state;
    void *opened = NULL;
    struct fr_error err = {.status = FR_OK};
    static const char *const zones[][2] = {
        {"intel-rapl:0", "package-0"},       {"intel-rapl:0:0", "core"},
        {"intel-rapl:0:1", "uncore"},        {"intel-rapl:0:2", "dram"},
        {"intel-rapl:1", "package-1-die-0"}, {"intel-rapl:2", "psys"},
        {"intel-rapl-mmio:0", "package-0"}};
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++)
        make_zone(zones[i][0], zones[i][1], 1000, 1e12);
    assert_int_equal(powercap->open(root, &opened, &err), FR_OK);
    assert_true(read_J(powercap, opened, 0) == 0);
    double add_uJ = 1;
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++, add_uJ *= 10) {
        char path[64];
        snprintf(path, sizeof path, "%s/energy_uj", zones[i][0]);
        put_number(path, 1000 + add_uJ);
    }
    /* package-0: 1, dram: 1000, package-1: 10000 */
    double got = read_J(powercap, opened, 1);
    if (fabs(got * 1e6 - 11001) > 1e-6) fail_msg("got %.3f uJ, wanted 11001", got * 1e6);
    powercap->close(opened);
}

static void mmio_serves_where_it_is_alone(void **state) {
    (void)state;
    void *opened = NULL;
    struct fr_error err = {.status = FR_OK};
    make_zone("intel-rapl-mmio:0", "package-0", 5, 1e12);
    assert_int_equal(powercap->open(root, &opened, &err), FR_OK);
    put_number("intel-rapl-mmio:0/energy_uj", 1000005);
    assert_true(fabs(read_J(powercap, opened, 1) - 1) < 1e-9);
    powercap->close(opened);
}

/* A true energy that only grows, seen through a counter that wraps: 100,000 random steps. */
static void wraps_are_undone(void **state) {
    (void)state;
    const double range_uJ = 262143328850;
    void *opened = NULL;
    struct fr_error err = {.status = FR_OK};
    uint64_t random = 42;
    double true_uJ = 2e11, start_uJ = true_uJ, last_J = 0;
    int n_wraps = 0;
    char path[160], text[32];
    make_zone("intel-rapl:0", "package-0", true_uJ, range_uJ);
    assert_int_equal(powercap->open(root, &opened, &err), FR_OK);
    snprintf(path, sizeof path, "%s/sys/class/powercap/intel-rapl:0/energy_uj", root);
    int fd = open(path, O_WRONLY);
    for (int i = 0; i < 100000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        double add_uJ = (double)(random >> 11) * 0x1p-53 * 0.99 * range_uJ;
        n_wraps += floor((true_uJ + add_uJ) / range_uJ) > floor(true_uJ / range_uJ);
        true_uJ = floor(true_uJ + add_uJ);
        int length = snprintf(text, sizeof text, "%012.0f\n", fmod(true_uJ, range_uJ));
        if (pwrite(fd, text, (size_t)length, 0) != length) fail_msg("%s", path);
        double got_J = read_J(powercap, opened, i);
        if (got_J < last_J) fail_msg("step %d: %g J after %g J", i, got_J, last_J);
        last_J = got_J;
    }
    close(fd);
    if (fabs(last_J * 1e6 / (true_uJ - start_uJ) - 1) > 1e-9)
        fail_msg("got %.3f J, wanted %.3f J", last_J, (true_uJ - start_uJ) * 1e-6);
    assert_true(n_wraps > 40000);
    powercap->close(opened);
}

static void a_gap_that_may_hide_a_wrap_is_an_estimate(void **state) {
    (void)state;
    void *opened = NULL;
    struct fr_error err = {.status = FR_OK};
    double value = 0;
    int quality = FR_QUALITY_MEASURED;
    make_zone("intel-rapl:0", "package-0", 0, 1e9); /* 1 kJ: a second at 1 kW */
    assert_int_equal(powercap->open(root, &opened, &err), FR_OK);
    assert_int_equal(powercap->read(opened, 0, &value, &quality, &err), FR_OK);
    assert_int_equal(powercap->read(opened, 0.5, &value, &quality, &err), FR_OK);
    assert_int_equal(quality, FR_QUALITY_MEASURED);
    assert_int_equal(powercap->read(opened, 5, &value, &quality, &err), FR_OK);
    assert_int_equal(quality, FR_QUALITY_ESTIMATED);
    powercap->close(opened);
}

/* Readings, failures of three kinds, readings: energy never falls, and none is lost. */
static void errors_are_gaps(void **state) {
    (void)state;
    void *opened = NULL;
    struct fr_error err = {.status = FR_OK};
    struct fr_power_log log = {.counter = true};
    char path[160], away[200];
    uint64_t random = 7;
    int n_failed = 0, quality;
    double now_uJ = 0;
    make_zone("intel-rapl:0", "package-0", 0, 1e9);
    snprintf(path, sizeof path, "%s/sys/class/powercap/intel-rapl:0/energy_uj", root);
    snprintf(away, sizeof away, "%s.away", path);
    assert_int_equal(powercap->open(root, &opened, &err), FR_OK);
    for (int i = 0; i < 2000; i++) {
        double value = 0;
        random = random * 6364136223846793005u + 1442695040888963407u;
        int kind = (int)(random >> 33) % 6;
        now_uJ += 1e6; /* a joule a step; wraps every thousand */
        put_number("intel-rapl:0/energy_uj", fmod(now_uJ, 1e9));
        if (kind == 0) put("intel-rapl:0/energy_uj", "");
        if (kind == 1) put("intel-rapl:0/energy_uj", "garbage\n");
        if (kind == 2) put_number("intel-rapl:0/energy_uj", -5);
        if (kind == 3 && (rename(path, away) != 0 || mkdir(path, 0755) != 0))
            fail_msg("%s", path);
        quality = FR_QUALITY_MEASURED;
        fr_status status = powercap->read(opened, i * 0.01, &value, &quality, &err);
        n_failed += status != FR_OK;
        if ((kind <= 3) != (status != FR_OK)) fail_msg("step %d, kind %d: %d", i, kind, status);
        if (status == FR_OK) fr_power_log_add(&log, i * 0.01, value, quality);
        if (kind == 3 && (rmdir(path) != 0 || rename(away, path) != 0)) fail_msg("%s", path);
    }
    assert_true(n_failed > 1000);
    for (size_t i = 1; i < log.n; i++) assert_true(log.value[i] >= log.value[i - 1]);
    double total_J = log.value[log.n - 1] - log.value[0],
           steps = (log.t_s[log.n - 1] - log.t_s[0]) / 0.01;
    if (fabs(total_J - steps) > 1e-6) fail_msg("%g J over %g steps of 1 J", total_J, steps);
    for (int i = 0; i < 500; i++) {
        double from_s = i * 0.03, to_s = from_s + 0.7 * (i % 9);
        assert_true(fr_power_log_energy_J(&log, from_s, to_s, &quality) >= 0);
    }
    fr_power_log_free(&log);
    powercap->close(opened);
}

static void what_may_not_be_read_is_refused_with_the_reason(void **state) {
    (void)state;
    void *opened = NULL;
    struct fr_error err = {.status = FR_OK};
    assert_int_equal(powercap->open(root, &opened, &err), FR_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.detail, "no package zone"));
    make_zone("intel-rapl:0", "package-0", 1, 1e9);
    make_zone("intel-rapl:1", "package-1", 1, 1e9);
    char path[160];
    snprintf(path, sizeof path, "%s/sys/class/powercap/intel-rapl:1/energy_uj", root);
    chmod(path, 0400);
    chmod(root, 0755);
    bool was_root = geteuid() == 0;
    if (was_root && seteuid(65534) != 0) skip();
    if (!was_root) chmod(path, 0);
    fr_status status = powercap->open(root, &opened, &err);
    if (was_root && seteuid(0) != 0) fail_msg("cannot become root again");
    assert_int_equal(status, FR_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.detail, "Permission denied"));
    assert_non_null(strstr(err.where, "intel-rapl:1/energy_uj"));
}

/* ---- libraries ---- */

static void nvml_counts_all_gpus(void **state) {
    (void)state;
    static const char library[] = FR_BIN_DIR "/libfake_nvml.so";
    void *handle = dlopen(library, RTLD_NOW), *opened = NULL, *symbol;
    struct fr_error err = {.status = FR_OK};
    void (*script)(unsigned, int, int, int, unsigned long long, unsigned);
    int (*open_count)(void);
    const struct fr_meter *nvml = &fr_meter_nvml;
    double value = 0;
    int quality = nvml->quality;
    assert_non_null(handle);
    symbol = dlsym(handle, "fake_script");
    memcpy(&script, &symbol, sizeof script);
    symbol = dlsym(handle, "fake_open_count");
    memcpy(&open_count, &symbol, sizeof open_count);

    script(2, 0, 0, 0, 1000000, 0);
    assert_int_equal(nvml->open(library, &opened, &err), FR_OK);
    assert_true(fabs(read_J(nvml, opened, 0) - 2000) < 1e-9);
    script(2, 0, 0, 0, 1250500, 0);
    assert_true(fabs(read_J(nvml, opened, 1) - 2501) < 1e-9);
    script(2, 0, 15, 0, 0, 0); /* the GPU is lost for a while */
    assert_int_equal(nvml->read(opened, 2, &value, &quality, &err), FR_ERR_IO);
    assert_non_null(strstr(err.detail, "code 15"));
    assert_int_equal(quality, FR_QUALITY_SAMPLED);
    nvml->close(opened);
    assert_int_equal(open_count(), 0);

    /* No counter: the power of both GPUs, a ramp from 100 W each to 200 W each in 10 s. */
    script(2, 0, 3, 0, 0, 100000);
    assert_int_equal(nvml->open(library, &opened, &err), FR_OK);
    for (int i = 0; i <= 1000; i++) {
        script(2, 0, 3, 0, 0, 100000 + (unsigned)i * 100);
        value = read_J(nvml, opened, i * 0.01);
    }
    if (fabs(value / 3000 - 1) > 1e-3) fail_msg("got %g J, wanted 3000 J", value);
    nvml->close(opened);

    script(0, 0, 0, 0, 0, 0);
    assert_int_equal(nvml->open(library, &opened, &err), FR_ERR_UNSUPPORTED);
    script(1, 9, 0, 0, 0, 0);
    assert_int_equal(nvml->open(library, &opened, &err), FR_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.detail, "code 9"));
    script(1, 0, 3, 3, 0, 0);
    assert_int_equal(nvml->open(library, &opened, &err), FR_ERR_UNSUPPORTED);
    assert_int_equal(nvml->open("/no-such-folder.so", &opened, &err), FR_ERR_UNSUPPORTED);
    dlclose(handle);
}

static void rocm_counts_in_its_resolution(void **state) {
    (void)state;
    static const char library[] = FR_BIN_DIR "/libfake_rocm_smi.so";
    void *handle = dlopen(library, RTLD_NOW), *opened = NULL, *symbol;
    struct fr_error err = {.status = FR_OK};
    void (*script)(int, uint64_t, float, int, uint64_t);
    const struct fr_meter *rocm = &fr_meter_rocm_smi;
    double value = 0;
    int quality = rocm->quality;
    assert_non_null(handle);
    symbol = dlsym(handle, "fake_script");
    memcpy(&script, &symbol, sizeof script);
    script(0, 1000000, 15.3f, 0, 0);
    assert_int_equal(rocm->open(library, &opened, &err), FR_OK);
    value = read_J(rocm, opened, 0);
    if (fabs(value / 30.6 - 1) > 1e-6) fail_msg("got %g J, wanted 30.6 J", value);
    rocm->close(opened);
    /* No counter: 150 W each for 2 s, and the figure says that it was sampled. */
    script(2, 0, 0, 0, 150000000);
    assert_int_equal(rocm->open(library, &opened, &err), FR_OK);
    for (int i = 0; i <= 20; i++)
        assert_int_equal(rocm->read(opened, i * 0.1, &value, &quality, &err), FR_OK);
    assert_int_equal(quality, FR_QUALITY_SAMPLED);
    if (fabs(value / 600 - 1) > 1e-3) fail_msg("got %g J, wanted 600 J", value);
    rocm->close(opened);
    dlclose(handle);
}

/* ---- slurm, constant, sessions ---- */

static void slurm_prints_joules(void **state) {
    (void)state;
    char script[96];
    void *opened = NULL;
    struct fr_error err = {.status = FR_OK};
    const struct fr_meter *slurm = &fr_meter_slurm;
    snprintf(script, sizeof script, "%s/scontrol", root);
    FILE *file = fopen(script, "w");
    fputs("#!/bin/sh\n[ \"$1 $2\" = 'show node' ] || exit 1\n"
          "echo \"NodeName=$3 Arch=x86_64\"\n"
          "echo '   CurrentWatts=178 AveWatts=170'\n"
          "echo '   LowestJoules=131 ConsumedJoules=4521907'\n",
          file);
    fclose(file);
    chmod(script, 0755);
    assert_int_equal(slurm->open(script, &opened, &err), FR_OK);
    assert_true(read_J(slurm, opened, 0) == 4521907);
    slurm->close(opened);
    file = fopen(script, "w");
    fputs("#!/bin/sh\necho 'CurrentWatts=n/s ConsumedJoules=n/s'\n", file);
    fclose(file);
    assert_int_equal(slurm->open(script, &opened, &err), FR_ERR_UNSUPPORTED);
    assert_int_equal(slurm->open("/no-such-folder", &opened, &err), FR_ERR_UNSUPPORTED);
}

/* Joules of a job's steps add up, over its nodes; a step that tells nothing is passed over. */
static void a_job_tells_its_nodes_share(void **state) {
    (void)state;
    char script[96];
    void *opened = NULL;
    struct fr_error err = {.status = FR_OK};
    const struct fr_meter *job = &fr_meter_slurm_job;
    snprintf(script, sizeof script, "%s/sstat", root);
    FILE *file = fopen(script, "w");
    fputs("#!/bin/sh\n[ \"$1 $2\" = '-j 4711' ] || exit 1\necho 1200\necho\necho 800\n"
          "echo 18446744073709551614\n",
          file);
    fclose(file);
    chmod(script, 0755);
    unsetenv("SLURM_JOB_ID");
    assert_int_equal(job->open(script, &opened, &err), FR_ERR_UNSUPPORTED);
    setenv("SLURM_JOB_ID", "4711", 1);
    setenv("SLURM_JOB_NUM_NODES", "4", 1);
    assert_int_equal(job->open(script, &opened, &err), FR_OK);
    assert_true(read_J(job, opened, 0) == 500);
    job->close(opened);
    setenv("SLURM_JOB_ID", "4712", 1);
    assert_int_equal(job->open(script, &opened, &err), FR_ERR_UNSUPPORTED);
    unsetenv("SLURM_JOB_ID");
    unsetenv("SLURM_JOB_NUM_NODES");
}

static void a_session_reads_by_itself(void **state) {
    (void)state;
    struct fr_power_session *session = NULL;
    struct fr_error err = {.status = FR_OK};
    int quality = -1;
    struct timespec nap = {.tv_nsec = 150000000};
    assert_int_equal(fr_power_open("constant:350 W", &session, &err), FR_OK);
    double from_s = fr_now_s();
    nanosleep(&nap, NULL);
    double to_s = fr_now_s();
    double energy_J = fr_power_energy_J(session, from_s, to_s, &quality);
    if (fabs(energy_J / (350 * (to_s - from_s)) - 1) > 1e-3)
        fail_msg("got %g J in %g s of 350 W", energy_J, to_s - from_s);
    assert_int_equal(quality, FR_QUALITY_ESTIMATED);
    assert_string_equal(fr_power_meter(session)->name, "constant");
    fr_power_close(session);
}

/* The last whole line counts, whatever is being written behind it; what is no power, and a file that
 * nobody writes any more, are no readings. */
static void a_log_tells_its_last_line(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double watts;
    } rows[] = {{"time,power_W\n1,900.5\n2,1250\n3,99", 1250},
                {"2026-01-01T00:00:00,node,812.5\r\n", 812.5},
                {"time,power_W\n", NAN},
                {"1,-5\n", NAN},
                {"", NAN}};
    char path[96];
    snprintf(path, sizeof path, "%s/node.csv", root);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *opened = NULL;
        double watts = 0;
        int quality = FR_QUALITY_SAMPLED;
        struct fr_error err = {.status = FR_OK};
        FILE *file = fopen(path, "w");
        fputs(rows[i].text, file);
        fclose(file);
        fr_status status = fr_meter_log.open(path, &opened, &err);
        if (isnan(rows[i].watts)) {
            assert_int_equal(status, FR_ERR_UNSUPPORTED);
            continue;
        }
        assert_int_equal(status, FR_OK);
        assert_int_equal(fr_meter_log.read(opened, 0, &watts, &quality, &err), FR_OK);
        if (fabs(watts - rows[i].watts) > 1e-9) fail_msg("row %zu: got %g W", i, watts);
        const struct utimbuf old = {.actime = 1000000000, .modtime = 1000000000};
        utime(path, &old);
        assert_int_equal(fr_meter_log.read(opened, 0, &watts, &quality, &err), FR_ERR_IO);
        fr_meter_log.close(opened);
    }
    unlink(path);
}

static void wrong_names_are_usage_errors(void **state) {
    (void)state;
    struct fr_power_session *session = NULL;
    struct fr_error err = {.status = FR_OK};
    assert_int_equal(fr_power_open("powrcap", &session, &err), FR_ERR_USAGE);
    assert_non_null(strstr(err.detail, "powercap"));
    assert_int_equal(fr_power_open("constant:350", &session, &err), FR_ERR_USAGE);
    assert_int_equal(fr_power_open("constant:-3 W", &session, &err), FR_ERR_USAGE);
    assert_int_equal(fr_power_open("constant", &session, &err), FR_ERR_USAGE);
}

/* The contract of every row. */
static void rows_say_what_to_ask_for(void **state) {
    (void)state;
    for (int i = 0; fr_meters[i]; i++) {
        const struct fr_meter *m = fr_meters[i];
        assert_true(m->name && m->summary && m->ask && m->open && m->read && m->close);
        assert_true(m->period_s > 0 && m->quality < FR_QUALITY_UNAVAILABLE);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_powers_integrate),
        cmocka_unit_test(edges_are_interpolated),
        cmocka_unit_test(nonsense_is_no_reading),
        cmocka_unit_test_setup_teardown(packages_and_dram_are_added_and_nothing_else, make_root,
                                        drop_root),
        cmocka_unit_test_setup_teardown(mmio_serves_where_it_is_alone, make_root, drop_root),
        cmocka_unit_test_setup_teardown(wraps_are_undone, make_root, drop_root),
        cmocka_unit_test_setup_teardown(a_gap_that_may_hide_a_wrap_is_an_estimate, make_root,
                                        drop_root),
        cmocka_unit_test_setup_teardown(errors_are_gaps, make_root, drop_root),
        cmocka_unit_test_setup_teardown(what_may_not_be_read_is_refused_with_the_reason,
                                        make_root, drop_root),
        cmocka_unit_test(nvml_counts_all_gpus),
        cmocka_unit_test(rocm_counts_in_its_resolution),
        cmocka_unit_test_setup_teardown(slurm_prints_joules, make_root, drop_root),
        cmocka_unit_test_setup_teardown(a_job_tells_its_nodes_share, make_root, drop_root),
        cmocka_unit_test(a_session_reads_by_itself),
        cmocka_unit_test_setup_teardown(a_log_tells_its_last_line, make_root, drop_root),
        cmocka_unit_test(wrong_names_are_usage_errors),
        cmocka_unit_test(rows_say_what_to_ask_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
