#include "calibrate/calibrate.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "base/file.h"

fr_status fr_calibrate_run(const struct fr_calibrate_options *o, struct fr_error *err) {
    char size[48], seed[32], reps[32], budget[48];
    const char *words[16];
    int n = 0;
    FR_TRY(fr_file_check_writable(o->samples, err));
    snprintf(size, sizeof size, "%.0f B", o->max_size_B);
    snprintf(seed, sizeof seed, "%" PRId64, o->seed);
    snprintf(reps, sizeof reps, "%" PRId64, o->reps);
    snprintf(budget, sizeof budget, "%.9g", o->budget_s);
    words[n++] = "calibrate";
    words[n++] = "--samples";
    words[n++] = o->samples;
    if (o->max_size_B > 0) words[n++] = "--max-size", words[n++] = size;
    if (o->seed >= 0) words[n++] = "--seed", words[n++] = seed;
    if (o->reps > 0) words[n++] = "--reps", words[n++] = reps;
    if (o->budget_s > 0) words[n++] = "--budget", words[n++] = budget;
    if (o->quick) words[n++] = "--quick";
    if (o->progress) words[n++] = "--progress";
    words[n] = NULL;
    return fr_launch_mpi(&o->launch, words, err);
}
