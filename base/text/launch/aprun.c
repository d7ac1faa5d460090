/* aprun of Cray's ALPS. */
#include "base/text/launcher.h"

#include <stddef.h>

static const struct fr_launch_option options[] = {
    {"n", FR_LAUNCH_RANKS}, {"N", FR_LAUNCH_PER_NODE}, {"b", FR_LAUNCH_FLAG},
    {"q", FR_LAUNCH_FLAG},  {"ss", FR_LAUNCH_FLAG},    {NULL, FR_LAUNCH_FLAG}};

const struct fr_launcher fr_launcher_aprun = {
    .name = "aprun",
    .words = (const char *const[]){"aprun", NULL},
    .options = options,
};
