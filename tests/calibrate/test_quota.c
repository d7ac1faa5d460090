/* Control groups made of files. */
#include "calibrate/measure/quota.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tests/cmocka.h"

static char top[64];

static void put(const char *path, const char *text) {
    char whole[256];
    snprintf(whole, sizeof whole, "%s/%s", top, path);
    for (char *at = whole + strlen(top) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(whole, 0700);
        *at = '/';
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int begin(void **state) {
    (void)state;
    strcpy(top, "/tmp/forerun-quota-XXXXXX");
    return mkdtemp(top) ? 0 : 1;
}

static int end(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", top);
    return system(command);
}

static double cores(void) {
    char self[96];
    snprintf(self, sizeof self, "%s/self", top);
    return fr_quota_cores(top, self);
}

static void nothing_is_no_limit(void **state) {
    (void)state;
    assert_true(cores() >= 1e9);
    put("cpu.max", "max 100000\n");
    put("self", "0::/a/b\n");
    assert_true(cores() >= 1e9);
}

/* Version 2: the least of the group, those above it, and the mount. */
static void the_least_of_all_groups_above_counts(void **state) {
    (void)state;
    put("self", "0::/a/b\n");
    put("a/b/cpu.max", "max 100000\n");
    put("a/cpu.max", "150000 100000\n");
    assert_true(cores() == 1.5);
    put("a/b/cpu.max", "50000 100000\n");
    assert_true(cores() == 0.5);
    put("cpu.max", "25000 100000\n");
    assert_true(cores() == 0.25);
}

static void version_1_is_read_too(void **state) {
    (void)state;
    put("self", "7:cpu,cpuacct:/docker/x\n3:cpuset:/docker/x\n");
    put("cpu,cpuacct/docker/x/cpu.cfs_quota_us", "-1\n");
    put("cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n");
    assert_true(cores() >= 1e9);
    put("cpu,cpuacct/docker/x/cpu.cfs_quota_us", "300000\n");
    assert_true(cores() == 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_no_limit, begin, end),
        cmocka_unit_test_setup_teardown(the_least_of_all_groups_above_counts, begin, end),
        cmocka_unit_test_setup_teardown(version_1_is_read_too, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
