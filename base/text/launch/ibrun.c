/* ibrun of TACC, inside a job of Slurm. */
#include "base/text/launcher.h"

#include <stddef.h>

static const struct fr_launch_option options[] = {{"n", FR_LAUNCH_RANKS},
                                                  {"np", FR_LAUNCH_RANKS},
                                                  {"o", FR_LAUNCH_SKIP},
                                                  {"tacc_affinity", FR_LAUNCH_FLAG},
                                                  {NULL, FR_LAUNCH_FLAG}};

const struct fr_launcher fr_launcher_ibrun = {
    .name = "ibrun",
    .words = (const char *const[]){"ibrun", NULL},
    .options = options,
    .batch = true,
};
