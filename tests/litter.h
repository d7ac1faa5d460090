/** @file
 *  Temporary files and folders of a test go when its program ends, also where an assertion left before
 *  its own removal, or a signal ended it (but SIGKILL).
 *
 *  mkstemp and mkdtemp are shadowed to remember names; all that begins with one is removed, by the process
 *  that made it alone, not by what it forks. */
#ifndef FR_TESTS_LITTER_H
#define FR_TESTS_LITTER_H

#include <dirent.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

pid_t getpid(void); /* of unistd.h, whose short names tests have for their own */

enum { FR_LITTER_MAX = 256 };
static char fr_litter[FR_LITTER_MAX][128];
static int fr_n_litter;
static pid_t fr_litter_owner;

static inline void fr_litter_remove(const char *path) {
    struct stat is;
    if (lstat(path, &is) != 0) return;
    DIR *dir = S_ISDIR(is.st_mode) ? opendir(path) : NULL;
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        char inside[4200];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        if (snprintf(inside, sizeof inside, "%s/%s", path, e->d_name) < (int)sizeof inside)
            fr_litter_remove(inside);
    }
    if (dir) closedir(dir);
    remove(path);
}

static inline void fr_litter_clean(void) {
    if (getpid() != fr_litter_owner) return;
    while (fr_n_litter > 0) {
        char pattern[140];
        glob_t found;
        snprintf(pattern, sizeof pattern, "%s*", fr_litter[--fr_n_litter]);
        if (glob(pattern, 0, NULL, &found) != 0) continue;
        for (size_t i = 0; i < found.gl_pathc; i++) fr_litter_remove(found.gl_pathv[i]);
        globfree(&found);
    }
}

static inline void fr_litter_end(int number) {
    fr_litter_clean();
    signal(number, SIG_DFL);
    raise(number);
}

/** Remove what begins with @p path in the end. */
static inline void fr_litter_add(const char *path) {
    static const int ends[] = {SIGABRT, SIGALRM, SIGHUP, SIGINT, SIGTERM};
    if (fr_litter_owner == 0) {
        fr_litter_owner = getpid();
        atexit(fr_litter_clean);
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
            struct sigaction had;
            if (sigaction(ends[i], NULL, &had) == 0 && had.sa_handler == SIG_DFL)
                signal(ends[i], fr_litter_end);
        }
    }
    if (getpid() == fr_litter_owner && fr_n_litter < FR_LITTER_MAX && strlen(path) > 6)
        snprintf(fr_litter[fr_n_litter++], sizeof *fr_litter, "%.127s", path);
}

static inline int fr_litter_mkstemp(char *path) {
    int fd = mkstemp(path);
    if (fd >= 0) fr_litter_add(path);
    return fd;
}

static inline char *fr_litter_mkdtemp(char *path) {
    char *made = mkdtemp(path);
    if (made) fr_litter_add(made);
    return made;
}

#define mkstemp fr_litter_mkstemp
#define mkdtemp fr_litter_mkdtemp

#endif
