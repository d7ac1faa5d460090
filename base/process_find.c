#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"

static bool can_run(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

/* An empty entry of PATH is the working folder, and so may be a relative one: the path is made
 * absolute, as a child may work elsewhere. */
bool fr_process_find(const char *name, char path[FR_PROCESS_PATH_B]) {
    char own[FR_PROCESS_PATH_B], here[FR_PROCESS_PATH_B] = "";
    const char *at = getenv("PATH");
    char *found = path ? path : own;
    if (!getcwd(here, sizeof here)) *here = '\0';
    for (at = at ? at : "/bin:/usr/bin";; at++) {
        int length = (int)strcspn(at, ":");
        const char *before = *at == '/' ? "" : here;
        int used = snprintf(found, FR_PROCESS_PATH_B, "%s%s%.*s/%s", before,
                            *at == '/' || !length ? "" : "/", length, at, name);
        if (used < FR_PROCESS_PATH_B && can_run(found)) return true;
        at += length;
        if (!*at) return false;
    }
}

bool fr_process_beside(const char *name, char path[FR_PROCESS_PATH_B]) {
    char self[FR_PROCESS_PATH_B];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    *path = '\0';
    if (length <= 0) return false;
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    if (!slash) return false;
    int used = snprintf(path, FR_PROCESS_PATH_B, "%.*s/%s", (int)(slash - self), self, name);
    return used < FR_PROCESS_PATH_B && can_run(path);
}
