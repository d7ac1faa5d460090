/* Lines of a batch script of Flux, "#flux: -N 2": nodes for what is started inside. */
#include "base/text/launcher.h"

#include <stddef.h>

static const struct fr_launch_option options[] = {
    {"N", FR_LAUNCH_NODES},     {"nodes", FR_LAUNCH_NODES}, {"n", FR_LAUNCH_SKIP},
    {"nslots", FR_LAUNCH_SKIP}, {"x", FR_LAUNCH_FLAG},      {"exclusive", FR_LAUNCH_FLAG},
    {NULL, FR_LAUNCH_FLAG}};

const struct fr_launcher fr_launcher_flux_lines = {
    .name = "#flux",
    .words = (const char *const[]){"#flux:", "#FLUX:", NULL},
    .options = options,
    .reserves = true,
};
