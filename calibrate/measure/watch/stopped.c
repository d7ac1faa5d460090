#include "calibrate/measure/watch/stopped.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENVIRONMENT_B = 1 << 16 };

static size_t read_proc(long pid, const char *name, char *text, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/%s", pid, name);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    size_t n = fread(text, 1, size - 1, file);
    fclose(file);
    text[n] = '\0';
    return n;
}

/* "PID (NAME) STATE PARENT ...": the name may hold anything.  @return the state, 0 where there is none */
static char state_of(long pid, long *parent) {
    char line[1024], state = 0;
    const char *at = read_proc(pid, "stat", line, sizeof line) ? strrchr(line, ')') : NULL;
    if (!at || sscanf(at, ") %c %ld", &state, parent) != 2) return 0;
    return state;
}

bool fr_is_stopped(pid_t pid) {
    long parent;
    return state_of((long)pid, &parent) == 'T';
}

bool fr_is_launcher(pid_t pid) {
    static const char *const launchers[] = {"mpirun", "mpiexec",         "orterun",
                                            "orted",  "prterun",         "prte",
                                            "prted",  "hydra_pmi_proxy", NULL};
    char name[64];
    size_t n = read_proc((long)pid, "comm", name, sizeof name);
    if (n > 0 && name[n - 1] == '\n') name[n - 1] = '\0';
    for (int i = 0; launchers[i]; i++)
        if (n > 0 && strcmp(name, launchers[i]) == 0) return true;
    return false;
}

static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                    "SLURM_PROCID", NULL};

int fr_rank_own(void) {
    for (int i = 0; names[i]; i++) {
        const char *text = getenv(names[i]);
        if (text) return atoi(text);
    }
    return -1;
}

int fr_rank_of(const char *environment, size_t length) {
    for (int i = 0; names[i]; i++) {
        size_t n = strlen(names[i]);
        for (size_t at = 0; at < length; at += strnlen(environment + at, length - at) + 1)
            if (strncmp(environment + at, names[i], n) == 0 && environment[at + n] == '=')
                return atoi(environment + at + n + 1);
    }
    return -1;
}

pid_t fr_stopped_rank(pid_t launcher, int rank, int *found) {
    static char environment[ENVIRONMENT_B]; /* of the one thread that watches */
    DIR *proc = opendir("/proc");
    pid_t pid = 0;
    for (struct dirent *e; proc && !pid && (e = readdir(proc)) != NULL;) {
        long parent = 0, id = isdigit((unsigned char)*e->d_name) ? atol(e->d_name) : 0;
        if (id <= 0 || state_of(id, &parent) != 'T' || parent != (long)launcher) continue;
        size_t n = read_proc(id, "environ", environment, sizeof environment);
        *found = fr_rank_of(environment, n);
        if (rank < 0 || *found == rank) pid = (pid_t)id;
    }
    if (proc) closedir(proc);
    return pid;
}
