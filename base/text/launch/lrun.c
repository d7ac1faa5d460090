/* lrun of Livermore's Sierra machines. */
#include "base/text/launcher.h"

#include <stddef.h>

static const struct fr_launch_option options[] = {
    {"N", FR_LAUNCH_NODES}, {"T", FR_LAUNCH_PER_NODE}, {"n", FR_LAUNCH_RANKS},
    {"1", FR_LAUNCH_FLAG},  {"v", FR_LAUNCH_FLAG},     {NULL, FR_LAUNCH_FLAG}};

const struct fr_launcher fr_launcher_lrun = {
    .name = "lrun",
    .words = (const char *const[]){"lrun", NULL},
    .options = options,
};
