/* Flux's instances: flux alloc, flux batch, and the lines of a batch script: nodes for what is started inside. */
#include "base/text/launcher.h"

#include <stddef.h>

static const struct fr_launch_option options[] = {
    {"N", FR_LAUNCH_NODES},      {"nodes", FR_LAUNCH_NODES}, {"n", FR_LAUNCH_SKIP},
    {"nslots", FR_LAUNCH_SKIP},  {"x", FR_LAUNCH_FLAG},      {"exclusive", FR_LAUNCH_FLAG},
    {"wrap", FR_LAUNCH_FLAG},    {"bg", FR_LAUNCH_FLAG},     {"v", FR_LAUNCH_FLAG},
    {"verbose", FR_LAUNCH_FLAG}, {NULL, FR_LAUNCH_FLAG}};

const struct fr_launcher fr_launcher_flux_alloc = {
    .name = "flux alloc",
    .words = (const char *const[]){"flux", NULL},
    .second = (const char *const[]){"alloc", "batch", NULL},
    .options = options,
    .reserves = true,
};
