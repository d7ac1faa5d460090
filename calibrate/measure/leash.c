#include "calibrate/measure/leash.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Field 22 of /proc/PID/stat, in clock ticks since boot; fields are counted behind the name, which
 * may hold anything.  0 where there is no such process, -1 where it cannot be told. */
static long long started(long pid) {
    char path[64], line[1024];
    long long ticks = -1;
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file) return errno == ENOENT ? 0 : -1;
    size_t n = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[n] = '\0';
    const char *at = strrchr(line, ')');
    if (!at) return n == 0 ? 0 : -1; /* it ended while it was read */
    if (strncmp(at, ") Z", 3) == 0) return 0;
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    if (!at || sscanf(at, " %lld", &ticks) != 1) return -1;
    return ticks;
}

static bool where(char boot[40], char names[64]) {
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    ssize_t length = readlink("/proc/self/ns/pid", names, 63);
    bool stated = file && length > 0 && fscanf(file, "%39s", boot) == 1;
    if (file) fclose(file);
    names[length > 0 ? length : 0] = '\0';
    return stated;
}

void fr_leash_make(char text[FR_LEASH_B]) {
    char boot[40] = "", names[64] = "";
    long long ticks = started((long)getpid());
    *text = '\0';
    if (ticks > 0 && where(boot, names))
        snprintf(text, FR_LEASH_B, "%ld %lld %s %s", (long)getpid(), ticks, boot, names);
}

/* @return 0: not a leash, or of another machine or namespace; else its process id */
static long here(const char *text, long long *ticks) {
    char boot[40] = "", names[64] = "", its_boot[40], its_names[64];
    long pid;
    if (!text || sscanf(text, "%ld %lld %39s %63s", &pid, ticks, its_boot, its_names) != 4 ||
        !where(boot, names) || strcmp(boot, its_boot) != 0 || strcmp(names, its_names) != 0)
        return 0;
    return pid;
}

bool fr_leash_is_here(const char *text) {
    long long ticks;
    return here(text, &ticks) > 0;
}

bool fr_leash_holds(const char *text) {
    long long ticks;
    long pid = here(text, &ticks);
    long long now = pid > 0 ? started(pid) : -1;
    return now < 0 || now == ticks;
}
