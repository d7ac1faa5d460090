#define _GNU_SOURCE /* nftw */
#include "calibrate/measure/session.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_B = 4096, DESCRIPTORS = 8 };

static int erase(const char *path, const struct stat *info, int kind, struct FTW *where) {
    (void)info, (void)kind, (void)where;
    remove(path);
    return 0;
}

/* "ompi.HOST.UID" of ours. */
static int is_ours(const char *name) {
    char end[32];
    size_t length = strlen(name);
    int n = snprintf(end, sizeof end, ".%ld", (long)geteuid());
    return strncmp(name, "ompi.", 5) == 0 && length > (size_t)n &&
           strcmp(name + length - (size_t)n, end) == 0;
}

void fr_session_remove(pid_t launcher) {
    const char *root = getenv("TMPDIR");
    struct stat info;
    if (!root || !*root) root = "/tmp";
    DIR *dir = opendir(root);
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        char folder[PATH_B], session[PATH_B + 32];
        if (!is_ours(e->d_name)) continue;
        snprintf(folder, sizeof folder, "%s/%s", root, e->d_name);
        snprintf(session, sizeof session, "%s/pid.%ld", folder, (long)launcher);
        if (lstat(folder, &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid())
            continue;
        nftw(session, erase, DESCRIPTORS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
        rmdir(folder); /* other jobs may be in it */
    }
    if (dir) closedir(dir);
}
