/* Flux: flux run, flux submit, flux mini run. */
#include "base/text/launcher.h"

#include <stddef.h>

static const struct fr_launch_option options[] = {{"N", FR_LAUNCH_NODES},
                                                  {"nodes", FR_LAUNCH_NODES},
                                                  {"n", FR_LAUNCH_RANKS},
                                                  {"ntasks", FR_LAUNCH_RANKS},
                                                  {"tasks-per-node", FR_LAUNCH_PER_NODE},
                                                  {"tasks-per-core", FR_LAUNCH_OPEN},
                                                  {"x", FR_LAUNCH_FLAG},
                                                  {"exclusive", FR_LAUNCH_FLAG},
                                                  {"l", FR_LAUNCH_FLAG},
                                                  {"label-io", FR_LAUNCH_FLAG},
                                                  {"u", FR_LAUNCH_FLAG},
                                                  {"unbuffered", FR_LAUNCH_FLAG},
                                                  {"v", FR_LAUNCH_FLAG},
                                                  {"verbose", FR_LAUNCH_FLAG},
                                                  {NULL, FR_LAUNCH_FLAG}};

const struct fr_launcher fr_launcher_flux = {
    .name = "flux",
    .words = (const char *const[]){"flux", NULL},
    .second = (const char *const[]){"run", "submit", "mini", "bulksubmit", NULL},
    .options = options,
    .unsaid = FR_LAUNCH_RANK_A_NODE,
};
