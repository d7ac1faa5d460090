/* The algorithm and protocol that NCCL chooses, as it logs them itself:
 *
 *     host:1:2 [0] NCCL INFO AllReduce: 1048576 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..15}
 *
 * It reads NCCL_DEBUG and its kin at its first call, and again after ncclResetDebugInit.  A line takes as long as a small
 * collective, so it logs while points are planned, and no longer once they are timed.  Where a user has set one of the
 * variables, or where the library cannot be told to stop, it is not asked. */
#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/measure/device/cuda/platform.h"

static const char *const variables[] = {"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE"};
enum { N_VARIABLES = 3 };

void fr_cuda_choice_begin(struct fr_device_handle *d) {
    const char *folder = getenv("TMPDIR");
    for (int i = 0; i < N_VARIABLES; i++)
        if (getenv(variables[i])) return;
    void *reset = dlsym(d->nccl_library, "ncclResetDebugInit");
    int n = snprintf(d->choice.path, sizeof d->choice.path, "%s/forerun-nccl-XXXXXX",
                     folder && *folder ? folder : "/tmp");
    if (!reset || n >= (int)sizeof d->choice.path) return;
    int file = mkstemp(d->choice.path);
    if (file < 0) return;
    close(file);
    memcpy(&d->choice.reset, &reset, sizeof reset);
    const char *const values[] = {"INFO", "TUNING", d->choice.path};
    for (int i = 0; i < N_VARIABLES; i++) setenv(variables[i], values[i], 1);
}

void fr_cuda_choice_end(struct fr_device_handle *d) {
    if (!d->choice.reset) return;
    for (int i = 0; i < N_VARIABLES; i++) unsetenv(variables[i]);
    d->choice.reset();
    d->choice.reset = NULL;
    unlink(d->choice.path);
}

/* A word in small letters; of an older release a number, which stands for a name. */
static void take(const char *word, const char *const *names, int n_names, char *out, size_t n) {
    char *end = NULL;
    long number = strtol(word, &end, 10);
    if (end != word && !*end && number >= 0 && number < n_names) word = names[number];
    size_t i = 0;
    for (; word[i] && i + 1 < n; i++) out[i] = (char)tolower((unsigned char)word[i]);
    out[i] = '\0';
}

bool fr_cuda_choice_read(const char *line, struct fr_device_choice *choice) {
    static const char *const algorithms[] =
        {"tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"},
                             *const protocols[] = {"ll", "ll128", "simple"};
    char algorithm[sizeof choice->algorithm], protocol[sizeof choice->protocol];
    const char *at = strstr(line, " Bytes -> Algo ");
    if (!at || sscanf(at, " Bytes -> Algo %15[A-Za-z0-9_] proto %11[A-Za-z0-9_]", algorithm,
                      protocol) != 2)
        return false;
    take(algorithm, algorithms, 7, choice->algorithm, sizeof choice->algorithm);
    take(protocol, protocols, 3, choice->protocol, sizeof choice->protocol);
    return true;
}

void fr_cuda_choice_of(struct fr_device_handle *d, struct fr_device_choice *choice) {
    char line[512];
    *choice = (struct fr_device_choice){.algorithm = ""};
    FILE *file = d->choice.reset ? fopen(d->choice.path, "re") : NULL;
    if (!file) return;
    if (fseek(file, d->choice.at, SEEK_SET) == 0)
        while (fgets(line, sizeof line, file)) fr_cuda_choice_read(line, choice);
    long at = ftell(file);
    if (at >= 0) d->choice.at = at;
    fclose(file);
}
