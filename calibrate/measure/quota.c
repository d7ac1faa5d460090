#define _GNU_SOURCE /* sched_getaffinity */
#include "calibrate/measure/quota.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_B = 1024 };
static const double NO_LIMIT = 1e9;

/* cpu.max of version 2: "200000 100000", or "max 100000". */
static double of_max(const char *folder) {
    char path[PATH_B + 32];
    double share = 0, period = 0;
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    FILE *file = fopen(path, "r");
    int read = file ? fscanf(file, "%lf %lf", &share, &period) : 0;
    if (file) fclose(file);
    return read == 2 && share > 0 && period > 0 ? share / period : NO_LIMIT;
}

/* cpu.cfs_quota_us and cpu.cfs_period_us of version 1; a quota of -1 is none. */
static double of_cfs(const char *folder) {
    static const char *const names[] = {"cpu.cfs_quota_us", "cpu.cfs_period_us"};
    double value[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        char path[PATH_B + 32];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        FILE *file = fopen(path, "r");
        if (file && fscanf(file, "%lf", &value[i]) != 1) value[i] = 0;
        if (file) fclose(file);
    }
    return value[0] > 0 && value[1] > 0 ? value[0] / value[1] : NO_LIMIT;
}

/* A group and all above it, up to where they are mounted. */
static double upwards(const char *mount, const char *group, double of(const char *folder)) {
    char folder[PATH_B];
    size_t bottom = strlen(mount);
    double least = NO_LIMIT;
    if (snprintf(folder, sizeof folder, "%s%s", mount, group) >= PATH_B) return least;
    for (;;) {
        least = fmin(least, of(folder));
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < bottom) return least;
        *slash = '\0';
    }
}

/* Does the list of controllers "cpu,cpuacct" name the processor's? */
static int has_cpu(const char *list) {
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, "cpu", 3) == 0 && (at[3] == ',' || !at[3])) return 1;
    }
    return 0;
}

double fr_quota_cores(const char *root, const char *self) {
    char line[PATH_B], mount[PATH_B], group[PATH_B];
    double least = NO_LIMIT;
    /* Without a line of its own, as in a namespace of groups, the mount is the group. */
    least = fmin(of_max(root), of_cfs(root));
    snprintf(mount, sizeof mount, "%.1000s/cpu", root);
    least = fmin(least, of_cfs(mount));
    FILE *file = fopen(self, "r");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
        if (!path) continue;
        *path++ = '\0';
        list++;
        snprintf(group, sizeof group, "%s", strcmp(path, "/") == 0 ? "" : path);
        if (!*list)
            least = fmin(least, upwards(root, group, of_max));
        else if (has_cpu(list)) {
            snprintf(mount, sizeof mount, "%.500s/%.400s", root, list);
            least = fmin(least, upwards(mount, group, of_cfs));
        }
    }
    if (file) fclose(file);
    return least;
}

int fr_cores_usable(void) {
    cpu_set_t set;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    double cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                   : online > 0                                ? (double)online
                                                               : 1;
    return (int)fmax(1,
                     floor(fmin(cores, fr_quota_cores("/sys/fs/cgroup", "/proc/self/cgroup"))));
}
