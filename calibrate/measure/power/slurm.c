/* Slurm's energy counter of a node, as `scontrol show node NAME` prints it: "ConsumedJoules=".
 * It moves every AcctGatherNodeFreq seconds (30 is usual), from whatever plugin the site runs
 * (IPMI, RAPL, Cray's counters); so it is `sampled`, and short windows say nothing. */
#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "calibrate/measure/power.h"

extern char **environ;

struct slurm {
    char command[256], node[128];
};

/* Start the command without a shell; its output is read from *fd. */
static bool spawn(const struct slurm *s, int *fd, pid_t *child) {
    const char *words[] = {s->command, "show", "node", s->node, NULL};
    posix_spawn_file_actions_t actions;
    int ends[2];
    if (pipe(ends) != 0) return false;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1 /* O_WRONLY */, 0);
    int code =
        posix_spawnp(child, words[0], &actions, NULL, (char *const *)(uintptr_t)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (code != 0) close(ends[0]);
    *fd = ends[0];
    return code == 0;
}

static fr_status ask(const struct slurm *s, double *energy_J, struct fr_error *err) {
    static const char key[] = "ConsumedJoules=";
    char text[8192];
    size_t used = 0;
    ssize_t got;
    int fd = -1, status = 0;
    pid_t child;
    if (!spawn(s, &fd, &child))
        return fr_fail(err, FR_ERR_IO, "slurm", "%s is not here", s->command);
    while (used + 1 < sizeof text && (got = read(fd, text + used, sizeof text - 1 - used)) > 0)
        used += (size_t)got;
    close(fd);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    text[used] = '\0';
    const char *at = strstr(text, key);
    char *end = NULL;
    double found = at ? strtod(at + sizeof key - 1, &end) : 0;
    if (!at || end == at + sizeof key - 1 || found <= 0)
        return fr_fail(err, FR_ERR_IO, "slurm", "node %s tells no ConsumedJoules", s->node);
    *energy_J = found;
    return FR_OK;
}

static fr_status open_slurm(const char *command, void **state, struct fr_error *err) {
    struct slurm *s = fr_calloc(1, sizeof *s);
    const char *node = getenv("SLURMD_NODENAME");
    double ignored;
    if (!s) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    snprintf(s->command, sizeof s->command, "%s", command ? command : "scontrol");
    if (node)
        snprintf(s->node, sizeof s->node, "%s", node);
    else
        gethostname(s->node, sizeof s->node - 1);
    fr_status status = ask(s, &ignored, err);
    if (status == FR_OK)
        *state = s;
    else
        free(s);
    return status == FR_ERR_IO ? FR_ERR_UNSUPPORTED : status;
}

static fr_status read_slurm(void *state, double now_s, double *value, int *quality,
                            struct fr_error *err) {
    (void)now_s;
    (void)quality;
    return ask(state, value, err);
}

const struct fr_meter fr_meter_slurm = {
    .name = "slurm",
    .summary = "Slurm's energy counter of the node",
    .argument = "COMMAND, instead of scontrol",
    .ask = "a Slurm cluster with an AcctGatherEnergyType other than none",
    .quality = FR_QUALITY_SAMPLED,
    .counter = true,
    .period_s = 10,
    .open = open_slurm,
    .read = read_slurm,
    .close = free,
};
